/**
 * What lies between a reflector and the loop that processes its changes. One consumer pops; producers never
 * wait. `Popped` is what one pop yields: a key's deltas, or one delta, or an object.
 */
import type { ReflectorStore } from '../cache/store.ts';
import type { DoneChecker } from '../done-checker.ts';
import type { Deltas } from './delta.ts';

/**
 * Called with what was popped. `isInInitialList`: it belongs to what the first `replace` brought. A promise
 * is awaited; what it throws is thrown by `pop`, and what was popped is gone all the same.
 */
export type PopProcess<Popped> = (popped: Popped, isInInitialList: boolean) => unknown;

export interface Queue<Item, Popped> extends ReflectorStore<Item> {
  /**
   * Waits for the next, processes it, gives it.
   *
   * @throws ERR_KUBELOOM_QUEUE_CLOSED when the queue is closed and empty, the signal's reason when aborted
   */
  pop(process: PopProcess<Popped>, signal?: AbortSignal): Promise<Popped>;
  /** What the first `replace` brought has been processed, or there was a change before any `replace`. */
  hasSynced(): boolean;
  readonly hasSyncedChecker: DoneChecker;
  /** Ends every waiting pop; what is queued can still be popped. */
  close(): void;
}

/** A queue of the time before client-go v0.33: what was popped can be put back. */
export interface RequeueingQueue<Item, Popped> extends Queue<Item, Popped> {
  /** Puts back what was popped, at the end, unless its key is queued again. */
  addIfNotPresent(popped: Popped): void;
}

/** A queue that can give several changes of different objects at once. */
export interface QueueWithBatch<Item> extends Queue<Item, Deltas<Item>> {
  /**
   * Waits for the next, takes what can be processed together with it, processes that, gives it. A single one
   * goes to `processSingle`. Throws as `pop` does.
   */
  popBatch(
    processBatch: PopProcess<Deltas<Item>>,
    processSingle: PopProcess<Deltas<Item>>,
    signal?: AbortSignal,
  ): Promise<Deltas<Item>>;
}
