/**
 * Copies the few fields that travel with a notification out of an object, as raw JSON, in one pass and
 * without building a string:
 *
 * ```
 * [uid, generation, deletionTimestamp, controllerUid, labels, …declared fields]
 * ```
 *
 * Absent fields are `null`; controllerUid is the uid of the ownerReference with `controller: true`. Every
 * token is checked strictly, so the array always parses. When a key comes twice the first one counts.
 */
import { splitPath } from './path.ts';
import { PathNode } from './path-trie.ts';
import { bytesEqual, keyEquals } from './read.ts';
import { hasEscape, skipContainerTail, skipString, skipValue } from './skip.ts';
import { validValueEnd } from './validate.ts';
import { afterElement, afterMember, openArray, openObject, valueAfterKey } from './walk.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** `out` is too small: call again with more room. */
export const PROJECTION_NO_ROOM = -1;
/** The object, or a field that had to be copied, is not valid JSON. */
export const PROJECTION_MALFORMED = -2;

/** Every wanted field has been found, wherever the walk is. */
const COMPLETE = -3;
const MALFORMED = -1;

const CONTROLLER_UID_SLOT = 3;
const FIXED_PATHS = [
  'metadata.uid',
  'metadata.generation',
  'metadata.deletionTimestamp',
  'metadata.ownerReferences',
  'metadata.labels',
];
/**
 * Go writes these keys of metadata in this order, and nothing after managedFields. Who has met all five in
 * order is reading Go's output and need not walk through managedFields, a third of the object.
 */
const GO_ORDER = ['name', 'uid', 'resourceVersion', 'creationTimestamp', 'managedFields'];

const NULL = Buffer.from('null');
const TRUE = Buffer.from('true');
const CONTROLLER = Buffer.from('controller');
const UID = Buffer.from('uid');
/** Above, one native copy is cheaper than a loop. */
const LOOP_COPY_BYTES_MAX = 64;

export class Projector {
  readonly #root: PathNode = new PathNode('');
  readonly #metadata: PathNode;
  readonly #ownerReferences: PathNode;
  /** The nodes of GO_ORDER; the last one is only of use when nothing below it is wanted. */
  readonly #goOrder: readonly PathNode[];
  readonly #canStopAtManagedFields: boolean;
  /** Span of the token of every slot; -1 while absent. Not 32 bits: a log may have 4 GiB. */
  readonly #starts: Float64Array;
  readonly #ends: Float64Array;
  #walk = 0;
  /** Slots that have neither been found nor are known to be absent. */
  #unresolved = 0;
  /** How many of GO_ORDER have come, in order. */
  #goOrderSeen = 0;

  /** @param paths dotted paths; `\.` is a dot inside a key */
  constructor(paths: readonly string[]) {
    const all = [...FIXED_PATHS, ...paths];
    for (const [slot, path] of all.entries()) this.#root.add(splitPath(path), slot);
    this.#metadata = this.#root.descend('metadata');
    this.#ownerReferences = this.#metadata.descend('ownerReferences');
    this.#goOrder = GO_ORDER.map((key) => this.#metadata.descend(key));
    this.#canStopAtManagedFields = this.#goOrder.at(-1)?.slotsInSubtree === 0;
    this.#starts = new Float64Array(all.length);
    this.#ends = new Float64Array(all.length);
  }

  /** @returns the end in `out`, or PROJECTION_NO_ROOM, or PROJECTION_MALFORMED */
  project(bytes: Uint8Array, start: number, end: number, out: Uint8Array, outStart: number): number {
    this.#walk++;
    this.#starts.fill(-1);
    this.#unresolved = this.#starts.length;
    this.#goOrderSeen = 0;
    if (this.#object(this.#root, bytes, start, end) === MALFORMED) return PROJECTION_MALFORMED;
    return this.#write(bytes, out, outStart);
  }

  /** Walks the object at `start`. @returns the index after it, or COMPLETE, or MALFORMED */
  #object(node: PathNode, bytes: Uint8Array, start: number, end: number): number {
    let wanted = node.slotsInSubtree - node.slots.length;
    let at = openObject(bytes, start, end);
    while (at >= 0 && bytes[at] === QUOTE) {
      let child = node.plainChild(bytes, at, end);
      const keyEnd = child ? at + 1 + child.quotedKey.length : skipString(bytes, at, end);
      if (!child && hasEscape(bytes, at, keyEnd)) child = node.escapedChild(bytes, at, keyEnd);
      const value = valueAfterKey(bytes, keyEnd, end);
      if (value < 0) return MALFORMED;
      let valueEnd: number;
      if (child === undefined || child.seenInWalk === this.#walk) {
        valueEnd = skipValue(bytes, value, end);
      } else {
        child.seenInWalk = this.#walk;
        if (node === this.#metadata && this.#isRestOfMetadataUseless(child, wanted)) return COMPLETE;
        valueEnd = this.#member(child, bytes, value, end);
        if (valueEnd === COMPLETE) return COMPLETE;
        wanted -= child.slotsInSubtree;
        if (wanted === 0) return skipContainerTail(bytes, valueEnd < 0 ? end : valueEnd, end, 1);
      }
      at = afterMember(bytes, valueEnd, end);
    }
    return at < 0 || bytes[at] !== CLOSE_BRACE ? MALFORMED : at + 1;
  }

  /** A member that leads to wanted fields. @returns like #object */
  #member(node: PathNode, bytes: Uint8Array, value: number, end: number): number {
    const unresolvedAfter = this.#unresolved - node.slotsInSubtree;
    const valueEnd = this.#memberEnd(node, bytes, value, end);
    if (valueEnd < 0) return valueEnd;
    this.#unresolved = unresolvedAfter;
    return unresolvedAfter === 0 ? COMPLETE : valueEnd;
  }

