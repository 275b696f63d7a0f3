/**
 * Splits the body of a watch into lines, on bytes and across chunks of any size. A line inside one chunk is
 * handed over where it lies; one that spans chunks is assembled first.
 *
 * The sink may refuse a line for lack of room. Then `write` stops and returns the index up to which the
 * chunk is consumed, always before the chunk's end; `write(chunk, thatIndex, sink)` offers the same line
 * again. Nothing is lost and nothing comes twice.
 */
import { Assembly, asBuffer } from './assembly.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export interface FrameSink {
  /**
   * A line without its end. The bytes are good until `frame` returns.
   *
   * @returns false when there is no room: it will be offered again
   */
  frame(bytes: Buffer, start: number, end: number): boolean;
  /** A line above the limit: only its first bytes are here, enough to find out whose it is. */
  oversized(bytes: Buffer, start: number, end: number, totalBytes: number): boolean;
}

export interface WatchFramesOptions {
  readonly frameBytesMax: number;
}

export class WatchFrames {
  readonly #frameBytesMax: number;
  /** The beginning of a line whose end has not come; or all of it, refused, with its line feed yet to be read. */
  readonly #partial: Assembly;

  constructor(options: WatchFramesOptions) {
    this.#frameBytesMax = options.frameBytesMax;
    this.#partial = new Assembly(options.frameBytesMax);
  }

  /** @returns the index up to which the chunk was consumed: its length, or less when the sink refused */
  write(chunk: Uint8Array, start: number, sink: FrameSink): number {
    const bytes = asBuffer(chunk);
    let lineStart = start;
    while (lineStart < bytes.length) {
      const lineFeed = bytes.indexOf(LINE_FEED, lineStart);
      if (lineFeed < 0) {
        this.#partial.append(bytes, lineStart, bytes.length);
        return bytes.length;
      }
      if (!this.#partial.isEmpty) {
        this.#partial.append(bytes, lineStart, lineFeed);
        if (!this.#offerAssembled(sink)) return lineFeed;
        this.#partial.clear();
      } else if (!this.#offer(bytes, lineStart, lineFeed, sink)) {
        return lineStart;
      }
      lineStart = lineFeed + 1;
    }
    return lineStart;
  }

  /** Of the line whose end has not come. */
  get partialBytes(): number {
    return this.#partial.totalBytes;
  }

  /** The stream is over. A torn line is no event and is dropped; `partial` says that there was one. */
  finish(): 'clean' | 'partial' {
    const end = this.#partial.isEmpty ? 'clean' : 'partial';
    this.#partial.clear();
    return end;
  }

  #offer(bytes: Buffer, start: number, lineFeed: number, sink: FrameSink): boolean {
    const end = bytes[lineFeed - 1] === CARRIAGE_RETURN && lineFeed > start ? lineFeed - 1 : lineFeed;
    if (end === start) return true;
    if (end - start <= this.#frameBytesMax) return sink.frame(bytes, start, end);
    return sink.oversized(bytes, start, start + this.#frameBytesMax, end - start);
  }

  #offerAssembled(sink: FrameSink): boolean {
    const { bytes, totalBytes, lastByte } = this.#partial;
    const length = lastByte === CARRIAGE_RETURN ? totalBytes - 1 : totalBytes;
    if (length === 0) return true;
    if (length <= this.#frameBytesMax) return sink.frame(bytes, 0, length);
    return sink.oversized(bytes, 0, this.#frameBytesMax, length);
  }
}
