/**
 * Splits the body of a watch into events and each event into its parts, on bytes and across chunks of any size. An event
 * inside one chunk is delivered in place, one that spans chunks is assembled first.
 *
 * The sink may refuse an event for lack of room. Then `write` returns the index up to which the chunk is
 * consumed, always before the chunk's end. `write(chunk, thatIndex, sink)` offers the same event again. No
 * event is lost or repeated.
 *
 * Events are values of JSON, with any white space or none between them and inside. Apiservers write each as a line,
 * `{"type":"ADDED","object":{…}}`, which needs no scan: a line is one event if the next line begins with a brace, which
 * cannot continue a value behind a brace, and the line contains the key `object` once and no escape that could spell it.
 * So is the last line of a chunk, if the server has written only such lines so far; then a line that chunks cut is judged
 * when its end has come. Other events are scanned for their end.
 * A line that cannot be JSON, or whose brackets are open when the next event begins, is offered as it is.
 *
 * In a usual event the object ends at the last brace before the final one, unless the server writes members behind it.
 * Another order and members before these two take the general path of `scanWatchEvent`.
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
import { ObjectScan } from './object-scan.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACE = 0x7b;
const SPACE = 0x20;
/** Bytes behind which a value may begin inside an event, and bytes that go on behind a value. */
const BEFORE_VALUE = Buffer.from(',:[');
const BEHIND_VALUE = Buffer.from(',]}');

/** Upper bound of an event or line. No server stores an object of this size, so the end would never come. */
export const LINE_BYTES_MAX: number = 256 * 2 ** 20;

export interface FrameSink {
  /**
   * Takes an event, or a line that is none, without its end. The bytes are valid until `frame` returns.
   *
   * @returns false when there is no room: the same bytes are offered again
   */
  frame(bytes: Buffer, start: number, end: number): boolean;
  /** Takes an event above the limit: only its first bytes are here, enough for its object's identity. */
  oversized(bytes: Buffer, start: number, end: number, totalBytes: number): boolean;
  /**
   * Ends the response: an event is too long, or lines are no event. Called once; everything that follows is ignored.
   *
   * @param needsList the last event was offered before it was whole
   */
  unreadable(error: KubeloomError, needsList: boolean): void;
}

/** The next occurrence of a text in a buffer, searched once for all events before it. */
class NextText {
  readonly #text: Buffer;
  /** -1 when the buffer is new. */
  at = -1;

  /** @param text begins with a byte that is seldom in objects, for which the search is native */
  constructor(text: string) {
    this.#text = Buffer.from(text);
  }

  /** Returns the first index from `start` on, or the length of the buffer. */
  from(bytes: Buffer, start: number): number {
    if (this.at < start) this.at = bytes.indexOf(this.#text, start);
    return this.at < 0 ? (this.at = bytes.length) : this.at;
  }
}

/** Whether a server writes each event as a line: true after the first such event, false for good after an event on several lines. */
export interface LineEvidence {
  isLineWriter?: boolean;
}

export class WatchFrames {
  readonly #frameBytesMax: number;
  readonly #evidence: LineEvidence;
  /** The beginning of an event whose end has not come; or all of it, refused, before the chunk's part is consumed. */
  readonly #partial: FrameBuffer;
  readonly #scan: ObjectScan = new ObjectScan();
  readonly #lineFeed: NextText = new NextText('\n');
  readonly #objectKey: NextText = new NextText('ject"');
  readonly #escape: NextText = new NextText(String.raw`\u00`);
  /** The partial event is the beginning of a line, not scanned so far. */
  #isWaiting = false;
  /** Number of line feeds inside the event so far. */
  #lines = 0;
  /** The last line ends with a byte behind which JSON allows no brace. */
  #mayEnd = false;
  /** The last event was the last line of a chunk, and the next byte is to prove that it is whole. */
  #isUnproved = false;
  /** Length of the chunk's part of a refused event; -1 when no event is refused. */
  #refusedLength = -1;
  #isUnreadable = false;

  /** @param evidence kept for all responses of a server */
  constructor(frameBytesMax: number, evidence: LineEvidence = {}) {
    this.#frameBytesMax = frameBytesMax;
    this.#evidence = evidence;
    this.#partial = new FrameBuffer(frameBytesMax);
  }

