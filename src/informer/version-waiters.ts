/**
 * Waits until the cache has reached a resourceVersion: read-your-writes. The waits are sorted by version, so a new
 * version of the store costs one comparison for any number of waits. Waits with the same signal share one listener.
 */
import { KubeloomError } from '../base/errors.ts';
import {
  compareResourceVersions,
  isComparableResourceVersion,
  wantComparable,
} from '../kube/resource-version.ts';
import { onAbort } from '../base/on-abort.ts';

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
  /** Oldest version first. A new waiter usually has the newest version. */
  #sorted: Waiter[] = [];
  readonly #bySignal: Map<AbortSignal, Signalled> = new Map();
  /** Version of the store at the last call. */
  #current = '';
  #closedWith: KubeloomError | undefined;

  /** @param informer name in messages */
  constructor(informer: string) {
    this.#informer = informer;
  }

  get size(): number {
    return this.#sorted.length;
  }

  /**
   * Resolves when the store has this version or a newer one.
   *
   * @param current current version of the store, '' before its first list
   * @param signal rejects the wait with its reason, unless the version has been reached by then
   */
  wait(resourceVersion: string, current: string, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      // An error that is thrown here rejects the promise.
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

  /** Resolves the waits that the current version of the store satisfies. */
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

  /** Rejects all waits, because the store does not change any more. */
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
      `the server of ${this.#informer} has resourceVersions without an order ("${this.#current}"): the informer cannot ` +
        'detect when the cache has reached one; compare the objects instead',
    );
  }

  #insert(waiter: Waiter): void {
    this.#sorted.splice(this.#countUpTo(waiter.resourceVersion), 0, waiter);
  }

  /** Number of waits for this version or an older one. */
  #countUpTo(resourceVersion: string): number {
    let low = 0;
    let high = this.#sorted.length;
    // Most waits arrive in the order of versions.
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

  /** Ends the first `count` waits. */
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
