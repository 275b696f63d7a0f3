/**
 * For who passes an informer's events on to work of their own: whether everything of the initial list is
 * through. client-go's synctrack.
 *
 * Call `start` in `onAdd` when `isInInitialList`, `finished` when the item is through, and `upstreamHasSynced`
 * once when the registration has synced.
 */
import type { DoneChecker } from '../done-checker.ts';
import { KubeloomError } from '../errors.ts';

abstract class SyncTracker implements DoneChecker {
  readonly name: string;
  readonly done: Promise<void>;
  #resolve: () => void = () => undefined;
  #hasUpstreamSynced = false;
  #isDone = false;

  constructor(name: string) {
    this.name = name;
    this.done = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Items that were started and are not finished. */
  protected abstract get waiting(): number;

  get isDone(): boolean {
    return this.#isDone;
  }

  get reason(): string {
    if (this.#isDone) return '';
    if (!this.#hasUpstreamSynced) return 'upstream has not synced';
    return `${this.waiting} items of the initial list are not finished`;
  }

  /** Stays true. */
  hasSynced(): boolean {
    return this.#isDone;
  }

  /** After the last `start`. */
  upstreamHasSynced(): void {
    this.#hasUpstreamSynced = true;
    this.check();
  }

  protected check(): void {
    if (!this.#hasUpstreamSynced || this.waiting > 0 || this.#isDone) return;
    this.#isDone = true;
    this.#resolve();
  }
}

/** For items that are worked on in order, as by a queue: counts them. */
export class SingleFileTracker extends SyncTracker {
  #waiting = 0;

  protected override get waiting(): number {
    return this.#waiting;
  }

  start(): void {
    this.#waiting++;
  }

  /** @throws ERR_KUBELOOM_SYNC_TRACKER when there was no `start` for it */
  finished(): void {
    if (this.#waiting === 0) {
      throw new KubeloomError(
        'ERR_KUBELOOM_SYNC_TRACKER',
        `${this.name}: finished without a start before it`,
      );
    }
    this.#waiting--;
    this.check();
  }
}

/** For items that are worked on in any order: knows each. To finish one that was never started is no harm. */
export class AsyncTracker<Key> extends SyncTracker {
  readonly #waiting: Set<Key> = new Set();

  protected override get waiting(): number {
    return this.#waiting.size;
  }

  start(key: Key): void {
    this.#waiting.add(key);
  }

  finished(key: Key): void {
    this.#waiting.delete(key);
    this.check();
  }
}
