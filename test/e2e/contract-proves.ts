/** A control plane and threads for all clauses of the contract, and a record of the clauses that tests cite. */
import { after, before, test } from 'node:test';
import { InformerThreads } from '../../src/index.ts';
import { citedBy } from '../contract/clauses.ts';
import { ServerScene } from './contract-scene.ts';
import { startControlPlane } from './control-plane.ts';
import type { ControlPlane } from './control-plane.ts';

/** Longer than any test: a test that hangs ends with its title. */
const PATIENT = { timeout: 120_000 } as const;

const titles: string[] = [];
let running: ControlPlane | undefined;
let shared: InformerThreads | undefined;

before(async () => {
  running = await startControlPlane();
  shared = new InformerThreads({ shards: 2 });
});
after(async () => {
  await shared?.close();
  await running?.stop();
});

/** The control plane; available inside tests. */
export function controlPlane(): ControlPlane {
  if (!running) throw new Error('no test has begun');
  return running;
}

/** The threads; available inside tests. */
export function sharedThreads(): InformerThreads {
  if (!shared) throw new Error('no test has begun');
  return shared;
}

/** Registers a test in a namespace of its own. */
export function proves(title: string, body: (scene: ServerScene) => Promise<void>): void {
  titles.push(title);
  test(title, PATIENT, async () => {
    await using scene = await ServerScene.start(controlPlane(), sharedThreads());
    await body(scene);
  });
}

/** The clauses that the registered tests cite. */
export function citedClauses(): ReadonlySet<string> {
  return new Set(titles.flatMap(citedBy));
}