  /**
   * @returns the index up to which the chunk was consumed: its length, or less when the sink refused an event
   */
  write(bytes: Buffer, start: number, sink: FrameSink): number {
    this.#lineFeed.at = this.#objectKey.at = this.#escape.at = -1;
    let at = this.#isUnreadable ? bytes.length : start;
    if (this.#refusedLength >= 0 && at < bytes.length) {
      if (!this.#offerAssembled(sink)) return at;
      at += this.#refusedLength;
      this.#refusedLength = -1;
    }
    while (at < bytes.length) {
      if (this.#isWaiting) {
        const joined = this.#joinLine(bytes, at);
        if (!this.#isWaiting && this.#isWhole(bytes, joined, sink) && !this.#offerAssembled(sink)) {
          this.#refusedLength = joined - at;
          return at;
        }
        at = this.#isUnreadable ? bytes.length : joined;
        continue;
      }
      const isNew = this.#partial.totalBytes === 0;
      if (isNew) at = skipWhitespace(bytes, at, bytes.length);
      if (at === bytes.length) return at;
      if (this.#isUnproved && BEHIND_VALUE.includes(bytes[at] ?? 0)) {
        this.#failLines(sink, 'an event goes on behind its line');
        break;
      }
      this.#isUnproved = false;
      const lineEnd = isNew ? this.#endOfLine(bytes, at) : -1;
      if (isNew && lineEnd < 0 && this.#mayWait(bytes, at)) {
        this.#isWaiting = true;
        continue;
      }
      const end = lineEnd < 0 ? this.#scanToEnd(bytes, at, sink) : lineEnd;
      if (this.#isUnreadable) break;
      if (!isNew || end < 0) this.#partial.append(bytes, at, end < 0 ? bytes.length : end);
      if (end < 0) {
        if (this.#partial.totalBytes > LINE_BYTES_MAX)
          this.#fail(sink, `an event of more than ${LINE_BYTES_MAX / 2 ** 20} MiB, longer than any object`);
        return bytes.length;
      }
      if (isNew) {
        if (!this.#offer(bytes, at, end - at, bytes[end - 1], sink)) return at;
      } else if (!this.#offerAssembled(sink)) {
        this.#refusedLength = end - at;
        return at;
      }
      at = end;
    }
    return bytes.length;
  }

  /** Ends the stream. A partial event is dropped; `partial` reports it. */
  finish(): 'clean' | 'partial' {
    const end = this.#partial.totalBytes > 0 ? 'partial' : 'clean';
    this.#partial.clear();
    this.#ended(0);
    return end;
  }

  /** Returns the end of a line that is one event without a scan, or -1. */
  #endOfLine(bytes: Buffer, start: number): number {
    const lineFeed = this.#lineFeed.from(bytes, start);
    const follower = this.#follower(bytes, lineFeed);
    return follower === undefined ? -1 : this.#endOfUsual(bytes, start, lineFeed, follower);
  }

  /** Returns what is behind a line feed, if it can prove that the line is an event. */
  #follower(bytes: Buffer, lineFeed: number): 'event' | 'end of chunk' | undefined {
    const next = skipWhitespace(bytes, lineFeed + 1, bytes.length);
    if (bytes[next] === OPEN_BRACE) return 'event';
    return next === bytes.length && this.#evidence.isLineWriter === true ? 'end of chunk' : undefined;
  }

  /** Returns the end of the event if [start, end) is a usual one, or -1. */
  #endOfUsual(bytes: Buffer, start: number, end: number, follower: 'event' | 'end of chunk'): number {
    const close = lastVisible(bytes, start, end);
    if (bytes[start] !== OPEN_BRACE || bytes[close] !== CLOSE_BRACE) return -1;
    const isLast = follower === 'end of chunk';
    if (isLast && bytes[lastVisible(bytes, start, close)] !== CLOSE_BRACE) return -1;
    if (this.#escape.from(bytes, start) < end) return -1;
    const key = this.#objectKey.from(bytes, start);
    if (this.#objectKey.from(bytes, key + 1) < end) return -1;
    this.#isUnproved = isLast;
    return close + 1;
  }

  /** Whether the rest of the chunk is the beginning of a line, to be judged when its end has come. */
  #mayWait(bytes: Buffer, start: number): boolean {
    if (this.#evidence.isLineWriter !== true || bytes[start] !== OPEN_BRACE) return false;
    return this.#lineFeed.from(bytes, start) === bytes.length && bytes.length - start <= this.#frameBytesMax;
  }

  /** Appends a piece of a line that waits. An event without its line feed does not wait for it. @returns the end of the piece */
  #joinLine(bytes: Buffer, start: number): number {
    const lineFeed = this.#lineFeed.from(bytes, start);
    const isKept = this.#partial.totalBytes + lineFeed - start <= this.#frameBytesMax;
    if (isKept) this.#partial.append(bytes, start, lineFeed);
    const last = lastVisible(bytes, start, lineFeed);
    const isCut = last >= start && bytes[last] !== CLOSE_BRACE;
    this.#isWaiting = isKept && isCut && lineFeed === bytes.length;
    return isKept ? lineFeed : start;
  }

  /** Judges a line that has waited. @returns whether it is whole; false if it goes on, or is unreadable */
  #isWhole(bytes: Buffer, at: number, sink: FrameSink): boolean {
    const line = this.#partial.bytes.subarray(0, this.#partial.length);
    const follower = bytes[at] === LINE_FEED ? this.#follower(bytes, at) : undefined;
    const isUsual = follower !== undefined && this.#endOfUsual(line, 0, line.length, follower) >= 0;
    // These positions belong to the line; the next search begins in the chunk.
    this.#objectKey.at = this.#escape.at = -1;
    if (isUsual) return true;
    const end = this.#scan.find(line, 0, line.length);
    if (end < 0) return false;
    this.#ended(0);
    if (skipWhitespace(line, end, line.length) === line.length) return true;
    this.#failLines(sink, 'a line has several events');
    return false;
  }

  /** Scans on in an event. @returns the end of it, or of a line that is none, or -1 if the chunk ends first */
  #scanToEnd(bytes: Buffer, start: number, sink: FrameSink): number {
    const scan = this.#scan;
    const isObject = scan.depth > 0 || (this.#partial.totalBytes === 0 && bytes[start] === OPEN_BRACE);
    let at = start;
    while (at < bytes.length) {
      if (this.#mayEnd) at = skipWhitespace(bytes, at, bytes.length);
      if (at === bytes.length) break;
      if (this.#mayEnd && bytes[at] === OPEN_BRACE) return this.#endOfDamaged(at, sink);
      this.#mayEnd = false;
      const lineFeed = this.#lineFeed.from(bytes, at);
      const end = isObject ? scan.find(bytes, at, lineFeed) : -1;
      if (end >= 0) {
        if (this.#lines > 0) this.#evidence.isLineWriter = false;
        else if (end === lineFeed && end < bytes.length) this.#evidence.isLineWriter ??= true;
        return this.#ended(end);
      }
      if (lineFeed === bytes.length) break;
      if (!isObject || scan.isInString) return this.#endOfDamaged(lineFeed, sink);
      const last = lastVisible(bytes, at, lineFeed);
      const byte = last < at && at === start ? this.#partial.lastByte : (bytes[last] ?? 0);
      this.#mayEnd = byte > SPACE && !BEFORE_VALUE.includes(byte);
      this.#lines++;
      at = lineFeed + 1;
    }
    return -1;
  }

  /** A single line is offered: its object may have an identity. Several lines contain other events. */
  #endOfDamaged(end: number, sink: FrameSink): number {
    if (this.#lines > (this.#mayEnd ? 1 : 0)) this.#fail(sink, 'lines that are not JSON');
    return this.#ended(end);
  }

  #ended(end: number): number {
    this.#scan.reset();
    this.#isWaiting = false;
    this.#lines = 0;
    this.#mayEnd = false;
    return end;
  }

  /** The server has been taken for a writer of lines. */
  #failLines(sink: FrameSink, what: string): void {
    this.#evidence.isLineWriter = false;
    this.#fail(sink, what, true);
  }

  #fail(sink: FrameSink, what: string, needsList = false): void {
    this.#isUnreadable = true;
    this.#partial.clear();
    const message = `${what}; the connection was closed`;
    sink.unreadable(new KubeloomError('ERR_KUBELOOM_MALFORMED_EVENT', message), needsList);
  }

  #offer(bytes: Buffer, start: number, totalBytes: number, lastByte = -1, sink: FrameSink): boolean {
    const length = lastByte === CARRIAGE_RETURN ? totalBytes - 1 : totalBytes;
    if (length <= this.#frameBytesMax) return sink.frame(bytes, start, start + length);
    return sink.oversized(bytes, start, start + this.#frameBytesMax, length);
  }

  /** Offers what is assembled, and forgets it when it is taken. */
  #offerAssembled(sink: FrameSink): boolean {
    const { bytes, totalBytes, lastByte } = this.#partial;
    const isTaken = this.#offer(bytes, 0, totalBytes, lastByte, sink);
    if (isTaken) this.#partial.clear();
    return isTaken;
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
  /** Whether the object of an event with a usual beginning is the last member; undefined before the first such event. */
  isObjectLast: boolean | undefined = undefined;
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

/**
 * Scans an event; the first of a response with a usual beginning as a whole, for members behind the object.
 *
 * @returns false when [start, end) is no JSON object with a type and an object
 */
export function scanWatchEvent(bytes: Uint8Array, start: number, end: number, out: WatchEventSpans): boolean {
  if (out.isObjectLast === true && scanCanonical(bytes, start, end, out)) return true;
  if (!scanAnyOrder(bytes, start, end, out)) return scanCanonical(bytes, start, end, out);
  const { objectEnd } = out;
  if (scanCanonical(bytes, start, end, out)) out.isObjectLast ??= out.objectEnd === objectEnd;
  out.objectEnd = objectEnd;
  return true;
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
