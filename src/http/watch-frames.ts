/**
 * Splits the body of a watch into lines and each line into its parts, on bytes and across chunks of any size. A line
 * inside one chunk is delivered in place, one that spans chunks is assembled first.
 *
 * The sink may refuse a line for lack of room. Then `write` returns the index up to which the chunk is
 * consumed, always before the chunk's end. `write(chunk, thatIndex, sink)` offers the same line again. No
 * line is lost or repeated.
 *
 * A line is `{"type":"ADDED","object":{…}}`. Apiservers write exactly that, so the object ends at the last brace before
 * the final one and need not be scanned. Another order, members before these two or spaces take the general path.
 */
import { KubeloomError } from '../base/errors.ts';
import { decodeStringToken, keyEquals } from '../kube/json/read.ts';
import {
  afterMember,
  bytesEqual,
  openObject,
  skipString,
  skipValue,
  skipWhitespace,
  valueAfterKey,
} from '../kube/json/skip.ts';
import { FrameBuffer } from './frame-buffer.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACE = 0x7b;
const SPACE = 0x20;

/** Upper bound of a line. No server stores an object of this size, so the end of a longer line would never come. */
export const LINE_BYTES_MAX: number = 256 * 2 ** 20;

export interface FrameSink {
  /**
   * Takes a line without its end. The bytes are valid until `frame` returns.
   *
   * @returns false when there is no room: the same line is offered again
   */
  frame(bytes: Buffer, start: number, end: number): boolean;
  /** Takes a line above the limit: only its first bytes are here, enough for its object's identity. */
  oversized(bytes: Buffer, start: number, end: number, totalBytes: number): boolean;
  /** Ends the response: a line is longer than 256 MiB. Called once; everything that follows is ignored. */
  unreadable(error: KubeloomError): void;
}

export class WatchFrames {
  readonly #frameBytesMax: number;
  /** The beginning of a line whose end has not come; or all of it, refused, before its line feed is read. */
  readonly #partial: FrameBuffer;
  #isUnreadable = false;

  constructor(frameBytesMax: number) {
    this.#frameBytesMax = frameBytesMax;
    this.#partial = new FrameBuffer(frameBytesMax);
  }

