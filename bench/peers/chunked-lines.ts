/** Decodes a chunked HTTP response as it arrives, and counts the lines of the body: the minimum work of any client. */

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** The part of the response to which the next byte belongs. */
type Position = 'head' | 'size' | 'data' | 'data-end' | 'complete';

export class ChunkedLines {
  /** Number of whole lines so far. */
  count = 0;
  /** Bytes of the body so far. */
  bytes = 0;
  #position: Position = 'head';
  /** Number of consecutive line feeds in the head. */
  #emptyLine = 0;
  #size = 0;
  #rest = 0;

  get isComplete(): boolean {
    return this.#position === 'complete';
  }

  push(input: Uint8Array): void {
    for (let at = 0; at < input.length;) at = this.#step(input, at);
  }

  #step(input: Uint8Array, at: number): number {
    switch (this.#position) {
      case 'head':
        return this.#head(input, at);
      case 'size':
        return this.#chunkSize(input, at);
      case 'data':
        return this.#data(input, at);
      case 'data-end':
        if (input[at] === LINE_FEED) this.#position = 'size';
        return at + 1;
      default:
        return input.length;
    }
  }

  #head(input: Uint8Array, at: number): number {
    const byte = input[at];
    if (byte === LINE_FEED) this.#emptyLine++;
    else if (byte !== CARRIAGE_RETURN) this.#emptyLine = 0;
    if (this.#emptyLine === 2) this.#position = 'size';
    return at + 1;
  }

  #chunkSize(input: Uint8Array, at: number): number {
    const byte = input[at] ?? 0;
    if (byte === LINE_FEED) {
      this.#rest = this.#size;
      this.#position = this.#size === 0 ? 'complete' : 'data';
      this.#size = 0;
    } else if (byte !== CARRIAGE_RETURN) {
      // 0-9 are 0x30 to 0x39, a-f are 0x61 to 0x66.
      this.#size = this.#size * 16 + (byte < 0x40 ? byte - 0x30 : (byte | 0x20) - 0x57);
    }
    return at + 1;
  }

  #data(input: Uint8Array, at: number): number {
    const end = Math.min(input.length, at + this.#rest);
    for (let feed = input.indexOf(LINE_FEED, at); feed >= 0 && feed < end;) {
      this.count++;
      feed = input.indexOf(LINE_FEED, feed + 1);
    }
    this.bytes += end - at;
    this.#rest -= end - at;
    if (this.#rest === 0) this.#position = 'data-end';
    return end;
  }
}
