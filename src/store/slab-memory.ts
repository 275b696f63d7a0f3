/**
 * Where slabs get their memory. Those of full size lie in shared memory, which nobody shares: V8 counts what ArrayBuffers
 * hold against its heap and collects all of it again and again while a cache fills, a ninth and more of the CPU time of a
 * sync (docs/decisions/0016). Slabs that nobody lives in any more are kept for the next.
 *
 * What V8 does not count it is in no hurry to give back. So when there is much to give back, it is told of as much
 * garbage that it does count. And what it gives back must go to the system: memory that could grow is mapped on its own,
 * the other comes from malloc, which kept 500 MB of slabs between others (docs/decisions/0018).
 */

/** A slab is about this long, and emptying one a fraction of a millisecond's work. Longer objects have their own. */
export const SLAB_BYTES: number = 512 * 2 ** 10;
const FREE_SLABS_MAX = 32;
/** So much is dropped until V8 is told; twice of what makes it collect the whole heap. */
const DROPPED_BYTES_MAX = 2 ** 27;
/** Less is not worth a collection. */
const WORTH_BYTES_MIN = 2 ** 23;

export class SlabMemory {
  readonly #free: Buffer[] = [];
  /** V8 has not been told of them. */
  #droppedBytes = 0;
  #isQuiet = true;

  /** At least so many bytes, of any content. */
  take(bytes: number): Buffer {
    if (bytes > SLAB_BYTES || bytes <= SLAB_BYTES / 2) return Buffer.allocUnsafeSlow(bytes);
    this.#isQuiet = false;
    return this.#free.pop() ?? mapped();
  }

  /** Nobody reads or writes it any more. */
  give(memory: Buffer): void {
    if (memory.length !== SLAB_BYTES) return;
    this.#free.push(memory);
    if (this.#free.length <= FREE_SLABS_MAX) return;
    this.#drop(FREE_SLABS_MAX / 2);
    if (this.#droppedBytes >= DROPPED_BYTES_MAX) this.#collect();
  }

  /** Called from time to time: when nothing was taken since the last time, nothing is kept. */
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

/** Never written to, so it takes no memory. Where there is no room for it all was collected before it is refused. */
function countGarbage(bytes: number): void {
  try {
    void new ArrayBuffer(bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
}
