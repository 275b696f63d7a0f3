/**
 * The members of a state of an object, found from the object's end, as far as callers read them.
 *
 * ```
 *  state before   {… "spec":{…},"status":{…}}
 *                    └────────┘
 *                       equal: not walked again, the parsed value is valid
 *                    ┌────────┐
 *  state          {… "spec":{…},"status":{……}}
 *                               ◄─── walked
 * ```
 *
 * A walk from the end reads a value back to the first byte, and reads no byte before the key. So if a member's bytes,
 * from the byte before the key to the end, equal those of the state before, the places are equal without a walk.
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
import { jsonKey, keyEquals } from '../../kube/json/read.ts';
import { NO_ROW } from './columns.ts';

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

export class WalkedMember {
  /** '' until a caller reads the member. */
  name = '';
  keyStart = 0;
  keyEnd = 0;
  valueStart = 0;
  valueEnd = 0;
  /** Whether a caller found the member in this state: it is the last member of this name. */
  isFound = false;
  /** Whether the state before contains the same bytes here. */
  isSame = false;
  /** Whether those bytes are also the last member of this name in the state before. */
  isSameMember = false;
  /**
   * Location of a different value of the last member of this name in the state before; `endBefore` is 0 if there is
   * none.
   */
  startBefore = 0;
  endBefore = 0;
  /** The parsed value, if it is kept for the states that follow. */
  value: unknown = undefined;
  /** Whether a caller read the value, and not only the location. */
  isRead = false;
  /** The parsed value of this state alone, until a caller reads it. */
  ahead: unknown = undefined;
  /** Whether the cache of parsed objects counts the value. */
  isCharged = false;
}

/** The end of the next member's value is not known yet. */
const NOT_BEGUN = -2;
const NO_STATE: StateNumbers = { row: NO_ROW, rowGeneration: 0 };

const keys: Map<string, Buffer> = new Map();

export class MemberWalk {
  #row: number = NO_ROW;
  #rowGeneration = 0;
  #beforeRow: number = NO_ROW;
  #beforeGeneration = 0;
  /** The last members first: `#count` of this state, followed by members of the state before, up to `#countBefore`. */
  readonly #members: WalkedMember[] = [];
  #count = 0;
  #countBefore = 0;
  /** End of the next member's value, or a code. */
  #nextEnd = NOT_BEGUN;

  isAt({ row, rowGeneration }: StateNumbers): boolean {
    return this.#row === row && this.#rowGeneration === rowGeneration;
  }

  /** Returns whether `entry` is the state before this state. */
  isAfter({ row, rowGeneration }: StateNumbers): boolean {
    return this.#beforeRow === row && this.#beforeGeneration === rowGeneration;
  }

  /** Begins with another state. @param before the state before, whose members the walk may contain */
  begin({ row, rowGeneration }: StateNumbers, before: StateNumbers = NO_STATE): void {
    this.#countBefore = this.isAt(before) ? this.#count : 0;
    this.#beforeRow = before.row;
    this.#beforeGeneration = before.rowGeneration;
    this.#row = row;
    this.#rowGeneration = rowGeneration;
    this.#count = 0;
    this.#nextEnd = NOT_BEGUN;
  }

  /** Whether all members are found and the object is readable from the end to the first byte. */
  get isComplete(): boolean {
    return this.#nextEnd === NO_MEMBER;
  }

