/**
 * Small readers of strings and spans in JSON bytes, for rare cases: control objects, escaped keys, single fields.
 * They work on views of shared memory: they copy the text before they interpret it.
 */
import { splitPath } from './path.ts';
import { hasEscape, skipString, skipValue } from './skip.ts';
import { afterMember, openObject, valueAfterKey } from './walk.ts';

const QUOTE = 0x22;

/** `\u0000`: the longest escape of one character. */
const ESCAPE_BYTES_MAX = 6;

/** A range of bytes, `end` exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Returns the text of [start, end) as UTF-8, also from shared memory. */
export function decodeUtf8(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
}

/**
 * Returns the text between the quotes of a JSON string, with its escapes resolved.
 *
 * @returns undefined when an escape is not valid
 */
export function decodeStringContent(bytes: Uint8Array, start: number, end: number): string | undefined {
  const text = decodeUtf8(bytes, start, end);
  return text.includes('\\') ? parseString(`"${text}"`) : text;
}

/** Returns the text of a token with its quotes; undefined when the token is not a string. */
export function decodeStringToken(bytes: Uint8Array, start: number, end: number): string | undefined {
  if (end - start < 2 || bytes[start] !== QUOTE || bytes[end - 1] !== QUOTE) return undefined;
  return decodeStringContent(bytes, start + 1, end - 1);
}

/** Returns whether the string token at [start, end) is `key`, also when it is written with escapes. */
export function keyEquals(bytes: Uint8Array, start: number, end: number, key: Uint8Array): boolean {
  const length = end - start - 2;
  if (length <= key.length) return length === key.length && bytesEqual(bytes, start + 1, key);
  // An escape makes a key longer, and here the key has at least one.
  return (
    length <= key.length * ESCAPE_BYTES_MAX &&
    hasEscape(bytes, start, end) &&
    decodesTo(bytes, start, end, key)
  );
}

/** Returns whether `expected` is at `start`; the caller has checked that it fits. */
export function bytesEqual(bytes: Uint8Array, start: number, expected: Uint8Array): boolean {
  for (let index = 0; index < expected.length; index++) {
    if (bytes[start + index] !== expected[index]) return false;
  }
  return true;
}

/**
 * Returns the value at a dotted path (`metadata.annotations.foo\.bar/baz`) of the object in [start, end).
 *
 * @returns undefined when it is absent or something before it is malformed
 */
export function findPath(bytes: Uint8Array, start: number, end: number, path: string): Span | undefined {
  let span: Span | undefined = { start, end };
  for (const key of splitPath(path)) {
    span = findMember(bytes, span.start, span.end, Buffer.from(key));
    if (!span) return undefined;
  }
  return span;
}

/** Returns the value of the first member with this key. */
function findMember(bytes: Uint8Array, start: number, end: number, key: Uint8Array): Span | undefined {
  const value = memberValue(bytes, start, end, key);
  const valueEnd = skipValue(bytes, value, end);
  return valueEnd < 0 ? undefined : { start: value, end: valueEnd };
}

/** Returns the start of the value of the first member with this key, or -1. */
export function memberValue(bytes: Uint8Array, start: number, end: number, key: Uint8Array): number {
  let at = openObject(bytes, start, end);
  while (at >= 0 && bytes[at] === QUOTE) {
    const keyEnd = skipString(bytes, at, end);
    const value = valueAfterKey(bytes, keyEnd, end);
    if (value < 0 || keyEquals(bytes, at, keyEnd, key)) return value;
    at = afterMember(bytes, skipValue(bytes, value, end), end);
  }
  return -1;
}

function decodesTo(bytes: Uint8Array, start: number, end: number, key: Uint8Array): boolean {
  return decodeStringToken(bytes, start, end) === decodeUtf8(key, 0, key.length);
}

function parseString(json: string): string | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
