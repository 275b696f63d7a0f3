/**
 * Map from the bytes of a key to its dense id, without strings: open addressing, with the key bytes in a private arena.
 *
 * ```
 *  slots    32 parts by hash   │ hash │ id + 1 │ hash │ 0 = empty │ …
 *  records  chunks by id       │ hash │ arena place │ namespace length │ name length │   or, free: │ next free id │
 *  arena    chunks             namespace bytes, name bytes
 * ```
 *
 * Ids are dense, and the last freed id is reused first, so arrays by id stay small. The hash comes with the delta
 * record. All memory grows by parts, so no insert takes longer than a few hundred microseconds.
 */
import { KeyArena } from './key-arena.ts';
import { KeySlots, PARTS, partOf } from './key-slots.ts';

/** Returned when the key is absent. */
export const NO_ID = -1;

const RECORD_WORDS = 4;
const HASH = 0;
const PLACE = 1;
const NAMESPACE_LENGTH = 2;
const NAME_LENGTH = 3;
/** Word of a free record. */
const NEXT_FREE = HASH;
const FIRST_CHUNK_IDS = 64;
const CHUNK_SHIFT = 14;
const CHUNK_IDS: number = 1 << CHUNK_SHIFT;
const NO_RECORDS = new Int32Array(0);

export class KeyTable {
  readonly #parts: readonly KeySlots[] = Array.from({ length: PARTS }, () => new KeySlots());
  /** Records by chunk. Only the first chunk may be short: it begins small and doubles. */
  readonly #records: Int32Array[] = [new Int32Array(FIRST_CHUNK_IDS * RECORD_WORDS)];
  #arena = new KeyArena();
  #size = 0;
  #idEnd = 0;
  #firstFree = NO_ID;

  /** Number of keys in the table. */
  get size(): number {
    return this.#size;
  }

  /** Upper bound of all ids in use or freed. */
  get idEnd(): number {
    return this.#idEnd;
  }

  get memoryBytes(): number {
    const slots = this.#parts.reduce((sum, { words }) => sum + words.byteLength, 0);
    const records = this.#records.reduce((sum, { byteLength }) => sum + byteLength, 0);
    return slots + records + this.#arena.capacityBytes;
  }

  /** Returns the id of the key, or NO_ID. */
  find(
    hash: number,
    bytes: Uint8Array,
    namespaceStart: number,
    namespaceLength: number,
    nameStart: number,
    nameLength: number,
  ): number {
    const part = this.#partOf(hash);
    const { words, mask } = part;
    for (let slot = part.homeOf(hash); ; slot = (slot + 1) & mask) {
      const id = (words[slot * 2 + 1] ?? 0) - 1;
      if (id < 0) return NO_ID;
      if (words[slot * 2] !== hash) continue;
      const records = this.#recordsOf(id);
      const record = recordAt(id);
      if (records[record + NAMESPACE_LENGTH] !== namespaceLength) continue;
      if (records[record + NAME_LENGTH] !== nameLength) continue;
      const place = records[record + PLACE] ?? 0;
      const stored = this.#arena.bytesAt(place);
      const at = this.#arena.indexOf(place);
      if (!isSame(stored, at, bytes, namespaceStart, namespaceLength)) continue;
      if (isSame(stored, at + namespaceLength, bytes, nameStart, nameLength)) return id;
    }
  }

  /** Adds an absent key and returns its id. */
  insert(
    hash: number,
    bytes: Uint8Array,
    namespaceStart: number,
    namespaceLength: number,
    nameStart: number,
    nameLength: number,
  ): number {
    const id = this.#takeId();
    this.#put(id, hash, bytes, namespaceStart, namespaceLength, nameStart, nameLength);
    return id;
  }

