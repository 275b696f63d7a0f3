/**
 * Finds the identity of an object: namespace, name, uid and resourceVersion. The scanner walks the object and skips all
 * other values. A substring search would also find `"name":` in annotations, managedFields and specs.
 *
 * Keys may come in any order. Typed objects (Go's field order) and custom resources (sorted) both have the
 * four close together, so the walk ends early. An empty string means the same as an absent key, as in Go. No server
 * writes a key twice: the first one that is not empty counts here, and an object that JSON.parse reads otherwise is
 * refused when it is read (EntryOwner).
 */
import { decodeStringContent, decodeStringToken, keyEquals } from './read.ts';
import {
  afterMember,
  bytesEqual,
  hasEscape,
  isPlainName,
  openObject,
  skipString,
  skipValue,
  valueAfterKey,
} from './skip.ts';

const QUOTE = 0x22;
/** The first letter of `null`, which means the same as an absent key. */
const LETTER_N = 0x6e;

/** Positions between the quotes, absolute in the scanned bytes; -1 when absent. Reused, never allocated. */
export class KeySpans {
  nameStart = -1;
  nameEnd = -1;
  /** The name contains a backslash: read it with `decodeStringContent`. */
  nameEscaped = false;
  namespaceStart = -1;
  namespaceEnd = -1;
  namespaceEscaped = false;
  uidStart = -1;
  uidEnd = -1;
  resourceVersionStart = -1;
  resourceVersionEnd = -1;
  /** Name and namespace are plain text (`isPlainName`). Others have to be read before they are good for a key. */
  hasPlainNames = false;
  /**
   * The object is written as Go writes it as far as the resourceVersion: what it is, then metadata, and in that
   * only names, namespace and uid. A reader of other fields may begin behind the resourceVersion.
   */
  isStandardOrder = false;
  /** One of the four has a value that is neither text nor null. */
  hasOtherType = false;

  reset(): void {
    this.nameStart = -1;
    this.nameEnd = -1;
    this.nameEscaped = false;
    this.namespaceStart = -1;
    this.namespaceEnd = -1;
    this.namespaceEscaped = false;
    this.uidStart = -1;
    this.uidEnd = -1;
    this.resourceVersionStart = -1;
    this.resourceVersionEnd = -1;
    this.hasPlainNames = false;
    this.isStandardOrder = false;
    this.hasOtherType = false;
  }
}

const METADATA = Buffer.from('metadata');
/** Members of metadata that no transform may change. */
const IDENTITY: readonly string[] = ['name', 'namespace', 'uid', 'resourceVersion'];
const NAME = 0;
const NAMESPACE = 1;
const UID = 2;
const RESOURCE_VERSION = 3;
const OTHER = -1;
const NAME_KEY = Buffer.from('name');
const NAMESPACE_KEY = Buffer.from('namespace');
const UID_KEY = Buffer.from('uid');
const RESOURCE_VERSION_KEY = Buffer.from('resourceVersion');
const GENERATE_NAME_KEY = Buffer.from('generateName');

/**
 * @param start where the object begins
 * @returns false when the object is malformed before the key is known, or lacks a name
 */
export function scanKey(bytes: Uint8Array, start: number, end: number, out: KeySpans): boolean {
  let at = openObject(bytes, start, end);
  while (at >= 0 && bytes[at] === QUOTE) {
    const keyEnd = skipString(bytes, at, end);
    const value = valueAfterKey(bytes, keyEnd, end);
    if (value < 0) return false;
    if (keyEquals(bytes, at, keyEnd, METADATA)) {
      const isFound = scanMetadata(bytes, value, end, out);
      // Requested fields may stand before metadata.
      out.isStandardOrder = false;
      return isFound;
    }
    at = afterMember(bytes, skipValue(bytes, value, end), end);
  }
  return false;
}

/**
 * Scans as `scanKey` does, for a caller that has found only kind and apiVersion before metadata.
 *
 * @param start where the value of metadata begins
 */
