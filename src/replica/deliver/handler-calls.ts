/**
 * Calls one handler, one notification at a time: the handler borrows the entries during the call, a promise is awaited,
 * and a thrown error is reported. The handler is never called while `isBusy`.
 */
import type { Clock } from '../../base/clock.ts';
import type { Delivery } from '../store/deliveries.ts';
import { DeletedFinalStateUnknown } from '../store/entry.ts';
import type { Entry } from '../store/entry.ts';
import type { ResourceEventHandler } from './handler.ts';
import type { SlowHandler } from './slow-handler.ts';

export interface HandlerCallsOptions {
  readonly handler: ResourceEventHandler<unknown>;
  readonly isStrict: boolean;
  /** Stack trace of the registration, for messages. */
  readonly registeredAt: string;
  readonly clock: Clock;
  readonly onError: (error: unknown, key: string, registeredAt: string) => void;
}

/** `inside`: the handler is on the stack. `awaiting`: the promise that it returned is pending. */
type Call = 'none' | 'inside' | 'awaiting';

export class HandlerCalls {
  readonly #options: HandlerCallsOptions;
  /** Called when the promise of a call has settled. */
  readonly #onSettled: () => void;
  readonly #slow: SlowHandler;
  #call: Call = 'none';

  constructor(options: HandlerCallsOptions, slow: SlowHandler, onSettled: () => void) {
    this.#options = options;
    this.#onSettled = onSettled;
    this.#slow = slow;
  }

  get isBusy(): boolean {
    return this.#call !== 'none';
  }

  /** True while the handler runs synchronously: before it returns or awaits anything. */
  get isInside(): boolean {
    return this.#call === 'inside';
  }

  /** @param isBehind true when the handler is so far behind that its call is timed */
  call({ oldEntry, newEntry, isInInitialList, isFinalStateUnknown }: Delivery, isBehind: boolean): void {
    const { handler, isStrict, clock } = this.#options;
    if (isStrict) {
      oldEntry?.owner.borrow(oldEntry);
      newEntry?.owner.borrow(newEntry);
    }
    const startMs = isBehind ? clock.now() : -1;
    this.#call = 'inside';
    try {
      let result: unknown;
      if (newEntry && oldEntry) result = handler.onUpdate?.(oldEntry, newEntry);
      else if (newEntry) result = handler.onAdd?.(newEntry, isInInitialList);
      else if (oldEntry) {
        result = handler.onDelete?.(isFinalStateUnknown ? new DeletedFinalStateUnknown(oldEntry) : oldEntry);
      }
      if (isThenable(result)) {
        this.#call = 'awaiting';
        void this.#await(result, oldEntry, newEntry, startMs);
        return;
      }
    } catch (error) {
      this.#report(error, oldEntry, newEntry);
    }
    this.#finish(oldEntry, newEntry, startMs);
  }

  async #await(
    result: PromiseLike<unknown>,
    oldEntry: Entry | undefined,
    newEntry: Entry | undefined,
    startMs: number,
  ): Promise<void> {
    try {
      await result;
    } catch (error) {
      this.#report(error, oldEntry, newEntry);
    }
    this.#finish(oldEntry, newEntry, startMs);
    this.#onSettled();
  }

  #finish(oldEntry: Entry | undefined, newEntry: Entry | undefined, startMs: number): void {
    const { isStrict, registeredAt } = this.#options;
    if (startMs >= 0) this.#slow.ended(startMs);
    this.#call = 'none';
    if (isStrict) {
      oldEntry?.owner.endBorrow(oldEntry, registeredAt);
      newEntry?.owner.endBorrow(newEntry, registeredAt);
    }
    oldEntry?.dropReference();
    newEntry?.dropReference();
  }

  /** Reports what a handler threw. The next notification is delivered as usual. */
  #report(error: unknown, oldEntry: Entry | undefined, newEntry: Entry | undefined): void {
    this.#options.onError(error, (newEntry ?? oldEntry)?.key ?? '', this.#options.registeredAt);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
