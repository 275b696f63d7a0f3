/**
 * Map from the bytes of a key to a dense id, without strings: open addressing, with the key bytes in a private arena.
 *
 * ```
 *  cells    32 parts by hash   │ hash │ id + 1 │ hash │ 0 = empty │ …
 *  records  chunks by id       │ hash │ arena place │ namespace length │ name length │   or, free: │ next free id │
 *  arena    chunks             namespace bytes, name bytes
 * ```
 *
 * Ids are dense, and the last freed id is reused first, so arrays by id stay small. The hash comes with the delta
 * record. All memory grows by parts, so an insert takes at most a few hundred microseconds, where rebuilding a table of
 * a million keys took 60 ms. First chunks begin small and double, because most tables are small.
 */
import { assert } from '../base/errors.ts';
import type { ObjectLocation } from '../shared/record/delta.ts';

/** Returned when the key is absent. */
export const NO_ID = -1;

/** Location of a key's bytes, in the delta's fields. */
export type KeyLocation = Pick<
  ObjectLocation,
  'hash' | 'offset' | 'namespaceOffset' | 'namespaceLength' | 'nameOffset' | 'nameLength'
>;

const RECORD_WORDS = 4;
const HASH = 0;
const PLACE = 1;
const NAMESPACE_LENGTH = 2;
const NAME_LENGTH = 3;
/** Word of a free record. */
const NEXT_FREE = HASH;
const FIRST_CHUNK_IDS = 64;
const CHUNK_IDS_SHIFT = 14;
const CHUNK_IDS: number = 1 << CHUNK_IDS_SHIFT;
const NO_RECORDS = new Int32Array(0);

export class KeyTable {
  readonly #parts: readonly KeyCells[] = Array.from({ length: PARTS }, () => new KeyCells());
  /** Records by chunk. Only the first chunk may be short: it begins small and doubles. */
  readonly #records: Int32Array[] = [new Int32Array(FIRST_CHUNK_IDS * RECORD_WORDS)];
  #arena = new KeyArena();
  /** Upper bound of all ids in use or freed. */
  idEnd = 0;
  #firstFree = NO_ID;

  get memoryBytes(): number {
    const cells = this.#parts.reduce((sum, { words }) => sum + words.byteLength, 0);
    const records = this.#records.reduce((sum, { byteLength }) => sum + byteLength, 0);
    return cells + records + this.#arena.capacityBytes;
  }

  /** Returns the id of the key, or NO_ID. */
  find(bytes: Uint8Array, key: KeyLocation): number {
    const { hash, namespaceLength, nameLength } = key;
    const part = this.#partOf(hash);
    const { words, mask } = part;
    for (let cell = part.homeOf(hash); ; cell = (cell + 1) & mask) {
      const id = (words[cell * 2 + 1] ?? 0) - 1;
      if (id < 0) return NO_ID;
      if (words[cell * 2] !== hash) continue;
      const records = this.#recordsOf(id);
      const record = recordAt(id);
      if (records[record + NAMESPACE_LENGTH] !== namespaceLength) continue;
      if (records[record + NAME_LENGTH] !== nameLength) continue;
      const place = records[record + PLACE] ?? 0;
      const stored = this.#arena.bytesAt(place);
      const at = this.#arena.indexOf(place);
      if (!isSame(stored, at, bytes, key.offset + key.namespaceOffset, namespaceLength)) continue;
      if (isSame(stored, at + namespaceLength, bytes, key.offset + key.nameOffset, nameLength)) return id;
    }
  }

  /** Adds an absent key and returns the new id. */
  insert(bytes: Uint8Array, key: KeyLocation): number {
    let id = this.#firstFree;
    if (id === NO_ID) id = this.#addId();
    else this.#firstFree = this.#recordsOf(id)[recordAt(id) + NEXT_FREE] ?? NO_ID;
    this.#put(id, bytes, key);
    return id;
  }

  /** Removes the key. The next `insert` reuses the id. */
  remove(id: number): void {
    const records = this.#recordsOf(id);
    const record = recordAt(id);
    const hash = records[record + HASH] ?? 0;
    this.#partOf(hash).remove(hash, id);
    this.#arena.free(records[record + PLACE] ?? 0, lengthAt(records, record));
    this.#freeId(id);
  }

