/**
 * One handler and everything it has not been told yet. A slow handler delays only itself: its ring is
 * unbounded, its pending entries keep their bytes, and both are counted.
 */
import type { Delivery, DeliveryCursor } from '../store/deliveries.ts';
import { DeletedFinalStateUnknown } from '../store/entry.ts';
import type { Entry } from '../store/entry.ts';
import { GrowingRing } from './growing-ring.ts';
import type { HandlerBacklog, ResourceEventHandler } from './handler.ts';

/** What a listener's ring holds in its first place: a cursor, or the old entry of a single notification. */
type Pending = Entry | DeliveryCursor;

type State =
  | { readonly kind: 'ready' }
  /** The promise of a call is open. */
  | { readonly kind: 'awaiting' }
  | { readonly kind: 'removed' };

export interface ListenerOptions {
  readonly handler: ResourceEventHandler<unknown>;
  readonly isStrict: boolean;
  /** The stack of the registration, for messages. */
  readonly registeredAt: string;
  readonly onError: (error: unknown, key: string, registeredAt: string) => void;
  /** A promise was settled: deliveries can go on. */
  readonly onReady: () => void;
  /** The initial list was delivered and all its calls have returned. */
  readonly onSynced: () => void;
}

export class ProcessorListener {
  readonly #options: ListenerOptions;
  readonly #ring: GrowingRing<Pending, Entry> = new GrowingRing();
  #state: State = { kind: 'ready' };
  #pendingBytes = 0;
  /** Those that are in the ring. */
  readonly #cursors: Set<DeliveryCursor> = new Set();
  /** The cursor of the initial list while it is being delivered. */
  #initial: DeliveryCursor | undefined;
  #hasInitial = false;
  #running: Promise<unknown> | undefined;
  /** Whether a resync is due, or none was ever decided: updates without change are delivered then (C12). */
  isSyncing = true;
  readonly #delivery: Delivery = {
    oldEntry: undefined,
    newEntry: undefined,
    isInInitialList: false,
    isFinalStateUnknown: false,
  };

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** A change was committed. Runs no user code. */
  push(oldEntry: Entry | undefined, newEntry: Entry | undefined): void {
    if (this.#state.kind === 'removed') return;
    oldEntry?.hold();
    newEntry?.hold();
    this.#pendingBytes += (newEntry ?? oldEntry)?.length ?? 0;
    this.#ring.push(oldEntry, newEntry);
  }

  pushCursor(cursor: DeliveryCursor, isInitial: boolean): void {
    if (this.#state.kind === 'removed') {
      cursor.close();
      return;
    }
    if (isInitial) {
      this.#initial = cursor;
      this.#hasInitial = true;
    }
    this.#cursors.add(cursor);
    this.#ring.push(cursor, undefined);
  }

  get hasSynced(): boolean {
    return this.#hasInitial && this.#initial === undefined;
  }

  get isReady(): boolean {
    return this.#state.kind === 'ready' && this.#ring.length > 0;
  }

  get pendingNotifications(): number {
    return this.#ring.length;
  }

  get backlog(): HandlerBacklog {
    let notifications = this.#ring.length - this.#cursors.size;
    let bytes = this.#pendingBytes;
    for (const cursor of this.#cursors) {
      notifications += cursor.remaining;
      bytes += cursor.heldBytes;
    }
    return { notifications, bytes };
  }

  /** The call in progress, if any. */
  get running(): Promise<unknown> | undefined {
    return this.#running;
  }

  get registeredAt(): string {
    return this.#options.registeredAt;
  }

  /** Calls the handler up to `count` times; returns how many calls were made, or notifications skipped. */
  deliver(count: number): number {
    let calls = 0;
    while (calls < count && this.isReady) {
      if (!this.#take()) continue;
      calls++;
      this.#call();
    }
    return calls;
  }

  /** Drops everything that is pending; the call in progress finishes. */
  remove(): void {
    this.#state = { kind: 'removed' };
    while (this.#ring.length > 0) {
      const first = this.#ring.first;
      if (isCursor(first)) first.close();
      else first?.letGo();
      this.#ring.second?.letGo();
      this.#ring.shift();
    }
    this.#pendingBytes = 0;
    this.#cursors.clear();
  }

  /** Moves the next notification into `#delivery`; false when a cursor turned out to be at its end. */
  #take(): boolean {
    const first = this.#ring.first;
    const delivery = this.#delivery;
    if (isCursor(first)) {
      if (first.next(delivery)) return true;
      this.#ring.shift();
      this.#cursors.delete(first);
      if (this.#initial === first) {
        this.#initial = undefined;
        this.#options.onSynced();
      }
      return false;
    }
    delivery.oldEntry = first;
    delivery.newEntry = this.#ring.second;
    delivery.isInInitialList = false;
    delivery.isFinalStateUnknown = false;
    this.#pendingBytes -= (delivery.newEntry ?? first)?.length ?? 0;
    this.#ring.shift();
    return true;
  }

  #call(): void {
    const { oldEntry, newEntry } = this.#delivery;
    const { isStrict } = this.#options;
    if (isStrict) {
      oldEntry?.owner.lend(oldEntry);
      newEntry?.owner.lend(newEntry);
    }
    try {
      const result = this.#invoke();
      if (isThenable(result)) {
        this.#await(result, oldEntry, newEntry);
        return;
      }
    } catch (error) {
      this.#report(error, oldEntry, newEntry);
    }
    this.#finish(oldEntry, newEntry);
  }

  #invoke(): unknown {
    const { handler } = this.#options;
    const { oldEntry, newEntry, isInInitialList, isFinalStateUnknown } = this.#delivery;
    if (newEntry && oldEntry) return handler.onUpdate?.(oldEntry, newEntry);
    if (newEntry) return handler.onAdd?.(newEntry, isInInitialList);
    if (!oldEntry) return undefined;
    return handler.onDelete?.(isFinalStateUnknown ? new DeletedFinalStateUnknown(oldEntry) : oldEntry);
  }

  #await(result: PromiseLike<unknown>, oldEntry: Entry | undefined, newEntry: Entry | undefined): void {
    // The handler may have removed itself before it returned its promise.
    if (this.#state.kind === 'ready') this.#state = { kind: 'awaiting' };
    this.#running = Promise.resolve(result)
      .catch((error: unknown) => this.#report(error, oldEntry, newEntry))
      .finally(() => {
        this.#running = undefined;
        this.#finish(oldEntry, newEntry);
        if (this.#state.kind === 'awaiting') this.#state = { kind: 'ready' };
        this.#options.onReady();
      });
  }

  #finish(oldEntry: Entry | undefined, newEntry: Entry | undefined): void {
    const { isStrict, registeredAt } = this.#options;
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

function isCursor(pending: Pending | undefined): pending is DeliveryCursor {
  return pending !== undefined && 'remaining' in pending;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
