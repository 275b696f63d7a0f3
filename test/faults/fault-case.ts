/** One case of the table: the fault, the expected behaviour, and the code that causes it. */
import type { Scene } from './scene.ts';
import type { SceneOptions } from './scene-options.ts';

export interface FaultCase extends SceneOptions {
  readonly what: string;
  readonly expected: string;
  /** Codes that must be reported to `onError` after the fault. */
  readonly codes?: readonly string[];
  /** Further codes that may be reported. */
  readonly mayReport?: readonly string[];
  /** Invariants that the fault itself breaks on the wire; the oracle does not judge them. */
  readonly excused?: readonly string[];
  /** Whether the case needs the machine or the process alone; no other case runs meanwhile. */
  readonly isAlone?: boolean;
  /** Limit from the last heal to equality with the server. Default 5,000. */
  readonly convergeMs?: number;
  /** Causes and heals the fault; returns what was observed. Throws when that is not the expected behaviour. */
  readonly run: (scene: Scene) => Promise<string>;
}

/** Result of a case. */
export interface Outcome {
  readonly id: string;
  readonly what: string;
  readonly expected: string;
  /** Faults that struck, from the fault log. */
  readonly landed: string;
  /** Events per second before the fault. */
  readonly load: number;
  readonly seen: string;
  /** Undefined when equality with the server was not reached. */
  readonly convergedMs: number | undefined;
  readonly verdict: 'passed' | 'failed' | 'INVALID';
  readonly complaints: readonly string[];
}
