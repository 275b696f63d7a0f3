/**
 * The caller's own writes, laid over a store that receives them later. `getByKey` and `byIndex` return the newer
 * version of an object. The cache holds a bounded number of objects for a bounded time. So a write may be missing from
 * a result, but a result is never older than the store.
 *
 * Call `onAddOrUpdate` and `onDelete` from the handlers of the informer that feeds the store. The cache then drops a
 * write as soon as the store contains it. A deletion leaves a mark with the object's uid and resourceVersion; so a
 * write whose response arrives after the deletion event is ignored.
 */
import { realClock } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { KubeloomError } from '../../base/errors.ts';
import { clock as aClock, flag, having, integer, number, checkOptions } from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import { accessor } from '../../kube/meta.ts';
import { compareResourceVersions } from '../../kube/resource-version.ts';
import { metaNamespaceKeyFunc } from '../../kube/keys.ts';
import type { IndexerReader, IndexValuesFunctions, StoreReader } from '../../kube/store.ts';
import { isTombstone } from '../../kube/tombstone.ts';
import type { Tombstone } from '../../kube/tombstone.ts';

/** Options of a mutation cache. */
export interface MutationCacheOptions<Item> {
  /** The indexer that `byIndex` reads. */
  readonly indexer?: Pick<
    IndexerReader<Item, IndexValuesFunctions<Item>>,
    'indexKeys' | 'getByKey' | 'getIndexers'
  >;
  /** How long a write is kept. Default: 5 minutes. */
  readonly ttlMs?: number;
  /**
   * Also return objects that the store does not contain: just added, or deleted since. Use it only if a deleted object
   * may appear for up to `ttlMs`. This happens when an add and a delete follow so closely that the informer sees
   * neither.
   */
  readonly includeAdds?: boolean;
  /** Maximum number of objects. Default: 100. The least recently used object is evicted. */
  readonly sizeMax?: number;
  /** Clock of `ttlMs`. Default: the real clock. */
  readonly clock?: Clock;
}

/** State of a key. */
type Overlay<Item> =
  | { readonly kind: 'written'; readonly item: Item; readonly uid: string; readonly version: string }
  | { readonly kind: 'deleted'; readonly uid: string; readonly version: string };

const TTL_MS = 5 * 60 * 1000;
const SIZE_MAX = 100;

const CHECKS: OptionChecks<MutationCacheOptions<unknown>> = {
  indexer: having('an indexer', 'indexKeys', 'getByKey', 'getIndexers'),
  ttlMs: number(0),
  includeAdds: flag,
  sizeMax: integer(1),
  clock: aClock,
};

/** A view of a store that already contains the program's own writes. */
export class MutationCache<Item> {
  readonly #store: Pick<StoreReader<Item>, 'getByKey'>;
  readonly #indexer: MutationCacheOptions<Item>['indexer'];
  readonly #includeAdds: boolean;
  readonly #overlays: ExpiringLru<Overlay<Item>>;

  /** @throws ERR_KUBELOOM_OPTION */
  constructor(store: Pick<StoreReader<Item>, 'getByKey'>, options: MutationCacheOptions<Item> = {}) {
    having('a store with getByKey()', 'getByKey')('store', store);
    checkOptions('options of a mutation cache', options, CHECKS);
    const { indexer, ttlMs = TTL_MS, includeAdds = false, sizeMax = SIZE_MAX, clock = realClock } = options;
    this.#store = store;
    this.#indexer = indexer;
    this.#includeAdds = includeAdds;
    this.#overlays = new ExpiringLru(sizeMax, ttlMs, clock);
  }

  /**
   * Returns the newer of the store's object and the caller's own. Without `includeAdds`, undefined if the store does
   * not contain the object.
   */
  getByKey(key: string): Item | undefined {
    const stored = this.#store.getByKey(key);
    if (stored !== undefined) return this.#newer(key, stored);
    const overlay = this.#includeAdds ? this.#overlays.get(key) : undefined;
    return overlay?.kind === 'written' ? overlay.item : undefined;
  }

