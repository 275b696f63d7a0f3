/**
 * The reflector's end of the log, and copies into and out of it. The reflector reserves room for the bytes of a record, and
 * frees blocks once the slowest reader passed their last sequence (the Disruptor's gating sequence). First in, first out;
 * no reference counts.
 *
 * The lowest free blocks are used first, so a log that is drained quickly stays in a few cached megabytes.
 */
import { assert } from '../../base/errors.ts';
import { compareU32 } from '../ring/word.ts';
import type { Word } from '../ring/word.ts';
import { BLOCK_BYTES, LOG_BYTES_MAX } from './log-layout.ts';

/** Returned by `reserve` when readers must first pass a sequence. */
export const LOG_FULL = -1;

interface Extent {
  readonly firstBlock: number;
  readonly blocks: number;
  lastSequence: number;
}

export class LogWriter {
  readonly bytes: Buffer;
  readonly #isFree: boolean[];
  readonly #merged: Pick<Word, 'load'>;
  /** Full extents, oldest first. */
  readonly #closed: Extent[] = [];
  #open: Extent | undefined;
  #position = 0;
  #end = 0;
  /** Length of the open reservation, or 0. */
  #reserved = 0;

  /**
   * @param merged the sequence that all readers have passed: a sequence is merged after the shard answered it, and the
   *   shard does not read the record's bytes after that. With `consumed` of every shard in addition, an idle shard would keep
   *   the log full until it wakes up
   */
  constructor(buffer: SharedArrayBuffer, merged: Pick<Word, 'load'>) {
    this.bytes = Buffer.from(buffer);
    this.#merged = merged;
    this.#isFree = Array.from({ length: buffer.byteLength / BLOCK_BYTES }, () => true);
  }

  /**
   * Returns the offset of `length` contiguous writable bytes, or LOG_FULL. `seal` or `cancel` must follow.
   *
   * A record longer than the whole log never fits: the caller must check that limit. Any other fits at the
   * latest when readers have passed everything, provided that no other record is reserved until that time.
   */
  reserve(length: number): number {
    assert(this.#reserved === 0, 'one reservation at a time');
    assert(length > 0, 'a reservation of nothing');
    if (this.#position + length > this.#end && !this.#openExtent(length)) return LOG_FULL;
    this.#reserved = length;
    return this.#position;
  }

  /** Assigns `length` bytes of the reservation to the record with this sequence. */
  seal(sequence: number, length: number): void {
    assert(this.#reserved > 0 && this.#open !== undefined, 'seal without a reservation');
    assert(length >= 0 && length <= this.#reserved, 'seal of more than was reserved');
    this.#open.lastSequence = sequence;
    this.#position += length;
    this.#reserved = 0;
  }

  cancel(): void {
    this.#reserved = 0;
  }

  /** Bytes of blocks that are in use. */
  get usedBytes(): number {
    return this.#isFree.filter((free) => !free).length * BLOCK_BYTES;
  }

  /** Bytes of blocks with records that the slowest reader still needs. */
  get unreadBytes(): number {
    const merged = this.#merged.load();
    const extents = this.#open ? [...this.#closed, this.#open] : this.#closed;
    const unread = extents.filter(({ lastSequence }) => compareU32(lastSequence, merged) > 0);
    return unread.reduce((blocks, extent) => blocks + extent.blocks, 0) * BLOCK_BYTES;
  }

  #openExtent(length: number): boolean {
    this.#reclaim();
    const blocks = Math.ceil(length / BLOCK_BYTES);
    const firstBlock = this.#findFreeRun(blocks);
    if (firstBlock < 0) return false;
    if (this.#open) this.#closed.push(this.#open);
    this.#isFree.fill(false, firstBlock, firstBlock + blocks);
    this.#open = { firstBlock, blocks, lastSequence: this.#merged.load() };
    this.#position = firstBlock * BLOCK_BYTES;
    this.#end = this.#position + blocks * BLOCK_BYTES;
    return true;
  }

  #reclaim(): void {
    const merged = this.#merged.load();
    for (;;) {
      const oldest = this.#closed[0];
      if (!oldest || compareU32(oldest.lastSequence, merged) > 0) break;
      this.#isFree.fill(true, oldest.firstBlock, oldest.firstBlock + oldest.blocks);
      this.#closed.shift();
    }
    // Frees the open extent as well, or a log of few blocks could wait for itself forever.
    if (this.#closed.length === 0 && this.#open && compareU32(this.#open.lastSequence, merged) <= 0) {
      this.#isFree.fill(true, this.#open.firstBlock, this.#open.firstBlock + this.#open.blocks);
      this.#open = undefined;
      this.#position = 0;
      this.#end = 0;
    }
  }

  #findFreeRun(blocks: number): number {
    let run = 0;
    for (let block = 0; block < this.#isFree.length; block++) {
      run = this.#isFree[block] ? run + 1 : 0;
      if (run === blocks) return block - blocks + 1;
    }
    return -1;
  }
}

/** @param bytes a multiple of the block size */
export function allocateLog(bytes: number): SharedArrayBuffer {
  const isAllowed = bytes % BLOCK_BYTES === 0 && bytes >= BLOCK_BYTES && bytes <= LOG_BYTES_MAX;
  assert(isAllowed, 'a log that is not made of whole blocks within the bounds', bytes);
  return new SharedArrayBuffer(bytes);
}

/**
 * Copies bytes out of or into shared memory. V8's own copy (`set`, and `Buffer.copy` in Node 20) moves shared memory word by
 * word, and byte by byte when source and target lie differently in their words. `fill` with a buffer is one memcpy: 350
 * instead of 870 ns for 5 KB into memory that is not cached (docs/decisions/0014).
 */
export function copyBytes(source: Buffer, start: number, end: number, target: Buffer, at: number): void {
  if (start < end) target.fill(source.subarray(start, end), at, at + end - start);
}
