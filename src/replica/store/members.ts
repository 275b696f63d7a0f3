/**
 * Members of an object, such as `spec` and `status`, parsed alone when they are first read.
 *
 * While a handler is called with a state and the state before it, a member with the same bytes in both has one value: an
 * update of the status parses the status alone, and `previous.spec === current.spec` says that nothing changed. The value is
 * kept for the next update only if the member has not changed, because a tree that lives from change to change costs more than
 * parsing it (docs/decisions/0013).
 */
import { isDeepStrictEqual } from 'node:util';
import { parseJson } from '../../base/parse-json.ts';
import { UNREADABLE } from './entry.ts';
import type { EncodedObject, Entry } from './entry.ts';
import type { ObjectFacts } from './extracted-fields.ts';
import { MemberWalk } from './member-walk.ts';
import type { WalkedMember } from './member-walk.ts';

/** Place of a value, counted from the start of the object; `end` exclusive. */
interface ValuePlace {
  readonly start: number;
  readonly end: number;
}

const NOWHERE: ValuePlace = { start: 0, end: 0 };

/** Result for objects whose members are not read alone: msgpack, bytes that are no JSON, and parsed objects. */
export const NOT_ALONE: unique symbol = Symbol('not alone');

/** The storage of entries, as their members use it. */
export interface MemberStorage {
  /** Returns the bytes of an entry, valid until the next call but one. @throws the error of the entry */
  readonly read: (entry: Entry) => EncodedObject;
  /** False when a mutation detector must see every tree. */
  readonly mayShare: boolean;
  /** The walk of the state that was read last, of those without a state before. */
  readonly walk: MemberWalk;
  /** Called when the facts of a state begin to keep the value of a member of so many bytes. */
  kept(facts: ObjectFacts, bytes: number): void;
}

/** Parses a member of an entry, unless another state has its value. @returns undefined when it is absent, or NOT_ALONE */
export function readMember(entry: Entry, name: string, storage: MemberStorage): unknown {
  if (entry.decoded !== undefined && !isPaired(entry)) return NOT_ALONE;
  const object = storage.read(entry);
  if (object.decoder) return NOT_ALONE;
  const walk = walkOf(entry, storage);
  const member = walk.find(name, object, borrowedBefore(entry), storage.read);
  if (!member) return walk.isComplete ? undefined : NOT_ALONE;
  const { value: kept = member.ahead } = member;
  member.isRead = true;
  member.ahead = undefined;
  if (kept !== undefined) return kept;
  const place = { start: member.valueStart, end: member.valueEnd };
  if (!storage.mayShare || !isPaired(entry)) return parsedValue(object, place);
  // The other state is read meanwhile, and the walk may go on with that state.
  const value = sharedValue(entry, name, storage) ?? ownValue(entry, name, place, storage);
  const walked = walk.isAt(entry) ? walk.walked(name) : undefined;
  if (walked?.isSame && value !== NOT_ALONE) keep(entry.facts, walked, value, storage);
  return value;
}

function ownValue(entry: Entry, name: string, place: ValuePlace, { read }: MemberStorage): unknown {
  return entry.decoded === undefined ? parsedValue(read(entry), place) : memberOfObject(entry.decoded, name);
}

function parsedValue({ bytes, start }: EncodedObject, place: ValuePlace): unknown {
  const value = parseJson(bytes.toString('utf8', start + place.start, start + place.end));
  return value === undefined ? NOT_ALONE : value;
}

/** Keeps the value of a member that has not changed for the states that follow. */
function keep(facts: ObjectFacts, member: WalkedMember, value: unknown, storage: MemberStorage): void {
  member.value = value;
  if (member.isCharged) return;
  member.isCharged = true;
  storage.kept(facts, member.valueEnd - member.valueStart);
}

