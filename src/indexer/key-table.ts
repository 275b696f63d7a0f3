/**
 * From the bytes of a key to its dense id, without ever making a string: open addressing over two Int32Array,
 * the key bytes in a private arena.
 *
 * ```
 *  slots   (power of two)   │ hash │ id + 1 │ hash │ 0 = empty │ …      linear probing, at most 3/4 full
 *  records (by id)          │ hash │ arena place │ namespace length │ name length │   or, free: │ next free id │
 *  arena                    namespace bytes, name bytes
 * ```
 *
 * Ids are dense and the one freed last is given out first, so that arrays by id stay small. Removal shifts
 * back the slots behind it (no tombstones): a lookup never becomes slower through churn. The hash comes with
 * the delta record; it is mixed here once more, because all keys of a shard agree in what routed them.
 */
import { assert } from '../errors.ts';
import { KeyArena } from './key-arena.ts';

/** No such key. */
export const NO_ID = -1;

const SLOTS_MIN = 64;
const RECORD_WORDS = 4;
const HASH = 0;
const PLACE = 1;
const NAMESPACE_LENGTH = 2;
const NAME_LENGTH = 3;
/** In a free record. */
const NEXT_FREE = HASH;
/** 2^32 divided by the golden ratio: multiplying by it spreads every bit of the hash over the high bits. */
const GOLDEN = 0x9e3779b1 | 0;

export class KeyTable {
  #slots: Int32Array = new Int32Array(SLOTS_MIN * 2);
  #slotMask = SLOTS_MIN - 1;
  /** 32 minus the number of bits of a slot's index. */
  #slotShift = 32 - Math.log2(SLOTS_MIN);
  #records: Int32Array = new Int32Array(SLOTS_MIN * RECORD_WORDS);
  #arena = new KeyArena();
  #size = 0;
  #idEnd = 0;
  #firstFree = NO_ID;

  /** Keys in the table. */
  get size(): number {
    return this.#size;
  }

  /** Every id that was ever given out is below. */
  get idEnd(): number {
    return this.#idEnd;
  }

  get memoryBytes(): number {
    return this.#slots.byteLength + this.#records.byteLength + this.#arena.capacityBytes;
  }

