/**
 * Members of an object, such as `spec` and `status`, parsed separately when they are first read.
 *
 * While a handler is called with a state and the state before, a member with equal bytes is the same value in both: an
 * update of the status parses only the status, and `previous.spec === current.spec` shows an unchanged spec. The value
 * is kept for the next update only if the member did not change, because a tree that lives from change to change costs
 * more than parsing (docs/decisions/0013). All other values end with the call.
 */
import { isDeepStrictEqual } from 'node:util';
import { parseJson } from '../../base/parse-json.ts';
import type { DecodedCache } from './decoded-cache.ts';
import { EntryFlag, UNREADABLE } from './entry.ts';
import type { EncodedObject, Entry } from './entry.ts';
import type { EntryTable } from './entry-table.ts';
import type { ObjectFacts } from './extracted-fields.ts';
import { MemberWalk } from './member-walk.ts';
import type { WalkedMember } from './member-walk.ts';

/** Place of a value, counted from the start of the object; `end` exclusive. */
interface ValuePlace {
  readonly start: number;
  readonly end: number;
}

const NOWHERE: ValuePlace = { start: 0, end: 0 };

/** Result for objects whose members cannot be read separately: msgpack, bytes that are not JSON, and parsed objects. */
const NOT_ALONE: unique symbol = Symbol('not alone');

/** Heap bytes of a parsed object for each byte of JSON (docs/decisions/0005). */
export const HEAP_BYTES_PER_JSON_BYTE = 2.5;
/** References to the row of an entry during a single handler call: the replica's and the call's. */
const REFERENCES_OF_ONE_CALL = 2;

export interface MembersOptions {
  readonly table: EntryTable;
  readonly decodedCache: DecodedCache;
  /** Returns the bytes of an entry, valid until the call after the next. @throws the error of the entry */
  readonly read: (entry: Entry) => EncodedObject;
  /** False when a mutation detector must see every tree. */
  readonly mayShare: boolean;
  /** Receives each value before any caller does. */
  readonly guard: ((tree: unknown, key: string) => void) | undefined;
  /** Caches the parsed parts of an entry. */
  readonly remember: (entry: Entry, costBytes: number) => void;
}

/** Reads the members of the entries of an informer. */
export class Members {
  readonly #options: MembersOptions;
  /** The last walk of a state without a state before. */
  readonly #walk: MemberWalk = new MemberWalk();

  constructor(options: MembersOptions) {
    this.#options = options;
  }

  /** Returns a member of the object, parsed separately unless the whole object is parsed or must be. */
  decode(entry: Entry, name: string): unknown {
    const { decodedCache, guard } = this.#options;
    const value = this.#read(entry, name);
    if (value === NOT_ALONE) return memberOfObject(entry.object, name);
    decodedCache.misses++;
    if (value !== undefined) guard?.(value, entry.key);
    const isFirst = entry.decodedMembers === undefined;
    entry.decodedMembers = { name, value, next: entry.decodedMembers };
    if (isFirst && entry.borrows === 0) this.#remember(entry);
    return value;
  }

  /**
   * Drops the members parsed during a call, unless another handler, or a caller who retained the entry, may read them.
   */
  end(entry: Entry): void {
    const isRetained = (entry.flags & EntryFlag.Retained) !== 0;
    if (isRetained || this.#options.table.referencesOf(entry.row) > REFERENCES_OF_ONE_CALL)
      this.#remember(entry);
    else entry.decodedMembers = undefined;
  }

  /** Returns whether two states of an object contain the same bytes in a member, or both lack the member. */
  isSame(before: Entry, entry: Entry, name: string): boolean {
    if (before === entry) return true;
    // The caller then reads the new state, whose own error says why it cannot be read.
    if ((before.flags | entry.flags) & UNREADABLE) return false;
    const { read } = this.#options;
    const object = read(entry);
    const walk = this.#walkOf(entry);
    const member = object.decoder ? undefined : walk.find(name, object, borrowedBefore(entry), read);
    if (member?.isSameMember && walk.isAfter(before)) return true;
    const isAbsent = !member && walk.isComplete;
    const place: ValuePlace = member ? { start: member.valueStart, end: member.valueEnd } : NOWHERE;
    if (member && member.endBefore > 0 && walk.isAfter(before))
      return this.#hasSameValue(entry, place, before, { start: member.startBefore, end: member.endBefore });
    const objectBefore = read(before);
    if (object.decoder || objectBefore.decoder)
      return isDeepStrictEqual(memberOfObject(before.object, name), memberOfObject(entry.object, name));
    const walkBefore = this.#walkWithout(before);
    const memberBefore = walkBefore.find(name, objectBefore, borrowedBefore(before), read);
    if (!memberBefore) return isAbsent && walkBefore.isComplete;
    const { valueStart: start, valueEnd: end } = memberBefore;
    return member !== undefined && this.#hasSameValue(entry, place, before, { start, end });
  }

  /** Parses a member unless another state holds the value. @returns undefined if the member is absent, or NOT_ALONE */
  #read(entry: Entry, name: string): unknown {
    if (entry.decoded !== undefined && !isPaired(entry)) return NOT_ALONE;
    const { read, mayShare } = this.#options;
    const object = read(entry);
    if (object.decoder) return NOT_ALONE;
    const walk = this.#walkOf(entry);
    const member = walk.find(name, object, borrowedBefore(entry), read);
    if (!member) return walk.isComplete ? undefined : NOT_ALONE;
    const { value: parsed = member.ahead } = member;
    const place = { start: member.valueStart, end: member.valueEnd };
    member.isRead = true;
    member.ahead = undefined;
    if (!mayShare || !isPaired(entry)) return parsed ?? parsedValue(object, place);
    // Reading the value may read the other state, and the walk may continue with that state.
    const value = this.#sharedValue(entry, name) ?? parsed ?? this.#ownValue(entry, name, place);
    const walked = walk.isAt(entry) ? walk.walked(name) : undefined;
    if (walked?.isSame && value !== NOT_ALONE) this.#keep(entry.facts, walked, value);
    return value;
  }

