/** Slabs whose chunks have one size, with the allocations and the free chunks in them. Copies no bytes itself. */
import { assert } from '../../base/errors.ts';
import { SLAB_BYTES } from './slab-memory.ts';
import type { SlabMemory } from './slab-memory.ts';

/** An allocation in a slab: `slab` is undefined once its bytes were released. */
export interface SlabAllocation {
  slab: Slab | undefined;
  offset: number;
  storedBytes: number;
}

export interface Slab {
  readonly sizeClass: SizeClass;
  readonly bytes: Buffer;
  /** Allocations by chunk. */
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

/** Returns the size of the chunk for `bytes`. */
export function chunkBytesFor(bytes: number): number {
  const stepBits = Math.max(3, 31 - Math.clz32(bytes) - SIZES_PER_DOUBLING_BITS);
  const mask = (1 << stepBits) - 1;
  return Math.max(CHUNK_BYTES_MIN, (bytes + mask) & ~mask);
}

export class SizeClass {
  readonly #chunkBytes: number;
  readonly #chunksMax: number;
  readonly #memory: SlabMemory;
  /** Slabs in the order of their creation. */
  readonly slabs: Set<Slab> = new Set();
  /** Slabs with a free chunk. */
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

  /**
   * Frees the chunk at `offset`. An empty slab is discarded when another is open; the last one goes with the last
   * allocation.
   */
  leave(slab: Slab, offset: number): void {
    const chunk = Math.floor(offset / this.#chunkBytes);
    slab.allocations[chunk] = undefined;
    slab.vacant.push(chunk);
    this.#live--;
    if (slab.openAt < 0) this.#reopen(slab);
    const isEmpty = slab.vacant.length === slab.allocations.length;
    if (isEmpty && this.#open.length > 1) this.discard(this.#remove(slab));
    if (this.#live > 0) return;
    for (const open of this.#open.splice(0)) this.discard(open);
    this.slabs.clear();
    this.#chunks = 0;
  }

  /** Removes the slab with the fewest allocations; the caller moves them and discards it. */
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

  /** Returns the memory of a slab without allocations. */
  discard(slab: Slab): void {
    this.#memory.give(slab.bytes);
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
