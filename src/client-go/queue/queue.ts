/**
 * A queue between a reflector and the loop that processes the changes. A single consumer pops; producers never wait.
 * `Popped` is the result of a pop: the deltas of a key, a single delta, or an object.
 */
import type { SignalOptions } from '../../base/signal-options.ts';
import type { ReflectorStore } from '../../kube/store.ts';
import type { DoneChecker } from '../../base/done-checker.ts';
import type { Deltas } from './delta.ts';
import { KubeloomError } from '../../base/errors.ts';

/**
 * Called with the popped value. `isInInitialList`: the value belongs to the first `replace`. `pop` awaits a
 * promise and rethrows an error; the popped value is removed in any case.
 */
export type PopProcess<Popped> = (popped: Popped, isInInitialList: boolean) => unknown;

/** A queue between a reflector and the consumer of the changes. */
export interface Queue<Item, Popped> extends ReflectorStore<Item> {
  /**
   * Waits for the next value, processes it and returns it.
   *
   * @throws ERR_KUBELOOM_QUEUE_CLOSED when the queue is closed and empty, the signal's reason when aborted
   */
  pop(process: PopProcess<Popped>, options?: SignalOptions): Promise<Popped>;
  /** Returns whether the items of the first `replace` have been processed, or a change came before any `replace`. */
  hasSynced(): boolean;
  /** The state of `hasSynced` for `waitFor`. */
  readonly hasSyncedChecker: DoneChecker;
  /** Rejects every waiting pop; queued values can still be popped. */
  close(): void;
}

/** A queue as before client-go v0.33: a popped value can be put back. */
export interface RequeueingQueue<Item, Popped> extends Queue<Item, Popped> {
  /** Puts a popped value back, at the end, unless the key is queued again. */
  addIfNotPresent(popped: Popped): void;
}

/** A queue that can pop several changes of different objects at once. */
export interface QueueWithBatch<Item> extends Queue<Item, Deltas<Item>> {
  /**
   * Waits for the next change, takes the changes that can be processed with it, processes and returns them. A single
   * change goes to `processSingle`. Throws as `pop` does.
   */
  popBatch(
    processBatch: PopProcess<Deltas<Item>>,
    processSingle: PopProcess<Deltas<Item>>,
    options?: SignalOptions,
  ): Promise<Deltas<Item>>;
}

/** client-go's ErrRequeue, as it was until v0.25: a process callback throws it to receive the item again. */
export class ErrRequeue extends KubeloomError {
  /** Always `ErrRequeue`. */
  override readonly name: string = 'ErrRequeue';

  /** `pop` throws `cause`, or succeeds if there is no cause. For FIFO and DeltaFIFO only. */
  constructor(cause?: unknown) {
    const message = 'the popped item should be requeued without returning an error';
    super('ERR_KUBELOOM_REQUEUE', cause instanceof Error ? cause.message : message, { cause });
  }
}
