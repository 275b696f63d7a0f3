/**
 * A store whose items expire: `newTTLStore`, or a store with any other policy. There are no timers: a read checks an
 * item and removes it if it expired. Keys and size therefore include expired items that were not read since.
 */
import { realClock } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { resourceVersionOf } from '../../kube/meta-shape.ts';
import { keyOf } from '../../kube/keys.ts';
import type { KeyFunction, Store } from '../../kube/store.ts';

/** An object and the time at which it was stored. */
export interface TimestampedEntry<Item> {
  /** Result of the key function of the cache. */
  readonly key: string;
  /** The stored object itself, not a copy. */
  readonly object: Item;
  /** Time of the write, by the clock of the cache. */
  readonly timestampMs: number;
}

/** Decides when an object expires. */
export interface ExpirationPolicy<Item> {
  /** Returns whether the entry is expired. Every read of the entry calls it; an expired entry is removed. */
  isExpired(entry: TimestampedEntry<Item>): boolean;
}

/**
 * Expires items older than `ttlMs`; an item of exactly that age is still valid. If `ttlMs` is 0 or less, items never
 * expire.
 */
export class TTLPolicy implements ExpirationPolicy<unknown> {
  /** Greatest age of a valid item, in milliseconds. 0 or less: items never expire. */
  readonly ttlMs: number;
  readonly #clock: Clock;

  constructor(ttlMs: number, clock: Clock = realClock) {
    this.ttlMs = ttlMs;
    this.#clock = clock;
  }

  /** Returns whether the entry is older than `ttlMs`, by the policy's clock. */
  isExpired({ timestampMs }: TimestampedEntry<unknown>): boolean {
    return this.ttlMs > 0 && this.#clock.now() - timestampMs > this.ttlMs;
  }
}

/** Creates a store whose objects expire after a time. */
export function newTTLStore<Item>(
  keyFunction: KeyFunction<Item>,
  ttlMs: number,
  clock: Clock = realClock,
): ExpirationCache<Item> {
  return new ExpirationCache(keyFunction, new TTLPolicy(ttlMs, clock), clock);
}

/** client-go's store whose objects expire. */
export class ExpirationCache<Item> implements Store<Item> {
  readonly #keyFunction: KeyFunction<Item>;
  readonly #policy: ExpirationPolicy<Item>;
  readonly #clock: Clock;
  #entries: Map<string, TimestampedEntry<Item>> = new Map();
  #resourceVersion = '';

  constructor(keyFunction: KeyFunction<Item>, policy: ExpirationPolicy<Item>, clock: Clock = realClock) {
    this.#keyFunction = keyFunction;
    this.#policy = policy;
    this.#clock = clock;
  }

  /** Stores the item with age 0 and takes over the item's resourceVersion. @throws ERR_KUBELOOM_KEY */
  add(item: Item): void {
    const key = keyOf(this.#keyFunction, item);
    this.#entries.set(key, { key, object: item, timestampMs: this.#clock.now() });
    this.#moveTo(resourceVersionOf(item));
  }

  /** Stores the item as `add` does: the age begins at 0 again. */
  update(item: Item): void {
    this.add(item);
  }

  /**
   * Deletes the item with the key of this item, if it is stored, and takes over this item's resourceVersion.
   *
   * @throws ERR_KUBELOOM_KEY
   */
  delete(item: Item): void {
    this.#entries.delete(keyOf(this.#keyFunction, item));
    this.#moveTo(resourceVersionOf(item));
  }

  /** Replaces all items, or none if an item has no key. */
  replace(items: readonly Item[], resourceVersion: string): void {
    const timestampMs = this.#clock.now();
    const entries = new Map<string, TimestampedEntry<Item>>();
    for (const object of items) {
      const key = keyOf(this.#keyFunction, object);
      entries.set(key, { key, object, timestampMs });
    }
    this.#entries = entries;
    this.#moveTo(resourceVersion);
  }

  /** No effect: only queues resync. */
  resync(): void {}

  /** Records that the server sent every change up to this version. */
  bookmark(resourceVersion: string): void {
    this.#moveTo(resourceVersion);
  }

  /** Returns the items that have not expired and removes the others. */
  list(): Item[] {
    const items: Item[] = [];
    for (const entry of this.#entries.values()) {
      if (!this.#expires(entry)) items.push(entry.object);
    }
    return items;
  }

  /** Returns all keys, also the keys of expired items that were not read since. */
  listKeys(): string[] {
    return [...this.#entries.keys()];
  }

  /**
   * Returns the stored item with the key of this item; undefined if it is absent or expired.
   *
   * @throws ERR_KUBELOOM_KEY
   */
  get(item: Item): Item | undefined {
    return this.getByKey(keyOf(this.#keyFunction, item));
  }

  /** Returns the item of this key; undefined if it is absent or expired. */
  getByKey(key: string): Item | undefined {
    const entry = this.#entries.get(key);
    return entry && !this.#expires(entry) ? entry.object : undefined;
  }

  /** Number of items, including expired items that were not read since. */
  get size(): number {
    return this.#entries.size;
  }

  /**
   * Returns the version of the last write or bookmark, which may be lower than an earlier version; '' before the first.
   */
  lastStoreSyncResourceVersion(): string {
    return this.#resourceVersion;
  }

  /** Returns whether the entry expired, and removes an expired entry. */
  #expires(entry: TimestampedEntry<Item>): boolean {
    const isExpired = this.#policy.isExpired(entry);
    if (isExpired) this.#entries.delete(entry.key);
    return isExpired;
  }

  #moveTo(resourceVersion: string | undefined): void {
    if (resourceVersion !== undefined) this.#resourceVersion = resourceVersion;
  }
}
