/**
 * What you wrote yourself, laid over a store that has not heard of it yet: `getByKey` and `byIndex` give the
 * newer of both, by resourceVersion. A bounded number of objects for a bounded time; so it is never certain
 * that your write is seen, only that nothing older than the store is.
 *
 * Call `onAddOrUpdate` and `onDelete` from the handlers of the informer that feeds the store. Then what the
 * store has caught up with is dropped at once, and a write whose answer arrives after the object's deletion
 * was seen is not laid over it: a deletion leaves a mark with its uid and resourceVersion.
 */
import { realClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { KubeloomError } from '../errors.ts';
import { accessor } from '../kube/meta.ts';
import { compareResourceVersions } from '../kube/resource-version.ts';
import { ExpiringLru } from './expiring-lru.ts';
import { metaNamespaceKeyFunc } from './keys.ts';
import type { IndexerReader, IndexValuesFunctions, StoreReader } from './store.ts';
import { isTombstone } from './tombstone.ts';
import type { Tombstone } from './tombstone.ts';

export interface MutationCacheOptions<Item> {
  /** Where `byIndex` looks. */
  readonly indexer?: Pick<
    IndexerReader<Item, IndexValuesFunctions<Item>>,
    'indexKeys' | 'getByKey' | 'getIndexers'
  >;
  /** How long a write is remembered, 5 minutes by default. */
  readonly ttlMs?: number;
  /**
   * Also give what the store has nothing of: just added, or deleted since. Only if your use can stand an object
   * that is gone for up to `ttlMs`; it happens when an add and a delete follow each other so fast that the
   * informer saw neither.
   */
  readonly includeAdds?: boolean;
  /** Objects, 100 by default. The least recently used one makes room. */
  readonly sizeMax?: number;
  readonly clock?: Clock;
}

/** What is known of one key. */
type Overlay<Item> =
  | { readonly kind: 'written'; readonly item: Item; readonly uid: string; readonly version: string }
  | { readonly kind: 'deleted'; readonly uid: string; readonly version: string };

const TTL_MS = 5 * 60 * 1000;
const SIZE_MAX = 100;

export class MutationCache<Item> {
  readonly #store: Pick<StoreReader<Item>, 'getByKey'>;
  readonly #indexer: MutationCacheOptions<Item>['indexer'];
  readonly #includeAdds: boolean;
  readonly #overlays: ExpiringLru<Overlay<Item>>;

  constructor(store: Pick<StoreReader<Item>, 'getByKey'>, options: MutationCacheOptions<Item> = {}) {
    const { indexer, ttlMs = TTL_MS, includeAdds = false, sizeMax = SIZE_MAX, clock = realClock } = options;
    this.#store = store;
    this.#indexer = indexer;
    this.#includeAdds = includeAdds;
    this.#overlays = new ExpiringLru(sizeMax, ttlMs, clock);
  }

  /** The newer of the store's and your own. What the store has not is absent, unless `includeAdds`. */
  getByKey(key: string): Item | undefined {
    const stored = this.#store.getByKey(key);
    if (stored !== undefined) return this.#newer(key, stored);
    const overlay = this.#includeAdds ? this.#overlays.get(key) : undefined;
    return overlay?.kind === 'written' ? overlay.item : undefined;
  }

  /**
   * The newer of each; with `includeAdds` also your own that the indexer has not under this value.
   *
   * @throws ERR_KUBELOOM_NO_INDEXER when none was given, ERR_KUBELOOM_NO_INDEX
   */
  byIndex(indexName: string, value: string): Item[] {
    if (!this.#indexer) {
      throw new KubeloomError(
        'ERR_KUBELOOM_NO_INDEXER',
        'no indexer has been provided to the mutation cache',
      );
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
   * Tells it what a write of yours gave. Refused when something newer is known, or the deletion of this very
   * object.
   *
   * @throws ERR_KUBELOOM_KEY, ERR_KUBELOOM_RESOURCE_VERSION for one that is not decimal
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

  /** From a handler: the store has this now. Your own, if it is not newer, is not needed any more. */
  onAddOrUpdate(item: Item): void {
    const key = metaNamespaceKeyFunc(item);
    const known = this.#overlays.get(key);
    if (known && compareVersions(stateOf(item).version, known.version) >= 0) this.#overlays.delete(key);
  }

  /**
   * From a handler: this was deleted. Your own goes if it is the same object, or not newer. A tombstone counts
   * as the last state that was seen; one without any says too little, and changes nothing.
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

  /** A mark of a deletion is older than whatever the store has: the store lost the object before it got this. */
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

/** What has no resourceVersion is older than everything, as in client-go. */
function compareVersions(a: string, b: string): number {
  return compareResourceVersions(a === '' ? '0' : a, b === '' ? '0' : b);
}
