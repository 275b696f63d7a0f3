/**
 * Numbers of slots by the keys of their objects. A Map with a node for each key would be 39 bytes of heap an object, and
 * would move all keys at once when it grows. This is a hash table in columns that grows by one bucket for each key (linear
 * hashing), so no call takes long. A key itself is not in it: it is compared with that of the slot when their hashes agree.
 *
 * ```
 *  buckets, one for each key        slots: the hash of the key, and the next slot of the bucket
 *  [ 7 │ – │ 3 │ … ]                3: [ hash │ 9 ]   7: [ hash │ – ]   9: [ hash │ – ]
 *    n buckets, of which the last n - 2^k were split from those at the same place before 2^k
 * ```
 *
 * The hash is keyed: a client that may create objects could otherwise choose names of one bucket.
 */
import { assert } from '../../base/errors.ts';
import { HalfSipHash } from '../../shared/record/key-hash.ts';
import { NONE, NumberColumns } from './columns.ts';

/** Columns of a slot that the table uses. Numbers of slots are stored plus one, so that 0 means `NONE`. */
export interface KeyColumns {
  readonly links: NumberColumns;
  readonly hash: number;
  /** The next slot of the bucket. */
  readonly next: number;
}

export class SlotsByKey {
  readonly #links: NumberColumns;
  readonly #hashColumn: number;
  readonly #nextColumn: number;
  readonly #keyOf: (slot: number) => string;
  readonly #hash: HalfSipHash = new HalfSipHash();
  readonly #buckets: NumberColumns = new NumberColumns(1);
  /** Number of buckets, and the smallest power of two that is not below it, less one. */
  #bucketEnd = 1;
  #mask = 0;
  /** The last key that was hashed: a new object is looked up before it is added. */
  #lastKey: string | undefined;
  #lastHash = 0;
  size = 0;

  /** @param keyOf returns the key of a slot that is in the table */
  constructor({ links, hash, next }: KeyColumns, keyOf: (slot: number) => string) {
    this.#links = links;
    this.#hashColumn = hash;
    this.#nextColumn = next;
    this.#keyOf = keyOf;
  }

  /** Returns the slot with this key, or `NONE`. */
  get(key: string): number {
    if (this.size === 0) return NONE;
    const hash = this.#hashOf(key);
    let slot = this.#firstOf(this.#bucketOf(hash));
    while (slot !== NONE && (this.#hashAt(slot) !== hash || this.#keyOf(slot) !== key)) {
      slot = this.#after(slot);
    }
    return slot;
  }

  /** Adds a key that is not in the table. There is room for the slot. */
  add(key: string, slot: number): void {
    const hash = this.#hashOf(key);
    this.#links.set(slot, this.#hashColumn, hash);
    this.#push(this.#bucketOf(hash), slot);
    this.size++;
    if (this.size > this.#bucketEnd) this.#split();
  }

  /** Removes a slot that is in the table. */
  remove(slot: number): void {
    const bucket = this.#bucketOf(this.#hashAt(slot));
    const next = this.#after(slot);
    let previous = this.#firstOf(bucket);
    if (previous === slot) this.#buckets.set(bucket, 0, next + 1);
    else {
      while (previous !== NONE && this.#after(previous) !== slot) previous = this.#after(previous);
      assert(previous !== NONE, 'the slot is not in the table', slot);
      this.#links.set(previous, this.#nextColumn, next + 1);
    }
    this.size--;
  }

  #hashOf(key: string): number {
    if (key === this.#lastKey) return this.#lastHash;
    const hash = this.#hash;
    hash.begin();
    hash.text(key);
    hash.endLow();
    this.#lastKey = key;
    this.#lastHash = hash.low;
    return hash.low;
  }

  #hashAt(slot: number): number {
    return this.#links.get(slot, this.#hashColumn);
  }

  #after(slot: number): number {
    return this.#links.get(slot, this.#nextColumn) - 1;
  }

  #firstOf(bucket: number): number {
    return this.#buckets.get(bucket, 0) - 1;
  }

  #bucketOf(hash: number): number {
    const bucket = hash & this.#mask;
    return bucket < this.#bucketEnd ? bucket : bucket & (this.#mask >>> 1);
  }

  #push(bucket: number, slot: number): void {
    this.#links.set(slot, this.#nextColumn, this.#buckets.get(bucket, 0));
    this.#buckets.set(bucket, 0, slot + 1);
  }

  /** Adds a bucket, which takes slots of the one at its place in the first half. */
  #split(): void {
    const added = this.#bucketEnd++;
    if (added > this.#mask) this.#mask = this.#mask * 2 + 1;
    this.#buckets.reserve(added);
    const divided = added & (this.#mask >>> 1);
    let slot = this.#firstOf(divided);
    this.#buckets.set(divided, 0, 0);
    while (slot !== NONE) {
      const next = this.#after(slot);
      this.#push(this.#bucketOf(this.#hashAt(slot)), slot);
      slot = next;
    }
  }
}
