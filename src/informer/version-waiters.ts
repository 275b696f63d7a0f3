/**
 * Waits for a resourceVersion of the cache: read-your-writes. The waits are sorted by version, so a new version of the
 * store costs a single comparison for any number of waits. Waits with the same signal share a listener.
 */
import { KubeloomError } from '../base/errors.ts';
import {
  compareResourceVersions,
  isComparableResourceVersion,
  checkComparable,
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
  /** Oldest version first. A new waiter usually brings the newest version. */
  #sorted: Waiter[] = [];
  readonly #bySignal: Map<AbortSignal, Signalled> = new Map();
  /** Version of the store at the last call. */
  #current = '';
  #closedWith: KubeloomError | undefined;

  constructor(informer: string) {
    this.#informer = informer;
  }

  get size(): number {
    return this.#sorted.length;
  }

  /**
   * Resolves when the store reaches this version or a later version.
   *
   * @param current current version of the store, '' before the first list
   * @param signal rejects the wait with the signal's reason, unless the version was reached first
   */
  wait(resourceVersion: string, current: string, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      // An error thrown here rejects the promise.
      checkComparable(resourceVersion);
      this.advance(current);
      const noOrder = this.#noOrder();
      if (current !== '' && !noOrder && compareResourceVersions(current, resourceVersion) >= 0)
        return resolve();
      if (this.#closedWith) throw this.#closedWith;
      if (signal?.aborted) return reject(signal.reason as Error);
      if (noOrder) throw noOrder;
      const waiter = { resourceVersion, signal, resolve, reject };
      this.#sorted.splice(this.#countUpTo(resourceVersion), 0, waiter);
      if (signal) this.#listen(signal, waiter);
    });
  }

  /** Resolves the waits that the current version of the store satisfies. */
  advance(current: string): void {
    if (current === this.#current) return;
    this.#current = current;
    if (this.#sorted.length === 0) return;
    const noOrder = this.#noOrder();
    if (noOrder) this.#end(this.#sorted.length, (waiter) => waiter.reject(noOrder));
    else this.#end(this.#countUpTo(current), (waiter) => waiter.resolve());
  }

  /** Rejects all waits, because the store no longer changes. */
  close(): void {
    const error = new KubeloomError(
      'ERR_KUBELOOM_STOPPED',
      `${this.#informer} stopped before the cache reached the resourceVersion`,
    );
    this.#closedWith = error;
    this.#end(this.#sorted.length, (waiter) => waiter.reject(error));
  }

  /** Returns an error if the server's versions cannot be compared. */
  #noOrder(): KubeloomError | undefined {
    if (this.#current === '' || isComparableResourceVersion(this.#current)) return undefined;
    return new KubeloomError(
      'ERR_KUBELOOM_RESOURCE_VERSION',
      `the server of ${this.#informer} sends resourceVersions without an order ("${this.#current}"): the informer cannot ` +
        'detect when the cache has reached a version; compare the objects instead',
    );
  }

  /** Number of waits for this version or an older version. */
  #countUpTo(resourceVersion: string): number {
    const isWithin = (waiter: Waiter | undefined): boolean =>
      !waiter || compareResourceVersions(waiter.resourceVersion, resourceVersion) <= 0;
    let low = 0;
    let high = this.#sorted.length;
    // Most waits arrive in the order of versions.
    if (isWithin(this.#sorted[high - 1])) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isWithin(this.#sorted[middle])) low = middle + 1;
      else high = middle;
    }
    return low;
  }

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
      signalled = { waiters, unlisten: onAbort(signal, () => this.#abort(signal, waiters)) };
      this.#bySignal.set(signal, signalled);
    }
    signalled.waiters.add(waiter);
  }

  #forget(signal: AbortSignal, waiter: Waiter): void {
    const signalled = this.#bySignal.get(signal);
    signalled?.waiters.delete(waiter);
    if (signalled?.waiters.size !== 0) return;
    this.#bySignal.delete(signal);
    signalled.unlisten();
  }

  #abort(signal: AbortSignal, aborted: ReadonlySet<Waiter>): void {
    this.#bySignal.delete(signal);
    this.#sorted = this.#sorted.filter((waiter) => !aborted.has(waiter));
    for (const waiter of aborted) waiter.reject(signal.reason as Error);
  }
}
