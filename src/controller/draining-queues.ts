/**
 * The queues of controllers that end together. As long as a controller reconciles, the partition has an owner, so each
 * queue takes the keys of deletions until every queue is empty.
 */
import type { PriorityQueue } from '../workqueue/priority-queue.ts';

/** @internal */
export class DrainingQueues {
  readonly #queues: Set<PriorityQueue<string>> = new Set();
  #awaited: number;

  /** @param controllers number of controllers that will add a queue or leave */
  constructor(controllers: number) {
    this.#awaited = controllers;
  }

  /** Adds the queue of a controller whose workers have ended. */
  add(queue: PriorityQueue<string>): void {
    this.#queues.add(queue);
    this.check();
  }

  /** Removes a controller that has ended, perhaps before it added the queue. */
  leave(queue: PriorityQueue<string>): void {
    this.#queues.delete(queue);
    this.#awaited--;
    this.check();
  }

  /** Shuts all queues down when no key waits or is in work. @param ending queue whose last key ends now */
  check(ending?: PriorityQueue<string>): void {
    const isIdle = (queue: PriorityQueue<string>): boolean =>
      queue.length === 0 && queue.inWork === (queue === ending ? 1 : 0);
    if (this.#queues.size < this.#awaited || ![...this.#queues].every(isIdle)) return;
    for (const queue of this.#queues) queue.shutDown();
  }
}
