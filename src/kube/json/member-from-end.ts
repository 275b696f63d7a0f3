/**
 * Finds one member of an object from the object's end, where Go and custom resources have `spec` and `status`: behind metadata,
 * which is half of a pod. No byte before the member is read.
 *
 * ```
 *  {"kind":"Pod","metadata":{…},"spec":{…},"status":{…}}
 *                                      ◄─── skipped ◄───┘
 *                               ◄─── found
 * ```
 *
 * Read backwards, the nearest quote with an even number of backslashes before it opens a string, because a quote inside a
 * string has an odd number. Brackets count depth outside of strings only. Of members with one key the last one counts, as
 * for JSON.parse, and it is met first.
 */
import { keyEquals } from './read.ts';

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Place of a member's value, `end` exclusive. */
export interface MemberSpan {
  start: number;
  end: number;
}

export const MEMBER_FOUND = 1;
export const MEMBER_ABSENT = 0;
/** The bytes are no JSON object as far as they were read: parse them as a whole for the error. */
export const MEMBER_UNREADABLE = -1;

/**
 * @param key bytes of the key, without quotes and escapes
 * @param found receives the place of the value
 * @returns MEMBER_FOUND, MEMBER_ABSENT or MEMBER_UNREADABLE
 */
export function memberFromEnd(
  bytes: Uint8Array,
  start: number,
  end: number,
  key: Uint8Array,
  found: MemberSpan,
): number {
  let at = beforeSpace(bytes, start, end - 1);
  if (at < start || bytes[at] !== CLOSE_BRACE) return MEMBER_UNREADABLE;
  at = beforeSpace(bytes, start, at - 1);
  if (at >= start && bytes[at] === OPEN_BRACE) return absentAt(bytes, start, at);
  while (at >= start) {
    const valueEnd = at + 1;
    const valueStart = startOfValue(bytes, start, at);
    if (valueStart < start) return MEMBER_UNREADABLE;
    const colon = beforeSpace(bytes, start, valueStart - 1);
    const keyEnd = beforeSpace(bytes, start, colon - 1);
    if (keyEnd < start || bytes[colon] !== COLON || bytes[keyEnd] !== QUOTE) return MEMBER_UNREADABLE;
    const keyStart = startOfString(bytes, start, keyEnd);
    if (keyStart < start) return MEMBER_UNREADABLE;
    if (keyEquals(bytes, keyStart, keyEnd + 1, key)) {
      found.start = valueStart;
      found.end = valueEnd;
      return MEMBER_FOUND;
    }
    at = beforeSpace(bytes, start, keyStart - 1);
    if (at >= start && bytes[at] === OPEN_BRACE) return absentAt(bytes, start, at);
    if (at < start || bytes[at] !== COMMA) return MEMBER_UNREADABLE;
    at = beforeSpace(bytes, start, at - 1);
  }
  return MEMBER_UNREADABLE;
}

/** The brace must be the first one: an object that is cut off ends with the end of a member. */
function absentAt(bytes: Uint8Array, start: number, brace: number): number {
  return beforeSpace(bytes, start, brace - 1) < start ? MEMBER_ABSENT : MEMBER_UNREADABLE;
}

/** Returns the index of the last byte up to `at` that is no whitespace, or one before `start`. */
function beforeSpace(bytes: Uint8Array, start: number, at: number): number {
  let index = at;
  for (; index >= start; index--) {
    const byte = bytes[index];
    if (byte !== SPACE && byte !== LINE_FEED && byte !== CARRIAGE_RETURN && byte !== TAB) break;
  }
  return index;
}

/** @param at index of the value's last byte @returns -1 when it has no start */
function startOfValue(bytes: Uint8Array, start: number, at: number): number {
  const last = bytes[at];
  if (last === QUOTE) return startOfString(bytes, start, at);
  if (last === CLOSE_BRACE || last === CLOSE_BRACKET) return startOfNested(bytes, start, at);
  // A number, true, false or null: up to the colon, or whitespace behind it.
  for (let index = at; index >= start; index--) {
    const byte = bytes[index] ?? 0;
    if (byte === COLON || byte <= SPACE) return index === at ? -1 : index + 1;
    if (byte === QUOTE || byte === COMMA) return -1;
  }
  return -1;
}

/** @param at index of the closing quote @returns index of the opening quote, or -1 */
function startOfString(bytes: Uint8Array, start: number, at: number): number {
  for (let index = at - 1; index >= start; index--) {
    if (bytes[index] !== QUOTE) continue;
    let first = index;
    while (first > start && bytes[first - 1] === BACKSLASH) first--;
    if (((index - first) & 1) === 0) return index;
    index = first;
  }
  return -1;
}

/** @param at index of the closing bracket @returns index of the bracket that opens it, or -1 */
function startOfNested(bytes: Uint8Array, start: number, at: number): number {
  let depth = 0;
  for (let index = at; index >= start; index--) {
    const byte = bytes[index];
    if (byte === QUOTE) {
      index = startOfString(bytes, start, index);
      if (index < start) return -1;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth++;
    } else if ((byte === OPEN_BRACE || byte === OPEN_BRACKET) && --depth === 0) {
      return index;
    }
  }
  return -1;
}
