/**
 * A program with an informer, or the conduct of an apiserver, that the test runs with client-node's informer and with
 * kubeloom's. Where the results differ on purpose, it names the row in docs/migrating-from-client-node.md.
 */
import type { Stage, StageOptions } from './stage.ts';

export interface Scenario {
  /** Behaviours that client-node's own tests of its cache and informer check, and that this scenario compares. */
  readonly covers?: readonly string[];
  readonly options?: StageOptions;
  /** Returns the result to compare: JSON. */
  readonly steps: (stage: Stage) => Promise<unknown>;
  /** Result of client-node, and of kubeloom unless it differs. */
  readonly expected: unknown;
  /** A difference on purpose: its row in the document, and kubeloom's result. */
  readonly kubeloom?: { readonly row: string; readonly expected: unknown };
}

/** Scenarios by title. */
export type Scenarios = Readonly<Record<string, Scenario>>;

/** The program does not start its informer again after an error. */
export const NOT_RESTARTED: StageOptions = { restarts: false };

/** Starts with these objects, and forgets the lines of the start. */
export async function started(stage: Stage, ...names: readonly string[]): Promise<void> {
  for (const name of names) stage.world.put(name);
  await stage.informer.start();
  await stage.world.watching();
  stage.lines.length = 0;
}

/** Delivers as much as the cache of parsed objects keeps of objects that were read once. */
export async function deliverMany(stage: Stage): Promise<void> {
  const metadata = { annotations: { long: 'x'.repeat(50_000) } };
  for (let count = 0; count < 4; count++) stage.world.put(`long-${count}`, { metadata });
  stage.world.put('behind-them');
  await stage.until(() => stage.informer.get('behind-them', 'default') !== undefined);
  stage.world.remove('behind-them');
  await stage.until(() => stage.informer.get('behind-them', 'default') === undefined);
}