  /**
   * @returns the index up to which the chunk was consumed: its length, or less when the sink refused a line
   */
  write(bytes: Buffer, start: number, sink: FrameSink): number {
    let lineStart = this.#isUnreadable ? bytes.length : start;
    while (lineStart < bytes.length) {
      const lineFeed = bytes.indexOf(LINE_FEED, lineStart);
      if (lineFeed < 0) {
        this.#partial.append(bytes, lineStart, bytes.length);
        if (this.#partial.totalBytes > LINE_BYTES_MAX) this.#fail(sink);
        return bytes.length;
      }
      if (this.#partial.totalBytes > 0) {
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

  /** Ends the stream. A partial line is no event and is dropped; `partial` reports it. */
  finish(): 'clean' | 'partial' {
    const end = this.#partial.totalBytes > 0 ? 'partial' : 'clean';
    this.#partial.clear();
    return end;
  }

  #fail(sink: FrameSink): void {
    this.#isUnreadable = true;
    this.#partial.clear();
    const message = `a line of more than ${LINE_BYTES_MAX / 2 ** 20} MiB, longer than any object; the connection was closed`;
    sink.unreadable(new KubeloomError('ERR_KUBELOOM_MALFORMED_EVENT', message));
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

export const WatchEventType = {
  Unknown: 0,
  Added: 1,
  Modified: 2,
  Deleted: 3,
  Bookmark: 4,
  Error: 5,
} as const;
export type WatchEventType = (typeof WatchEventType)[keyof typeof WatchEventType];

/** The positions that `scanWatchEvent` finds; reused, never allocated. */
export class WatchEventSpans {
  type: WatchEventType = WatchEventType.Unknown;
  /** The type between its quotes, as it is written: for messages about unknown ones. */
  typeStart = -1;
  typeEnd = -1;
  objectStart = -1;
  objectEnd = -1;
}

/** The most common type comes first. */
const TYPES: readonly (readonly [string, WatchEventType])[] = [
  ['MODIFIED', WatchEventType.Modified],
  ['ADDED', WatchEventType.Added],
  ['DELETED', WatchEventType.Deleted],
  ['BOOKMARK', WatchEventType.Bookmark],
  ['ERROR', WatchEventType.Error],
];
const TYPE_BY_NAME: ReadonlyMap<string, WatchEventType> = new Map(TYPES);
const CANONICAL_HEADS = TYPES.map(([name, type]) => ({
  type,
  nameLength: name.length,
  bytes: Buffer.from(`{"type":"${name}","object":`),
}));
const TYPE_NAME_START = Buffer.byteLength('{"type":"');
const TYPE = Buffer.from('type');
const OBJECT = Buffer.from('object');

/** @returns false when [start, end) is no JSON object with a type and an object */
export function scanWatchEvent(bytes: Uint8Array, start: number, end: number, out: WatchEventSpans): boolean {
  return scanCanonical(bytes, start, end, out) || scanAnyOrder(bytes, start, end, out);
}

/**
 * Scans the beginning of an event that is too long to be kept.
 *
 * @returns false when the type does not come before the object, where apiservers write it
 */
export function scanWatchEventHead(bytes: Buffer, start: number, end: number, out: WatchEventSpans): boolean {
  return scanAnyOrder(bytes, start, end, out) || (out.typeStart >= 0 && out.objectStart >= 0);
}

function scanCanonical(bytes: Uint8Array, start: number, end: number, out: WatchEventSpans): boolean {
  const close = lastVisible(bytes, start, end);
  if (close <= start || bytes[close] !== CLOSE_BRACE) return false;
  const objectClose = lastVisible(bytes, start, close);
  for (const head of CANONICAL_HEADS) {
    const object = start + head.bytes.length;
    if (object >= objectClose || !bytesEqual(bytes, start, head.bytes)) continue;
    if (bytes[object] !== OPEN_BRACE || bytes[objectClose] !== CLOSE_BRACE) return false;
    out.type = head.type;
    out.typeStart = start + TYPE_NAME_START;
    out.typeEnd = out.typeStart + head.nameLength;
    out.objectStart = object;
    out.objectEnd = objectClose + 1;
    return true;
  }
  return false;
}

/** Returns the last index before `end` that holds no whitespace, or `start - 1`. */
function lastVisible(bytes: Uint8Array, start: number, end: number): number {
  let index = end - 1;
  while (index >= start && (bytes[index] ?? 0) <= SPACE) index--;
  return index;
}

function scanAnyOrder(bytes: Uint8Array, start: number, end: number, out: WatchEventSpans): boolean {
  out.type = WatchEventType.Unknown;
  out.typeStart = -1;
  out.objectStart = -1;
  let at = openObject(bytes, start, end);
  while (at >= 0 && bytes[at] === QUOTE) {
    const keyEnd = skipString(bytes, at, end);
    const value = valueAfterKey(bytes, keyEnd, end);
    if (bytes[value] === OPEN_BRACE && keyEquals(bytes, at, keyEnd, OBJECT)) out.objectStart = value;
    const valueEnd = skipValue(bytes, value, end);
    if (valueEnd < 0) return false;
    if (value === out.objectStart) out.objectEnd = valueEnd;
    if (bytes[value] === QUOTE && keyEquals(bytes, at, keyEnd, TYPE)) {
      out.type = TYPE_BY_NAME.get(decodeStringToken(bytes, value, valueEnd) ?? '') ?? WatchEventType.Unknown;
      out.typeStart = value + 1;
      out.typeEnd = valueEnd - 1;
    }
    at = afterMember(bytes, valueEnd, end);
  }
  const isClosed = at >= 0 && skipWhitespace(bytes, at + 1, end) === end;
  return isClosed && out.typeStart >= 0 && out.objectStart >= 0;
}
