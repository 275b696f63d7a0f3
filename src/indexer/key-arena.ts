/**
 * Private memory for the bytes of keys: blocks of a multiple of 8 bytes, first in a row, later from free
 * lists, one per block size. Names of one kind of object have few lengths, so a freed block is soon wanted
 * again; the table copies the live ones together when that turns out wrong (`isMostlyFree`).
 *
 * The link of a free list lies in the free block itself, so freeing allocates nothing.
 */

const BLOCK_SHIFT = 3;
const BLOCK_BYTES: number = 1 << BLOCK_SHIFT;
const CAPACITY_MIN_BYTES = 4096;
/** Less than doubling: at a million keys the slack of a doubling would be the largest part. */
const GROWTH = 1.5;
/** Ends a free list. Place 0 is a good place, so it cannot. */
const NO_BLOCK = -1;

export class KeyArena {
  #bytes: Uint8Array;
  #links: Int32Array;
  #endBytes = 0;
  #freeBytes = 0;
  /** First free block by block size in bytes; a block's first word says where the next is. */
  readonly #freeLists: Map<number, number> = new Map();

  constructor(capacityBytes: number = CAPACITY_MIN_BYTES) {
    const buffer = new ArrayBuffer(blockBytes(Math.max(capacityBytes, CAPACITY_MIN_BYTES)));
    this.#bytes = new Uint8Array(buffer);
    this.#links = new Int32Array(buffer);
  }

  /** Changes when the arena grows: read it anew after `allocate`. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  get capacityBytes(): number {
    return this.#bytes.length;
  }

  get usedBytes(): number {
    return this.#endBytes - this.#freeBytes;
  }

  /** True when `allocate` of that many bytes needs no new memory. */
  hasRoom(length: number): boolean {
    const size = blockBytes(length);
    return this.#hasFreeBlock(size) || this.#endBytes + size <= this.#bytes.length;
  }

  /** More than half is free, in blocks of sizes that nobody asks for: copying beats growing. */
  get isMostlyFree(): boolean {
    return this.#freeBytes * 2 > this.#bytes.length;
  }

  /** A place for `length` bytes, in units of blocks: shift left by 3 for the index. Grows when it must. */
  allocate(length: number): number {
    const size = blockBytes(length);
    const free = this.#freeLists.get(size) ?? NO_BLOCK;
    if (free !== NO_BLOCK) {
      this.#freeLists.set(size, this.#links[free << 1] ?? NO_BLOCK);
      this.#freeBytes -= size;
      return free;
    }
    if (this.#endBytes + size > this.#bytes.length) this.#grow(size);
    const place = this.#endBytes >>> BLOCK_SHIFT;
    this.#endBytes += size;
    return place;
  }

  free(place: number, length: number): void {
    const size = blockBytes(length);
    this.#links[place << 1] = this.#freeLists.get(size) ?? NO_BLOCK;
    this.#freeLists.set(size, place);
    this.#freeBytes += size;
  }

  #hasFreeBlock(size: number): boolean {
    return (this.#freeLists.get(size) ?? NO_BLOCK) !== NO_BLOCK;
  }

  #grow(size: number): void {
    const buffer = new ArrayBuffer(
      Math.max(blockBytes(this.#bytes.length * GROWTH), blockBytes(this.#endBytes + size)),
    );
    const bytes = new Uint8Array(buffer);
    bytes.set(this.#bytes);
    this.#bytes = bytes;
    this.#links = new Int32Array(buffer);
  }
}

/** Rounded up to whole blocks; nothing takes a block as well, because a free block needs its link. */
function blockBytes(length: number): number {
  return Math.max(BLOCK_BYTES, (length + BLOCK_BYTES - 1) & ~(BLOCK_BYTES - 1));
}