export function scanMetadata(bytes: Uint8Array, start: number, end: number, out: KeySpans): boolean {
  out.reset();
  let missing = 4;
  let hasOthers = false;
  let at = openObject(bytes, start, end);
  while (at >= 0 && bytes[at] === QUOTE) {
    const keyEnd = skipString(bytes, at, end);
    const value = valueAfterKey(bytes, keyEnd, end);
    const valueEnd = skipValue(bytes, value, end);
    if (valueEnd < 0) return false;
    const isText = bytes[value] === QUOTE;
    const key = isText || isWantedLength(keyEnd - at - 2) ? wantedKey(bytes, at, keyEnd) : OTHER;
    if (!isText && key !== OTHER && bytes[value] !== LETTER_N) out.hasOtherType = true;
    if (!isText || key === OTHER) {
      hasOthers ||= !keyEquals(bytes, at, keyEnd, GENERATE_NAME_KEY);
    } else {
      missing -= keep(key, value + 1, valueEnd - 1, out);
      if (key === RESOURCE_VERSION) out.isStandardOrder = !hasOthers && out.uidStart >= 0;
      if (missing === 0) break;
    }
    at = afterMember(bytes, valueEnd, end);
  }
  if (at < 0 || out.nameStart < 0) return false;
  out.hasPlainNames =
    isPlainName(bytes, out.nameStart, out.nameEnd) &&
    isPlainName(bytes, out.namespaceStart, out.namespaceEnd);
  if (out.hasPlainNames) return true;
  out.nameEscaped = hasEscape(bytes, out.nameStart, out.nameEnd);
  out.namespaceEscaped = hasEscape(bytes, out.namespaceStart, out.namespaceEnd);
  return true;
}

/** Returns the members whose values in the object's JSON differ from `before`. An empty string is the same as an absent value. */
export function changedIdentity(json: Buffer, before: Readonly<Record<string, unknown>>): readonly string[] {
  const spans = new KeySpans();
  if (!scanKey(json, 0, json.length, spans) || spans.hasOtherType) return ['name'];
  const text = (start: number, end: number): string | undefined =>
    start < 0 ? '' : decodeStringContent(json, start, end);
  const after = [
    text(spans.nameStart, spans.nameEnd),
    text(spans.namespaceStart, spans.namespaceEnd),
    text(spans.uidStart, spans.uidEnd),
    text(spans.resourceVersionStart, spans.resourceVersionEnd),
  ];
  return IDENTITY.filter((key, index) => after[index] !== (before[key] ?? ''));
}

/** Most keys whose values are no text (labels, generation) have another length. */
function isWantedLength(length: number): boolean {
  return length === 3 || length === 4 || length === 9 || length === 15;
}

/** Returns which of the four keys the string token at [start, end) is, or OTHER. */
function wantedKey(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start - 2;
  if (length === 4 && bytesEqual(bytes, start + 1, NAME_KEY)) return NAME;
  if (length === 9 && bytesEqual(bytes, start + 1, NAMESPACE_KEY)) return NAMESPACE;
  if (length === 3 && bytesEqual(bytes, start + 1, UID_KEY)) return UID;
  if (length === 15 && bytesEqual(bytes, start + 1, RESOURCE_VERSION_KEY)) return RESOURCE_VERSION;
  return hasEscape(bytes, start, end) ? IDENTITY.indexOf(decodeStringToken(bytes, start, end) ?? '') : OTHER;
}

/** @returns 1 when `key` receives a value for the first time, else 0 */
function keep(key: number, start: number, end: number, out: KeySpans): number {
  if (start === end) return 0;
  if (key === NAME && out.nameStart < 0) {
    out.nameStart = start;
    out.nameEnd = end;
  } else if (key === NAMESPACE && out.namespaceStart < 0) {
    out.namespaceStart = start;
    out.namespaceEnd = end;
  } else if (key === UID && out.uidStart < 0) {
    out.uidStart = start;
    out.uidEnd = end;
  } else if (key === RESOURCE_VERSION && out.resourceVersionStart < 0) {
    out.resourceVersionStart = start;
    out.resourceVersionEnd = end;
  } else {
    return 0;
  }
  return 1;
}
