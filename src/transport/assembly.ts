/**
 * Puts one line or list item together that arrives in several chunks: copied once into a private buffer
 * that grows by doubling and is used again, so the cost stays linear for 32 MiB in 16 KiB chunks and the
 * usual small piece at the end of every chunk allocates nothing.
 *
 * Only the first `bytesMax` bytes are kept; how many there were is counted.
 */

/** A larger buffer is given back after use. */
const RETAINED_BYTES_MAX = 1024 * 1024;
const FIRST_BYTES = 16 * 1024;

export class Assembly {
  readonly #bytesMax: number;
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;
  #totalBytes = 0;
  #lastByte = -1;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** What is kept: [0, length) of it. Good until the next `append` or `clear`. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  get length(): number {
    return this.#length;
  }

  /** How many bytes were appended, kept or not. */
  get totalBytes(): number {
    return this.#totalBytes;
  }

  /** The last byte that was appended, kept or not; -1 when there is none. */
  get lastByte(): number {
    return this.#lastByte;
  }

  get isEmpty(): boolean {
    return this.#totalBytes === 0;
  }

  append(bytes: Buffer, start: number, end: number): void {
    if (start >= end) return;
    this.#totalBytes += end - start;
    this.#lastByte = bytes[end - 1] ?? -1;
    const kept = Math.min(end - start, this.#bytesMax - this.#length);
    this.#reserve(this.#length + kept);
    this.#length += bytes.copy(this.#bytes, this.#length, start, start + kept);
  }

  clear(): void {
    this.#length = 0;
    this.#totalBytes = 0;
    this.#lastByte = -1;
    if (this.#bytes.length > RETAINED_BYTES_MAX) this.#bytes = Buffer.alloc(0);
  }

  #reserve(length: number): void {
    if (length <= this.#bytes.length) return;
    const capacity = Math.min(Math.max(FIRST_BYTES, length, 2 * this.#bytes.length), this.#bytesMax);
    // Not from the pool: V8 copies faster between buffers of their own.
    const grown = Buffer.allocUnsafeSlow(capacity);
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}

/** The same bytes as a Buffer, for its native search. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
