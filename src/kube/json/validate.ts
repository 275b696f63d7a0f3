/**
 * A strict validator: accepts exactly the values that JSON.parse accepts. A shard applies it to the few tokens
 * that it copies, because the main thread parses those without error handling.
 */
import { bytesEqual } from './read.ts';
import { afterElement, afterMember, openArray, openObject, valueAfterKey } from './walk.ts';

const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const DOT = 0x2e;
const SLASH = 0x2f;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Deeper nesting is invalid here, which bounds the stack; apiservers reject it as well. */
const DEPTH_MAX = 500;

const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const NULL = Buffer.from('null');
/** Characters that may follow a backslash, apart from `u`. */
const ESCAPABLE = new Set([QUOTE, BACKSLASH, SLASH, ...Buffer.from('bfnrt')]);
const LETTER_E = 0x65;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
const LETTER_U = 0x75;
const UPPERCASE_E = 0x45;
const CASE_BIT = 0x20;

/** @returns the index after the value that begins at `start`, or -1 when it is not valid JSON */
export function validValueEnd(bytes: Uint8Array, start: number, end: number, depth = 0): number {
  if (start < 0 || start >= end || depth > DEPTH_MAX) return -1;
  switch (bytes[start]) {
    case QUOTE:
      return validStringEnd(bytes, start, end);
    case OPEN_BRACE:
      return validObjectEnd(bytes, start, end, depth);
    case OPEN_BRACKET:
      return validArrayEnd(bytes, start, end, depth);
    case LETTER_T:
      return literalEnd(bytes, start, end, TRUE);
    case LETTER_F:
      return literalEnd(bytes, start, end, FALSE);
    case LETTER_N:
      return literalEnd(bytes, start, end, NULL);
    default:
      return numberEnd(bytes, start, end);
  }
}

function validObjectEnd(bytes: Uint8Array, start: number, end: number, depth: number): number {
  let at = openObject(bytes, start, end);
  while (at >= 0 && bytes[at] === QUOTE) {
    const value = valueAfterKey(bytes, validStringEnd(bytes, at, end), end);
    at = afterMember(bytes, validValueEnd(bytes, value, end, depth + 1), end);
  }
  return at < 0 || bytes[at] !== CLOSE_BRACE ? -1 : at + 1;
}

function validArrayEnd(bytes: Uint8Array, start: number, end: number, depth: number): number {
  let at = openArray(bytes, start, end);
  while (at >= 0 && bytes[at] !== CLOSE_BRACKET) {
    at = afterElement(bytes, validValueEnd(bytes, at, end, depth + 1), end);
  }
  return at < 0 ? -1 : at + 1;
}

function validStringEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start + 1;
  while (at < end) {
    const byte = bytes[at++] ?? 0;
    if (byte > QUOTE) {
      if (byte !== BACKSLASH) continue;
      at = escapeEnd(bytes, at, end);
      if (at < 0) return -1;
    } else if (byte === QUOTE) {
      return at;
    } else if (byte < SPACE) {
      return -1;
    }
  }
  return -1;
}

/** @param at the byte after the backslash */
function escapeEnd(bytes: Uint8Array, at: number, end: number): number {
  if (at >= end) return -1;
  const byte = bytes[at] ?? 0;
  if (byte !== LETTER_U) return ESCAPABLE.has(byte) ? at + 1 : -1;
  if (at + 5 > end) return -1;
  for (let index = at + 1; index < at + 5; index++) if (!isHexDigit(bytes[index] ?? 0)) return -1;
  return at + 5;
}

function literalEnd(bytes: Uint8Array, start: number, end: number, literal: Uint8Array): number {
  const literalStop = start + literal.length;
  return literalStop <= end && bytesEqual(bytes, start, literal) ? literalStop : -1;
}

function numberEnd(bytes: Uint8Array, start: number, end: number): number {
  const integer = bytes[start] === MINUS ? start + 1 : start;
  let at = bytes[integer] === DIGIT_0 ? integer + 1 : digitsEnd(bytes, integer, end);
  if (at === integer || at > end) return -1;
  if (at < end && bytes[at] === DOT) {
    const fraction = at + 1;
    at = digitsEnd(bytes, fraction, end);
    if (at === fraction) return -1;
  }
  if (at < end && (bytes[at] === LETTER_E || bytes[at] === UPPERCASE_E)) {
    const sign = at + 1;
    const exponent = bytes[sign] === PLUS || bytes[sign] === MINUS ? sign + 1 : sign;
    at = digitsEnd(bytes, exponent, end);
    if (at <= exponent) return -1;
  }
  return at;
}

/** Returns the first index from `at` that is not a digit. */
function digitsEnd(bytes: Uint8Array, at: number, end: number): number {
  let index = at;
  while (index < end && isDigit(bytes[index] ?? 0)) index++;
  return index;
}

function isDigit(byte: number): boolean {
  return byte >= DIGIT_0 && byte <= DIGIT_9;
}

function isHexDigit(byte: number): boolean {
  const lower = byte | CASE_BIT;
  return isDigit(byte) || (lower >= 0x61 && lower <= LETTER_F);
}
