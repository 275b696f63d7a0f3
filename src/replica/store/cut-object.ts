/**
 * Parses an object without its `metadata.managedFields`. They are half of an object, and few callers read them: their text
 * is parsed when a caller does.
 *
 * ```
 *  {"metadata":{"name":"web-0","managedFields":[…],"uid":"…"},"spec":{…}}
 *                                              └─┘
 *                                              cut; a marker takes the place, and an accessor the marker's
 * ```
 *
 * No order of members is assumed. The rest of the text is parsed at once, which checks it. If the marker is not what
 * JSON.parse finds there, as when a key occurs twice, the whole text is parsed.
 */
import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { INSPECT_VALUES } from '../../base/inspect-as.ts';
import { parseJson } from '../../base/parse-json.ts';
import { isRecord } from '../../kube/meta-shape.ts';
import type { Fields, KubeMetadata } from '../../kube/meta-shape.ts';
import { bytesEqual, openObject, skipFlatArray, skipString, skipValue } from '../../kube/json/skip.ts';
import { afterMember, valueAfterKey } from '../../kube/json/skip.ts';
import type { Span } from '../../kube/json/read.ts';

const QUOTE = 0x22;
const METADATA = Buffer.from('"metadata"');
const MANAGED_FIELDS = Buffer.from('"managedFields"');

/** Cutting costs more than it saves in smaller objects, and in objects with shorter managedFields. */
const OBJECT_BYTES_MIN = 2500;
const CUT_BYTES_MIN = 400;
/** In larger objects managedFields are a small part. */
const OBJECT_BYTES_MAX: number = 2 ** 20;

/** A text that no object contains. It is a string: digits that follow a number would belong to the number. */
const MARKER: string = randomUUID();
const MARKER_TOKEN: Buffer = Buffer.from(JSON.stringify(MARKER));
const scratch: Buffer = Buffer.allocUnsafeSlow(OBJECT_BYTES_MAX + MARKER_TOKEN.length);

/** Makes the error that a read of malformed managedFields throws. */
export type MalformedError = (metadata: KubeMetadata) => Error;

type Read = (metadata: KubeMetadata) => unknown;

/**
 * A hidden member of metadata: the function that reads managedFields. It is a member, because the accessor may be called on a
 * proxy, which has no private field. V8 keeps an accessor's functions in old space, with what they hold, so all objects share
 * one accessor.
 */
const READ = Symbol('managedFields');

const ACCESSOR: PropertyDescriptor & ThisType<KubeMetadata & { readonly [READ]?: Read }> = {
  get() {
    return this[READ]?.(this);
  },
  set(value: unknown) {
    Object.defineProperty(this, 'managedFields', {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
    // Frees the text.
    Reflect.deleteProperty(this, READ);
  },
  enumerable: true,
  configurable: true,
};

/** Returns a function that parses the text once. */
function parsedOnce(text: string, malformed: MalformedError): Read {
  let unread = text;
  let value: unknown;
  return (metadata) => {
    if (value !== undefined) return value;
    value = parseJson(unread);
    if (value === undefined) throw malformed(metadata);
    unread = '';
    return value;
  };
}

/**
 * Returns the object in [start, end), whose managedFields may be parsed later.
 *
 * @returns undefined when the text is not JSON
 */
export function parseObject(bytes: Buffer, start: number, end: number, malformed: MalformedError): unknown {
  const length = end - start;
  const cut = length < OBJECT_BYTES_MIN || length > OBJECT_BYTES_MAX ? undefined : cutOf(bytes, start, end);
  const object = cut && parseAround(bytes, start, end, cut, malformed);
  return object ?? parseJson(bytes.toString('utf8', start, end));
}

/** @returns undefined when the whole text must be parsed */
function parseAround(
  bytes: Buffer,
  start: number,
  end: number,
  cut: Span,
  malformed: MalformedError,
): unknown {
  let length = bytes.copy(scratch, 0, start, cut.start);
  length += MARKER_TOKEN.copy(scratch, length);
  length += bytes.copy(scratch, length, cut.end, end);
  // A text with a cut is an object, if it is JSON.
  const object = parseJson(scratch.toString('utf8', 0, length)) as { metadata?: unknown } | undefined;
  const metadata = object?.metadata;
  if (!isRecord(metadata) || metadata['managedFields'] !== MARKER) return undefined;
  const read = parsedOnce(bytes.toString('utf8', cut.start, cut.end), malformed);
  const copy = withAccessor(metadata, read);
  if (copy === undefined) return undefined;
  object!.metadata = copy;
  return object;
}

/**
 * Returns a copy with the accessor in its place. V8 would make a dictionary of the object itself, which takes 700 bytes more.
 *
 * @returns undefined when a copy would lose a member
 */
function withAccessor(metadata: Fields, read: Read): Fields | undefined {
  const copy: Record<string, unknown> = {};
  for (const key in metadata) {
    if (key === '__proto__') return undefined;
    if (key === 'managedFields') Object.defineProperty(copy, key, ACCESSOR);
    else copy[key] = metadata[key];
  }
  Object.defineProperty(copy, READ, { value: read, configurable: true });
  Object.defineProperty(copy, inspect.custom, INSPECT_VALUES);
  return copy;
}

/** Returns the place of the value of managedFields; undefined if there is none, or it is short. */
function cutOf(bytes: Buffer, start: number, end: number): Span | undefined {
  let at = openObject(bytes, start, end);
  while (at >= 0 && bytes[at] === QUOTE) {
    const keyEnd = skipString(bytes, at, end);
    const value = valueAfterKey(bytes, keyEnd, end);
    if (isKey(bytes, at, keyEnd, METADATA)) return cutOfMetadata(bytes, value, end);
    at = afterMember(bytes, skipValue(bytes, value, end), end);
  }
  return undefined;
}

function cutOfMetadata(bytes: Buffer, start: number, end: number): Span | undefined {
  let at = openObject(bytes, start, end);
  while (at >= 0 && bytes[at] === QUOTE) {
    const keyEnd = skipString(bytes, at, end);
    const value = valueAfterKey(bytes, keyEnd, end);
    const isFound = isKey(bytes, at, keyEnd, MANAGED_FIELDS);
    const valueEnd = isFound ? skipFlatArray(bytes, value, end) : skipValue(bytes, value, end);
    if (isFound) return valueEnd - value < CUT_BYTES_MIN ? undefined : { start: value, end: valueEnd };
    at = afterMember(bytes, valueEnd, end);
  }
  return undefined;
}

/** A key that is written with escapes is not found: the whole text is parsed. */
function isKey(bytes: Buffer, start: number, end: number, key: Buffer): boolean {
  return end - start === key.length && bytesEqual(bytes, start, key);
}
