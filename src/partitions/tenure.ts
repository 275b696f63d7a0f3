/** The periods in which a member owns partitions, and the work in them. */
import { failureOf } from '../controller/leader-election/election.ts';
import type { Failure } from '../controller/leader-election/election-state.ts';
import { LinkedController } from '../shared/fence.ts';

/** A period in which a member owns a partition. */
export interface Tenure {
  /** Number of the partition, from 0. */
  readonly partition: number;
  /** Number of the period: greater than the numbers of all earlier periods of the partition, in any member. */
  readonly epoch: number;
  /** Aborted when the partition is lost, before another member can own it, and when draining takes too long. */
  readonly signal: AbortSignal;
  /**
   * Aborted when the partition is handed over or lost. After a hand-over the work finishes the tasks in progress, while
   * the member keeps the partition.
   */
  readonly drainSignal: AbortSignal;
  /** Reports that the first list is complete. */
  readonly synced: () => void;
}

/**
 * The work on a partition, until a signal of the tenure is aborted: the partition is released when the promise settles
 * after that. A promise that is fulfilled earlier keeps the partition; a promise that is rejected gives it back,
 * for a pause that grows with each failure. A promise that is rejected with ERR_KUBELOOM_OPTION or ERR_KUBELOOM_PARTITION
 * before `synced` ends the member's run with that error: another attempt would fail in the same way.
 */
export type WorkOnPartition = (tenure: Tenure) => Promise<void>;

/** @internal */
export interface WorkEvents {
  readonly synced: () => void;
  readonly worked: (failure: Failure | undefined) => void;
}

/** @internal The work of a tenure, from start to end. */
export class Work {
  readonly #lost: LinkedController;
  readonly #drain = new AbortController();

  /** @param fence of the life that owns the partition */
  constructor(
    partition: number,
    epoch: number,
    work: WorkOnPartition,
    fence: AbortSignal,
    events: WorkEvents,
  ) {
    this.#lost = new LinkedController(fence);
    const { signal } = this.#lost;
    const { signal: drainSignal } = this.#drain;
    const tenure = { partition, epoch, signal, drainSignal, synced: events.synced };
    void failureOf(() => work(tenure), drainSignal).then((failure) => {
      this.#lost[Symbol.dispose]();
      events.worked(failure);
    });
  }

  drain(): void {
    this.#drain.abort();
  }

  abort(error: Error): void {
    this.#lost.abort(error);
    this.#drain.abort(error);
  }
}
