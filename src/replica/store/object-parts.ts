/**
 * The parsed parts of a state of an object: the whole, metadata, and members, which are found from the object's end as far as
 * callers read them.
 *
 * ```
 *  other state    {… "spec":{…},"status":{…}}
 *                    └────────┘
 *                     equal bytes: place and value are taken over
 *                    ┌────────┐
 *  state          {… "spec":{…},"status":{……}}
 *                               ◄─── walked
 * ```
 *
 * A value belongs to bytes: states with equal bytes in a member have one `MemberValue`. A walk from the end reads a value
 * back to the first byte, and reads no byte before the key. So a member needs no walk if the bytes, from the byte before
 * the key to the end, equal the bytes of a member of another state.
 *
 * Places are counted from the start of the object, because rows are moved and packed.
 */
import { parseJson } from '../../base/parse-json.ts';
import {
  NO_MEMBER,
  UNREADABLE_MEMBERS,
  lastMemberEnd,
  memberBefore,
  memberEndBefore,
} from '../../kube/json/member-from-end.ts';
import type { MemberPlace } from '../../kube/json/member-from-end.ts';
import { jsonKey, keyEquals } from '../../kube/json/read.ts';
import type { Forgettable } from './decoded-cache.ts';

const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;

/** Numbers that identify a state in the table of entries. */
interface StateNumbers {
  readonly row: number;
  readonly rowGeneration: number;
}

/** Place of the JSON of a state. */
interface StateBytes {
  readonly bytes: Buffer;
  readonly start: number;
  readonly length: number;
}

/** The parsed value of equal bytes. */
export class MemberValue implements Forgettable {
  /** undefined: not parsed, or forgotten. */
  parsed: unknown = undefined;
  /** Whether a second state has the value: a reader keeps it for the states that follow. */
  isShared = false;
  /** Whether the cache of parsed objects counts the value, which stays until the cache forgets it. */
  isCharged = false;
  /** Whether a call in progress has read the value, which stays until the call ends. */
  isInCall = false;

  forgetDecoded(): void {
    this.isShared = false;
    this.isCharged = false;
    if (!this.isInCall) this.parsed = undefined;
  }
}

export class Member implements MemberPlace {
  /** undefined until a caller reads the member of this state: the name says that the member is the last with its key. */
  name: string | undefined = undefined;
  keyStart = 0;
  keyEnd = 0;
  valueStart = 0;
  valueEnd: number;
  value: MemberValue = new MemberValue();

  constructor(valueEnd: number) {
    this.valueEnd = valueEnd;
  }

  get length(): number {
    return this.valueEnd - this.valueStart;
  }
}

/** Another state of the object. */
export interface OtherState {
  readonly parts: ObjectParts;
  /** Returns the bytes, valid until the read after the next. */
  readonly read: () => StateBytes;
}

/** The end of the next member's value is not known yet. */
const NOT_BEGUN = -2;

/** A program may read members by names of its data. */
const KEYS_MAX = 1024;
const keys: Map<string, Buffer> = new Map();

export class ObjectParts {
  /** The whole object. */
  object: unknown = undefined;
  /** Metadata without managedFields. */
  metadata: unknown = undefined;
  /** Metadata of any state with the same facts: only the version may differ. */
  sharedMetadata: object | undefined = undefined;
  readonly #row: number;
  readonly #rowGeneration: number;
  /** The last members first. */
  readonly #members: Member[] = [];
  /** End of the next member's value, or a code. */
  #nextEnd = NOT_BEGUN;

  constructor({ row, rowGeneration }: StateNumbers) {
    this.#row = row;
    this.#rowGeneration = rowGeneration;
  }

  isOf({ row, rowGeneration }: StateNumbers): boolean {
    return this.#row === row && this.#rowGeneration === rowGeneration;
  }

  /** Whether all members are found and the object is readable from the end to the first byte. */
  get isComplete(): boolean {
    return this.#nextEnd === NO_MEMBER;
  }

