/**
 * Members of an object, such as `spec` and `status`, parsed alone when they are first read.
 *
 * While a handler is called with a state and the state before it, a member with the same bytes in both has one value: an
 * update of the status parses the status alone, and `previous.spec === current.spec` says that nothing changed. The places
 * of members in the newest state are kept with the facts, so that the state before is not searched again. The value is kept
 * only if the member has not changed, because a tree that lives from change to change costs more than parsing it
 * (docs/decisions/0013).
 */
import { parseJson } from '../../base/parse-json.ts';
import { MEMBER_ABSENT, MEMBER_FOUND, memberFromEnd } from '../../kube/json/member-from-end.ts';
import type { MemberSpan } from '../../kube/json/member-from-end.ts';
import type { EncodedObject, Entry } from './entry.ts';
import type { ObjectFacts } from './extracted-fields.ts';

/** Result for objects whose members cannot be read alone: msgpack, and bytes that are no JSON. */
export const NOT_ALONE: unique symbol = Symbol('not alone');

/** Returns the bytes of an entry that may be read, valid until the next call. @throws the error of the entry */
export type ReadObject = (entry: Entry) => EncodedObject;

const keys: Map<string, Buffer> = new Map();
const span: MemberSpan = { start: 0, end: 0 };
/** The bytes of a member while the state before it is read: that may overwrite where they came from. */
let scratch: Buffer = Buffer.allocUnsafeSlow(16 * 1024);

/** The storage of entries, as their members use it. */
export interface MemberStorage {
  readonly read: ReadObject;
  /** False when a mutation detector must see every tree. */
  readonly mayShare: boolean;
  /** Called when the facts of a state begin to keep the value of a member of so many bytes. */
  kept(facts: ObjectFacts, bytes: number): void;
}

/** Parses a member of an entry, unless the state before has its value. @returns undefined when it is absent, or NOT_ALONE */
export function readMember(entry: Entry, name: string, storage: MemberStorage): unknown {
  const { read, mayShare } = storage;
  const object = read(entry);
  if (object.decoder) return NOT_ALONE;
  const result = find(object, name);
  if (result === MEMBER_ABSENT) return undefined;
  if (result !== MEMBER_FOUND) return NOT_ALONE;
  const offset = span.start - object.start;
  const length = take(object);
  const { previous, version, facts } = entry;
  if (!mayShare || !previous) return parsedScratch(length);
  const isSame = isSameBefore(previous, name, length, read);
  const shared = isSame ? previous.memberValue(name) : undefined;
  const value = shared ?? parsedScratch(length);
  if (isSame) previous.keepMember(name, value);
  const isKept = facts.memberAt(name, previous.version)?.value !== undefined;
  facts.keepMember(name, { version, offset, length, value: isSame ? value : undefined });
  if (isSame && !isKept) storage.kept(facts, length);
  return value;
}

/** Returns whether two states of an object have the same bytes in a member, or both have none. */
export function isMemberSame(a: Entry, b: Entry, name: string, read: ReadObject): boolean | typeof NOT_ALONE {
  const object = read(a);
  const result = object.decoder ? undefined : find(object, name);
  if (result !== MEMBER_FOUND && result !== MEMBER_ABSENT) return NOT_ALONE;
  const length = result === MEMBER_FOUND ? take(object) : -1;
  const other = read(b);
  const otherResult = other.decoder ? undefined : find(other, name);
  if (otherResult !== MEMBER_FOUND && otherResult !== MEMBER_ABSENT) return NOT_ALONE;
  if (length < 0) return otherResult === MEMBER_ABSENT;
  return otherResult === MEMBER_FOUND && equalsScratch(other.bytes, span.start, span.end, length);
}

/** Compares the scratch with the member of the state before. */
function isSameBefore(previous: Entry, name: string, length: number, read: ReadObject): boolean {
  const known = previous.facts.memberAt(name, previous.version);
  if (known && known.length !== length) return false;
  const before = read(previous);
  if (before.decoder) return false;
  if (!known)
    return find(before, name) === MEMBER_FOUND && equalsScratch(before.bytes, span.start, span.end, length);
  const start = before.start + known.offset;
  return equalsScratch(before.bytes, start, start + known.length, length);
}

function find({ bytes, start, length }: EncodedObject, name: string): number {
  let key = keys.get(name);
  if (!key) {
    key = Buffer.from(name);
    keys.set(name, key);
  }
  return memberFromEnd(bytes, start, start + length, key, span);
}

/** Copies the found member into the scratch; returns its length. */
function take({ bytes }: EncodedObject): number {
  const length = span.end - span.start;
  if (scratch.length < length) scratch = Buffer.allocUnsafeSlow(length * 2);
  bytes.copy(scratch, 0, span.start, span.end);
  return length;
}

function equalsScratch(bytes: Buffer, start: number, end: number, length: number): boolean {
  return end - start === length && bytes.compare(scratch, 0, length, start, end) === 0;
}

function parsedScratch(length: number): unknown {
  const value = parseJson(scratch.toString('utf8', 0, length));
  return value === undefined ? NOT_ALONE : value;
}

/** Returns a member of a parsed object; undefined when it has none of its own. */
export function memberOfObject(object: unknown, name: string): unknown {
  const isObject = typeof object === 'object' && object !== null && Object.hasOwn(object, name);
  return isObject ? Reflect.get(object, name) : undefined;
}
