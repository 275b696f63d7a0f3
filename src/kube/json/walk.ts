/**
 * Steps through the members of one object, or the elements of one array, without allocating: every
 * function takes an index and returns the next one. A walk has this form:
 *
 * ```
 * let at = openObject(bytes, start, end);
 * while (at >= 0 && bytes[at] === QUOTE) {
 *   const keyEnd = skipString(bytes, at, end);           // key between at + 1 and keyEnd - 1
 *   const value = valueAfterKey(bytes, keyEnd, end);
 *   const valueEnd = skipValue(bytes, value, end);
 *   at = afterMember(bytes, valueEnd, end);
 * }
 * // at: the closing brace, or -1 when the object is malformed
 * ```
 *
 * Every function returns -1 for -1, so a walk checks only before it uses an index.
 */
import { skipWhitespace } from './skip.ts';

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** @returns the first key's quote, or the closing brace of an empty object, or -1 */
export function openObject(bytes: Uint8Array, start: number, end: number): number {
  if (start < 0) return -1;
  const open = skipWhitespace(bytes, start, end);
  if (open >= end || bytes[open] !== OPEN_BRACE) return -1;
  const first = skipWhitespace(bytes, open + 1, end);
  if (first >= end) return -1;
  return bytes[first] === QUOTE || bytes[first] === CLOSE_BRACE ? first : -1;
}

/**
 * @param keyEnd the index after the key's closing quote
 * @returns where the value begins, or -1
 */
export function valueAfterKey(bytes: Uint8Array, keyEnd: number, end: number): number {
  const value = keyEnd + 1;
  // Compact JSON, the usual case.
  if (value < end && bytes[keyEnd] === COLON && (bytes[value] ?? 0) > SPACE) return value;
  return spacedValueAfterKey(bytes, keyEnd, end);
}

function spacedValueAfterKey(bytes: Uint8Array, keyEnd: number, end: number): number {
  if (keyEnd < 0) return -1;
  const colon = skipWhitespace(bytes, keyEnd, end);
  if (colon >= end || bytes[colon] !== COLON) return -1;
  const value = skipWhitespace(bytes, colon + 1, end);
  return value < end ? value : -1;
}

/** @returns the next key's quote, or the closing brace, or -1 */
export function afterMember(bytes: Uint8Array, valueEnd: number, end: number): number {
  const next = valueEnd + 1;
  if (next < end && bytes[valueEnd] === COMMA && bytes[next] === QUOTE) return next;
  return spacedAfterMember(bytes, valueEnd, end);
}

function spacedAfterMember(bytes: Uint8Array, valueEnd: number, end: number): number {
  if (valueEnd < 0) return -1;
  const separator = skipWhitespace(bytes, valueEnd, end);
  if (separator >= end) return -1;
  const byte = bytes[separator];
  if (byte === CLOSE_BRACE) return separator;
  if (byte !== COMMA) return -1;
  const next = skipWhitespace(bytes, separator + 1, end);
  return next < end && bytes[next] === QUOTE ? next : -1;
}

/** @returns the first element, or the closing bracket of an empty array, or -1 */
export function openArray(bytes: Uint8Array, start: number, end: number): number {
  if (start < 0 || start >= end || bytes[start] !== OPEN_BRACKET) return -1;
  const first = skipWhitespace(bytes, start + 1, end);
  return first < end ? first : -1;
}

/** @returns the next element, or the closing bracket, or -1 */
export function afterElement(bytes: Uint8Array, elementEnd: number, end: number): number {
  if (elementEnd < 0) return -1;
  const separator = skipWhitespace(bytes, elementEnd, end);
  if (separator >= end) return -1;
  const byte = bytes[separator];
  if (byte === CLOSE_BRACKET) return separator;
  if (byte !== COMMA) return -1;
  const next = skipWhitespace(bytes, separator + 1, end);
  return next < end && bytes[next] !== CLOSE_BRACKET ? next : -1;
}
