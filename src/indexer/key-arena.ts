/**
 * Private memory for the bytes of keys: blocks of a multiple of 8 bytes. They are allocated in a row, and later from
 * free lists, one for each block size. Names of one kind have few lengths, so a freed block is usually soon reused. If
 * it is not, the table copies the live keys together (`isMostlyFree`).
 *
 * The memory consists of chunks of 256 KiB, so that one more key never causes a copy of a million. The first chunk
 * begins small and doubles, because most tables are small. The link of a free list is in the free block itself, so
 * freeing allocates nothing.
 */

const BLOCK_SHIFT = 3;
const BLOCK_BYTES: number = 1 << BLOCK_SHIFT;
const FIRST_CHUNK_BYTES = 4096;
const CHUNK_BLOCKS_SHIFT = 15;
const CHUNK_BLOCKS: number = 1 << CHUNK_BLOCKS_SHIFT;
const CHUNK_BYTES: number = CHUNK_BLOCKS * BLOCK_BYTES;
/** End of a free list; 0 is a valid place. */
const NO_BLOCK = -1;

interface Chunk {
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
}

export class KeyArena {
  readonly #chunks: Chunk[] = [makeChunk(FIRST_CHUNK_BYTES)];
  #last: Chunk = this.#chunks[0] ?? makeChunk(FIRST_CHUNK_BYTES);
  /** Allocated bytes of the last chunk. */
  #lastUsedBytes = 0;
  #capacityBytes = FIRST_CHUNK_BYTES;
  #freeBytes = FIRST_CHUNK_BYTES;
  /** First free block by block size in bytes. The first word of a free block is the place of the next. */
  readonly #freeLists: Map<number, number> = new Map();

  get capacityBytes(): number {
    return this.#capacityBytes;
  }

  get usedBytes(): number {
    return this.#capacityBytes - this.#freeBytes;
  }

  /** Returns whether `allocate` of this length needs no new memory. */
  hasRoom(length: number): boolean {
    const size = blockBytes(length);
    return this.#hasFreeBlock(size) || this.#lastUsedBytes + size <= this.#last.bytes.length;
  }

  /** Whether more than half is free, in blocks of unused sizes; copying is then better than growing. */
  get isMostlyFree(): boolean {
    return this.#freeBytes * 2 > this.#capacityBytes;
  }

  /** Returns a place for `length` bytes in a row, for `bytesAt` and `indexOf`. */
  allocate(length: number): number {
    const size = blockBytes(length);
    this.#freeBytes -= size;
    const free = this.#freeLists.get(size) ?? NO_BLOCK;
    if (free !== NO_BLOCK) {
      this.#freeLists.set(size, this.#linkAt(free));
      return free;
    }
    while (this.#lastUsedBytes + size > this.#last.bytes.length) this.#grow();
    const place = (this.#chunks.length - 1) * CHUNK_BLOCKS + (this.#lastUsedBytes >>> BLOCK_SHIFT);
    this.#lastUsedBytes += size;
    return place;
  }

  free(place: number, length: number): void {
    const size = blockBytes(length);
    const { words } = this.#chunkOf(place);
    words[this.indexOf(place) >> 2] = this.#freeLists.get(size) ?? NO_BLOCK;
    this.#freeLists.set(size, place);
    this.#freeBytes += size;
  }

  /** Returns the memory that contains the place; valid until the next `allocate`. */
  bytesAt(place: number): Uint8Array {
    return this.#chunkOf(place).bytes;
  }

  /** Returns the start of the place in that memory. */
  indexOf(place: number): number {
    return (place & (CHUNK_BLOCKS - 1)) << BLOCK_SHIFT;
  }

  #chunkOf(place: number): Chunk {
    return this.#chunks[place >>> CHUNK_BLOCKS_SHIFT] ?? this.#last;
  }

  #linkAt(place: number): number {
    return this.#chunkOf(place).words[this.indexOf(place) >> 2] ?? NO_BLOCK;
  }

  #hasFreeBlock(size: number): boolean {
    return (this.#freeLists.get(size) ?? NO_BLOCK) !== NO_BLOCK;
  }

  /** Doubles the only chunk while it is small, otherwise adds one. The rest of the last chunk counts as free. */
  #grow(): void {
    const { bytes } = this.#last;
    if (bytes.length < CHUNK_BYTES) {
      this.#last = makeChunk(bytes.length * 2);
      this.#last.bytes.set(bytes);
      this.#chunks[0] = this.#last;
      this.#addFree(bytes.length);
      return;
    }
    this.#last = makeChunk(CHUNK_BYTES);
    this.#chunks.push(this.#last);
    this.#lastUsedBytes = 0;
    this.#addFree(CHUNK_BYTES);
  }

  #addFree(bytes: number): void {
    this.#capacityBytes += bytes;
    this.#freeBytes += bytes;
  }
}

function makeChunk(bytes: number): Chunk {
  const buffer = new ArrayBuffer(bytes);
  return { bytes: new Uint8Array(buffer), words: new Int32Array(buffer) };
}

/** Rounds up to whole blocks. An empty key takes a block, too, because a free block needs room for its link. */
function blockBytes(length: number): number {
  return Math.max(BLOCK_BYTES, (length + BLOCK_BYTES - 1) & ~(BLOCK_BYTES - 1));
}
