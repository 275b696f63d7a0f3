/** A set of ordinals below a limit, a bit each: 125 KB for a million. */

const WORD_SHIFT = 5;
const WORD_MASK: number = (1 << WORD_SHIFT) - 1;

export class OrdinalSet {
  readonly #words: Int32Array;

  /** @param end the limit */
  constructor(end: number) {
    this.#words = new Int32Array((end + WORD_MASK) >>> WORD_SHIFT);
  }

  /** Adds the ordinal; returns false if it was in the set. */
  add(ordinal: number): boolean {
    const word = ordinal >>> WORD_SHIFT;
    const bits = this.#words[word] ?? 0;
    const bit = 1 << (ordinal & WORD_MASK);
    this.#words[word] = bits | bit;
    return (bits & bit) === 0;
  }

  /** Returns the first number from `start` on that is not in the set; it may be the limit or more. */
  absentFrom(start: number): number {
    let word = start >>> WORD_SHIFT;
    let absent = ~(this.#words[word] ?? 0) & (-1 << (start & WORD_MASK));
    while (absent === 0) absent = ~(this.#words[++word] ?? 0);
    return (word << WORD_SHIFT) + (WORD_MASK - Math.clz32(absent & -absent));
  }
}
