/**
 * The store's bytes: memory in slabs, each divided into chunks of equal size. An object is stored in a chunk of the
 * next larger size, and the chunk is later reused for an object of about the same length. So objects that change at
 * full rate are never moved, and the slabs hold hardly more memory than the objects use (docs/decisions/0009).
 *
 * Objects are moved only if a size ends up with far more chunks than objects, because objects grew or were deleted: the
 * emptiest slab of that size is emptied. Rows stay valid, because only the location of their bytes changes. The garbage
 * collector does not manage these bytes; it would need constant major collections at full rate.
 */
import { assert } from '../../base/errors.ts';
import { copyBytes } from '../../shared/log/log.ts';
import { NO_ROW } from './columns.ts';
import type { EntryTable } from './entry-table.ts';
import { EntryFlag } from './entry.ts';
import { SlabMemory } from './store-memory.ts';
import type { BytesReaders, SharedMemory } from './store-memory.ts';

export interface Slab extends SharedMemory {
  readonly sizeClass: SizeClass;
  /** Index in the list of slabs, by which rows name the slab. */
  readonly number: number;
  /** The row of each chunk; for a vacant chunk, the previous vacant chunk as `NO_CHUNK - 1 - chunk`, or `NO_CHUNK`. */
  readonly rows: Int32Array;
  /** The last released chunk, and the number of released chunks. */
  vacant: number;
  vacants: number;
  /** Number of chunks that were ever used: the first chunks of the slab. */
  used: number;
  /** Index among the open slabs of the same size, `FULL`, or `EMPTIED`. */
  openAt: number;
}

/** Absence of a slab, and of a chunk in the list of vacant chunks. */
const NO_SLAB = -1;
const NO_CHUNK = -1;
/** `openAt` of a slab without a free chunk. */
const FULL = -1;
/** `openAt` of a slab whose rows are moved: it takes no new rows, and is freed with the last row. */
const EMPTIED = -2;

/** Number of sizes between two powers of two, as bits: a chunk is at most 1/16 too long, 1/45 on average. */
const SIZES_PER_DOUBLING_BITS = 4;
const CHUNK_BYTES_MIN = 64;
/** Chunks in the smallest slab: a size with few objects uses small slabs. */
const CHUNKS_MIN = 4;
/** Share of free chunks above which slabs are emptied: freeing a slab moves at most seven times the slab's bytes. */
const FREE_SHARE_MAX = 1 / 8;

export function chunkBytesFor(bytes: number): number {
  const stepBits = Math.max(3, 31 - Math.clz32(bytes) - SIZES_PER_DOUBLING_BITS);
  const mask = (1 << stepBits) - 1;
  return Math.max(CHUNK_BYTES_MIN, (bytes + mask) & ~mask);
}

export interface SlabsOptions {
  /** The rows whose bytes are stored here. */
  readonly table: EntryTable;
  readonly memory?: SlabMemory | undefined;
  readonly readers?: (() => BytesReaders | undefined) | undefined;
  /** Called when compaction moved a row that threads read. Default: reports to the readers. */
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
  /** Sparse sizes whose rows may not be moved until threads have caught up. */
  readonly #blocked: SizeClass[] = [];
  liveBytes = 0;
  /** Bytes released while slabs waited to be emptied: `compact` must keep up with them. */
  #owedBytes = 0;

