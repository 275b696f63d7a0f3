/** One case of the table: the fault, the expected behaviour, and the code that causes it. */
import type { InformerOptions, ThreadsOptions } from '../../../src/index.ts';
import type { EmbeddedApiServerOptions } from '../../../src/tools/apiserver/testing/index.ts';

export interface SceneOptions {
  /** Number in the table of cases, with a letter for a variant. */
  readonly id: string;
  readonly server?: EmbeddedApiServerOptions;
  readonly informer?: InformerOptions<unknown>;
  /** Whether the oracle compares the objects' bodies. Default true. */
  readonly hasBodies?: boolean;
  /** Options of the informer's threads, when the case depends on them. */
  readonly threads?: ThreadsOptions;
  /** Number of objects before the start. Default 200. */
  readonly objects?: number;
  /** Whether the case itself starts the informer. */
  readonly isStartedLater?: boolean;
}

export interface FaultCase<S> extends SceneOptions {
  readonly what: string;
  readonly expected: string;
  /** Codes that must be reported to `onError` after the fault. */
  readonly codes?: readonly string[];
  /** Further codes that may be reported. */
  readonly mayReport?: readonly string[];
  /** Invariants that the fault itself breaks on the wire; the oracle does not judge them. */
  readonly excused?: readonly string[];
  /** Causes and heals the fault; returns what was observed. Throws when that is not the expected behaviour. */
  readonly run: (scene: S) => Promise<string>;
}

/** Result of a case. */
export interface Outcome {
  readonly id: string;
  readonly what: string;
  readonly expected: string;
  /** Faults that struck, from the fault log. */
  readonly landed: string;
  readonly seen: string;
  readonly verdict: 'passed' | 'failed' | 'INVALID';
  readonly complaints: readonly string[];
}
