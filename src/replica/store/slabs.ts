/**
 * The store's bytes: private memory in slabs, each divided into chunks of one size. An object is stored in a chunk of
 * the next size, and its chunk is reused for an object of about the same length. So objects that change at full rate
 * are never moved, and hardly more memory is held than is in use (docs/decisions/0009).
 *
 * Only when a size has far more chunks than allocations, because objects grew or were deleted, is its emptiest slab
 * emptied by moving its entries. References to an entry stay valid, because only the place of its bytes changes.
 * Nothing is left to the garbage collector, which would need constant major collections at full rate.
 */
import { assert } from '../../base/errors.ts';
import { copyBytes } from '../../shared/log/log.ts';
import { SLAB_BYTES, SlabMemory } from './store-memory.ts';

/** An allocation in a slab: `slab` is undefined once its bytes were released. */
export interface SlabAllocation {
  slab: Slab | undefined;
  offset: number;
  storedBytes: number;
}

export interface Slab {
  readonly sizeClass: SizeClass;
  readonly bytes: Buffer;
  readonly allocations: (SlabAllocation | undefined)[];
  /** Chunks that were released, the latest last. Those from `allocations.length` on were never used. */
  readonly vacant: number[];
  readonly chunks: number;
  /** Index among the open slabs of its size; -1 while it is full. */
  openAt: number;
}

/** Number of sizes between two powers of two, as bits: a chunk is at most 1/16 too long, 1/45 on average. */
const SIZES_PER_DOUBLING_BITS = 4;
const CHUNK_BYTES_MIN = 64;
/** Chunks in the smallest slab: a size with few allocations has small slabs. */
const CHUNKS_MIN = 4;
/** Share of free chunks above which slabs are emptied: freeing one then moves at most seven times its bytes. */
const FREE_SHARE_MAX = 1 / 8;

export function chunkBytesFor(bytes: number): number {
  const stepBits = Math.max(3, 31 - Math.clz32(bytes) - SIZES_PER_DOUBLING_BITS);
  const mask = (1 << stepBits) - 1;
  return Math.max(CHUNK_BYTES_MIN, (bytes + mask) & ~mask);
}

export class Slabs {
  readonly #memory: SlabMemory;
  readonly #classes: Map<number, SizeClass> = new Map();
  readonly #sparse: SizeClass[] = [];
  liveBytes = 0;
  /** Bytes released while slabs waited to be emptied: `compact` must keep up with them. */
  #owedBytes = 0;

  constructor(memory: SlabMemory = new SlabMemory()) {
    this.#memory = memory;
  }

  put(owner: SlabAllocation, source: Buffer, start: number, length: number): void {
    this.#place(owner, source, start, length);
    this.liveBytes += length;
  }

