/** The end of a JSON object that arrives in pieces. Only strings and the depth of brackets are read; the rest is unchecked. */
import { skipStringTail, wideView } from '../kube/json/skip.ts';

const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** `c | CASE_BIT` maps `[` to `{` and `]` to `}`. */
const CASE_BIT = 0x20;

export class ObjectScan {
  /** Number of open brackets; 0 outside of an object. */
  depth = 0;
  isInString = false;
  #isEscaped = false;

  reset(): void {
    this.depth = 0;
    this.isInString = false;
    this.#isEscaped = false;
  }

  /** Reads a further piece. @returns the index after the object, or -1 if the piece ends first */
  find(bytes: Buffer, start: number, end: number): number {
    if (start >= end) return -1;
    const view = wideView(bytes);
    let at = start;
    if (this.isInString) {
      at = skipStringTail(bytes, view, this.#isEscaped ? start + 1 : start, end);
      if (at < 0) return this.#suspendInString(bytes, start, end);
      this.isInString = false;
      this.#isEscaped = false;
    }
    while (at < end) {
      const byte = bytes[at++] ?? 0;
      if (byte === QUOTE) {
        const string = at;
        at = skipStringTail(bytes, view, string, end);
        if (at < 0) return this.#suspendInString(bytes, string, end);
      } else if (byte >= OPEN_BRACKET) {
        // Letters of true, false and null come here too and match neither.
        const folded = byte | CASE_BIT;
        if (folded === OPEN_BRACE) this.depth++;
        else if (folded === CLOSE_BRACE && --this.depth === 0) return at;
      }
    }
    return -1;
  }

  /** Keeps the state of a string that the piece's end cuts: an odd number of backslashes escapes the next byte. */
  #suspendInString(bytes: Buffer, start: number, end: number): number {
    let first = end;
    while (first > start && bytes[first - 1] === BACKSLASH) first--;
    let backslashes = end - first;
    // The last byte of the previous piece escaped the first byte of this one.
    if (first === start && this.#isEscaped && backslashes > 0) backslashes--;
    this.isInString = true;
    this.#isEscaped = backslashes % 2 === 1;
    return -1;
  }
}
