/**
 * Reads strings, keys and single fields in JSON bytes, also in shared memory: the text is copied before it is
 * interpreted.
 *
 * A dotted path leads to a field of an object: `spec.nodeName`, `metadata.annotations.foo\.bar/baz`. A dot inside a key
 * is written `\.`, a backslash `\\`. Paths lead through objects only, never into arrays.
 */
import { KubeloomError } from '../../base/errors.ts';
import { parseJson } from '../../base/parse-json.ts';
import {
  afterMember,
  bytesEqual,
  hasEscape,
  openObject,
  skipString,
  skipValue,
  valueAfterKey,
} from './skip.ts';

const QUOTE = 0x22;

/** `\u0000`: the longest escape of a character. */
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
 * Returns the text between the quotes of a JSON string, with escapes resolved.
 *
 * @returns undefined when an escape is not valid
 */
export function decodeStringContent(bytes: Uint8Array, start: number, end: number): string | undefined {
  const text = decodeUtf8(bytes, start, end);
  return text.includes('\\') ? parseString(`"${text}"`) : text;
}

/** Returns the text of a token between quotes; undefined when the token is not a string. */
export function decodeStringToken(bytes: Uint8Array, start: number, end: number): string | undefined {
  if (end - start < 2 || bytes[start] !== QUOTE || bytes[end - 1] !== QUOTE) return undefined;
  return decodeStringContent(bytes, start + 1, end - 1);
}

/** Returns a key in the form that `keyEquals` takes: as JSON requires it to be written, without the quotes. */
export function jsonKey(text: string): Buffer {
  return Buffer.from(JSON.stringify(text).slice(1, -1));
}

/**
 * Returns whether the string token at [start, end) is `key`, also when it is written with more escapes.
 *
 * @param key made by `jsonKey`; a key of letters is its own form
 */
export function keyEquals(bytes: Uint8Array, start: number, end: number, key: Uint8Array): boolean {
  const length = end - start - 2;
  // Further escapes make a key longer; those that it requires may have other hexadecimal digits.
  if (length < key.length || length > key.length * ESCAPE_BYTES_MAX) return false;
  if (length === key.length && bytesEqual(bytes, start + 1, key)) return true;
  if (!hasEscape(bytes, start, end)) return false;
  const text = decodeStringToken(bytes, start, end);
  return text !== undefined && jsonKey(text).equals(key);
}

/**
 * Returns the value at a dotted path (`metadata.annotations.foo\.bar/baz`) of the object in [start, end).
 *
 * @returns undefined when it is absent or something before it is malformed
 */
export function findPath(bytes: Uint8Array, start: number, end: number, path: string): Span | undefined {
  let span: Span = { start, end };
  for (const key of splitPath(path)) {
    const value = memberValue(bytes, span.start, span.end, jsonKey(key));
    const valueEnd = skipValue(bytes, value, span.end);
    if (valueEnd < 0) return undefined;
    span = { start: value, end: valueEnd };
  }
  return span;
}

/** Returns the start of the value of the first member with this key, made by `jsonKey`, or -1. */
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

function parseString(json: string): string | undefined {
  const value = parseJson(json);
  return typeof value === 'string' ? value : undefined;
}

/** Returns the keys of a dotted path. */
export function splitPath(path: string): string[] {
  const keys: string[] = [];
  let key = '';
  for (let index = 0; index < path.length; index++) {
    const character = path[index];
    if (character === '\\') {
      index++;
      const escaped = path[index];
      if (escaped !== '.' && escaped !== '\\')
        throw invalidPath(path, 'a backslash must precede a dot or a backslash');
      key += escaped;
    } else if (character === '.') {
      keys.push(key);
      key = '';
    } else {
      key += character;
    }
  }
  keys.push(key);
  if (keys.includes('')) throw invalidPath(path, 'a key is empty');
  return keys;
}

function invalidPath(path: string, why: string): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_OPTION',
    `invalid field path ${JSON.stringify(path)}: ${why}; write keys joined by dots, a dot inside a key as \\.`,
  );
}

/** Dotted paths as a trie of keys in UTF-8, so that a single walk over an object serves any number of paths. */
export class PathNode {
  /** The key as it is in JSON, closing quote included: a match also finds the key's end. */
  readonly quotedKey: Uint8Array;
  readonly children: PathNode[] = [];
  /** Numbers of the paths that end here. */
  readonly fieldIndexes: number[] = [];
  /** Number of paths that end here or below. */
  fieldsInSubtree = 0;
  /** The last walk that met this key: a second member with the same key is ignored. */
  seenInWalk = 0;
  /** The children by the length of their quoted keys: few keys have the same length. */
  readonly #childrenByLength: PathNode[][] = [];

  constructor(key: string) {
    this.quotedKey = quoted(key);
  }

  /** Returns the child whose key is the string token at [start, end), with or without escapes. */
  child(bytes: Uint8Array, start: number, end: number): PathNode | undefined {
    const length = end - start - 1;
    if (length >= 0 && length < this.#childrenByLength.length) {
      for (const child of this.#childrenByLength[length] ?? []) {
        if (bytesEqual(bytes, start + 1, child.quotedKey)) return child;
      }
    }
    if (this.children.length === 0 || !hasEscape(bytes, start, end)) return undefined;
    const key = decodeStringToken(bytes, start, end);
    return key === undefined ? undefined : this.#childNamed(key);
  }

  /** Adds a path and returns the last node. */
  add(keys: readonly string[], fieldIndex: number): PathNode {
    this.fieldsInSubtree++;
    const [first, ...rest] = keys;
    if (first === undefined) {
      this.fieldIndexes.push(fieldIndex);
      return this;
    }
    return this.descend(first).add(rest, fieldIndex);
  }

  /** Returns the child with this key; creates it if there is none. */
  descend(key: string): PathNode {
    let child = this.#childNamed(key);
    if (!child) {
      child = new PathNode(key);
      this.children.push(child);
      const { length } = child.quotedKey;
      while (this.#childrenByLength.length <= length) this.#childrenByLength.push([]);
      this.#childrenByLength[length]?.push(child);
    }
    return child;
  }

  #childNamed(key: string): PathNode | undefined {
    const wanted = quoted(key);
    return this.children.find((child) => wanted.equals(child.quotedKey));
  }
}

/** Returns `key"`, with the escapes that JSON requires. */
function quoted(key: string): Buffer {
  return Buffer.from(JSON.stringify(key).slice(1));
}

/** Returns the root of a trie in which path number n fills place n. */
export function pathTrie(paths: readonly string[]): PathNode {
  const root = new PathNode('');
  for (const [fieldIndex, path] of paths.entries()) root.add(splitPath(path), fieldIndex);
  return root;
}