  /** The id of the key, or NO_ID. */
  find(
    hash: number,
    bytes: Uint8Array,
    namespaceStart: number,
    namespaceLength: number,
    nameStart: number,
    nameLength: number,
  ): number {
    const slots = this.#slots;
    for (let slot = this.#homeOf(hash); ; slot = (slot + 1) & this.#slotMask) {
      const id = (slots[slot * 2 + 1] ?? 0) - 1;
      if (id < 0) return NO_ID;
      if (slots[slot * 2] !== hash) continue;
      const record = id * RECORD_WORDS;
      if (this.#records[record + NAMESPACE_LENGTH] !== namespaceLength) continue;
      if (this.#records[record + NAME_LENGTH] !== nameLength) continue;
      const place = (this.#records[record + PLACE] ?? 0) << 3;
      const stored = this.#arena.bytes;
      if (!isSame(stored, place, bytes, namespaceStart, namespaceLength)) continue;
      if (isSame(stored, place + namespaceLength, bytes, nameStart, nameLength)) return id;
    }
  }

  /** Gives the key, which must be absent, an id. */
  insert(
    hash: number,
    bytes: Uint8Array,
    namespaceStart: number,
    namespaceLength: number,
    nameStart: number,
    nameLength: number,
  ): number {
    if ((this.#size + 1) * 4 > (this.#slotMask + 1) * 3) this.#growSlots();
    const length = namespaceLength + nameLength;
    if (!this.#arena.hasRoom(length) && this.#arena.isMostlyFree) this.#compact();
    const id = this.#takeId();
    const place = this.#arena.allocate(length);
    copy(bytes, namespaceStart, namespaceLength, this.#arena.bytes, place << 3);
    copy(bytes, nameStart, nameLength, this.#arena.bytes, (place << 3) + namespaceLength);
    const record = id * RECORD_WORDS;
    this.#records[record + HASH] = hash;
    this.#records[record + PLACE] = place;
    this.#records[record + NAMESPACE_LENGTH] = namespaceLength;
    this.#records[record + NAME_LENGTH] = nameLength;
    this.#putSlot(hash, id);
    this.#size++;
    return id;
  }

  /** Forgets the key; its id is the next one to be given out. */
  remove(id: number): void {
    this.#clearSlot(this.#slotOf(id));
    const record = id * RECORD_WORDS;
    const length =
      (this.#records[record + NAMESPACE_LENGTH] ?? 0) + (this.#records[record + NAME_LENGTH] ?? 0);
    this.#arena.free(this.#records[record + PLACE] ?? 0, length);
    this.#records[record + NEXT_FREE] = this.#firstFree;
    this.#firstFree = id;
    this.#size--;
  }

  #homeOf(hash: number): number {
    return Math.imul(hash, GOLDEN) >>> this.#slotShift;
  }

  #takeId(): number {
    const free = this.#firstFree;
    if (free !== NO_ID) {
      this.#firstFree = this.#records[free * RECORD_WORDS + NEXT_FREE] ?? NO_ID;
      return free;
    }
    const id = this.#idEnd++;
    if (this.#idEnd * RECORD_WORDS > this.#records.length) {
      const records = new Int32Array(this.#records.length * 2);
      records.set(this.#records);
      this.#records = records;
    }
    return id;
  }

  #putSlot(hash: number, id: number): void {
    let slot = this.#homeOf(hash);
    while (this.#slots[slot * 2 + 1] !== 0) slot = (slot + 1) & this.#slotMask;
    this.#slots[slot * 2] = hash;
    this.#slots[slot * 2 + 1] = id + 1;
  }

  #slotOf(id: number): number {
    let slot = this.#homeOf(this.#records[id * RECORD_WORDS + HASH] ?? 0);
    while (this.#slots[slot * 2 + 1] !== id + 1) {
      assert(this.#slots[slot * 2 + 1] !== 0, `id ${id} is not in the table`);
      slot = (slot + 1) & this.#slotMask;
    }
    return slot;
  }

  /** Moves back what was pushed past the slot, so that no probe stops before its key. */
  #clearSlot(slot: number): void {
    const slots = this.#slots;
    const mask = this.#slotMask;
    let hole = slot;
    for (let next = (hole + 1) & mask; slots[next * 2 + 1] !== 0; next = (next + 1) & mask) {
      const home = this.#homeOf(slots[next * 2] ?? 0);
      // It may move only if its home is not behind the hole.
      if (((next - home) & mask) < ((next - hole) & mask)) continue;
      slots[hole * 2] = slots[next * 2] ?? 0;
      slots[hole * 2 + 1] = slots[next * 2 + 1] ?? 0;
      hole = next;
    }
    slots[hole * 2 + 1] = 0;
  }

  #growSlots(): void {
    const old = this.#slots;
    this.#slots = new Int32Array(old.length * 2);
    this.#slotMask = this.#slots.length / 2 - 1;
    this.#slotShift--;
    for (let at = 0; at < old.length; at += 2) {
      const id = (old[at + 1] ?? 0) - 1;
      if (id >= 0) this.#putSlot(old[at] ?? 0, id);
    }
  }

  /** Copies the live keys into a new arena, in the order of the slots. */
  #compact(): void {
    const old = this.#arena.bytes;
    this.#arena = new KeyArena(this.#arena.usedBytes * 2);
    for (let at = 1; at < this.#slots.length; at += 2) {
      const id = (this.#slots[at] ?? 0) - 1;
      if (id < 0) continue;
      const record = id * RECORD_WORDS;
      const length =
        (this.#records[record + NAMESPACE_LENGTH] ?? 0) + (this.#records[record + NAME_LENGTH] ?? 0);
      const place = this.#arena.allocate(length);
      copy(old, (this.#records[record + PLACE] ?? 0) << 3, length, this.#arena.bytes, place << 3);
      this.#records[record + PLACE] = place;
    }
  }
}

/** Keys are short: a loop beats every call into native code. */
function isSame(a: Uint8Array, aStart: number, b: Uint8Array, bStart: number, length: number): boolean {
  for (let at = 0; at < length; at++) if (a[aStart + at] !== b[bStart + at]) return false;
  return true;
}

function copy(from: Uint8Array, fromStart: number, length: number, to: Uint8Array, toStart: number): void {
  for (let at = 0; at < length; at++) to[toStart + at] = from[fromStart + at] ?? 0;
}
