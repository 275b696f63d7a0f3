/**
 * The members of one state of an object, found from the object's end, as far as a caller has asked for them.
 *
 * ```
 *  state before   {… "spec":{…},"status":{…}}
 *                    └────────┘
 *                       equal: not walked again, its parsed value is valid
 *                    ┌────────┐
 *  state          {… "spec":{…},"status":{……}}
 *                               ◄─── walked
 * ```
 *
 * A walk from the end reads a value until its first byte, and reads no byte before the key. So a member that has the bytes of
 * the same member of the state before, from the byte before its key to its end, has the same places without a walk.
 *
 * Places are counted from the start of the object, because rows are moved and packed.
 */
import {
  NO_MEMBER,
  UNREADABLE_MEMBERS,
  lastMemberEnd,
  memberBefore,
  memberEndBefore,
} from '../../kube/json/member-from-end.ts';
import { keyEquals } from '../../kube/json/read.ts';
import { NO_ROW } from './columns.ts';

/** Numbers of a state in the table of entries. */
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
  /** '' until a caller has asked for the member. */
  name = '';
  keyStart = 0;
  keyEnd = 0;
  valueStart = 0;
  valueEnd = 0;
  /** Whether the state before has the same bytes. */
  isSame = false;
  /** Place of another value under the same key in the state before; `endBefore` is 0 without one. */
  startBefore = 0;
  endBefore = 0;
  /** The parsed value, if it is kept for the states that follow. */
  value: unknown = undefined;
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
  /** End of the next member's value, or one of the codes. */
  #nextEnd = NOT_BEGUN;

  isAt({ row, rowGeneration }: StateNumbers): boolean {
    return this.#row === row && this.#rowGeneration === rowGeneration;
  }

  /** Returns whether the state before this one is `entry`. */
  isAfter({ row, rowGeneration }: StateNumbers): boolean {
    return this.#beforeRow === row && this.#beforeGeneration === rowGeneration;
  }

  /** Begins with another state. @param before the state before, whose members the walk may have */
  begin({ row, rowGeneration }: StateNumbers, before: StateNumbers = NO_STATE): void {
    this.#countBefore = this.isAt(before) ? this.#count : 0;
    this.#beforeRow = before.row;
    this.#beforeGeneration = before.rowGeneration;
    this.#row = row;
    this.#rowGeneration = rowGeneration;
    this.#count = 0;
    this.#nextEnd = NOT_BEGUN;
  }

  /** Whether the object has no more members and is readable from its end to its first byte. */
  get isComplete(): boolean {
    return this.#nextEnd === NO_MEMBER;
  }

  /**
   * Returns the last member with this name; undefined when there is none, or the bytes are no JSON.
   *
   * @param object bytes of the state, which `read` leaves as they are @param before the state before
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
    while (this.#nextEnd > 0) {
      const member = this.#step(object, before, read);
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

  #step<State extends StateNumbers>(
    object: StateBytes,
    before: State | undefined,
    read: (state: State) => StateBytes,
  ): WalkedMember | undefined {
    const { bytes, start } = object;
    const at = this.#count;
    const member = (this.#members[at] ??= new WalkedMember());
    const hasBefore = at < this.#countBefore;
    if (
      hasBefore &&
      before &&
      this.isAfter(before) &&
      isSameBefore(member, this.#nextEnd, object, read(before))
    ) {
      moveTo(member, this.#nextEnd);
    } else if (!walkTo(member, this.#nextEnd, object, hasBefore)) {
      this.#nextEnd = UNREADABLE_MEMBERS;
      return undefined;
    }
    this.#nextEnd = relative(memberEndBefore(bytes, start, start + member.keyStart), start);
    this.#count++;
    return member;
  }
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
}

/** Finds the member that ends at `valueEnd`. @param hasBefore whether `member` is a member of the state before */
function walkTo(
  member: WalkedMember,
  valueEnd: number,
  { bytes, start }: StateBytes,
  hasBefore: boolean,
): boolean {
  const { name, valueStart, valueEnd: valueEndBefore } = member;
  member.name = '';
  member.isSame = false;
  member.value = undefined;
  member.endBefore = 0;
  if (!memberBefore(bytes, start, start + valueEnd, member)) return false;
  member.keyStart -= start;
  member.keyEnd -= start;
  member.valueStart -= start;
  member.valueEnd = valueEnd;
  if (hasBefore && name !== '' && isNamed(member, name, { bytes, start })) {
    member.startBefore = valueStart;
    member.endBefore = valueEndBefore;
  }
  return true;
}

function isNamed(member: WalkedMember, name: string, { bytes, start }: Omit<StateBytes, 'length'>): boolean {
  if (member.name !== '') return member.name === name;
  if (!keyEquals(bytes, start + member.keyStart, start + member.keyEnd, keyOf(name))) return false;
  member.name = name;
  return true;
}

function keyOf(name: string): Buffer {
  let key = keys.get(name);
  if (!key) {
    key = Buffer.from(name);
    keys.set(name, key);
  }
  return key;
}

/** Codes stay as they are. */
function relative(end: number, start: number): number {
  return end > 0 ? end - start : end;
}
