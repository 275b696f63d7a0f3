/**
 * Ordinals by the keys of their objects. A Map with a node for each key would be 39 bytes of heap an object, and would
 * move all keys at once when it grows. This is a hash table in columns that grows by a bucket for each key (linear
 * hashing), so no call takes long. The table stores hashes only: when two hashes agree, the caller compares the keys.
 *
 * ```
 *  buckets, one for each key        ordinals: the hash of the key, and the next ordinal of the bucket
 *  [ 7 │ – │ 3 │ … ]                3: [ hash │ 9 ]   7: [ hash │ – ]   9: [ hash │ – ]
 *    n buckets, the last n - 2^k were split from the buckets 2^k before them
 * ```
 *
 * The hash is keyed: a client that may create objects could otherwise choose names that share a bucket.
 */
import { assert } from '../../base/errors.ts';
import { HalfSipHash } from '../../shared/record/key-hash.ts';
import { NO_ORDINAL, NumberColumns } from './columns.ts';

/** Columns of an ordinal that the table uses. Ordinals are stored plus 1, so that 0 means `NO_ORDINAL`. */
export interface KeyColumns {
  readonly links: NumberColumns;
  readonly hash: number;
  /** The next ordinal of the bucket. */
  readonly next: number;
}

export class OrdinalsByKey {
  readonly #links: NumberColumns;
  readonly #hashColumn: number;
  readonly #nextColumn: number;
  readonly #keyOf: (ordinal: number) => string;
  readonly #hash: HalfSipHash = new HalfSipHash();
  readonly #buckets: NumberColumns = new NumberColumns(1);
  /** Number of buckets, and the smallest power of two that is not below it, minus 1. */
  #bucketEnd = 1;
  #mask = 0;
  /** The last key that was hashed: a new object is looked up before it is added. */
  #lastKey: string | undefined;
  #lastHash = 0;
  size = 0;

  /** @param keyOf returns the key of an ordinal that is in the table */
  constructor({ links, hash, next }: KeyColumns, keyOf: (ordinal: number) => string) {
    this.#links = links;
    this.#hashColumn = hash;
    this.#nextColumn = next;
    this.#keyOf = keyOf;
  }

  /** Returns the ordinal with this key, or `NO_ORDINAL`. */
  get(key: string): number {
    if (this.size === 0) return NO_ORDINAL;
    const hash = this.#hashOf(key);
    let ordinal = this.#firstOf(this.#bucketOf(hash));
    while (ordinal !== NO_ORDINAL && (this.#hashAt(ordinal) !== hash || this.#keyOf(ordinal) !== key)) {
      ordinal = this.#after(ordinal);
    }
    return ordinal;
  }

  /** Adds a key that is not in the table. There is room for the ordinal. */
  add(key: string, ordinal: number): void {
    const hash = this.#hashOf(key);
    this.#links.set(ordinal, this.#hashColumn, hash);
    this.#push(this.#bucketOf(hash), ordinal);
    this.size++;
    if (this.size > this.#bucketEnd) this.#split();
  }

  /** Removes an ordinal that is in the table. */
  remove(ordinal: number): void {
    const bucket = this.#bucketOf(this.#hashAt(ordinal));
    const next = this.#after(ordinal);
    let previous = this.#firstOf(bucket);
    if (previous === ordinal) this.#buckets.set(bucket, 0, next + 1);
    else {
      while (previous !== NO_ORDINAL && this.#after(previous) !== ordinal) previous = this.#after(previous);
      assert(previous !== NO_ORDINAL, 'the ordinal is not in the table', ordinal);
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

  #hashAt(ordinal: number): number {
    return this.#links.get(ordinal, this.#hashColumn);
  }

  #after(ordinal: number): number {
    return this.#links.get(ordinal, this.#nextColumn) - 1;
  }

  #firstOf(bucket: number): number {
    return this.#buckets.get(bucket, 0) - 1;
  }

  #bucketOf(hash: number): number {
    const bucket = hash & this.#mask;
    return bucket < this.#bucketEnd ? bucket : bucket & (this.#mask >>> 1);
  }

  #push(bucket: number, ordinal: number): void {
    this.#links.set(ordinal, this.#nextColumn, this.#buckets.get(bucket, 0));
    this.#buckets.set(bucket, 0, ordinal + 1);
  }

  /** Adds a bucket, and moves ordinals to it from the bucket at the same place in the first half. */
  #split(): void {
    const added = this.#bucketEnd++;
    if (added > this.#mask) this.#mask = this.#mask * 2 + 1;
    this.#buckets.reserve(added);
    const divided = added & (this.#mask >>> 1);
    let ordinal = this.#firstOf(divided);
    this.#buckets.set(divided, 0, 0);
    while (ordinal !== NO_ORDINAL) {
      const next = this.#after(ordinal);
      this.#push(this.#bucketOf(this.#hashAt(ordinal)), ordinal);
      ordinal = next;
    }
  }
}
