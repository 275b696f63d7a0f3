/**
 * The store's bytes: memory of its own in slabs, each divided into chunks of one size. An object lies in a chunk of
 * the next size; whoever leaves makes room for the next of about the same length, so objects that change at full
 * rate are never moved, and hardly more memory is held than lives (docs/decisions/0009).
 *
 * Only when a size has far more chunks than tenants, because objects grew or went away, is its emptiest slab
 * emptied by moving who lives there; whoever holds an entry does not notice, because an entry is an object and
 * moving it is changing its pointer. Nothing is left to the garbage collector, which would need constant major
 * collections at full rate.
 */
import { assert } from '../errors.ts';
import { copyBytes } from '../log/copy-bytes.ts';
import { SizeClass, chunkBytesFor } from './size-class.ts';
import type { Located, Slab } from './size-class.ts';
import { SlabMemory } from './slab-memory.ts';

export type { Located, Slab } from './size-class.ts';

export class Slabs {
  readonly #memory: SlabMemory;
  readonly #classes: Map<number, SizeClass> = new Map();
  /** Sizes with a slab to be emptied. */
  readonly #sparse: SizeClass[] = [];
  #liveBytes = 0;
  /** Given back while slabs waited to be emptied: what `compact` has to keep up with. */
  #owedBytes = 0;

  constructor(memory: SlabMemory = new SlabMemory()) {
    this.#memory = memory;
  }

  /** Copies `length` bytes of `source` in and makes `owner` their owner. */
  put(owner: Located, source: Buffer, start: number, length: number): void {
    this.#place(owner, source, start, length);
    this.#liveBytes += length;
  }

  /** Gives the bytes of `owner` back. */
  release(owner: Located): void {
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

  /** Whether `compact` would find something to do. */
  get hasCompaction(): boolean {
    return this.#sparse.length > 0;
  }

  /**
   * Empties one slab, and more until as much is free as was given back since slabs wait. Returns the bytes moved.
   */
  compact(): number {
    let movedBytes = 0;
    do {
      const sizeClass = this.#sparse.at(-1);
      if (!sizeClass) break;
      if (sizeClass.isSparse) {
        const slab = sizeClass.takeEmptiest();
        for (const occupant of slab.occupants) {
          if (!occupant) continue;
          this.#place(occupant, slab.bytes, occupant.offset, occupant.storedBytes);
          movedBytes += occupant.storedBytes;
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

  /** All that there are now. */
  list(): Slab[] {
    return [...this.#classes.values()].flatMap(({ slabs }) => [...slabs]);
  }

  get liveBytes(): number {
    return this.#liveBytes;
  }

  /** Memory held: living, dead and free. */
  get heldBytes(): number {
    let bytes = 0;
    for (const { heldBytes } of this.#classes.values()) bytes += heldBytes;
    return bytes;
  }

  #place(owner: Located, source: Buffer, start: number, length: number): void {
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
