/**
 * Copies the bytes of an object without some fields (`metadata.managedFields`). The result is the original
 * text minus the dropped members and their commas. It does not enter arrays.
 */
import { keyEquals, memberValue, pathTrie } from './read.ts';
import type { PathNode } from './read.ts';
import { afterMember, openObject, skipFlatArray, skipString, skipValue, valueAfterKey } from './skip.ts';

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Result when the object is not valid JSON. */
export const DROP_MALFORMED = -2;

const MALFORMED = -1;

/**
 * @param paths a trie made by `pathTrie`: every path that ends in it is dropped
 * @param out must have room for the whole object
 * @returns the end of the copy in `out`, or DROP_MALFORMED
 */
export function dropPaths(
  bytes: Buffer,
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

/** Source and target of a drop: bytes before the position are either copied or left out. */
class PartialCopy {
  readonly #source: Uint8Array;
  readonly #out: Uint8Array;
  /** All bytes before it have been handled. */
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
    if (length <= 0) return;
    this.#out.set(this.#source.subarray(this.#position, position), this.outEnd);
    this.outEnd += length;
    this.#position = position;
  }

  leaveOutUpTo(position: number): void {
    this.#position = position;
  }
}

/** @returns the index after the object, or MALFORMED */
function copyObject(node: PathNode, bytes: Buffer, start: number, end: number, copy: PartialCopy): number {
  let at = openObject(bytes, start, end);
  /** End of the last kept member; the comma after it is dropped when no kept member follows. */
  let keptEnd = at;
  let hasKept = false;
  while (at >= 0 && bytes[at] === QUOTE) {
    const keyEnd = skipString(bytes, at, end);
    const child = node.child(bytes, at, keyEnd);
    const value = valueAfterKey(bytes, keyEnd, end);
    if (value < 0) return MALFORMED;
    const isDropped = child !== undefined && child.fieldIndexes.length > 0;
    const valueEnd =
      child && !isDropped && bytes[value] === OPEN_BRACE
        ? copyObject(child, bytes, value, end, copy)
        : skipFlatArray(bytes, value, end);
    if (valueEnd < 0) return MALFORMED;
    if (!isDropped) {
      keptEnd = valueEnd;
      hasKept = true;
    } else {
      copy.keepUpTo(keptEnd);
      copy.leaveOutUpTo(valueEnd);
    }
    at = afterMember(bytes, valueEnd, end);
    // The first kept member must not follow a comma.
    if (isDropped && !hasKept && at >= 0) {
      copy.leaveOutUpTo(at);
      keptEnd = at;
    }
  }
  return at < 0 || bytes[at] !== CLOSE_BRACE ? MALFORMED : at + 1;
}

const METADATA = Buffer.from('metadata');
const MANAGED_FIELDS = Buffer.from('managedFields');
const DROP_MANAGED_FIELDS = pathTrie(['managedFields']);

/**
 * Returns the metadata of an object without managedFields, which are a third of it and rarely read.
 *
 * @returns undefined when the object lacks metadata, or when the text up to their end is not JSON
 */
export function metadataText(bytes: Buffer, start: number, end: number): string | undefined {
  const metadata = memberValue(bytes, start, end, METADATA);
  if (metadata < 0) return undefined;
  const keptEnd = endBeforeManagedFields(bytes, metadata, end);
  if (keptEnd >= 0) return `${bytes.toString('utf8', metadata, keptEnd)}}`;
  const metadataEnd = skipValue(bytes, metadata, end);
  if (metadataEnd < 0) return undefined;
  const kept = Buffer.allocUnsafe(metadataEnd - metadata);
  const length = dropPaths(bytes, metadata, metadataEnd, DROP_MANAGED_FIELDS, kept, 0);
  return length < 0 ? undefined : kept.toString('utf8', 0, length);
}

/** Returns the end of the member before managedFields if these are the last member, as Go writes them, or -1. */
function endBeforeManagedFields(bytes: Buffer, metadata: number, end: number): number {
  let keptEnd = -1;
  let at = openObject(bytes, metadata, end);
  while (at >= 0 && bytes[at] === QUOTE) {
    const keyEnd = skipString(bytes, at, end);
    const value = valueAfterKey(bytes, keyEnd, end);
    if (keyEquals(bytes, at, keyEnd, MANAGED_FIELDS)) {
      const next = afterMember(bytes, skipFlatArray(bytes, value, end), end);
      return bytes[next] === CLOSE_BRACE ? keptEnd : -1;
    }
    keptEnd = skipValue(bytes, value, end);
    at = afterMember(bytes, keptEnd, end);
  }
  return -1;
}
