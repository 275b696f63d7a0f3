/**
 * A store whose items expire: `newTTLStore`, or any policy. An item is looked at when it is asked for, and only
 * then thrown away: there are no timers. Keys and size count what has expired and was not asked for since.
 */
import { realClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { resourceVersionOf } from '../kube/meta-shape.ts';
import { keyOf } from './keys.ts';
import type { KeyFunction, Store } from './store.ts';

export interface TimestampedEntry<Item> {
  readonly key: string;
  readonly object: Item;
  /** When it was put in, by the clock of the cache. */
  readonly timestampMs: number;
}

export interface ExpirationPolicy<Item> {
  isExpired(entry: TimestampedEntry<Item>): boolean;
}

/** Older than `ttlMs` is expired, exactly as old is not; with 0 or less nothing ever is. */
export class TTLPolicy implements ExpirationPolicy<unknown> {
  readonly ttlMs: number;
  readonly #clock: Clock;

  constructor(ttlMs: number, clock: Clock = realClock) {
    this.ttlMs = ttlMs;
    this.#clock = clock;
  }

  isExpired({ timestampMs }: TimestampedEntry<unknown>): boolean {
    return this.ttlMs > 0 && this.#clock.now() - timestampMs > this.ttlMs;
  }
}

export function newTTLStore<Item>(
  keyFunction: KeyFunction<Item>,
  ttlMs: number,
  clock: Clock = realClock,
): ExpirationCache<Item> {
  return new ExpirationCache(keyFunction, new TTLPolicy(ttlMs, clock), clock);
}

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

  add(item: Item): void {
    const key = keyOf(this.#keyFunction, item);
    this.#entries.set(key, { key, object: item, timestampMs: this.#clock.now() });
    this.#moveTo(resourceVersionOf(item));
  }

  /** As `add`: its time begins anew. */
  update(item: Item): void {
    this.add(item);
  }

  delete(item: Item): void {
    this.#entries.delete(keyOf(this.#keyFunction, item));
    this.#moveTo(resourceVersionOf(item));
  }

  /** One item without a key, and nothing is replaced. */
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

  /** Means something to a queue, nothing to a store. */
  resync(): void {}

  bookmark(resourceVersion: string): void {
    this.#moveTo(resourceVersion);
  }

  /** What has not expired; what has is gone. */
  list(): Item[] {
    const items: Item[] = [];
    for (const entry of this.#entries.values()) {
      if (!this.#expires(entry)) items.push(entry.object);
    }
    return items;
  }

  listKeys(): string[] {
    return [...this.#entries.keys()];
  }

  get(item: Item): Item | undefined {
    return this.getByKey(keyOf(this.#keyFunction, item));
  }

  getByKey(key: string): Item | undefined {
    const entry = this.#entries.get(key);
    return entry && !this.#expires(entry) ? entry.object : undefined;
  }

  get size(): number {
    return this.#entries.size;
  }

  lastStoreSyncResourceVersion(): string {
    return this.#resourceVersion;
  }

  /** Throws it away if so. */
  #expires(entry: TimestampedEntry<Item>): boolean {
    const isExpired = this.#policy.isExpired(entry);
    if (isExpired) this.#entries.delete(entry.key);
    return isExpired;
  }

  #moveTo(resourceVersion: string | undefined): void {
    if (resourceVersion !== undefined) this.#resourceVersion = resourceVersion;
  }
}
