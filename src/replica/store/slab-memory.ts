/**
 * The memory of slabs. Full-size slabs are SharedArrayBuffers, although one thread uses them: V8 counts the bytes of
 * ArrayBuffers against its heap and would collect the whole heap repeatedly while a cache fills, at a ninth or more of
 * the CPU time of a sync (docs/decisions/0016). Empty slabs are kept for reuse.
 *
 * V8 frees memory late when it does not count it. So after many dropped slabs an allocation of the same size that V8
 * does count makes it collect. The freed memory must also return to the system: growable memory is mapped separately,
 * while malloc kept 500 MB of other slabs (docs/decisions/0018).
 */

/** Approximate length of a slab; emptying one takes a fraction of a millisecond. Longer objects have their own. */
export const SLAB_BYTES: number = 512 * 2 ** 10;
const FREE_SLABS_MAX = 32;
/** Dropped bytes after which V8 is made to collect: twice the amount that makes it collect the whole heap. */
const DROPPED_BYTES_MAX = 2 ** 27;
/** Bytes below which a collection costs more than it frees. */
const WORTH_BYTES_MIN = 2 ** 23;

export class SlabMemory {
  readonly #free: Buffer[] = [];
  /** Bytes dropped since the last forced collection. */
  #droppedBytes = 0;
  #isQuiet = true;

  /** Returns memory of at least `bytes`, with any content. */
  take(bytes: number): Buffer {
    if (bytes > SLAB_BYTES || bytes <= SLAB_BYTES / 2) return Buffer.allocUnsafeSlow(bytes);
    this.#isQuiet = false;
    return this.#free.pop() ?? mapped();
  }

  /** Takes back memory that no code reads or writes any more. */
  give(memory: Buffer): void {
    if (memory.length !== SLAB_BYTES) return;
    this.#free.push(memory);
    if (this.#free.length <= FREE_SLABS_MAX) return;
    this.#drop(FREE_SLABS_MAX / 2);
    if (this.#droppedBytes >= DROPPED_BYTES_MAX) this.#collect();
  }

  /** Drops all free memory if nothing was taken since the previous call. Called from time to time. */
  tidy(): void {
    const isQuiet = this.#isQuiet;
    this.#isQuiet = true;
    if (!isQuiet || this.#droppedBytes + this.freeBytes < WORTH_BYTES_MIN) return;
    this.#drop(this.#free.length);
    this.#collect();
  }

  get freeBytes(): number {
    return this.#free.length * SLAB_BYTES;
  }

  #drop(count: number): void {
    this.#free.length -= count;
    this.#droppedBytes += count * SLAB_BYTES;
  }

  #collect(): void {
    this.#droppedBytes = 0;
    countGarbage(DROPPED_BYTES_MAX);
  }
}

function mapped(): Buffer {
  const memory = new SharedArrayBuffer(SLAB_BYTES, { maxByteLength: SLAB_BYTES });
  return Buffer.from(memory, 0, SLAB_BYTES);
}

/** Makes V8 collect. The array is never written to, so it takes no memory; V8 collects before it refuses one. */
function countGarbage(bytes: number): void {
  try {
    void new ArrayBuffer(bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
}