  /** Mixes the hash first, because the keys of a shard share the bits that routed them. */
  #partOf(hash: number): KeyCells {
    return this.#parts[Math.imul(hash, GOLDEN) >>> (32 - PART_BITS)] as KeyCells;
  }

  #recordsOf(id: number): Int32Array {
    return this.#records[id >>> CHUNK_IDS_SHIFT] ?? NO_RECORDS;
  }

  #put(id: number, bytes: Uint8Array, key: KeyLocation): void {
    const { hash, namespaceLength, nameLength } = key;
    const length = namespaceLength + nameLength;
    if (this.#arena.isFragmentedFor(length)) this.#compact();
    const place = this.#arena.allocate(length);
    const stored = this.#arena.bytesAt(place);
    const at = this.#arena.indexOf(place);
    copy(bytes, key.offset + key.namespaceOffset, namespaceLength, stored, at);
    copy(bytes, key.offset + key.nameOffset, nameLength, stored, at + namespaceLength);
    const records = this.#recordsOf(id);
    const record = recordAt(id);
    records[record + HASH] = hash;
    records[record + PLACE] = place;
    records[record + NAMESPACE_LENGTH] = namespaceLength;
    records[record + NAME_LENGTH] = nameLength;
    this.#partOf(hash).put(hash, id);
  }

  #freeId(id: number): void {
    this.#recordsOf(id)[recordAt(id) + NEXT_FREE] = this.#firstFree;
    this.#firstFree = id;
  }

  #addId(): number {
    const records = this.#recordsOf(this.idEnd);
    if (recordAt(this.idEnd) >= records.length) {
      const larger = new Int32Array(records.length * 2 || CHUNK_IDS * RECORD_WORDS);
      larger.set(records);
      this.#records[this.idEnd >>> CHUNK_IDS_SHIFT] = larger;
    }
    return this.idEnd++;
  }

  /** Copies the live keys into a new arena, in the order of the cells. */
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

const PART_BITS = 5;
const PARTS: number = 1 << PART_BITS;
const CELLS_MIN = 8;
/** 2^32 divided by the golden ratio: multiplying by it spreads every bit of the hash over the high bits. */
const GOLDEN = 0x9e3779b1 | 0;

/**
 * A part of the cells: linear probing, at most 3/4 full. A removal shifts back the cells behind it (no tombstones), so
 * lookups do not become slower through churn.
 */
class KeyCells {
  /** Two words a cell: hash │ id + 1; 0 marks an empty cell. */
  words: Int32Array = new Int32Array(CELLS_MIN * 2);
  mask: number = CELLS_MIN - 1;
  #size = 0;
  /** 32 minus the number of bits of a cell's index. */
  #shift = 32 - Math.log2(CELLS_MIN);

  /** Returns the first cell to probe, from the bits of the hash below those that chose the part. */
  homeOf(hash: number): number {
    return (Math.imul(hash, GOLDEN) << PART_BITS) >>> this.#shift;
  }

  put(hash: number, id: number): void {
    this.#size++;
    if (this.#size * 4 > (this.mask + 1) * 3) this.#grow();
    this.#place(hash, id);
  }

  /** Removes the id, and moves later cells back so that no probe stops before the key that it looks for. */
  remove(hash: number, id: number): void {
    const { words, mask } = this;
    let hole = this.#cellOf(hash, id);
    for (let next = (hole + 1) & mask; words[next * 2 + 1] !== 0; next = (next + 1) & mask) {
      const home = this.homeOf(words[next * 2] ?? 0);
      // A cell may move only if the home of its key is not behind the hole.
      if (((next - home) & mask) < ((next - hole) & mask)) continue;
      words[hole * 2] = words[next * 2] ?? 0;
      words[hole * 2 + 1] = words[next * 2 + 1] ?? 0;
      hole = next;
    }
    words[hole * 2 + 1] = 0;
    this.#size--;
  }

  #place(hash: number, id: number): void {
    let cell = this.homeOf(hash);
    while (this.words[cell * 2 + 1] !== 0) cell = (cell + 1) & this.mask;
    this.words[cell * 2] = hash;
    this.words[cell * 2 + 1] = id + 1;
  }