/** Returns whether two states of an object have the same bytes in a member, or both have none. */
export function isMemberSame(before: Entry, entry: Entry, name: string, storage: MemberStorage): boolean {
  // The caller then reads the new state, whose own error says why it cannot be read.
  if ((before.flags | entry.flags) & UNREADABLE) return false;
  const { read } = storage;
  const object = read(entry);
  const walk = walkOf(entry, storage);
  const member = object.decoder ? undefined : walk.find(name, object, borrowedBefore(entry), read);
  if (member?.isSame && walk.isAfter(before)) return true;
  const isAbsent = !member && walk.isComplete;
  const place: ValuePlace = member ? { start: member.valueStart, end: member.valueEnd } : NOWHERE;
  const objectBefore = read(before);
  if (member && member.endBefore > 0 && walk.isAfter(before))
    return isSameValue(object, place, objectBefore, { start: member.startBefore, end: member.endBefore });
  if (object.decoder || objectBefore.decoder)
    return isDeepStrictEqual(memberOfObject(before.object, name), memberOfObject(entry.object, name));
  const walkBefore = walkWithout(before, storage);
  const memberBefore = walkBefore.find(name, objectBefore, borrowedBefore(before), read);
  if (!memberBefore) return isAbsent && walkBefore.isComplete;
  const { valueStart: start, valueEnd: end } = memberBefore;
  return member !== undefined && isSameValue(read(entry), place, read(before), { start, end });
}

/** Returns the walk of an entry: with its facts during the call of a handler with the state before, because the next call continues it. */
function walkOf(entry: Entry, storage: MemberStorage): MemberWalk {
  const { facts } = entry;
  const before = borrowedBefore(entry);
  if (!before || !storage.mayShare) return walkWithout(entry, storage);
  facts.walk ??= new MemberWalk();
  if (!facts.walk.isAt(entry)) facts.walk.begin(entry, before);
  return facts.walk;
}

/** Returns the walk of an entry, without that the walk of its facts moves to the entry's state. */
function walkWithout(entry: Entry, { walk }: MemberStorage): MemberWalk {
  const { facts } = entry;
  if (facts.walk?.isAt(entry)) return facts.walk;
  if (!walk.isAt(entry)) walk.begin(entry);
  return walk;
}

/** Returns the value of the other state in the call, if that state has parsed the member, whose bytes are equal. */
function sharedValue(entry: Entry, name: string, storage: MemberStorage): unknown {
  const before = borrowedBefore(entry);
  const valueBefore = before && parsedMember(before, name);
  if (before && valueBefore !== undefined && isMemberSame(before, entry, name, storage)) return valueBefore;
  const after = borrowedAfter(entry);
  const valueAfter = after && parsedMember(after, name);
  if (after && valueAfter !== undefined && isMemberSame(entry, after, name, storage)) return valueAfter;
  return undefined;
}

/** Whether a call borrows the entry with another state. */
function isPaired(entry: Entry): boolean {
  return (borrowedBefore(entry) ?? borrowedAfter(entry)) !== undefined;
}

function borrowedBefore({ before }: Entry): Entry | undefined {
  return before && before.borrows > 0 ? before : undefined;
}

function borrowedAfter({ after }: Entry): Entry | undefined {
  return after && after.borrows > 0 ? after : undefined;
}

/** Returns the value of a member if it was parsed for this state, alone or with the whole object. */
function parsedMember({ decodedMembers, decoded }: Entry, name: string): unknown {
  for (let member = decodedMembers; member; member = member.next)
    if (member.name === name) return member.value;
  return memberOfObject(decoded, name);
}

function isSameValue(
  object: EncodedObject,
  place: ValuePlace,
  before: EncodedObject,
  placeBefore: ValuePlace,
): boolean {
  if (place.end - place.start !== placeBefore.end - placeBefore.start) return false;
  const from = before.start + placeBefore.start;
  const to = before.start + placeBefore.end;
  return (
    object.bytes.compare(before.bytes, from, to, object.start + place.start, object.start + place.end) === 0
  );
}

/** Returns a member of a parsed object; undefined when it has none of its own. */
export function memberOfObject(object: unknown, name: string): unknown {
  const isObject = typeof object === 'object' && object !== null && Object.hasOwn(object, name);
  return isObject ? Reflect.get(object, name) : undefined;
}
