/**
 * The store's bytes: private memory in slabs, each divided into chunks of one size. An object is stored in a chunk of
 * the next size, and its chunk is reused for an object of about the same length. So objects that change at full rate
 * are never moved, and hardly more memory is held than is in use (docs/decisions/0009).
 *
 * Only when a size has far more chunks than objects, because objects grew or were deleted, is its emptiest slab emptied
 * by moving them. Rows stay valid, because only the place of their bytes changes.
 * Nothing is left to the garbage collector, which would need constant major collections at full rate.
 */
import { assert } from '../../base/errors.ts';
import { copyBytes } from '../../shared/log/log.ts';
import { NONE } from './columns.ts';
import type { EntryTable } from './entry-table.ts';
import { EntryFlag } from './entry.ts';
import { SLAB_BYTES, SlabMemory } from './store-memory.ts';
import type { BytesReaders, SharedMemory } from './store-memory.ts';

export interface Slab extends SharedMemory {
  readonly sizeClass: SizeClass;
  /** Its place in the list of slabs, by which rows name it. */
  readonly number: number;
  /** The row of each chunk. A vacant one has the previous vacant chunk instead: `NONE - 1 - chunk`, or `NONE`. */
  readonly rows: Int32Array;
  /** The chunk that was released last, and number of released ones. */
  vacant: number;
  vacants: number;
  /** Chunks that were used at least once: the first ones. */
  used: number;
  /** True when its rows were moved, and it remains for former rows only. */
  isEmptied: boolean;
  /** Number of former rows in it. */
  formers: number;
  /** Index among the open slabs of its size; -1 while it is full. */
  openAt: number;
}

/** Number of sizes between two powers of two, as bits: a chunk is at most 1/16 too long, 1/45 on average. */
const SIZES_PER_DOUBLING_BITS = 4;
const CHUNK_BYTES_MIN = 64;
/** Chunks in the smallest slab: a size with few objects has small slabs. */
const CHUNKS_MIN = 4;
/** Share of free chunks above which slabs are emptied: freeing one then moves at most seven times its bytes. */
const FREE_SHARE_MAX = 1 / 8;

export function chunkBytesFor(bytes: number): number {
  const stepBits = Math.max(3, 31 - Math.clz32(bytes) - SIZES_PER_DOUBLING_BITS);
  const mask = (1 << stepBits) - 1;
  return Math.max(CHUNK_BYTES_MIN, (bytes + mask) & ~mask);
}

export interface SlabsOptions {
  /** The rows whose bytes are put here. */
  readonly table: EntryTable;
  readonly memory?: SlabMemory | undefined;
  readonly readers?: (() => BytesReaders | undefined) | undefined;
  /** Called when compaction has moved a row that threads read. Default: tells the readers. */
  readonly moved?: (row: number, former: number) => void;
}

export class Slabs {
  readonly #table: EntryTable;
  readonly #free: (slab: Slab) => void;
  readonly #readers: () => BytesReaders | undefined;
  readonly #moved: (row: number, former: number) => void;
  /** Memory of the slabs. */
  readonly memory: SlabMemory;
  readonly #numbered: (Slab | undefined)[] = [];
  readonly #classes: Map<number, SizeClass> = new Map();
  readonly #sparse: SizeClass[] = [];
  liveBytes = 0;
  /** Bytes of slabs that were emptied except for former rows. */
  #emptiedBytes = 0;
  /** Bytes released while slabs waited to be emptied: `compact` must keep up with them. */
  #owedBytes = 0;

