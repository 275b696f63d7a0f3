/**
 * One part of a `KeyTable`'s hash table: open addressing with linear probing, at most 3/4 full. A removal shifts back
 * the slots behind it (no tombstones), so lookups do not become slower through churn.
 *
 * A table has several parts, chosen by bits of the hash, because each grows alone. Rebuilding one table of a million
 * keys took 60 ms.
 */
import { assert } from '../base/errors.ts';

const PART_BITS = 5;
export const PARTS: number = 1 << PART_BITS;
const SLOTS_MIN = 8;
/** 2^32 divided by the golden ratio: multiplying by it spreads every bit of the hash over the high bits. */
const GOLDEN = 0x9e3779b1 | 0;

/** Returns the part of a hash. Mixes the hash first, because the keys of one shard share the bits that routed them. */
export function partOf(hash: number): number {
  return Math.imul(hash, GOLDEN) >>> (32 - PART_BITS);
}

export class KeySlots {
  /** Two words a slot: hash │ id + 1; 0 marks an empty slot. */
  words: Int32Array = new Int32Array(SLOTS_MIN * 2);
  mask: number = SLOTS_MIN - 1;
  #size = 0;
  /** 32 minus the number of bits of a slot's index. */
  #shift = 32 - Math.log2(SLOTS_MIN);

  /** Returns the first slot to probe, from the bits of the hash below those that chose the part. */
  homeOf(hash: number): number {
    return (Math.imul(hash, GOLDEN) << PART_BITS) >>> this.#shift;
  }

  put(hash: number, id: number): void {
    this.#size++;
    if (this.#size * 4 > (this.mask + 1) * 3) this.#grow();
    this.#place(hash, id);
  }

  /** Removes the id, and moves later slots back so that no probe stops before its key. */
  remove(hash: number, id: number): void {
    const { words, mask } = this;
    let hole = this.#slotOf(hash, id);
    for (let next = (hole + 1) & mask; words[next * 2 + 1] !== 0; next = (next + 1) & mask) {
      const home = this.homeOf(words[next * 2] ?? 0);
      // A slot may move only if its home is not behind the hole.
      if (((next - home) & mask) < ((next - hole) & mask)) continue;
      words[hole * 2] = words[next * 2] ?? 0;
      words[hole * 2 + 1] = words[next * 2 + 1] ?? 0;
      hole = next;
    }
    words[hole * 2 + 1] = 0;
    this.#size--;
  }

  #place(hash: number, id: number): void {
    let slot = this.homeOf(hash);
    while (this.words[slot * 2 + 1] !== 0) slot = (slot + 1) & this.mask;
    this.words[slot * 2] = hash;
    this.words[slot * 2 + 1] = id + 1;
  }

  #slotOf(hash: number, id: number): number {
    let slot = this.homeOf(hash);
    while (this.words[slot * 2 + 1] !== id + 1) {
      assert(this.words[slot * 2 + 1] !== 0, `id ${id} is not in the table`);
      slot = (slot + 1) & this.mask;
    }
    return slot;
  }

  #grow(): void {
    const old = this.words;
    this.words = new Int32Array(old.length * 2);
    this.mask = this.words.length / 2 - 1;
    this.#shift--;
    for (let at = 0; at < old.length; at += 2) {
      const id = (old[at + 1] ?? 0) - 1;
      if (id >= 0) this.#place(old[at] ?? 0, id);
    }
  }
}