  #cellOf(hash: number, id: number): number {
    let cell = this.homeOf(hash);
    while (this.words[cell * 2 + 1] !== id + 1) {
      assert(this.words[cell * 2 + 1] !== 0, 'an id is not in the table', id);
      cell = (cell + 1) & this.mask;
    }
    return cell;
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

const BLOCK_SHIFT = 3;
const BLOCK_BYTES: number = 1 << BLOCK_SHIFT;
const FIRST_CHUNK_BYTES = 4096;
const CHUNK_BLOCKS_SHIFT = 15;
const CHUNK_BLOCKS: number = 1 << CHUNK_BLOCKS_SHIFT;
const CHUNK_BYTES: number = CHUNK_BLOCKS * BLOCK_BYTES;
/** End of a free list; 0 is a valid place. */
const NO_BLOCK = -1;

interface Chunk {
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
}

/**
 * Private memory for the bytes of keys: blocks of a multiple of 8 bytes. New blocks are taken in a row, and later from
 * free lists by block size. Names of a kind have few lengths, so a freed block is usually soon reused. If it is not,
 * the table copies the live keys together.
 *
 * The memory consists of chunks, because a new key must never cause a copy of a million keys. A free block contains the
 * link of its free list, so freeing does not allocate.
 */
export class KeyArena {
  #last: Chunk = makeChunk(FIRST_CHUNK_BYTES);
  readonly #chunks: Chunk[] = [this.#last];
  /** Allocated bytes of the last chunk. */
  #lastUsedBytes = 0;
  capacityBytes: number = FIRST_CHUNK_BYTES;
  #freeBytes = FIRST_CHUNK_BYTES;
  /** First free block by block size in bytes. The first word of a free block is the place of the next. */
  readonly #freeLists: Map<number, number> = new Map();

  /**
   * Returns whether `allocate` of this length needs new memory although more than half is free, in blocks of other sizes.
   * Copying is then better than growing.
   */
  isFragmentedFor(length: number): boolean {
    if (this.#freeBytes * 2 <= this.capacityBytes) return false;
    const size = blockBytes(length);
    const isLastFull = this.#lastUsedBytes + size > this.#last.bytes.length;
    return isLastFull && (this.#freeLists.get(size) ?? NO_BLOCK) === NO_BLOCK;
  }

  /** Returns a place for `length` bytes in a row, for `bytesAt` and `indexOf`. */
  allocate(length: number): number {
    const size = blockBytes(length);
    this.#freeBytes -= size;
    const free = this.#freeLists.get(size) ?? NO_BLOCK;
    if (free !== NO_BLOCK) {
      this.#freeLists.set(size, this.#chunkOf(free).words[this.indexOf(free) >> 2] ?? NO_BLOCK);
      return free;
    }
    while (this.#lastUsedBytes + size > this.#last.bytes.length) this.#grow();
    const place = (this.#chunks.length - 1) * CHUNK_BLOCKS + (this.#lastUsedBytes >>> BLOCK_SHIFT);
    this.#lastUsedBytes += size;
    return place;
  }

  free(place: number, length: number): void {
    const size = blockBytes(length);
    const { words } = this.#chunkOf(place);
    words[this.indexOf(place) >> 2] = this.#freeLists.get(size) ?? NO_BLOCK;
    this.#freeLists.set(size, place);
    this.#freeBytes += size;
  }

  /** Returns the memory that contains the place; valid until the next `allocate`. */
  bytesAt(place: number): Uint8Array {
    return this.#chunkOf(place).bytes;
  }

  /** Returns the start of the place in that memory. */
  indexOf(place: number): number {
    return (place & (CHUNK_BLOCKS - 1)) << BLOCK_SHIFT;
  }

  #chunkOf(place: number): Chunk {
    return this.#chunks[place >>> CHUNK_BLOCKS_SHIFT] ?? this.#last;
  }

  /** Doubles the only chunk while it is small, otherwise adds a chunk. The rest of the last chunk counts as free. */
  #grow(): void {
    const { bytes } = this.#last;
    const isSmall = bytes.length < CHUNK_BYTES;
    this.#last = makeChunk(isSmall ? bytes.length * 2 : CHUNK_BYTES);
    if (isSmall) {
      this.#last.bytes.set(bytes);
      this.#chunks[0] = this.#last;
    } else {
      this.#chunks.push(this.#last);
      this.#lastUsedBytes = 0;
    }
    const added = isSmall ? bytes.length : CHUNK_BYTES;
    this.capacityBytes += added;
    this.#freeBytes += added;
  }
}

function makeChunk(bytes: number): Chunk {
  const buffer = new ArrayBuffer(bytes);
  return { bytes: new Uint8Array(buffer), words: new Int32Array(buffer) };
}

/** Rounds up to whole blocks. An empty key also takes a block, because a free block needs room for a link. */
function blockBytes(length: number): number {
  return Math.max(BLOCK_BYTES, (length + BLOCK_BYTES - 1) & ~(BLOCK_BYTES - 1));
}
