/** What a load test is asked for, and what its two processes tell each other. */
import type { ConnectionOptions } from '../threads/protocol.ts';

export interface LoadTestPlan {
  readonly objects: number;
  readonly objectBytes: number;
  /** Writes a second, in open loop: one that is late delays none after it. */
  readonly rate: number;
  readonly durationSeconds: number;
  /** Informers that watch the same objects, each over a watch of its own. */
  readonly informers: number;
  readonly threads?: number;
}

export interface WriterTask {
  readonly connection: ConnectionOptions;
  readonly namespace: string;
  readonly plan: LoadTestPlan;
  readonly seed: number;
}

/** One write that the server confirmed. A deletion's revision is 0: the server's answer does not have it. */
export type Write = readonly [revision: number, type: 'ADDED' | 'MODIFIED' | 'DELETED', name: string];

export type ToWriter = { readonly type: 'populate'; readonly task: WriterTask } | { readonly type: 'load' };

export type FromWriter =
  | { readonly type: 'progress'; readonly writes: number }
  | { readonly type: 'populated'; readonly writes: readonly Write[] }
  | { readonly type: 'loaded'; readonly outcome: LoadOutcome }
  | { readonly type: 'failed'; readonly code: string; readonly message: string };

export interface LoadOutcome {
  /** In the order in which they were confirmed, which for one object is the order of the writes. */
  readonly writes: readonly Write[];
  /** The server said no: nothing was written. */
  readonly refused: number;
  /** Nobody knows whether these were written: there was no answer. */
  readonly unanswered: number;
  readonly firstFailure?: string;
}

/** The label of everything that a load test writes, and the selector of its informers. */
export const LABEL = 'app.kubernetes.io/managed-by';
export const LABEL_VALUE = 'kubeloom-loadtest';
/** Data key: when the write was due, in microseconds since the epoch. */
export const DUE_KEY = 'dueUs';

/** On the clock that both processes of this machine share, in microseconds since the epoch. */
export function nowUs(): number {
  return (performance.timeOrigin + performance.now()) * 1000;
}
