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
import { SizeClass, chunkBytesFor } from './size-class.ts';
import type { SlabAllocation, Slab } from './size-class.ts';
import { SlabMemory } from './slab-memory.ts';

export type { SlabAllocation, Slab } from './size-class.ts';

export class Slabs {
  readonly #memory: SlabMemory;
  readonly #classes: Map<number, SizeClass> = new Map();
  /** Sizes with a slab to be emptied. */
  readonly #sparse: SizeClass[] = [];
  #liveBytes = 0;
  /** Bytes released while slabs waited to be emptied: `compact` must keep up with them. */
  #owedBytes = 0;

  constructor(memory: SlabMemory = new SlabMemory()) {
    this.#memory = memory;
  }

  /** Copies `length` bytes of `source` into a chunk for `owner`. */
  put(owner: SlabAllocation, source: Buffer, start: number, length: number): void {
    this.#place(owner, source, start, length);
    this.#liveBytes += length;
  }

  /** Releases the bytes of `owner`. */
  release(owner: SlabAllocation): void {
    const { slab, storedBytes } = owner;
    assert(slab !== undefined, 'released twice');
    const { sizeClass } = slab;
    sizeClass.leave(slab, owner.offset);
    owner.slab = undefined;
    this.#liveBytes -= storedBytes;
    if (this.#sparse.length > 0) this.#owedBytes += storedBytes;
    if (!sizeClass.isQueued && sizeClass.isSparse) {
      sizeClass.isQueued = true;
      this.#sparse.push(sizeClass);
    }
  }

  /** True when `compact` has something to do. */
  get hasCompaction(): boolean {
    return this.#sparse.length > 0;
  }

  /**
   * Empties one slab, and more until it has freed as much as was released while slabs waited. Returns the bytes moved.
   */
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
        sizeClass.discard(slab);
        this.#owedBytes -= slab.bytes.length;
      }
      if (sizeClass.isSparse) continue;
      sizeClass.isQueued = false;
      this.#sparse.pop();
    } while (this.#owedBytes > 0);
    this.#owedBytes = 0;
    return movedBytes;
  }

  /** Returns all present slabs. */
  list(): Slab[] {
    return [...this.#classes.values()].flatMap(({ slabs }) => [...slabs]);
  }

  get liveBytes(): number {
    return this.#liveBytes;
  }

  /** Bytes of memory held, free chunks included. */
  get heldBytes(): number {
    let bytes = 0;
    for (const { heldBytes } of this.#classes.values()) bytes += heldBytes;
    return bytes;
  }

  #place(owner: SlabAllocation, source: Buffer, start: number, length: number): void {
    const sizeClass = this.#classFor(chunkBytesFor(length));
    const slab = sizeClass.openSlab();
    const offset = sizeClass.enter(slab, owner);
    copyBytes(source, start, start + length, slab.bytes, offset);
    owner.slab = slab;
    owner.offset = offset;
    owner.storedBytes = length;
  }

  #classFor(chunkBytes: number): SizeClass {
    let sizeClass = this.#classes.get(chunkBytes);
    if (!sizeClass) this.#classes.set(chunkBytes, (sizeClass = new SizeClass(chunkBytes, this.#memory)));
    return sizeClass;
  }
}
