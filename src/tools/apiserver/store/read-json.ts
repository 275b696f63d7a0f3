/**
 * JSON text as a Go server reads it, where JSON.parse differs: integers of 64 bits are exact, lone surrogates become U+FFFD, a
 * number beyond the range of doubles is an error, and repeated members are known.
 */

import { parseJson } from '../../../base/parse-json.ts';
import { integerOf, isInteger, isJsonObject, memberOf, setMember } from './json.ts';
import type { Json, JsonObject } from './json.ts';

/** A member of an object, by its path from the root: `spec.ports[0].name`. */
export interface Member {
  readonly path: string;
  /** True if the object has a member of this name before. */
  readonly isRepeated: boolean;
}

export interface JsonDocument {
  /** Undefined for a text that is not JSON. */
  readonly value: Json | undefined;
  /** All members in the order of the text; empty if none is repeated. */
  readonly members: readonly Member[];
}

const NO_JSON: JsonDocument = { value: undefined, members: [] };

/**
 * Reads the body of a request.
 *
 * @param isStruct true for the body of a built-in kind: Go decodes a repeated object or list into the first, and refuses an
 *   integer of more than 64 bits with all its digits
 */
export function readDocument(text: string, isStruct = false): JsonDocument {
  const value = parseJson(text) as Json | undefined;
  const isPlain = value === undefined || (memberCount(value) === nameCount(text) && !SURROGATE.test(text));
  return isPlain ? { value, members: [] } : readTokens(text, isStruct);
}

/** Go reads no text with more levels. */
const LEVELS_MAX = 10_000;

/** Reads a text without repeated members. */
export function readJson(text: string): Json | undefined {
  const value = parseJson(text) as Json | undefined;
  return value !== undefined && Number.isNaN(memberCount(value)) ? readTokens(text, false).value : value;
}

/** Counts the members of all objects in a value; NaN if a number may have been rounded, or if there are too many levels. */
function memberCount(value: Json): number {
  let count = 0;
  let level: (Json[] | JsonObject)[] = [[value]];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > LEVELS_MAX) return Number.NaN;
    const below: (Json[] | JsonObject)[] = [];
    for (const holder of level) {
      const values = Array.isArray(holder) ? holder : Object.values(holder);
      if (values !== holder) count += values.length;
      for (const each of values) {
        if (typeof each === 'number' && Math.abs(each) > Number.MAX_SAFE_INTEGER) return Number.NaN;
        if (typeof each === 'object' && each !== null) below.push(each);
      }
    }
    level = below;
  }
  return count;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Counts the names of members in a text: the quotes before a colon. The count may be too high, and is never too low. */
function nameCount(text: string): number {
  let count = 0;
  for (let colon = text.indexOf(':'); colon !== -1; colon = text.indexOf(':', colon + 1)) {
    let end = colon - 1;
    while (text.charCodeAt(end) <= SPACE) end--;
    const isEscaped = text.charCodeAt(end - 1) === BACKSLASH && text.charCodeAt(end - 2) !== BACKSLASH;
    if (text.charCodeAt(end) === QUOTE && !isEscaped) count++;
  }
  return count;
}

const SURROGATE = /\\u[dD]/;
/** Texts, brackets, numbers and words; nothing else in valid JSON has a meaning. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]]|[-+.\w]+/g;

/** A list or an object of which more is to come. */
interface Level {
  readonly holder: Json[] | JsonObject;
  /** '' for the root. */
  readonly path: string;
  /** Name of the member whose value comes next. */
  name?: string | undefined;
}

/** Reads valid JSON token by token. */
function readTokens(text: string, isStruct: boolean): JsonDocument {
  const members: Member[] = [];
  const document: Json[] = [];
  const root: Level = { holder: document, path: '' };
  const levels = [root];
  let level = root;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === ']' || token === '}') {
      const { holder } = level;
      levels.pop();
      level = levels.at(-1) ?? root;
      put(level, holder, isStruct);
    } else if (token === '[' || token === '{') {
      level = { holder: token === '[' ? [] : {}, path: level === root ? '' : pathInside(level) };
      // The root is no level of the text.
      if (levels.push(level) > LEVELS_MAX + 1) return NO_JSON;
    } else if (isJsonObject(level.holder) && level.name === undefined) {
      level.name = wellFormed(token);
      members.push({ path: pathInside(level), isRepeated: Object.hasOwn(level.holder, level.name) });
    } else {
      const scalar = scalarOf(token, isStruct);
      if (scalar === Number.POSITIVE_INFINITY || scalar === Number.NEGATIVE_INFINITY) return NO_JSON;
      put(level, scalar, isStruct);
    }
  }
  const isRepeated = members.some((member) => member.isRepeated);
  return { value: document[0], members: isRepeated ? members : [] };
}

function pathInside({ holder, path, name = '' }: Level): string {
  if (Array.isArray(holder)) return `${path}[${holder.length}]`;
  return path === '' ? name : `${path}.${name}`;
}

function put(level: Level, value: Json, isStruct: boolean): void {
  const { holder, name = '' } = level;
  if (Array.isArray(holder)) holder.push(value);
  else setMember(holder, name, isStruct ? merged(memberOf(holder, name), value) : value);
  level.name = undefined;
}

/** Returns a value that Go decodes into a value: members and items that come again replace the first. */
function merged(before: Json | undefined, after: Json): Json {
  if (Array.isArray(before) && Array.isArray(after))
    return after.map((item, index) => merged(before[index], item));
  if (!isJsonObject(before) || !isJsonObject(after)) return after;
  for (const [name, value] of Object.entries(after))
    setMember(before, name, merged(memberOf(before, name), value ?? null));
  return before;
}

function scalarOf(token: string, isStruct: boolean): Json {
  if (token.startsWith('"')) return wellFormed(token);
  const value = parseJson(token) as Json;
  if (!/^-?\d+$/.test(token) || isInteger(value)) return value;
  return isStruct ? BigInt(token) : integerOf(BigInt(token));
}

/** Returns the text of a token; UTF-8 has no lone surrogates. */
function wellFormed(token: string): string {
  return Buffer.from(String(parseJson(token))).toString();
}