  constructor({ table, memory = new SlabMemory(), readers = () => undefined, moved }: SlabsOptions) {
    this.#table = table;
    this.memory = memory;
    this.#readers = readers;
    this.#moved = moved ?? ((row, former) => readers()?.moved(row, former));
    this.#free = (slab) => {
      const isKept = memory.give(slab.bytes);
      if (!isKept && slab.isShared) readers()?.dropped(slab);
    };
  }

  put(row: number, source: Buffer, start: number, length: number): void {
    this.#place(row, source, start, length);
    this.liveBytes += length;
  }

  slabOf(row: number): Slab {
    const slab = this.#numbered[this.#table.slabOf(row)];
    assert(slab !== undefined, 'a row without bytes');
    return slab;
  }

  release(row: number): void {
    const slab = this.slabOf(row);
    const storedBytes = this.#table.storedBytesOf(row);
    const { sizeClass } = slab;
    const offset = this.#table.offsetOf(row);
    this.#table.place(row, NONE, 0, 0);
    this.liveBytes -= storedBytes;
    if (this.#table.hasFlag(row, EntryFlag.Former)) slab.formers--;
    if (slab.isEmptied) {
      this.#freeEmptied(slab);
      return;
    }
    sizeClass.leave(slab, offset);
    if (this.#sparse.length > 0) this.#owedBytes += storedBytes;
    if (!sizeClass.isQueued && sizeClass.isSparse) {
      sizeClass.isQueued = true;
      this.#sparse.push(sizeClass);
    }
  }

  /** Ends the row's place: frees it, or leaves it to a former row, which it returns, while threads read there. */
  vacate(row: number): number {
    const table = this.#table;
    if (!table.hasFlag(row, EntryFlag.Lent)) {
      this.release(row);
      return NONE;
    }
    const slab = this.slabOf(row);
    const former = table.split(row);
    slab.rows[slab.sizeClass.chunkAt(table.offsetOf(row))] = former;
    slab.formers++;
    table.place(row, NONE, 0, 0);
    return former;
  }

  get hasCompaction(): boolean {
    return this.#sparse.length > 0;
  }

  /** Empties one slab, and more until it has freed as much as was released meanwhile. Returns the bytes moved. */
  compact(): number {
    let movedBytes = 0;
    do {
      const sizeClass = this.#sparse.at(-1);
      if (!sizeClass) break;
      const slab = sizeClass.isSparse ? sizeClass.takeEmptiest((other) => this.#mayEmpty(other)) : undefined;
      if (slab) {
        movedBytes += this.#empty(slab);
        this.#owedBytes -= slab.bytes.length;
        if (sizeClass.isSparse) continue;
      }
      sizeClass.isQueued = false;
      this.#sparse.pop();
    } while (this.#owedBytes > 0);
    this.#owedBytes = 0;
    return movedBytes;
  }

  list(): Slab[] {
    return [...this.#classes.values()].flatMap(({ slabs }) => [...slabs]);
  }

  /** Yields the rows in a slab, until it is emptied: then its list has numbers of moved rows. Rows may be released and moved meanwhile. */
  *rowsIn(slab: Slab): Generator<number> {
    for (
      let chunk = 0;
      chunk < slab.used && this.#numbered[slab.number] === slab && !slab.isEmptied;
      chunk++
    ) {
      const row = slab.rows[chunk] ?? NONE;
      if (row >= 0) yield row;
    }
  }

  get heldBytes(): number {
    let bytes = this.#emptiedBytes;
    for (const { heldBytes } of this.#classes.values()) bytes += heldBytes;
    return bytes;
  }

  /** Moves all rows of a slab that was removed; returns their bytes. Where threads read, former rows stay. */
  #empty(slab: Slab): number {
    const table = this.#table;
    let movedBytes = 0;
    slab.isEmptied = true;
    // Rows are still in it, although former ones may end at once.
    slab.formers++;
    this.#numbered[slab.number] = slab;
    this.#emptiedBytes += slab.bytes.length;
    for (const row of slab.rows.slice(0, slab.used)) {
      if (row < 0) continue;
      const storedBytes = table.storedBytesOf(row);
      const offset = table.offsetOf(row);
      const former = table.hasFlag(row, EntryFlag.Lent) ? this.vacate(row) : NONE;
      this.#place(row, slab.bytes, offset, storedBytes);
      movedBytes += storedBytes;
      if (former === NONE) continue;
      this.liveBytes += storedBytes;
      this.#moved(row, former);
    }
    slab.formers--;
    this.#freeEmptied(slab);
    return movedBytes;
  }

  /** Returns memory for a slab. Threads that read other informers have no use for it. */
  #take(bytes: number): Buffer {
    const memory = this.memory.take(bytes);
    if (!this.#readers()) this.memory.forget(memory);
    return memory;
  }

  #freeEmptied(slab: Slab): void {
    if (slab.formers > 0) return;
    this.#numbered[slab.number] = undefined;
    this.#emptiedBytes -= slab.bytes.length;
    this.#free(slab);
  }

  #mayEmpty(slab: Slab): boolean {
    if (!slab.isShared) return true;
    return slab.formers === 0 && (this.#readers()?.mayMove() ?? true);
  }

  #place(row: number, source: Buffer, start: number, length: number): void {
    const chunkBytes = chunkBytesFor(length);
    let sizeClass = this.#classes.get(chunkBytes);
    if (!sizeClass) {
      sizeClass = new SizeClass(chunkBytes, (bytes) => this.#take(bytes), this.#numbered, this.#free);
      this.#classes.set(chunkBytes, sizeClass);
    }
    const slab = sizeClass.openSlab();
    const offset = sizeClass.enter(slab, row);
    copyBytes(source, start, start + length, slab.bytes, offset);
    this.#table.place(row, slab.number, offset, length);
  }
}

/** Slabs whose chunks have one size, with the rows and the free chunks in them. Copies no bytes itself. */
class SizeClass {
  readonly #chunkBytes: number;
  readonly #chunksMax: number;
  readonly #take: (bytes: number) => Buffer;
  readonly #numbered: (Slab | undefined)[];
  readonly #free: (slab: Slab) => void;
  readonly slabs: Set<Slab> = new Set();
  readonly #open: Slab[] = [];
  #chunks = 0;
  #live = 0;
  /** True while a slab of this size waits to be emptied. */
  isQueued = false;

  /** @param numbered all slabs by their number @param free takes back a slab that is empty */
  constructor(
    chunkBytes: number,
    take: (bytes: number) => Buffer,
    numbered: (Slab | undefined)[],
    free: (slab: Slab) => void,
  ) {
    this.#free = free;
    this.#chunkBytes = chunkBytes;
    this.#take = take;
    this.#numbered = numbered;
    this.#chunksMax = Math.max(1, Math.floor(SLAB_BYTES / chunkBytes));
  }

  get heldBytes(): number {
    return this.#chunks * this.#chunkBytes;
  }

  /** True with far more chunks than objects: other slabs have room for all objects of any one slab. */
  get isSparse(): boolean {
    return this.#chunks - this.#live > this.#chunksMax + this.#chunks * FREE_SHARE_MAX;
  }

  /** Returns a slab with room, preferably the one that opened last. */
  openSlab(): Slab {
    return this.#open.at(-1) ?? this.#newSlab();
  }

  /** Assigns a chunk of `slab` to `row`; returns its offset. */
  enter(slab: Slab, row: number): number {
    let chunk = slab.vacant;
    if (chunk === NONE) {
      chunk = slab.used++;
    } else {
      slab.vacant = NONE - 1 - (slab.rows[chunk] ?? 0);
      slab.vacants--;
    }
    slab.rows[chunk] = row;
    this.#live++;
    if (slab.vacants === 0 && slab.used === slab.rows.length) this.#close(slab);
    return chunk * this.#chunkBytes;
  }

  chunkAt(offset: number): number {
    return Math.floor(offset / this.#chunkBytes);
  }

  /** Frees the chunk at `offset`, and an empty slab if another is open; the last one goes with the last object. */
  leave(slab: Slab, offset: number): void {
    const chunk = this.chunkAt(offset);
    slab.rows[chunk] = NONE - 1 - slab.vacant;
    slab.vacant = chunk;
    slab.vacants++;
    this.#live--;
    if (slab.openAt < 0) this.#reopen(slab);
    const isEmpty = slab.vacants === slab.used;
    if (isEmpty && this.#open.length > 1) this.#free(this.#remove(slab));
    if (this.#live > 0) return;
    for (let last = this.#open.at(-1); last; last = this.#open.at(-1)) this.#free(this.#remove(last));
  }

  /**
   * Removes the slab with the fewest objects of those that may be emptied; undefined when there is none. The caller moves
   * the objects and frees the slab.
   */
  takeEmptiest(mayEmpty: (slab: Slab) => boolean): Slab | undefined {
    let emptiest: Slab | undefined;
    let fewest = Infinity;
    for (const slab of this.#open) {
      const count = slab.used - slab.vacants;
      if (count >= fewest || !mayEmpty(slab)) continue;
      emptiest = slab;
      fewest = count;
    }
    if (!emptiest) return undefined;
    this.#live -= fewest;
    return this.#remove(emptiest);
  }

  #newSlab(): Slab {
    const chunks = Math.min(this.#chunksMax, Math.max(CHUNKS_MIN, this.#live >> 3));
    const bytes = this.#take(chunks * this.#chunkBytes);
    const unused = this.#numbered.indexOf(undefined);
    const slab: Slab = {
      sizeClass: this,
      number: unused < 0 ? this.#numbered.length : unused,
      bytes,
      isShared: false,
      isEmptied: false,
      formers: 0,
      rows: new Int32Array(chunks),
      vacant: NONE,
      vacants: 0,
      used: 0,
      openAt: -1,
    };
    this.#numbered[slab.number] = slab;
    this.slabs.add(slab);
    this.#chunks += chunks;
    this.#reopen(slab);
    return slab;
  }

  #remove(slab: Slab): Slab {
    this.slabs.delete(slab);
    this.#numbered[slab.number] = undefined;
    this.#chunks -= slab.rows.length;
    this.#close(slab);
    return slab;
  }

  #reopen(slab: Slab): void {
    slab.openAt = this.#open.push(slab) - 1;
  }

  #close(slab: Slab): void {
    const last = this.#open.pop();
    if (last && last !== slab) {
      this.#open[slab.openAt] = last;
      last.openAt = slab.openAt;
    }
    slab.openAt = -1;
  }
}