  /**
   * Returns the newer version of each object; with `includeAdds` also own writes that the indexer does not list under
   * this value.
   *
   * @throws ERR_KUBELOOM_NO_INDEX if no indexer was given, or the indexer has no such index
   */
  byIndex(indexName: string, value: string): Item[] {
    if (!this.#indexer) {
      const message = 'the mutation cache has no indexer: pass the option `indexer`';
      throw new KubeloomError('ERR_KUBELOOM_NO_INDEX', message);
    }
    const items: Item[] = [];
    const keys = new Set(this.#indexer.indexKeys(indexName, value));
    for (const key of keys) {
      const stored = this.#indexer.getByKey(key);
      if (stored !== undefined) items.push(this.#newer(key, stored));
    }
    return this.#includeAdds ? [...items, ...this.#ownByIndex(indexName, value, keys)] : items;
  }

  /**
   * Records the result of a write. Ignores it when a newer version, or the deletion of this very object, is
   * known.
   *
   * @throws ERR_KUBELOOM_KEY, ERR_KUBELOOM_RESOURCE_VERSION for a resourceVersion that is not decimal
   */
  mutation(item: Item): void {
    const key = metaNamespaceKeyFunc(item);
    const written = { kind: 'written', item, ...stateOf(item) } as const;
    const known = this.#overlays.get(key);
    if (known) {
      const order = compareVersions(written.version, known.version);
      if (order < 0) return;
      if (known.kind === 'deleted' && (order === 0 || known.uid === written.uid)) return;
    }
    this.#overlays.set(key, written);
  }

  /** Call it from a handler when the store contains this object. Drops the own write unless the own write is newer. */
  onAddOrUpdate(item: Item): void {
    const key = metaNamespaceKeyFunc(item);
    const known = this.#overlays.get(key);
    if (known && compareVersions(stateOf(item).version, known.version) >= 0) this.#overlays.delete(key);
  }

  /**
   * Call it from a handler when this object was deleted. Drops the own write if the write is of the same object or not
   * newer. A tombstone counts as the last known state; a tombstone without a state is ignored.
   */
  onDelete(deleted: Item | Tombstone<Item>): void {
    const last = isTombstone(deleted) ? deleted.object : deleted;
    if (last === undefined) return;
    const key = isTombstone(deleted) ? deleted.key : metaNamespaceKeyFunc(last);
    const { uid, version } = stateOf(last);
    const known = this.#overlays.get(key);
    if (known && known.uid !== uid && compareVersions(version, known.version) < 0) return;
    this.#overlays.set(key, { kind: 'deleted', uid, version });
  }

  /**
   * Returns the newer version. A deletion mark is older than any object in the store: the store lost the object before
   * the mark was made.
   */
  #newer(key: string, stored: Item): Item {
    const known = this.#overlays.get(key);
    if (!known) return stored;
    if (known.kind === 'written' && compareVersions(stateOf(stored).version, known.version) < 0) {
      return known.item;
    }
    this.#overlays.delete(key);
    return stored;
  }

  #ownByIndex(indexName: string, value: string, except: ReadonlySet<string>): Item[] {
    const valuesOf = this.#indexer?.getIndexers()[indexName];
    if (!valuesOf) return [];
    const items: Item[] = [];
    for (const [key, overlay] of this.#overlays.entries()) {
      if (overlay.kind === 'deleted' || except.has(key)) continue;
      if (valuesOf(overlay.item).includes(value)) items.push(overlay.item);
    }
    return items;
  }
}

function stateOf(item: unknown): { readonly uid: string; readonly version: string } {
  const { uid, resourceVersion } = accessor(item);
  return { uid, version: resourceVersion };
}

/** Compares resourceVersions. A missing version is older than every other, as in client-go. */
function compareVersions(a: string, b: string): number {
  return compareResourceVersions(a === '' ? '0' : a, b === '' ? '0' : b);
}

interface Timed<Value> {
  readonly value: Value;
  readonly expiresAtMs: number;
}

/** A bounded map whose values expire. When it is full, the least recently used value is evicted. */
class ExpiringLru<Value> {
  readonly #clock: Clock;
  readonly #sizeMax: number;
  readonly #ttlMs: number;
  /** Entries, the least recently used first. */
  readonly #entries: Map<string, Timed<Value>> = new Map();

  constructor(sizeMax: number, ttlMs: number, clock: Clock) {
    this.#sizeMax = sizeMax;
    this.#ttlMs = ttlMs;
    this.#clock = clock;
  }

  /** Stores the value; the age begins at 0 again. */
  set(key: string, value: Value): void {
    this.#touch(key, { value, expiresAtMs: this.#clock.now() + this.#ttlMs });
    if (this.#entries.size <= this.#sizeMax) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    if (this.#clock.now() > entry.expiresAtMs) {
      this.#entries.delete(key);
      return undefined;
    }
    this.#touch(key, entry);
    return entry.value;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  /** Returns the unexpired entries, the least recently used first. It does not count as a use. */
  entries(): [key: string, value: Value][] {
    const now = this.#clock.now();
    const fresh: [string, Value][] = [];
    for (const [key, { value, expiresAtMs }] of this.#entries) {
      if (now <= expiresAtMs) fresh.push([key, value]);
    }
    return fresh;
  }

  #touch(key: string, entry: Timed<Value>): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }
}
