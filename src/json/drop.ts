/**
 * Copies an object without some of its fields (`metadata.managedFields`), on bytes: the result is the
 * original text minus the dropped members and the commas that belonged to them. Arrays are not entered.
 */
import type { PathNode } from './path-trie.ts';
import { skipString, skipValue } from './skip.ts';
import { afterMember, openObject, valueAfterKey } from './walk.ts';

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** `out` is too small: the object's own length always suffices. */
export const DROP_NO_ROOM = -1;
/** The object is not valid JSON. */
export const DROP_MALFORMED = -2;

const MALFORMED = -1;

/**
 * @param paths a trie made by `pathTrie`: every path that ends in it is dropped
 * @returns the end of the copy in `out`, or DROP_NO_ROOM, or DROP_MALFORMED
 */
export function dropPaths(
  bytes: Uint8Array,
  start: number,
  end: number,
  paths: PathNode,
  out: Uint8Array,
  outStart: number,
): number {
  const copy = new PartialCopy(bytes, start, out, outStart);
  const objectEnd = copyObject(paths, bytes, start, end, copy);
  if (objectEnd === MALFORMED) return DROP_MALFORMED;
  copy.keepUpTo(objectEnd);
  return copy.outEnd;
}

/** Source and target of one drop: everything up to a point is either copied or left out. */
class PartialCopy {
  readonly #source: Uint8Array;
  readonly #out: Uint8Array;
  /** Everything before is done. */
  #position: number;
  outEnd: number;

  constructor(source: Uint8Array, start: number, out: Uint8Array, outStart: number) {
    this.#source = source;
    this.#position = start;
    this.#out = out;
    this.outEnd = outStart;
  }

  keepUpTo(position: number): void {
    const length = position - this.#position;
    if (length <= 0 || this.outEnd === DROP_NO_ROOM) return;
    if (this.outEnd + length > this.#out.length) {
      this.outEnd = DROP_NO_ROOM;
      return;
    }
    this.#out.set(this.#source.subarray(this.#position, position), this.outEnd);
    this.outEnd += length;
    this.#position = position;
  }

  leaveOutUpTo(position: number): void {
    this.#position = position;
  }
}

/** @returns the index after the object, or MALFORMED */
function copyObject(
  node: PathNode,
  bytes: Uint8Array,
  start: number,
  end: number,
  copy: PartialCopy,
): number {
  let at = openObject(bytes, start, end);
  /** Where the members that stay end so far; the comma after it goes when nothing that stays follows. */
  let keptEnd = at;
  let hasKept = false;
  while (at >= 0 && bytes[at] === QUOTE) {
    const keyEnd = skipString(bytes, at, end);
    const child = node.child(bytes, at, keyEnd);
    const value = valueAfterKey(bytes, keyEnd, end);
    if (value < 0) return MALFORMED;
    const isDropped = child !== undefined && child.slots.length > 0;
    const valueEnd =
      child && !isDropped && bytes[value] === OPEN_BRACE
        ? copyObject(child, bytes, value, end, copy)
        : skipValue(bytes, value, end);
    if (valueEnd < 0) return MALFORMED;
    if (!isDropped) {
      keptEnd = valueEnd;
      hasKept = true;
    } else {
      copy.keepUpTo(keptEnd);
      copy.leaveOutUpTo(valueEnd);
    }
    at = afterMember(bytes, valueEnd, end);
    // The first member that stays must not come after a comma.
    if (isDropped && !hasKept && at >= 0) {
      copy.leaveOutUpTo(at);
      keptEnd = at;
    }
  }
  return at < 0 || bytes[at] !== CLOSE_BRACE ? MALFORMED : at + 1;
}