  #memberEnd(node: PathNode, bytes: Uint8Array, value: number, end: number): number {
    const isObject = bytes[value] === OPEN_BRACE;
    if (node.slots.length === 0) {
      if (isObject && node.slotsInSubtree > 0) return this.#object(node, bytes, value, end);
      return skipValue(bytes, value, end);
    }
    if (node === this.#ownerReferences && !this.#keepControllerUid(bytes, value, end)) return MALFORMED;
    if (node.slots.at(-1) === CONTROLLER_UID_SLOT) return skipValue(bytes, value, end);
    const valueEnd = validValueEnd(bytes, value, end);
    if (valueEnd < 0) return MALFORMED;
    for (const slot of node.slots) {
      if (slot === CONTROLLER_UID_SLOT) continue;
      this.#starts[slot] = value;
      this.#ends[slot] = valueEnd;
    }
    if (isObject && node.children.length > 0) this.#object(node, bytes, value, valueEnd);
    return valueEnd;
  }

  /** @param start of ownerReferences. @returns false when the uid is malformed */
  #keepControllerUid(bytes: Uint8Array, start: number, end: number): boolean {
    let at = openArray(bytes, start, end);
    while (at >= 0 && bytes[at] !== CLOSE_BRACKET) {
      const controller = memberValue(bytes, at, end, CONTROLLER);
      if (controller >= 0 && bytesEqual(bytes, controller, TRUE)) {
        const uid = memberValue(bytes, at, end, UID);
        if (uid < 0 || bytes[uid] !== QUOTE) return true;
        const uidEnd = validValueEnd(bytes, uid, end);
        this.#starts[CONTROLLER_UID_SLOT] = uid;
        this.#ends[CONTROLLER_UID_SLOT] = uidEnd;
        return uidEnd > 0;
      }
      at = afterElement(bytes, skipValue(bytes, at, end), end);
    }
    return true;
  }

  /**
   * Whether the walk may end before this member of metadata: it is the managedFields of an object that Go
   * wrote, and nothing outside metadata is wanted any more.
   */
  #isRestOfMetadataUseless(child: PathNode, wantedInMetadata: number): boolean {
    if (child !== this.#goOrder[this.#goOrderSeen]) return false;
    this.#goOrderSeen++;
    return (
      this.#goOrderSeen === this.#goOrder.length &&
      this.#canStopAtManagedFields &&
      this.#unresolved === wantedInMetadata + this.#metadata.slots.length
    );
  }

  #write(bytes: Uint8Array, out: Uint8Array, outStart: number): number {
    let size = 1;
    for (let slot = 0; slot < this.#starts.length; slot++) size += this.#tokenLength(slot) + 1;
    if (outStart + size > out.length) return PROJECTION_NO_ROOM;
    let at = outStart;
    for (let slot = 0; slot < this.#starts.length; slot++) {
      out[at++] = slot === 0 ? OPEN_BRACKET : COMMA;
      const start = this.#starts[slot] ?? -1;
      const source = start < 0 ? NULL : bytes;
      at = copyBytes(source, Math.max(start, 0), this.#tokenLength(slot), out, at);
    }
    out[at++] = CLOSE_BRACKET;
    return at;
  }

  #tokenLength(slot: number): number {
    const start = this.#starts[slot] ?? -1;
    return start < 0 ? NULL.length : (this.#ends[slot] ?? 0) - start;
  }
}

/** Where the value of the first member with this key begins in the object at `start`, or -1. */
function memberValue(bytes: Uint8Array, start: number, end: number, key: Uint8Array): number {
  let at = openObject(bytes, start, end);
  while (at >= 0 && bytes[at] === QUOTE) {
    const keyEnd = skipString(bytes, at, end);
    const value = valueAfterKey(bytes, keyEnd, end);
    if (value >= 0 && keyEquals(bytes, at, keyEnd, key)) return value;
    at = afterMember(bytes, skipValue(bytes, value, end), end);
  }
  return -1;
}

function copyBytes(source: Uint8Array, start: number, length: number, out: Uint8Array, at: number): number {
  if (length > LOOP_COPY_BYTES_MAX) {
    out.set(source.subarray(start, start + length), at);
  } else {
    for (let index = 0; index < length; index++) out[at + index] = source[start + index] ?? 0;
  }
  return at + length;
}
