/**
 * client-go's synctrack: trackers for programs that pass an informer's events on to asynchronous work and need to know
 * when the initial list is processed, and lazy values.
 *
 * Call `start` in `onAdd` when `isInInitialList`, `finished` when the item is processed, and `upstreamHasSynced` once
 * when the registration is synced.
 */
import type { DoneChecker } from '../../base/done-checker.ts';
import { KubeloomError } from '../../base/errors.ts';

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

  /** Number of items that were started and are not finished. */
  protected abstract get waiting(): number;

  get isDone(): boolean {
    return this.#isDone;
  }

  get reason(): string {
    if (this.#isDone) return '';
    if (!this.#hasUpstreamSynced) return 'upstream has not synced';
    return `${this.waiting} items of the initial list are not finished`;
  }

  /** Returns true when all items are processed. Once true, it stays true. */
  hasSynced(): boolean {
    return this.#isDone;
  }

  /** Call it after the last `start`. */
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

/** Counts items that are processed in order, for example from a queue. */
export class SingleFileTracker extends SyncTracker {
  #waiting = 0;

  /** Number of items that were started and are not finished. */
  protected override get waiting(): number {
    return this.#waiting;
  }

  /** Counts an item of the initial list. Call it in `onAdd`, before `upstreamHasSynced`. */
  start(): void {
    this.#waiting++;
  }

  /** Counts an item as processed. @throws ERR_KUBELOOM_NOT_STARTED if no call of `start` is unfinished */
  finished(): void {
    if (this.#waiting === 0) {
      const message = `${this.name}: finished without a start before it`;
      throw new KubeloomError('ERR_KUBELOOM_NOT_STARTED', message);
    }
    this.#waiting--;
    this.check();
  }
}

/** Tracks items that are processed in any order, by key. Finishing an item that was never started has no effect. */
export class AsyncTracker<Key> extends SyncTracker {
  readonly #waiting: Set<Key> = new Set();

  /** Number of keys that were started and are not finished. */
  protected override get waiting(): number {
    return this.#waiting.size;
  }

  /** Records an item of the initial list. A key that is started twice counts once. */
  start(key: Key): void {
    this.#waiting.add(key);
  }

  /** Records that the item of this key is processed. A key that was not started changes no count. */
  finished(key: Key): void {
    this.#waiting.delete(key);
    this.check();
  }
}

/**
 * A value that is computed on demand, and again after a change: client-go's synctrack.Lazy, for an asynchronous
 * `evaluate`.
 */
export class Lazy<T> {
  readonly #evaluate: () => T | PromiseLike<T>;
  #current: Promise<T> | undefined;

  constructor(evaluate: () => T | PromiseLike<T>) {
    this.#evaluate = evaluate;
  }

  /**
   * Marks the value as outdated: the next `get` evaluates. Callers that wait for a running evaluation receive that
   * evaluation's result.
   */
  notify(): void {
    this.#current = undefined;
  }

  /** Returns the value. All callers between two changes share an evaluation. An error is not kept. */
  async get(): Promise<T> {
    if (this.#current) return this.#current;
    const start = async (): Promise<T> => this.#evaluate();
    const evaluation = start();
    this.#current = evaluation;
    try {
      return await evaluation;
    } catch (error) {
      // A change may already have started a newer evaluation.
      if (this.#current === evaluation) this.#current = undefined;
      throw error;
    }
  }
}
