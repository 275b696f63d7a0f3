/**
 * The frame of a watch event, `{"type":"ADDED","object":{…}}`: its type and the place of the object.
 *
 * Apiservers write exactly that, so the object ends at the last brace before the final one and need not be
 * scanned. Another order, members before these two or spaces take the general path.
 */
import { decodeStringToken, keyEquals } from '../../kube/json/read.ts';
import {
  afterMember,
  bytesEqual,
  openObject,
  skipString,
  skipValue,
  skipWhitespace,
  valueAfterKey,
} from '../../kube/json/skip.ts';

const QUOTE = 0x22;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACE = 0x7b;
const SPACE = 0x20;

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

const TYPES: readonly (readonly [string, WatchEventType])[] = [
  ['ADDED', WatchEventType.Added],
  ['MODIFIED', WatchEventType.Modified],
  ['DELETED', WatchEventType.Deleted],
  ['BOOKMARK', WatchEventType.Bookmark],
  ['ERROR', WatchEventType.Error],
];
const TYPE_BY_NAME: ReadonlyMap<string, WatchEventType> = new Map(TYPES);
/** `{"type":"ADDED","object":`, with the most common type first. */
const CANONICAL_HEADS = [...TYPES]
  .toSorted(([, a], [, b]) => Number(b === WatchEventType.Modified) - Number(a === WatchEventType.Modified))
  .map(([name, type]) => ({
    type,
    nameLength: name.length,
    bytes: Buffer.from(`{"type":"${name}","object":`),
  }));
const TYPE_NAME_START = Buffer.byteLength('{"type":"');
const TYPE = Buffer.from('type');
const OBJECT = Buffer.from('object');

/** @returns false when [start, end) is no JSON object with a type and an object */
export function scanWatchEvent(bytes: Uint8Array, start: number, end: number, out: WatchEventSpans): boolean {
  out.type = WatchEventType.Unknown;
  out.typeStart = -1;
  out.objectStart = -1;
  return scanCanonical(bytes, start, end, out) || scanAnyOrder(bytes, start, end, out);
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
  let at = openObject(bytes, start, end);
  while (at >= 0 && bytes[at] === QUOTE) {
    const keyEnd = skipString(bytes, at, end);
    const value = valueAfterKey(bytes, keyEnd, end);
    const valueEnd = skipValue(bytes, value, end);
    if (valueEnd < 0) return false;
    keepMember(bytes, at, keyEnd, value, valueEnd, out);
    at = afterMember(bytes, valueEnd, end);
  }
  const isClosed = at >= 0 && skipWhitespace(bytes, at + 1, end) === end;
  return isClosed && out.typeStart >= 0 && out.objectStart >= 0;
}

function keepMember(
  bytes: Uint8Array,
  key: number,
  keyEnd: number,
  value: number,
  valueEnd: number,
  out: WatchEventSpans,
): void {
  if (bytes[value] === QUOTE && keyEquals(bytes, key, keyEnd, TYPE)) {
    out.type = TYPE_BY_NAME.get(decodeStringToken(bytes, value, valueEnd) ?? '') ?? WatchEventType.Unknown;
    out.typeStart = value + 1;
    out.typeEnd = valueEnd - 1;
  } else if (bytes[value] === OPEN_BRACE && keyEquals(bytes, key, keyEnd, OBJECT)) {
    out.objectStart = value;
    out.objectEnd = valueEnd;
  }
}

/** The beginning of a watch event that is too long to be kept. */
export interface WatchEventHead {
  readonly type: string;
  readonly objectStart: number;
}

/** @returns undefined when the type does not come before the object, where apiservers write it */
export function readWatchEventHead(bytes: Buffer, start: number, end: number): WatchEventHead | undefined {
  let type: string | undefined;
  let at = openObject(bytes, start, end);
  while (at >= 0 && at < end) {
    const keyEnd = skipString(bytes, at, end);
    const key = keyEnd < 0 ? undefined : decodeStringToken(bytes, at, keyEnd);
    const value = valueAfterKey(bytes, keyEnd, end);
    if (key === undefined || value < 0) return undefined;
    if (key === 'object') return type === undefined ? undefined : { type, objectStart: value };
    const valueEnd = skipValue(bytes, value, end);
    if (key === 'type') type = decodeStringToken(bytes, value, valueEnd);
    at = afterMember(bytes, valueEnd, end);
  }
  return undefined;
}