  /** Returns a member that a caller found under this name. */
  found(name: string): Member | undefined {
    for (const member of this.#members) if (member.name === name) return member;
    return undefined;
  }

  /**
   * Returns the last member with this name; undefined if there is none, or the bytes are not JSON.
   *
   * @param object bytes of the state, which `other.read` leaves as they are
   * @param isRead whether the caller reads the value, and not only the place
   */
  find(name: string, object: StateBytes, other: OtherState | undefined, isRead: boolean): Member | undefined {
    for (const member of this.#members) if (isNamed(member, name, object)) return member;
    const { bytes, start, length } = object;
    if (this.#nextEnd === NOT_BEGUN)
      this.#nextEnd = relative(lastMemberEnd(bytes, start, start + length), start);
    if (this.#nextEnd <= 0) return undefined;
    const twins = other ? other.parts.#members : [];
    // Read once: both objects are valid until the next read.
    const otherBytes = other && twins.length > this.#members.length ? other.read() : undefined;
    while (this.#nextEnd > 0) {
      const twin = twins[this.#members.length];
      const member =
        (twin &&
          otherBytes &&
          twinMember(twin, this.#nextEnd, object, otherBytes, isRead && twin.name === name)) ??
        walkedMember(this.#nextEnd, object);
      if (!member) {
        this.#nextEnd = UNREADABLE_MEMBERS;
        return undefined;
      }
      this.#nextEnd = relative(memberEndBefore(bytes, start, start + member.keyStart), start);
      this.#members.push(member);
      if (isNamed(member, name, object)) return member;
    }
    return undefined;
  }

  get hasMembers(): boolean {
    return this.#members.length > 0;
  }

  get hasValues(): boolean {
    return this.#members.some(({ value }) => value.parsed !== undefined);
  }

  /** Forgets the values that the cache of parsed objects does not count. */
  forgetOwnValues(): void {
    for (const member of this.#members) {
      const { value } = member;
      value.isInCall = false;
      // The states of another call in progress keep the value.
      if (!value.isCharged && value.parsed !== undefined) member.value = new MemberValue();
    }
  }
}

/** Finds a member by the place of a member of another state. */
function twinMember(
  twin: Member,
  valueEnd: number,
  object: StateBytes,
  other: StateBytes,
  isRead: boolean,
): Member | undefined {
  const same = sameMember(twin, valueEnd, object, other);
  return same ?? (isRead ? parsedAhead(twin, valueEnd, object, other) : undefined);
}

/** Returns the member at the end of a value if it has the bytes of `twin`, from the byte before the key. */
function sameMember(
  twin: Member,
  valueEnd: number,
  { bytes, start }: StateBytes,
  other: StateBytes,
): Member | undefined {
  const distance = valueEnd - twin.valueEnd;
  const first = twin.keyStart - 1 + distance;
  const from = other.start + twin.keyStart - 1;
  const to = other.start + twin.valueEnd;
  if (first < 0 || bytes.compare(other.bytes, from, to, start + first, start + valueEnd) !== 0)
    return undefined;
  const member = new Member(valueEnd);
  member.keyStart = twin.keyStart + distance;
  member.keyEnd = twin.keyEnd + distance;
  member.valueStart = twin.valueStart + distance;
  member.value = twin.value;
  member.value.isShared = true;
  return member;
}

/**
 * Parses the member at the place of `twin`: parsing takes the place of the walk.
 *
 * A text that is the JSON of an object or array begins where a walk from the text's end stops, so it is the member that
 * a walk finds.
 */
function parsedAhead(
  twin: Member,
  valueEnd: number,
  { bytes, start }: StateBytes,
  other: StateBytes,
): Member | undefined {
  const { name = '', keyStart, keyEnd, valueStart } = twin;
  const first = bytes[start + valueStart];
  const isLikeTwin =
    valueEnd > valueStart &&
    valueStart === keyEnd + 1 &&
    (first === OPEN_BRACE || first === OPEN_BRACKET) &&
    bytes[start + keyEnd] === COLON &&
    bytes[start + keyStart - 1] === COMMA &&
    other.bytes[other.start + keyStart - 1] === COMMA &&
    keyEquals(bytes, start + keyStart, start + keyEnd, keyOf(name));
  const parsed = isLikeTwin
    ? parseJson(bytes.toString('utf8', start + valueStart, start + valueEnd))
    : undefined;
  if (parsed === undefined) return undefined;
  const member = Object.assign(new Member(valueEnd), { keyStart, keyEnd, valueStart });
  member.value.parsed = parsed;
  return member;
}

function walkedMember(valueEnd: number, { bytes, start }: StateBytes): Member | undefined {
  const member = new Member(valueEnd);
  if (!memberBefore(bytes, start, start + valueEnd, member)) return undefined;
  member.keyStart -= start;
  member.keyEnd -= start;
  member.valueStart -= start;
  return member;
}

function isNamed(member: Member, name: string, { bytes, start }: StateBytes): boolean {
  if (
    member.name === undefined &&
    keyEquals(bytes, start + member.keyStart, start + member.keyEnd, keyOf(name))
  )
    member.name = name;
  return member.name === name;
}

function keyOf(name: string): Buffer {
  let key = keys.get(name);
  if (!key) {
    key = jsonKey(name);
    if (keys.size < KEYS_MAX) keys.set(name, key);
  }
  return key;
}

/** Codes stay as they are. */
function relative(end: number, start: number): number {
  return end > 0 ? end - start : end;
}
