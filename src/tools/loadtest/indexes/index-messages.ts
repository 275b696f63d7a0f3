/**
 * The messages between the indexes of a run. Index 0 runs the generator and leads: it publishes calls in sequence; the
 * other indexes carry them out and confirm. At the end each index stores its part of the measurement.
 */
import { KubeloomError } from '../../../base/errors.ts';
import { parseJson } from '../../../base/parse-json.ts';
import { isRecord } from '../../../kube/meta-shape.ts';
import type { RunFacts } from '../result.ts';
import type { Measurement } from '../run/assemble.ts';
import type { JournalEntry } from '../../apiserver/store/journal.ts';
import type { ObjectKind, Slowness } from '../workload/workload.ts';

export type Call =
  /** Starts processes. The run began `atMs` ago. */
  | { readonly type: 'start'; readonly atMs: number }
  | { readonly type: 'sync' | 'relist'; readonly names: readonly string[]; readonly timeoutMs: number }
  | { readonly type: 'setSlowness'; readonly names: readonly string[]; readonly slowness?: Slowness }
  /** Compares what watchers received with the large value `log`, and stores the part. The last call. */
  | { readonly type: 'judge' };

export interface CoordinatorState {
  /** The number of the call, from 1; 0 before the first call. */
  readonly number: number;
  readonly call: Call | null;
  /** True when the phases were interrupted: waits end. */
  readonly isStopped: boolean;
  /** True when index 0 has stored its part. */
  readonly isEnded: boolean;
  /** The reason why the run ended early. */
  readonly failure?: string;
}

export interface FollowerState {
  /** The number of the last call that was carried out. */
  readonly done: number;
  /** The reason why this index ended early. */
  readonly failure?: string;
}

/** A member of the entry of index 0: the facts that all other indexes need to begin. */
export interface CoordinatorFacts {
  readonly run: RunFacts;
  readonly indexes: number;
}

/**
 * The log of each kind as a journal. Times of answers are omitted: they belong to the clock that they were read from.
 */
export type Journals = ReadonlyMap<ObjectKind, readonly JournalEntry[]>;

export interface IndexPart extends Pick<Measurement, 'judged' | 'costs'> {
  readonly host: string;
  readonly machine: RunFacts['machine'];
}

/** The part of index 0. */
export interface CoordinatorPart extends Omit<Measurement, 'tasks'> {
  readonly host: string;
  /** Dead indexes, with the reasons. */
  readonly lost: ReadonlyMap<number, string>;
}

export const FACTS = 'facts';

/**
 * Reads the facts from a ConfigMap, which other programs may have written. @throws ERR_KUBELOOM_LOADTEST for invalid
 * facts
 */
export function coordinatorFactsOf(text: string): CoordinatorFacts {
  const facts = parseJson(text);
  const run = isRecord(facts) ? facts['run'] : undefined;
  const isWhole =
    isRecord(facts) &&
    isIndexCount(facts['indexes']) &&
    isRecord(run) &&
    isRecord(run['versions']) &&
    isRecord(run['workload']);
  if (isWhole) return facts as unknown as CoordinatorFacts;
  throw new KubeloomError('ERR_KUBELOOM_LOADTEST', 'the facts of index 0 are damaged: start the run again');
}
export const LOG = 'log';

/** An Indexed Job runs at most 100,000 Pods. */
function isIndexCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) <= 100_000;
}

export function partName(index: number): string {
  return `part-${index}`;
}