  constructor({ table, memory = new SlabMemory(), readers = () => undefined, moved }: SlabsOptions) {
    this.#table = table;
    this.memory = memory;
    this.#readers = readers;
    this.#moved = moved ?? ((row, former) => readers()?.moved(row, former));
    this.#free = (slab) => {
      this.#numbered[slab.number] = undefined;
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
    this.#table.place(row, NO_SLAB, 0, 0);
    this.liveBytes -= storedBytes;
    sizeClass.leave(slab, offset);
    if (slab.openAt === EMPTIED) return;
    if (this.#sparse.length > 0) this.#owedBytes += storedBytes;
    if (!sizeClass.isQueued && sizeClass.isSparse) {
      sizeClass.isQueued = true;
      this.#sparse.push(sizeClass);
    }
  }

  /** Frees the row's chunk. If other threads still read the chunk, keeps it under a former row and returns that row. */
  releaseChunk(row: number): number {
    const table = this.#table;
    if (!table.hasFlag(row, EntryFlag.Exported)) {
      this.release(row);
      return NO_ROW;
    }
    const former = this.#split(row, this.slabOf(row));
    table.place(row, NO_SLAB, 0, 0);
    return former;
  }

  /** Whether slabs cannot be emptied until threads have caught up. */
  get isBlocked(): boolean {
    return this.#blocked.length > 0;
  }

  /** Whether a slab can be emptied now. */
  get hasCompaction(): boolean {
    return this.#sparse.length > 0 || (this.#blocked.length > 0 && this.#mayMove());
  }

  /** Empties a slab, and further slabs to free as much as was released in the meantime. Returns the bytes moved. */
  compact(): number {
    let movedBytes = 0;
    if (this.#blocked.length > 0 && this.#mayMove()) this.#sparse.push(...this.#blocked.splice(0));
    do {
      const sizeClass = this.#sparse.at(-1);
      if (!sizeClass) break;
      const slab = sizeClass.takeEmptiest((other) => !other.isShared || this.#mayMove());
      if (slab) {
        movedBytes += this.#empty(slab);
        if (!sizeClass.emptying) this.#owedBytes -= slab.bytes.length;
        if (!sizeClass.emptying && sizeClass.isSparse) continue;
      }
      this.#sparse.pop();
      sizeClass.isQueued = sizeClass.isSparse || sizeClass.emptying !== undefined;
      if (sizeClass.isQueued) this.#blocked.push(sizeClass);
    } while (this.#owedBytes > 0);
    this.#owedBytes = 0;
    return movedBytes;
  }

  list(): Slab[] {
    return [...this.#classes.values()].flatMap(({ slabs }) => [...slabs]);
  }

  /** Yields the rows in a slab, including former rows, until it is freed. Rows may be released and moved in between. */
  *rowsIn(slab: Slab): Generator<number> {
    for (let chunk = 0; chunk < slab.used && this.#numbered[slab.number] === slab; chunk++) {
      const row = slab.rows[chunk] ?? NO_ROW;
      if (row >= 0) yield row;
    }
  }

  get heldBytes(): number {
    let bytes = 0;
    for (const { heldBytes } of this.#classes.values()) bytes += heldBytes;
    return bytes;
  }

  /** Moves the rows of a slab, as long as threads have room for the records; returns their bytes. Former rows stay. */
  #empty(slab: Slab): number {
    const table = this.#table;
    let movedBytes = 0;
    for (let chunk = 0; chunk < slab.used; chunk++) {
      const row = slab.rows[chunk] ?? NO_ROW;
      if (row < 0 || table.hasFlag(row, EntryFlag.Moved)) continue;
      if (table.hasFlag(row, EntryFlag.Exported) && !this.#mayMove()) return movedBytes;
      movedBytes += this.#move(row, slab);
    }
    slab.sizeClass.endEmptying(slab);
    return movedBytes;
  }

  /** Moves a row to another slab; returns the length of the row's bytes. */
  #move(row: number, slab: Slab): number {
    const table = this.#table;
    const storedBytes = table.storedBytesOf(row);
    const offset = table.offsetOf(row);
    const former = table.hasFlag(row, EntryFlag.Exported) ? this.#split(row, slab) : NO_ROW;
    this.#place(row, slab.bytes, offset, storedBytes);
    if (former === NO_ROW) slab.sizeClass.leave(slab, offset);
    else {
      this.liveBytes += storedBytes;
      this.#moved(row, former);
    }
    return storedBytes;
  }

  /** Returns a former row, to which the row's place passes. The caller gives the row another place. */
  #split(row: number, slab: Slab): number {
    const former = this.#table.split(row);
    slab.rows[slab.sizeClass.chunkAt(this.#table.offsetOf(row))] = former;
    return former;
  }

  /** Returns memory for a slab. If no thread reads this informer, readers of other informers forget the memory. */
  #take(bytes: number): Buffer {
    const memory = this.memory.take(bytes);
    if (!this.#readers()) this.memory.forget(memory);
    return memory;
  }

  #mayMove(): boolean {
    return this.#readers()?.mayMove() ?? true;
  }

  #place(row: number, source: Buffer, start: number, length: number): void {
    const chunkBytes = chunkBytesFor(length);
    let sizeClass = this.#classes.get(chunkBytes);
    if (!sizeClass) {
      const chunksMax = Math.max(1, Math.floor(this.memory.slabBytes / chunkBytes));
      const take = (bytes: number): Buffer => this.#take(bytes);
      sizeClass = new SizeClass({ chunkBytes, chunksMax }, take, this.#numbered, this.#free);
      this.#classes.set(chunkBytes, sizeClass);
    }
    const slab = sizeClass.openSlab();
    const offset = sizeClass.enter(slab, row);
    copyBytes(source, start, start + length, slab.bytes, offset);
    this.#table.place(row, slab.number, offset, length);
  }
}

/** Slabs with chunks of equal size, with the rows and the free chunks in them. Copies no bytes itself. */
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
  /** The slab whose rows are being moved; kept while threads have no room for the records of further moves. */
  emptying: Slab | undefined;
  /** Chunks of slabs that are being emptied but still contain a row. */
  #emptiedChunks = 0;

  /** @param numbered all slabs by their number @param free takes back a slab that is empty */
  constructor(
    { chunkBytes, chunksMax }: { readonly chunkBytes: number; readonly chunksMax: number },
    take: (bytes: number) => Buffer,
    numbered: (Slab | undefined)[],
    free: (slab: Slab) => void,
  ) {
    this.#free = free;
    this.#chunkBytes = chunkBytes;
    this.#take = take;
    this.#numbered = numbered;
    this.#chunksMax = chunksMax;
  }

  get heldBytes(): number {
    return (this.#chunks + this.#emptiedChunks) * this.#chunkBytes;
  }

  /** True with far more chunks than objects: the other slabs have room for all objects of any single slab. */
  get isSparse(): boolean {
    return this.#chunks - this.#live > this.#chunksMax + this.#chunks * FREE_SHARE_MAX;
  }

  /** Returns a slab with room, preferably the last opened. */
  openSlab(): Slab {
    return this.#open.at(-1) ?? this.#newSlab();
  }

  /** Assigns a chunk of `slab` to `row`; returns the chunk's offset. */
  enter(slab: Slab, row: number): number {
    let chunk = slab.vacant;
    if (chunk === NO_CHUNK) {
      chunk = slab.used++;
    } else {
      slab.vacant = NO_CHUNK - 1 - (slab.rows[chunk] ?? 0);
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

  /** Frees the chunk at `offset`, and an empty slab if another is open; the last slab is freed with the last object. */
  leave(slab: Slab, offset: number): void {
    const chunk = this.chunkAt(offset);
    slab.rows[chunk] = NO_CHUNK - 1 - slab.vacant;
    slab.vacant = chunk;
    slab.vacants++;
    if (slab.openAt === EMPTIED) {
      if (this.emptying !== slab) this.#freeEmptied(slab);
      return;
    }
    const isEmpty = slab.vacants === slab.used;
    this.#live--;
    if (slab.openAt === FULL) this.#reopen(slab);
    if (isEmpty && this.#open.length > 1) this.#free(this.#remove(slab));
    if (this.#live > 0) return;
    for (let last = this.#open.at(-1); last; last = this.#open.at(-1)) this.#free(this.#remove(last));
  }

  /**
   * Returns the slab whose rows are being moved, or takes the slab with the fewest rows among the slabs that may be
   * emptied; undefined if there is none, or no need. The caller moves the rows and calls `endEmptying`.
   */
  takeEmptiest(mayEmpty: (slab: Slab) => boolean): Slab | undefined {
    if (this.emptying || !this.isSparse) return this.emptying;
    let emptiest: Slab | undefined;
    let fewest = Infinity;
    for (const slab of this.#open) {
      const count = slab.used - slab.vacants;
      if (count >= fewest || !mayEmpty(slab)) continue;
      emptiest = slab;
      fewest = count;
    }
    if (!emptiest) return undefined;
    this.#remove(emptiest).openAt = EMPTIED;
    this.#live -= fewest;
    this.#emptiedChunks += emptiest.rows.length;
    return (this.emptying = emptiest);
  }

  /** Frees the slab after its rows were moved, now or with the last former row. */
  endEmptying(slab: Slab): void {
    this.emptying = undefined;
    this.#freeEmptied(slab);
  }

  #freeEmptied(slab: Slab): void {
    if (slab.vacants < slab.used) return;
    this.#emptiedChunks -= slab.rows.length;
    this.#free(slab);
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
      rows: new Int32Array(chunks),
      vacant: NO_CHUNK,
      vacants: 0,
      used: 0,
      openAt: FULL,
    };
    this.#numbered[slab.number] = slab;
    this.slabs.add(slab);
    this.#chunks += chunks;
    this.#reopen(slab);
    return slab;
  }

  #remove(slab: Slab): Slab {
    this.slabs.delete(slab);
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
    slab.openAt = FULL;
  }
}
