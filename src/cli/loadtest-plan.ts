/** The parameters of a load test, and the messages between its two processes. */
import type { ConnectionOptions } from '../shared/protocol.ts';

export interface LoadTestPlan {
  readonly objects: number;
  readonly objectBytes: number;
  /** Writes a second, in open loop: a late write delays no later one. */
  readonly rate: number;
  readonly durationSeconds: number;
  /** Informers of the same objects, each with its own watch. */
  readonly informers: number;
  readonly threads: number;
  /** The seed that decides which object each write changes. */
  readonly seed: number;
}

/** The times at which a write was due, sent and answered, by `nowUs`. */
export type WriteTimes = readonly [dueUs: number, sentUs: number, answeredUs: number];

/** One write that the server confirmed. A deletion's revision is 0: the server's answer does not have it. */
export type Write = readonly [
  revision: number,
  type: 'ADDED' | 'MODIFIED' | 'DELETED',
  name: string,
  times: WriteTimes,
];

export interface WriterTask {
  readonly connection: ConnectionOptions;
  readonly namespace: string;
  readonly plan: LoadTestPlan;
}

/** Commands to the writer: create the objects, then write at the rate. Each ends with `done` or `failed`. */
export type ToWriter = { readonly type: 'populate'; readonly task: WriterTask } | { readonly type: 'load' };

export type FromWriter =
  | { readonly type: 'progress'; readonly writes: number }
  | { readonly type: 'done'; readonly outcome: LoadOutcome }
  | { readonly type: 'failed'; readonly code: string; readonly message: string };

export interface LoadOutcome {
  /** Confirmed writes in the order of confirmation, which for one object is the order of the writes. */
  readonly writes: readonly Write[];
  /** Writes that the server refused: nothing was written. */
  readonly refused: number;
  /** Writes without an answer: they may have been written or not. */
  readonly unanswered: number;
  readonly firstFailure?: string;
  /** Confirmed writes a second, from when the first was due to when the last was sent. */
  readonly rateAchieved: number;
}

/** The label of everything that a load test writes, and the selector of its informers. */
export const LABEL = 'app.kubernetes.io/managed-by';
export const LABEL_VALUE = 'kubeloom-loadtest';
