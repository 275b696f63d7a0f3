/** Buffer that a stage fills for one record after another. It grows for a large record and shrinks again after it. */

const CAPACITY_MIN_BYTES = 16 * 1024;
const KEPT_BYTES_MAX = 2 ** 20;

export class ByteScratch {
  bytes: Buffer = Buffer.allocUnsafeSlow(CAPACITY_MIN_BYTES);
  /** The same memory as words. */
  words: Int32Array = wordsOf(this.bytes);
  /** End of the filled part. */
  end = 0;

  /** Empties it for the next record. */
  reset(): void {
    this.end = 0;
    if (this.bytes.length > KEPT_BYTES_MAX) this.#use(Buffer.allocUnsafeSlow(CAPACITY_MIN_BYTES));
  }

  /** Makes room for `length` bytes behind the filled part. */
  reserve(length: number): void {
    const needed = this.end + length;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(wholeWords(Math.max(needed, this.bytes.length * 2)));
    larger.set(this.bytes.subarray(0, this.end));
    this.#use(larger);
  }

  /** Appends a span of a few dozen bytes. */
  append(source: Uint8Array, start: number, length: number): void {
    this.reserve(length);
    const { bytes, end } = this;
    for (let at = 0; at < length; at++) bytes[end + at] = source[start + at] ?? 0;
    this.end = end + length;
  }

  appendText(text: string): void {
    // A UTF-16 code unit takes at most 3 bytes in UTF-8.
    this.reserve(text.length * 3);
    this.end += this.bytes.write(text, this.end, 'utf8');
  }

  #use(bytes: Buffer): void {
    this.bytes = bytes;
    this.words = wordsOf(bytes);
  }
}

function wholeWords(bytes: number): number {
  return Math.ceil(bytes / Int32Array.BYTES_PER_ELEMENT) * Int32Array.BYTES_PER_ELEMENT;
}

function wordsOf(bytes: Buffer): Int32Array {
  return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / Int32Array.BYTES_PER_ELEMENT);
}