  /** Returns the value of the other state in the call, if that state contains equal bytes and parsed them. */
  #sharedValue(entry: Entry, name: string): unknown {
    const before = borrowedBefore(entry);
    const valueBefore = before && parsedMember(before, name);
    if (before && valueBefore !== undefined && this.isSame(before, entry, name)) return valueBefore;
    const after = borrowedAfter(entry);
    const valueAfter = after && parsedMember(after, name);
    return after && valueAfter !== undefined && this.isSame(entry, after, name) ? valueAfter : undefined;
  }

  #hasSameValue(entry: Entry, place: ValuePlace, before: Entry, placeBefore: ValuePlace): boolean {
    if (place.end - place.start !== placeBefore.end - placeBefore.start) return false;
    const { read } = this.#options;
    // Both are read here: an earlier object is no longer valid.
    const object = read(entry);
    const objectBefore = read(before);
    const [from, to] = [objectBefore.start + placeBefore.start, objectBefore.start + placeBefore.end];
    const [start, end] = [object.start + place.start, object.start + place.end];
    return object.bytes.compare(objectBefore.bytes, from, to, start, end) === 0;
  }

  #ownValue(entry: Entry, name: string, place: ValuePlace): unknown {
    const { decoded } = entry;
    return decoded === undefined
      ? parsedValue(this.#options.read(entry), place)
      : memberOfObject(decoded, name);
  }

  /** Keeps the value of an unchanged member for the states that follow. */
  #keep(facts: ObjectFacts, member: WalkedMember, value: unknown): void {
    member.value = value;
    if (member.isCharged) return;
    member.isCharged = true;
    const costBytes = (member.valueEnd - member.valueStart) * HEAP_BYTES_PER_JSON_BYTE;
    this.#options.decodedCache.rememberShared(facts, costBytes);
  }

  /** Charges the whole object: the members of an entry are evicted together. */
  #remember(entry: Entry): void {
    this.#options.remember(entry, entry.length * HEAP_BYTES_PER_JSON_BYTE);
  }

  /** Returns the walk of an entry; in a call with the state before, the walk of the facts, which the next call continues. */
  #walkOf(entry: Entry): MemberWalk {
    const { facts } = entry;
    const before = borrowedBefore(entry);
    if (!before || !this.#options.mayShare) return this.#walkWithout(entry);
    facts.walk ??= new MemberWalk();
    if (!facts.walk.isAt(entry)) facts.walk.begin(entry, before);
    return facts.walk;
  }

  /** Returns the walk of an entry, without moving the walk of the facts to another state. */
  #walkWithout(entry: Entry): MemberWalk {
    const { facts } = entry;
    const walk = this.#walk;
    if (facts.walk?.isAt(entry)) return facts.walk;
    if (!walk.isAt(entry)) walk.begin(entry);
    return walk;
  }
}

function parsedValue({ bytes, start }: EncodedObject, place: ValuePlace): unknown {
  const value = parseJson(bytes.toString('utf8', start + place.start, start + place.end));
  return value === undefined ? NOT_ALONE : value;
}

/** Returns whether a call borrows the entry together with another state. */
function isPaired(entry: Entry): boolean {
  return (borrowedBefore(entry) ?? borrowedAfter(entry)) !== undefined;
}

function borrowedBefore({ before }: Entry): Entry | undefined {
  return before && before.borrows > 0 ? before : undefined;
}

function borrowedAfter({ after }: Entry): Entry | undefined {
  return after && after.borrows > 0 ? after : undefined;
}

/** Returns the value of a member if it was parsed for this state, separately or with the whole object. */
function parsedMember({ decodedMembers, decoded }: Entry, name: string): unknown {
  for (let member = decodedMembers; member; member = member.next)
    if (member.name === name) return member.value;
  return memberOfObject(decoded, name);
}

/** Returns an own member of a parsed object; undefined if it is absent. */
export function memberOfObject(object: unknown, name: string): unknown {
  const isObject = typeof object === 'object' && object !== null && Object.hasOwn(object, name);
  return isObject ? Reflect.get(object, name) : undefined;
}
