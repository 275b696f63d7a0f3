/**
 * Splits the body of a watch into lines, on bytes and across chunks of any size. A line inside one chunk is
 * delivered in place, one that spans chunks is assembled first.
 *
 * The sink may refuse a line for lack of room. Then `write` returns the index up to which the chunk is
 * consumed, always before the chunk's end. `write(chunk, thatIndex, sink)` offers the same line again. No
 * line is lost or repeated.
 */
import { FrameBuffer, asBuffer } from './frame-buffer.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export interface FrameSink {
  /**
   * Takes a line without its end. The bytes are valid until `frame` returns.
   *
   * @returns false when there is no room: the same line is offered again
   */
  frame(bytes: Buffer, start: number, end: number): boolean;
  /** Takes a line above the limit: only its first bytes are here, enough for its object's identity. */
  oversized(bytes: Buffer, start: number, end: number, totalBytes: number): boolean;
}

export interface WatchFramesOptions {
  readonly frameBytesMax: number;
}

export class WatchFrames {
  readonly #frameBytesMax: number;
  /** The beginning of a line whose end has not come; or all of it, refused, before its line feed is read. */
  readonly #partial: FrameBuffer;

  constructor(options: WatchFramesOptions) {
    this.#frameBytesMax = options.frameBytesMax;
    this.#partial = new FrameBuffer(options.frameBytesMax);
  }

  /**
   * @returns the index up to which the chunk was consumed: its length, or less when the sink refused a line
   */
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

  /** The number of bytes of the line whose end has not come. */
  get partialBytes(): number {
    return this.#partial.totalBytes;
  }

  /** Ends the stream. A partial line is no event and is dropped; `partial` reports it. */
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