  release(owner: SlabAllocation): void {
    const { slab, storedBytes } = owner;
    assert(slab !== undefined, 'released twice');
    const { sizeClass } = slab;
    sizeClass.leave(slab, owner.offset);
    owner.slab = undefined;
    this.liveBytes -= storedBytes;
    if (this.#sparse.length > 0) this.#owedBytes += storedBytes;
    if (!sizeClass.isQueued && sizeClass.isSparse) {
      sizeClass.isQueued = true;
      this.#sparse.push(sizeClass);
    }
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
      if (sizeClass.isSparse) {
        const slab = sizeClass.takeEmptiest();
        for (const allocation of slab.allocations) {
          if (!allocation) continue;
          this.#place(allocation, slab.bytes, allocation.offset, allocation.storedBytes);
          movedBytes += allocation.storedBytes;
        }
        this.#memory.give(slab.bytes);
        this.#owedBytes -= slab.bytes.length;
      }
      if (sizeClass.isSparse) continue;
      sizeClass.isQueued = false;
      this.#sparse.pop();
    } while (this.#owedBytes > 0);
    this.#owedBytes = 0;
    return movedBytes;
  }

  list(): Slab[] {
    return [...this.#classes.values()].flatMap(({ slabs }) => [...slabs]);
  }

  get heldBytes(): number {
    let bytes = 0;
    for (const { heldBytes } of this.#classes.values()) bytes += heldBytes;
    return bytes;
  }

  #place(owner: SlabAllocation, source: Buffer, start: number, length: number): void {
    const chunkBytes = chunkBytesFor(length);
    let sizeClass = this.#classes.get(chunkBytes);
    if (!sizeClass) this.#classes.set(chunkBytes, (sizeClass = new SizeClass(chunkBytes, this.#memory)));
    const slab = sizeClass.openSlab();
    const offset = sizeClass.enter(slab, owner);
    copyBytes(source, start, start + length, slab.bytes, offset);
    owner.slab = slab;
    owner.offset = offset;
    owner.storedBytes = length;
  }
}

/** Slabs whose chunks have one size, with the allocations and the free chunks in them. Copies no bytes itself. */
class SizeClass {
  readonly #chunkBytes: number;
  readonly #chunksMax: number;
  readonly #memory: SlabMemory;
  readonly slabs: Set<Slab> = new Set();
  readonly #open: Slab[] = [];
  #chunks = 0;
  #live = 0;
  /** True while a slab of this size waits to be emptied. */
  isQueued = false;

  constructor(chunkBytes: number, memory: SlabMemory) {
    this.#chunkBytes = chunkBytes;
    this.#memory = memory;
    this.#chunksMax = Math.max(1, Math.floor(SLAB_BYTES / chunkBytes));
  }

  get heldBytes(): number {
    return this.#chunks * this.#chunkBytes;
  }

  /** True with far more chunks than allocations: other slabs have room for all allocations of any one slab. */
  get isSparse(): boolean {
    return this.#chunks - this.#live > this.#chunksMax + this.#chunks * FREE_SHARE_MAX;
  }

  /** Returns a slab with room, preferably the one that opened last. */
  openSlab(): Slab {
    return this.#open.at(-1) ?? this.#newSlab();
  }

  /** Assigns a chunk of `slab` to `owner`; returns its offset. */
  enter(slab: Slab, owner: SlabAllocation): number {
    const chunk = slab.vacant.pop() ?? slab.allocations.length;
    slab.allocations[chunk] = owner;
    this.#live++;
    if (slab.vacant.length === 0 && slab.allocations.length === slab.chunks) this.#close(slab);
    return chunk * this.#chunkBytes;
  }

  /** Frees the chunk at `offset`, and an empty slab if another is open; the last one goes with the last allocation. */
  leave(slab: Slab, offset: number): void {
    const chunk = Math.floor(offset / this.#chunkBytes);
    slab.allocations[chunk] = undefined;
    slab.vacant.push(chunk);
    this.#live--;
    if (slab.openAt < 0) this.#reopen(slab);
    const isEmpty = slab.vacant.length === slab.allocations.length;
    if (isEmpty && this.#open.length > 1) this.#memory.give(this.#remove(slab).bytes);
    if (this.#live > 0) return;
    for (let last = this.#open.at(-1); last; last = this.#open.at(-1))
      this.#memory.give(this.#remove(last).bytes);
  }

  /** Removes the slab with the fewest allocations; the caller moves them and returns its memory. */
  takeEmptiest(): Slab {
    let emptiest: Slab | undefined;
    let fewest = Infinity;
    for (const slab of this.#open) {
      const count = slab.allocations.length - slab.vacant.length;
      if (count >= fewest) continue;
      emptiest = slab;
      fewest = count;
    }
    assert(emptiest !== undefined, 'no slab of this size is open');
    this.#live -= fewest;
    return this.#remove(emptiest);
  }

  #newSlab(): Slab {
    const chunks = Math.min(this.#chunksMax, Math.max(CHUNKS_MIN, this.#live >> 3));
    const bytes = this.#memory.take(chunks * this.#chunkBytes);
    const slab: Slab = { sizeClass: this, bytes, allocations: [], vacant: [], chunks, openAt: -1 };
    this.slabs.add(slab);
    this.#chunks += chunks;
    this.#reopen(slab);
    return slab;
  }

  #remove(slab: Slab): Slab {
    this.slabs.delete(slab);
    this.#chunks -= slab.chunks;
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
