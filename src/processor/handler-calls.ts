/**
 * Calls of one handler, one at a time: entries are lent for the call, a promise is awaited, and what is thrown
 * is reported. The handler is never called while `isBusy`.
 */
import type { Clock } from '../clock.ts';
import type { Delivery } from '../store/deliveries.ts';
import { DeletedFinalStateUnknown } from '../store/entry.ts';
import type { Entry } from '../store/entry.ts';
import type { ResourceEventHandler } from './handler.ts';
import type { SlowHandler } from './slow-handler.ts';

export interface HandlerCallsOptions {
  readonly handler: ResourceEventHandler<unknown>;
  readonly isStrict: boolean;
  /** The stack of the registration, for messages. */
  readonly registeredAt: string;
  readonly clock: Clock;
  readonly onError: (error: unknown, key: string, registeredAt: string) => void;
}

/** The handler itself is on the stack, or the promise of a call is open. */
type Call = 'none' | 'inside' | 'awaiting';

export class HandlerCalls {
  readonly #options: HandlerCallsOptions;
  /** The promise of a call was settled. */
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

  /** Whoever asks was called by the handler, before it returned or awaited anything. */
  get isInside(): boolean {
    return this.#call === 'inside';
  }

  /** @param isBehind whether the handler is so far behind that its time is worth measuring */
  call({ oldEntry, newEntry, isInInitialList, isFinalStateUnknown }: Delivery, isBehind: boolean): void {
    const { handler, isStrict, clock } = this.#options;
    if (isStrict) {
      oldEntry?.owner.lend(oldEntry);
      newEntry?.owner.lend(newEntry);
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
      oldEntry?.owner.endLoan(oldEntry, registeredAt);
      newEntry?.owner.endLoan(newEntry, registeredAt);
    }
    oldEntry?.letGo();
    newEntry?.letGo();
  }

  /** A handler that throws is reported and skipped; the next notification comes as if it had not. */
  #report(error: unknown, oldEntry: Entry | undefined, newEntry: Entry | undefined): void {
    this.#options.onError(error, (newEntry ?? oldEntry)?.key ?? '', this.#options.registeredAt);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