  /**
   * Returns the last member with this name; undefined if there is none, or the bytes are not JSON.
   *
   * @param object bytes of the state, which `read` leaves as they are
   * @param before the state before
   */
  find<State extends StateNumbers>(
    name: string,
    object: StateBytes,
    before: State | undefined,
    read: (state: State) => StateBytes,
  ): WalkedMember | undefined {
    const known = this.#known(name, object);
    if (known) return known;
    const { bytes, start, length } = object;
    if (this.#nextEnd === NOT_BEGUN)
      this.#nextEnd = relative(lastMemberEnd(bytes, start, start + length), start);
    if (this.#nextEnd <= 0) return undefined;
    const hasBefore = before !== undefined && this.#count < this.#countBefore && this.isAfter(before);
    // Read once: both objects are valid until the next read.
    const objectBefore = hasBefore ? read(before) : undefined;
    while (this.#nextEnd > 0) {
      const member = this.#step(object, objectBefore);
      if (member && isNamed(member, name, object)) return member;
    }
    return undefined;
  }

  /** Returns a member that was found under this name. */
  walked(name: string): WalkedMember | undefined {
    for (let at = 0; at < this.#count; at++) {
      const member = this.#members[at];
      if (member?.name === name) return member;
    }
    return undefined;
  }

  forgetValues(): void {
    for (const member of this.#members) {
      member.ahead = undefined;
      member.value = undefined;
      member.isCharged = false;
    }
  }

  #known(name: string, object: StateBytes): WalkedMember | undefined {
    for (let at = 0; at < this.#count; at++) {
      const member = this.#members[at];
      if (member && isNamed(member, name, object)) return member;
    }
    return undefined;
  }

  #step(object: StateBytes, before: StateBytes | undefined): WalkedMember | undefined {
    const { bytes, start } = object;
    const at = this.#count;
    const member = (this.#members[at] ??= new WalkedMember());
    const isReadable =
      before && at < this.#countBefore
        ? stepFrom(member, this.#nextEnd, object, before, at === 0 && member.isRead)
        : walkTo(member, this.#nextEnd, object);
    member.isRead = false;
    member.isFound = false;
    if (!isReadable) {
      this.#nextEnd = UNREADABLE_MEMBERS;
      return undefined;
    }
    this.#nextEnd = relative(memberEndBefore(bytes, start, start + member.keyStart), start);
    this.#count++;
    return member;
  }
}

/**
 * Finds a member from the location of the member in the state before. @param isExpected whether a caller will read the
 * value
 */
function stepFrom(
  member: WalkedMember,
  valueEnd: number,
  object: StateBytes,
  before: StateBytes,
  isExpected: boolean,
): boolean {
  const { name, valueStart, valueEnd: valueEndBefore, isFound } = member;
  if (isSameBefore(member, valueEnd, object, before)) {
    moveTo(member, valueEnd);
    return true;
  }
  if (!(isExpected && parseAhead(member, valueEnd, object, before)) && !walkTo(member, valueEnd, object))
    return false;
  if (isFound && isNamed(member, name, object)) {
    member.startBefore = valueStart;
    member.endBefore = valueEndBefore;
  }
  return true;
}

/** Compares from the byte before the key to the end of the value. */
function isSameBefore(
  { keyStart, valueEnd: valueEndBefore }: WalkedMember,
  valueEnd: number,
  { bytes, start }: StateBytes,
  before: StateBytes,
): boolean {
  const first = valueEnd - (valueEndBefore - keyStart) - 1;
  if (first < 0) return false;
  const from = before.start + keyStart - 1;
  const to = before.start + valueEndBefore;
  return bytes.compare(before.bytes, from, to, start + first, start + valueEnd) === 0;
}

function moveTo(member: WalkedMember, valueEnd: number): void {
  const distance = valueEnd - member.valueEnd;
  member.keyStart += distance;
  member.keyEnd += distance;
  member.valueStart += distance;
  member.valueEnd = valueEnd;
  member.isSame = true;
  member.isSameMember = member.isFound;
  member.endBefore = 0;
}

/**
 * Parses the last member at its location in the state before: parsing takes the place of the walk. A caller read the
 * member of the state before, so it will read this member as well.
 *
 * A text that is the JSON of an object or array begins where a walk from the text's end stops, so it is the member that
 * a walk finds.
 *
 * @param member the member of the state before, with another value
 */
function parseAhead(
  member: WalkedMember,
  valueEnd: number,
  { bytes, start }: StateBytes,
  before: StateBytes,
): boolean {
  const { name, keyStart, keyEnd, valueStart } = member;
  const first = bytes[start + valueStart];
  const isLikeBefore =
    valueEnd > valueStart &&
    valueStart === keyEnd + 1 &&
    (first === OPEN_BRACE || first === OPEN_BRACKET) &&
    bytes[start + keyEnd] === COLON &&
    bytes[start + keyStart - 1] === COMMA &&
    before.bytes[before.start + keyStart - 1] === COMMA &&
    keyEquals(bytes, start + keyStart, start + keyEnd, keyOf(name));
  const value = isLikeBefore
    ? parseJson(bytes.toString('utf8', start + valueStart, start + valueEnd))
    : undefined;
  if (value === undefined) return false;
  reset(member);
  member.valueEnd = valueEnd;
  member.ahead = value;
  return true;
}

function walkTo(member: WalkedMember, valueEnd: number, { bytes, start }: StateBytes): boolean {
  reset(member);
  if (!memberBefore(bytes, start, start + valueEnd, member)) return false;
  member.keyStart -= start;
  member.keyEnd -= start;
  member.valueStart -= start;
  member.valueEnd = valueEnd;
  return true;
}

function reset(member: WalkedMember): void {
  member.name = '';
  member.isSame = false;
  member.isSameMember = false;
  member.value = undefined;
  member.ahead = undefined;
  member.endBefore = 0;
}

function isNamed(member: WalkedMember, name: string, { bytes, start }: Omit<StateBytes, 'length'>): boolean {
  if (member.name === '') {
    if (!keyEquals(bytes, start + member.keyStart, start + member.keyEnd, keyOf(name))) return false;
    member.name = name;
  }
  member.isFound ||= member.name === name;
  return member.name === name;
}

function keyOf(name: string): Buffer {
  let key = keys.get(name);
  if (!key) {
    key = jsonKey(name);
    keys.set(name, key);
  }
  return key;
}

/** Codes stay as they are. */
function relative(end: number, start: number): number {
  return end > 0 ? end - start : end;
}
