/**
 * Who waits until the cache has reached a resourceVersion: read-your-writes. Kept in the order of versions, so
 * that a new version of the store costs one comparison, however many wait; and with one listener for each
 * signal, however many share it.
 */
import { KubeloomError } from '../errors.ts';
import {
  compareResourceVersions,
  isComparableResourceVersion,
  wantComparable,
} from '../kube/resource-version.ts';
import { onAbort } from '../on-abort.ts';

interface Waiter {
  readonly resourceVersion: string;
  readonly signal: AbortSignal | undefined;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

interface Signalled {
  readonly waiters: Set<Waiter>;
  readonly unlisten: () => void;
}

export class VersionWaiters {
  readonly #informer: string;
  /** Oldest version first; new ones are usually the newest. */
  #sorted: Waiter[] = [];
  readonly #bySignal: Map<AbortSignal, Signalled> = new Map();
  /** The store's, as it was looked at last. */
  #current = '';
  #closedWith: KubeloomError | undefined;

  /** @param informer its name, for messages */
  constructor(informer: string) {
    this.#informer = informer;
  }

  get size(): number {
    return this.#sorted.length;
  }

  /**
   * @param current the version of the store now, '' before its first list
   * @param signal ends the wait with its reason; one that is aborted already does not undo what has come
   */
  wait(resourceVersion: string, current: string, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      // Throwing here rejects.
      wantComparable(resourceVersion);
      this.advance(current);
      if (this.#hasReached(resourceVersion)) return resolve();
      if (this.#closedWith) throw this.#closedWith;
      if (signal?.aborted) return reject(signal.reason as Error);
      if (this.#isWithoutOrder()) throw this.#noOrder();
      const waiter = { resourceVersion, signal, resolve, reject };
      this.#insert(waiter);
      if (signal) this.#listen(signal, waiter);
    });
  }

  /** The store may have another version. Cheap when it has not. */
  advance(current: string): void {
    if (current === this.#current) return;
    this.#current = current;
    if (this.#sorted.length === 0) return;
    if (this.#isWithoutOrder()) {
      this.#end(this.#sorted.length, (waiter) => waiter.reject(this.#noOrder()));
      return;
    }
    this.#end(this.#countUpTo(current), (waiter) => waiter.resolve());
  }

  /** The store will not change any more. */
  close(): void {
    this.#closedWith ??= new KubeloomError(
      'ERR_KUBELOOM_STOPPED',
      `${this.#informer} stopped before its cache reached the resourceVersion`,
    );
    const error = this.#closedWith;
    this.#end(this.#sorted.length, (waiter) => waiter.reject(error));
  }

  #hasReached(resourceVersion: string): boolean {
    if (this.#current === '' || this.#isWithoutOrder()) return false;
    return compareResourceVersions(this.#current, resourceVersion) >= 0;
  }

  #isWithoutOrder(): boolean {
    return this.#current !== '' && !isComparableResourceVersion(this.#current);
  }

  #noOrder(): KubeloomError {
    return new KubeloomError(
      'ERR_KUBELOOM_RESOURCE_VERSION',
      `the server of ${this.#informer} has resourceVersions without an order ("${this.#current}"): nobody can ` +
        'tell when the cache has reached one',
    );
  }

  #insert(waiter: Waiter): void {
    this.#sorted.splice(this.#countUpTo(waiter.resourceVersion), 0, waiter);
  }

  /** How many wait for this version or an older one. */
  #countUpTo(resourceVersion: string): number {
    let low = 0;
    let high = this.#sorted.length;
    // Waits mostly come in the order of versions.
    const last = this.#sorted[high - 1];
    if (!last || compareResourceVersions(last.resourceVersion, resourceVersion) <= 0) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const waiter = this.#sorted[middle];
      if (waiter && compareResourceVersions(waiter.resourceVersion, resourceVersion) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Ends the wait of the first `count`. */
  #end(count: number, end: (waiter: Waiter) => void): void {
    for (const waiter of this.#sorted.splice(0, count)) {
      if (waiter.signal) this.#forget(waiter.signal, waiter);
      end(waiter);
    }
  }

  #listen(signal: AbortSignal, waiter: Waiter): void {
    let signalled = this.#bySignal.get(signal);
    if (!signalled) {
      const waiters = new Set<Waiter>();
      const abort = (): void => this.#abort(signal, waiters);
      signalled = { waiters, unlisten: onAbort(signal, abort) };
      this.#bySignal.set(signal, signalled);
    }
    signalled.waiters.add(waiter);
  }

  #forget(signal: AbortSignal, waiter: Waiter): void {
    const signalled = this.#bySignal.get(signal);
    if (!signalled) return;
    signalled.waiters.delete(waiter);
    if (signalled.waiters.size > 0) return;
    this.#bySignal.delete(signal);
    signalled.unlisten();
  }

  #abort(signal: AbortSignal, aborted: ReadonlySet<Waiter>): void {
    this.#bySignal.delete(signal);
    this.#sorted = this.#sorted.filter((waiter) => !aborted.has(waiter));
    for (const waiter of aborted) waiter.reject(signal.reason as Error);
  }
}
