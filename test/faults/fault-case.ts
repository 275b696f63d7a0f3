/** One case of the table: what goes wrong, what is expected, and how it is made to happen. */
import type { Scene } from './scene.ts';
import type { SceneOptions } from './scene-options.ts';

export interface FaultCase extends SceneOptions {
  readonly what: string;
  readonly expected: string;
  /** Each of them has to be reported to `onError` once the fault has landed. */
  readonly codes?: readonly string[];
  /** Others that may be. */
  readonly mayReport?: readonly string[];
  /** Invariants that the fault itself breaks on the wire, so that keeping them is nobody's duty. */
  readonly excused?: readonly string[];
  /** Needs the machine, or the process, for itself: nothing else runs meanwhile. */
  readonly isAlone?: boolean;
  /** From the last heal to equality with the server, at most. Default 5,000. */
  readonly convergeMs?: number;
  /** Does it, heals it, and says what was seen. Throws when that is not what was expected. */
  readonly run: (scene: Scene) => Promise<string>;
}

/** How a case ended. */
export interface Outcome {
  readonly id: string;
  readonly what: string;
  readonly expected: string;
  /** What struck, from the fault log. */
  readonly landed: string;
  /** Events per second before the fault. */
  readonly load: number;
  readonly seen: string;
  /** Undefined when equality with the server was not reached. */
  readonly convergedMs: number | undefined;
  readonly verdict: 'passed' | 'failed' | 'INVALID';
  readonly complaints: readonly string[];
}
