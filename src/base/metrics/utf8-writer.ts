/**
 * A long text of many short parts, written as UTF-8. Parts that occur again are copied from where they were written
 * first. Strings of the same parts would keep the garbage collector busy for longer than the writing takes.
 */

/** UTF-8 has at most three bytes for a unit of UTF-16. */
const BYTES_PER_UNIT = 3;
/** Longest text of a number. */
const NUMBER_BYTES = 32;
const ZERO = 0x30;
const WHOLE_MAX = 2 ** 31;

export class Utf8Writer {
  #bytes: Buffer;
  /** Whether every character is one byte. */
  #isAscii = true;
  /** Number of bytes so far. */
  length = 0;

  /** @param capacity expected number of bytes */
  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafe(capacity);
  }

  write(text: string): void {
    this.#reserve(text.length * BYTES_PER_UNIT);
    const written = this.#bytes.write(text, this.length);
    this.length += written;
    if (written !== text.length) this.#isAscii = false;
  }

  /** Writes a short part of ASCII. A loop is faster than a call for so few bytes. */
  put(part: Uint8Array): void {
    const { length } = part;
    this.#reserve(length);
    const bytes = this.#bytes;
    let to = this.length;
    for (let at = 0; at < length; at++) bytes[to++] = part[at] as number;
    this.length = to;
  }

  /** Copies a part that was written before. */
  repeat(start: number, length: number): void {
    this.#reserve(length);
    this.#bytes.copyWithin(this.length, start, start + length);
    this.length += length;
  }

  /** Writes a number as JavaScript does. Most are small and whole, and need no string. */
  number(value: number): void {
    this.#reserve(NUMBER_BYTES);
    if (value >= 0 && value < WHOLE_MAX && Number.isInteger(value)) this.#whole(value);
    else this.write(String(value));
  }

  toString(): string {
    return this.#bytes.toString(this.#isAscii ? 'latin1' : 'utf8', 0, this.length);
  }

  #whole(value: number): void {
    const bytes = this.#bytes;
    let digits = 1;
    for (let limit = 10; limit <= value; limit *= 10) digits++;
    this.length += digits;
    let rest = value;
    for (let at = this.length - 1; digits > 0; digits--, at--) {
      const tens = Math.floor(rest / 10);
      bytes[at] = ZERO + rest - tens * 10;
      rest = tens;
    }
  }

  #reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.length);
    this.#bytes = larger;
  }
}
