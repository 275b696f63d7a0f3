/**
 * Assembles a line or list item that arrives in several chunks. Each byte is copied once into a private
 * buffer, which doubles when it is full and is used again. So the cost is linear for 32 MiB in 16 KiB
 * chunks, and the small piece at the end of a chunk allocates no memory.
 *
 * Only the first `bytesMax` bytes are kept; all are counted.
 */

/** A larger buffer is released after use. */
const RETAINED_BYTES_MAX = 1024 * 1024;
const FIRST_BYTES = 16 * 1024;

export class FrameBuffer {
  // Fields and no getters: reading them is a part of the hot path. Only this class sets them.
  /** The buffer whose bytes [0, length) are kept. Valid until the next `append` or `clear`. */
  bytes: Buffer = Buffer.alloc(0);
  length = 0;
  /** The number of bytes that were appended, kept or not. */
  totalBytes = 0;
  /** The last byte that was appended, kept or not; -1 when there is none. */
  lastByte = -1;
  readonly #bytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  append(bytes: Buffer, start: number, end: number): void {
    if (start >= end) return;
    this.totalBytes += end - start;
    this.lastByte = bytes[end - 1] ?? -1;
    const kept = Math.min(end - start, this.#bytesMax - this.length);
    this.#reserve(this.length + kept);
    this.length += bytes.copy(this.bytes, this.length, start, start + kept);
  }

  clear(): void {
    this.length = 0;
    this.totalBytes = 0;
    this.lastByte = -1;
    if (this.bytes.length > RETAINED_BYTES_MAX) this.bytes = Buffer.alloc(0);
  }

  #reserve(length: number): void {
    if (length <= this.bytes.length) return;
    const capacity = Math.min(Math.max(FIRST_BYTES, length, 2 * this.bytes.length), this.#bytesMax);
    // Not from the pool: V8 copies faster between separate buffers.
    const grown = Buffer.allocUnsafeSlow(capacity);
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }
}
