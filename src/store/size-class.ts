/** Slabs whose chunks have one size: who lives where, and which chunks are free. Copies no bytes itself. */
import { assert } from '../errors.ts';
import { SLAB_BYTES } from './slab-memory.ts';
import type { SlabMemory } from './slab-memory.ts';

/** Something whose bytes lie in a slab: `slab` is undefined once they were given back. */
export interface Located {
  slab: Slab | undefined;
  offset: number;
  storedBytes: number;
}

export interface Slab {
  readonly sizeClass: SizeClass;
  readonly bytes: Buffer;
  /** Who lives in which chunk. */
  readonly occupants: (Located | undefined)[];
  /** Chunks that were given back, the latest last. Those from `occupants.length` on were never used. */
  readonly vacant: number[];
  readonly chunks: number;
  /** Its place among the open slabs of its size; -1 while it is full. */
  openAt: number;
}

/** Sizes between two powers of two: a chunk is at most 1/16 longer than what is asked of it, 1/45 on average. */
const SIZES_PER_DOUBLING_BITS = 4;
const CHUNK_BYTES_MIN = 64;
/** Slabs of a size with few tenants are small. */
const CHUNKS_MIN = 4;
/** Above this share of free chunks slabs are emptied; to free one then costs moving at most seven times as much. */
const FREE_SHARE_MAX = 1 / 8;

/** The size of the chunk for `bytes`. */
export function chunkBytesFor(bytes: number): number {
  const stepBits = Math.max(3, 31 - Math.clz32(bytes) - SIZES_PER_DOUBLING_BITS);
  const mask = (1 << stepBits) - 1;
  return Math.max(CHUNK_BYTES_MIN, (bytes + mask) & ~mask);
}

export class SizeClass {
  readonly #chunkBytes: number;
  readonly #chunksMax: number;
  readonly #memory: SlabMemory;
  /** In the order in which they were made. */
  readonly slabs: Set<Slab> = new Set();
  /** Slabs with a free chunk. */
  readonly #open: Slab[] = [];
  #chunks = 0;
  #live = 0;
  /** It waits for somebody to empty a slab. */
  isQueued = false;

  constructor(chunkBytes: number, memory: SlabMemory) {
    this.#chunkBytes = chunkBytes;
    this.#memory = memory;
    this.#chunksMax = Math.max(1, Math.floor(SLAB_BYTES / chunkBytes));
  }

  get heldBytes(): number {
    return this.#chunks * this.#chunkBytes;
  }

  /** Far more chunks than tenants: the others have room for all who live in any one slab. */
  get isSparse(): boolean {
    return this.#chunks - this.#live > this.#chunksMax + this.#chunks * FREE_SHARE_MAX;
  }

  /** A slab with room, the one that was last left if there is one. */
  openSlab(): Slab {
    return this.#open.at(-1) ?? this.#newSlab();
  }

  /** Gives `owner` a chunk of `slab`; returns where it begins. */
  enter(slab: Slab, owner: Located): number {
    const chunk = slab.vacant.pop() ?? slab.occupants.length;
    slab.occupants[chunk] = owner;
    this.#live++;
    if (slab.vacant.length === 0 && slab.occupants.length === slab.chunks) this.#close(slab);
    return chunk * this.#chunkBytes;
  }

  /** The chunk at `offset` is free. A slab without tenants goes away if another is open, the last with all tenants. */
  leave(slab: Slab, offset: number): void {
    const chunk = Math.floor(offset / this.#chunkBytes);
    slab.occupants[chunk] = undefined;
    slab.vacant.push(chunk);
    this.#live--;
    if (slab.openAt < 0) this.#reopen(slab);
    const isEmpty = slab.vacant.length === slab.occupants.length;
    if (isEmpty && this.#open.length > 1) this.discard(this.#remove(slab));
    if (this.#live > 0) return;
    for (const open of this.#open.splice(0)) this.discard(open);
    this.slabs.clear();
    this.#chunks = 0;
  }

  /** Removes the slab with the fewest tenants, for the caller to move them and to discard it. */
  takeEmptiest(): Slab {
    let emptiest: Slab | undefined;
    let fewest = Infinity;
    for (const slab of this.#open) {
      const tenants = slab.occupants.length - slab.vacant.length;
      if (tenants >= fewest) continue;
      emptiest = slab;
      fewest = tenants;
    }
    assert(emptiest !== undefined, 'no slab of this size is open');
    this.#live -= fewest;
    return this.#remove(emptiest);
  }

  /** Nobody lives there any more. */
  discard(slab: Slab): void {
    this.#memory.give(slab.bytes);
  }

  #newSlab(): Slab {
    const chunks = Math.min(this.#chunksMax, Math.max(CHUNKS_MIN, this.#live >> 3));
    const bytes = this.#memory.take(chunks * this.#chunkBytes);
    const slab: Slab = { sizeClass: this, bytes, occupants: [], vacant: [], chunks, openAt: -1 };
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
