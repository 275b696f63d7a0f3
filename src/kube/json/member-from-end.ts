/**
 * Finds the members of an object from the object's end, where Go and custom resources have `spec` and `status`: behind
 * metadata, which is half of a pod. A walk takes one step for each member, and reads no byte before the member.
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

/** Place of a member in the bytes; ends are exclusive. */
export interface MemberPlace {
  /** Start of the key's opening quote. */
  keyStart: number;
  keyEnd: number;
  valueStart: number;
}

/** The object has no more members. */
export const NO_MEMBER = 0;
/** The bytes are no JSON object as far as they were read: parse them as a whole for the error. */
export const UNREADABLE_MEMBERS = -1;

/** Returns the end of the last member's value, NO_MEMBER or UNREADABLE_MEMBERS. */
export function lastMemberEnd(bytes: Uint8Array, start: number, end: number): number {
  const brace = beforeSpace(bytes, start, end - 1);
  if (brace < start || bytes[brace] !== CLOSE_BRACE) return UNREADABLE_MEMBERS;
  const at = beforeSpace(bytes, start, brace - 1);
  if (at < start) return UNREADABLE_MEMBERS;
  return bytes[at] === OPEN_BRACE ? noMemberAt(bytes, start, at) : at + 1;
}

/** Finds the member whose value ends at `valueEnd`. @returns false when the bytes are no member */
export function memberBefore(
  bytes: Uint8Array,
  start: number,
  valueEnd: number,
  place: MemberPlace,
): boolean {
  const valueStart = startOfValue(bytes, start, valueEnd - 1);
  if (valueStart < start) return false;
  const colon = beforeSpace(bytes, start, valueStart - 1);
  const keyEnd = beforeSpace(bytes, start, colon - 1);
  if (keyEnd < start || bytes[colon] !== COLON || bytes[keyEnd] !== QUOTE) return false;
  place.keyStart = startOfString(bytes, start, keyEnd);
  place.keyEnd = keyEnd + 1;
  place.valueStart = valueStart;
  return place.keyStart >= start;
}

/** Returns the end of the value of the member before the key at `keyStart`, NO_MEMBER or UNREADABLE_MEMBERS. */
export function memberEndBefore(bytes: Uint8Array, start: number, keyStart: number): number {
  const at = beforeSpace(bytes, start, keyStart - 1);
  if (at < start) return UNREADABLE_MEMBERS;
  if (bytes[at] === OPEN_BRACE) return noMemberAt(bytes, start, at);
  const last = bytes[at] === COMMA ? beforeSpace(bytes, start, at - 1) : -1;
  return last < start ? UNREADABLE_MEMBERS : last + 1;
}

/** The brace must be the first one: an object that is cut off ends with the end of a member. */
function noMemberAt(bytes: Uint8Array, start: number, brace: number): number {
  return beforeSpace(bytes, start, brace - 1) < start ? NO_MEMBER : UNREADABLE_MEMBERS;
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