  /**
   * Adds a key with the id that it had in the predecessor's table. Ids may come in any order; `restored` ends the
   * rebuild.
   */
  restore(
    id: number,
    hash: number,
    bytes: Uint8Array,
    namespaceStart: number,
    namespaceLength: number,
    nameStart: number,
    nameLength: number,
  ): void {
    while (this.#idEnd <= id) this.#addId();
    this.#put(id, hash, bytes, namespaceStart, namespaceLength, nameStart, nameLength);
  }

  /** Ends the rebuild: marks the ids between those of the restored keys as free. */
  restored(): void {
    for (let id = 0; id < this.#idEnd; id++) {
      const records = this.#recordsOf(id);
      const record = recordAt(id);
      // Every key has a name, so this record is empty.
      if (records[record + NAME_LENGTH] !== 0) continue;
      records[record + NEXT_FREE] = this.#firstFree;
      this.#firstFree = id;
    }
  }

  /** Removes the key; its id is the next one that `insert` returns. */
  remove(id: number): void {
    const records = this.#recordsOf(id);
    const record = recordAt(id);
    const hash = records[record + HASH] ?? 0;
    this.#partOf(hash).remove(hash, id);
    this.#arena.free(records[record + PLACE] ?? 0, lengthAt(records, record));
    records[record + NEXT_FREE] = this.#firstFree;
    this.#firstFree = id;
    this.#size--;
  }

  #partOf(hash: number): KeySlots {
    return this.#parts[partOf(hash)] as KeySlots;
  }

  #recordsOf(id: number): Int32Array {
    return this.#records[id >>> CHUNK_SHIFT] ?? NO_RECORDS;
  }

  #put(
    id: number,
    hash: number,
    bytes: Uint8Array,
    namespaceStart: number,
    namespaceLength: number,
    nameStart: number,
    nameLength: number,
  ): void {
    const length = namespaceLength + nameLength;
    if (!this.#arena.hasRoom(length) && this.#arena.isMostlyFree) this.#compact();
    const place = this.#arena.allocate(length);
    const stored = this.#arena.bytesAt(place);
    const at = this.#arena.indexOf(place);
    copy(bytes, namespaceStart, namespaceLength, stored, at);
    copy(bytes, nameStart, nameLength, stored, at + namespaceLength);
    const records = this.#recordsOf(id);
    const record = recordAt(id);
    records[record + HASH] = hash;
    records[record + PLACE] = place;
    records[record + NAMESPACE_LENGTH] = namespaceLength;
    records[record + NAME_LENGTH] = nameLength;
    this.#partOf(hash).put(hash, id);
    this.#size++;
  }

  #takeId(): number {
    const free = this.#firstFree;
    if (free === NO_ID) return this.#addId();
    this.#firstFree = this.#recordsOf(free)[recordAt(free) + NEXT_FREE] ?? NO_ID;
    return free;
  }

  #addId(): number {
    if (recordAt(this.#idEnd) >= this.#recordsOf(this.#idEnd).length) this.#growRecords();
    return this.#idEnd++;
  }

  #growRecords(): void {
    const last = this.#records.length - 1;
    const records = this.#recordsOf(this.#idEnd);
    if (records.length === 0) {
      this.#records.push(new Int32Array(CHUNK_IDS * RECORD_WORDS));
      return;
    }
    const larger = new Int32Array(records.length * 2);
    larger.set(records);
    this.#records[last] = larger;
  }

  /** Copies the live keys into a new arena, in the order of the slots. */
  #compact(): void {
    const old = this.#arena;
    this.#arena = new KeyArena();
    for (const { words } of this.#parts) {
      for (let at = 1; at < words.length; at += 2) {
        const id = (words[at] ?? 0) - 1;
        if (id < 0) continue;
        const records = this.#recordsOf(id);
        const record = recordAt(id);
        const from = records[record + PLACE] ?? 0;
        const length = lengthAt(records, record);
        const place = this.#arena.allocate(length);
        const stored = this.#arena.bytesAt(place);
        copy(old.bytesAt(from), old.indexOf(from), length, stored, this.#arena.indexOf(place));
        records[record + PLACE] = place;
      }
    }
  }
}

/** Returns the start of an id's record in its chunk. */
function recordAt(id: number): number {
  return (id & (CHUNK_IDS - 1)) * RECORD_WORDS;
}

function lengthAt(records: Int32Array, record: number): number {
  return (records[record + NAMESPACE_LENGTH] ?? 0) + (records[record + NAME_LENGTH] ?? 0);
}

/** Compares in a loop, which is faster than native code for short keys. */
function isSame(a: Uint8Array, aStart: number, b: Uint8Array, bStart: number, length: number): boolean {
  for (let at = 0; at < length; at++) if (a[aStart + at] !== b[bStart + at]) return false;
  return true;
}

function copy(from: Uint8Array, fromStart: number, length: number, to: Uint8Array, toStart: number): void {
  for (let at = 0; at < length; at++) to[toStart + at] = from[fromStart + at] ?? 0;
}
