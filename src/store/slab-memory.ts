/**
 * Where slabs get their memory. Those of full size lie in shared memory, which nobody shares: V8 counts what ArrayBuffers
 * hold against its heap and collects all of it again and again while a cache fills, a ninth and more of the CPU time of a
 * sync (docs/decisions/0016). Slabs that nobody lives in any more are kept for the next.
 *
 * What V8 does not count it is in no hurry to give back. So when there is more to give back than is kept here, it is
 * told of as much garbage that it does count.
 */

/** A slab is about this long, and emptying one a fraction of a millisecond's work. Longer objects have their own. */
export const SLAB_BYTES: number = 512 * 2 ** 10;
const FREE_SLABS_MAX = 32;

export class SlabMemory {
  readonly #free: Buffer[] = [];

  /** At least so many bytes, of any content. */
  take(bytes: number): Buffer {
    if (bytes > SLAB_BYTES || bytes <= SLAB_BYTES / 2) return Buffer.allocUnsafeSlow(bytes);
    return this.#free.pop() ?? Buffer.from(new SharedArrayBuffer(SLAB_BYTES));
  }

  /** Nobody reads or writes it any more. */
  give(memory: Buffer): void {
    if (memory.length !== SLAB_BYTES) return;
    this.#free.push(memory);
    if (this.#free.length <= FREE_SLABS_MAX) return;
    this.#free.length = FREE_SLABS_MAX / 2;
    countGarbage((FREE_SLABS_MAX / 2) * SLAB_BYTES);
  }

  get freeBytes(): number {
    return this.#free.length * SLAB_BYTES;
  }
}

/** Never written to, so it takes no memory. */
function countGarbage(bytes: number): void {
  void new ArrayBuffer(bytes);
}
