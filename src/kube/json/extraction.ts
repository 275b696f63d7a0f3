/**
 * Copies the few fields that travel with a notification out of an object, as raw JSON, in one pass and
 * without building a string:
 *
 * ```
 * [uid, generation, deletionTimestamp, controllerUid, labels, …declared fields]
 * ```
 *
 * Absent fields are `null`; controllerUid is the uid of the ownerReference with `controller: true`. Every
 * token is checked strictly, so the array always parses. When a key occurs twice, the first value counts.
 */
import { PathNode, keyEquals, splitPath } from './read.ts';
import {
  afterElement,
  afterMember,
  bytesEqual,
  openArray,
  openObject,
  skipContainerTail,
  skipFlatArray,
  skipString,
  skipValue,
  validValueEnd,
  valueAfterKey,
  wideView,
} from './skip.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Result when `out` is too small: call again with more room. */
export const EXTRACTION_NO_ROOM = -1;
/** Result when the object, or a copied field, is not valid JSON. */
export const EXTRACTION_MALFORMED = -2;

/** Result of a walk that has found every requested field, wherever it stands. */
const COMPLETE = -3;
const MALFORMED = -1;

const UID_FIELD = 0;
const CONTROLLER_UID_FIELD = 3;
const FIXED_PATHS = [
  'metadata.uid',
  'metadata.generation',
  'metadata.deletionTimestamp',
  'metadata.ownerReferences',
  'metadata.labels',
];
/** Keys before the uid and the resourceVersion in Go's order; `kind` and `apiVersion` are not in metadata. */
const PREFIX_KEYS = ['name', 'generateName', 'namespace', 'resourceVersion'];
const TYPE_KEYS = ['kind', 'apiVersion'];

const NULL = Buffer.from('null');
const TRUE = Buffer.from('true');
const CONTROLLER = Buffer.from('controller');
const UID = Buffer.from('uid');
/** Above this length a native copy is faster than a loop. */
const LOOP_COPY_BYTES_MAX = 256;

/** The fixed prefix of an object in Go's order (`KeySpans.isStandardOrder`), which the walk can skip. */
export interface MetadataPrefix {
  /** Span of the uid's token. */
  uidStart: number;
  uidEnd: number;
  /** End of the resourceVersion's token. */
  versionEnd: number;
}

export class Extractor {
  readonly #root: PathNode = new PathNode('');
  readonly #metadata: PathNode;
  readonly #ownerReferences: PathNode;
  /** A third of the object, which is skipped unless a field in it is requested. */
  readonly #managedFields: PathNode;
  readonly #uid: PathNode;
  /** True when the uid is the only requested field in the part that a MetadataPrefix covers. */
  readonly #canBeginBehindVersion: boolean;
  /**
   * True when all requested fields stand in metadata outside of managedFields, and the resourceVersion is not requested.
   * Then two objects with equal metadata up to `headEnd`, that version aside, have equal extracted fields if managedFields
   * that begin there end the metadata of both.
   */
  readonly readsOnlyHead: boolean;
  /** Start of the managedFields that end the metadata of the last object, or the end of its metadata; -1 if unknown. */
  headEnd = -1;
  #managedFieldsEnd = -1;
  /** Span of every field's token; -1 while absent. Not 32 bits: a log may have 4 GiB. */
  readonly #starts: Float64Array;
  readonly #ends: Float64Array;
  readonly #copy: TokenCopy = new TokenCopy();
  #hasController = false;
  #walk = 0;
  /** Number of fields that are neither found nor known to be absent. */
  #unresolved = 0;

  /** @param paths dotted paths; `\.` is a dot inside a key */
  constructor(paths: readonly string[]) {
    const all = [...FIXED_PATHS, ...paths];
    for (const [fieldIndex, path] of all.entries()) this.#root.add(splitPath(path), fieldIndex);
    this.#metadata = this.#root.descend('metadata');
    this.#ownerReferences = this.#metadata.descend('ownerReferences');
    this.#managedFields = this.#metadata.descend('managedFields');
    this.#uid = this.#metadata.descend('uid');
    const unwanted = [
      ...PREFIX_KEYS.map((key) => this.#metadata.descend(key).fieldsInSubtree),
      ...TYPE_KEYS.map((key) => this.#root.descend(key).fieldsInSubtree),
      ...[this.#metadata, this.#root].map(({ fieldIndexes }) => fieldIndexes.length),
    ];
    this.#canBeginBehindVersion = this.#uid.fieldsInSubtree === 1 && unwanted.every((wanted) => wanted === 0);
    this.readsOnlyHead =
      this.#canBeginBehindVersion &&
      this.#managedFields.fieldsInSubtree === 0 &&
      this.#root.fieldsInSubtree === this.#metadata.fieldsInSubtree;
    this.#starts = new Float64Array(all.length);
    this.#ends = new Float64Array(all.length);
  }

  /**
   * @param prefix the prefix, if it is known
   * @returns the end in `out`, or EXTRACTION_NO_ROOM, or EXTRACTION_MALFORMED
   */
  project(
    bytes: Buffer,
    start: number,
    end: number,
    out: Uint8Array,
    outStart: number,
    prefix?: MetadataPrefix,
  ): number {
    this.#walk++;
    this.#starts.fill(-1);
    this.#unresolved = this.#starts.length;
    this.#managedFieldsEnd = -1;
    this.headEnd = -1;
    const walked =
      prefix && this.#canBeginBehindVersion
        ? this.#walkBehind(prefix, bytes, end)
        : this.#object(this.#root, bytes, start, end);
    return walked === MALFORMED ? EXTRACTION_MALFORMED : this.#write(bytes, out, outStart);
  }

  /** Walks the root as `#object` does, from behind the resourceVersion on. */
  #walkBehind({ uidStart, uidEnd, versionEnd }: MetadataPrefix, bytes: Buffer, end: number): number {
    if (validValueEnd(bytes, uidStart, uidEnd) !== uidEnd) return MALFORMED;
    this.#starts[UID_FIELD] = uidStart;
    this.#ends[UID_FIELD] = uidEnd;
    const metadata = this.#metadata;
    // Marked as seen, as name and resourceVersion are: a second value is ignored.
    metadata.seenInWalk = this.#walk;
    this.#uid.seenInWalk = this.#walk;
    this.#unresolved--;
    const unresolvedAfter = this.#unresolved - (metadata.fieldsInSubtree - 1);
    const next = afterMember(bytes, versionEnd, end);
    const metadataEnd = this.#members(metadata, bytes, next, end, metadata.fieldsInSubtree - 1);
    if (metadataEnd < 0) this.headEnd = -1;
    if (metadataEnd < 0) return metadataEnd;
    if (afterMember(bytes, this.#managedFieldsEnd, end) !== metadataEnd - 1) this.headEnd = metadataEnd;
    if (unresolvedAfter === 0) return metadataEnd;
    this.#unresolved = unresolvedAfter;
    return this.#members(this.#root, bytes, afterMember(bytes, metadataEnd, end), end, unresolvedAfter);
  }

  /** Walks the object at `start`. @returns the index after it, or COMPLETE, or MALFORMED */
  #object(node: PathNode, bytes: Buffer, start: number, end: number): number {
    const first = openObject(bytes, start, end);
    return this.#members(node, bytes, first, end, node.fieldsInSubtree - node.fieldIndexes.length);
  }

  /** Walks as `#object` does, from the member at `first` on; `wanted` fields are in it and the rest. */
  #members(node: PathNode, bytes: Buffer, first: number, end: number, wantedFields: number): number {
    let wanted = wantedFields;
    let at = first;
    while (at >= 0 && bytes[at] === QUOTE) {
      const keyEnd = skipString(bytes, at, end);
      const child = node.child(bytes, at, keyEnd);
      const value = valueAfterKey(bytes, keyEnd, end);
      if (value < 0) return MALFORMED;
      let valueEnd: number;
      if (child === undefined || child.seenInWalk === this.#walk) {
        valueEnd = skipValue(bytes, value, end);
      } else {
        child.seenInWalk = this.#walk;
        valueEnd = this.#member(child, bytes, value, end);
        if (valueEnd === COMPLETE) return COMPLETE;
        wanted -= child.fieldsInSubtree;
        if (wanted === 0) return skipContainerTail(bytes, valueEnd < 0 ? end : valueEnd, end, 1);
      }
      at = afterMember(bytes, valueEnd, end);
    }
    return at < 0 || bytes[at] !== CLOSE_BRACE ? MALFORMED : at + 1;
  }

  /** Walks a member that leads to requested fields. @returns like #object */
  #member(node: PathNode, bytes: Buffer, value: number, end: number): number {
    const unresolvedAfter = this.#unresolved - node.fieldsInSubtree;
    const valueEnd = this.#memberEnd(node, bytes, value, end);
    if (valueEnd < 0) return valueEnd;
    this.#unresolved = unresolvedAfter;
    return unresolvedAfter === 0 ? COMPLETE : valueEnd;
  }

  #memberEnd(node: PathNode, bytes: Buffer, value: number, end: number): number {
    const isObject = bytes[value] === OPEN_BRACE;
    if (node.fieldIndexes.length === 0) {
      if (isObject && node.fieldsInSubtree > 0) return this.#object(node, bytes, value, end);
      if (node !== this.#managedFields) return skipValue(bytes, value, end);
      this.headEnd = value;
      this.#managedFieldsEnd = skipFlatArray(bytes, value, end);
      return this.#managedFieldsEnd;
    }
    if (node === this.#ownerReferences) {
      const referencesEnd = this.#keepControllerUid(bytes, value, end);
      if (referencesEnd < 0 || node.fieldIndexes.at(-1) === CONTROLLER_UID_FIELD) return referencesEnd;
    }
    const valueEnd = validValueEnd(bytes, value, end);
    if (valueEnd < 0) return MALFORMED;
    for (const fieldIndex of node.fieldIndexes) {
      if (fieldIndex === CONTROLLER_UID_FIELD) continue;
      this.#starts[fieldIndex] = value;
      this.#ends[fieldIndex] = valueEnd;
    }
    if (isObject && node.children.length > 0) this.#object(node, bytes, value, valueEnd);
    return valueEnd;
  }

  /** @param start start of the ownerReferences. @returns the index after them, or MALFORMED */
  #keepControllerUid(bytes: Buffer, start: number, end: number): number {
    this.#hasController = false;
    let at = openArray(bytes, start, end);
    while (at >= 0 && bytes[at] !== CLOSE_BRACKET) {
      at = afterElement(bytes, this.#ownerReference(bytes, at, end), end);
    }
    const uid = this.#starts[CONTROLLER_UID_FIELD] ?? -1;
    if (uid >= 0) {
      const uidEnd = validValueEnd(bytes, uid, end);
      if (uidEnd < 0) return MALFORMED;
      this.#ends[CONTROLLER_UID_FIELD] = uidEnd;
    }
    return at < 0 ? skipValue(bytes, start, end) : at + 1;
  }

  /**
   * Records where the uid is in the first reference with `controller: true`. @returns the index after it, or MALFORMED
   */
  #ownerReference(bytes: Buffer, start: number, end: number): number {
    let uid = -1;
    let controller = -1;
    let at = openObject(bytes, start, end);
    if (at < 0) return skipValue(bytes, start, end);
    while (at >= 0 && bytes[at] === QUOTE) {
      const keyEnd = skipString(bytes, at, end);
      const value = valueAfterKey(bytes, keyEnd, end);
      if (uid < 0 && keyEquals(bytes, at, keyEnd, UID)) uid = value;
      else if (controller < 0 && keyEquals(bytes, at, keyEnd, CONTROLLER)) controller = value;
      at = afterMember(bytes, skipValue(bytes, value, end), end);
    }
    if (at < 0) return MALFORMED;
    if (!this.#hasController && controller >= 0 && bytesEqual(bytes, controller, TRUE)) {
      this.#hasController = true;
      if (uid >= 0 && bytes[uid] === QUOTE) this.#starts[CONTROLLER_UID_FIELD] = uid;
    }
    return at + 1;
  }

  #write(bytes: Uint8Array, out: Uint8Array, outStart: number): number {
    let size = 1;
    for (let fieldIndex = 0; fieldIndex < this.#starts.length; fieldIndex++)
      size += this.#tokenLength(fieldIndex) + 1;
    if (outStart + size > out.length) return EXTRACTION_NO_ROOM;
    const copy = this.#copy;
    copy.between(bytes, out);
    let at = outStart;
    for (let fieldIndex = 0; fieldIndex < this.#starts.length; fieldIndex++) {
      out[at++] = fieldIndex === 0 ? OPEN_BRACKET : COMMA;
      const start = this.#starts[fieldIndex] ?? -1;
      if (start < 0) {
        for (let index = 0; index < NULL.length; index++) out[at++] = NULL[index] ?? 0;
      } else {
        at = copy.token(start, this.#ends[fieldIndex] ?? 0, at);
      }
    }
    out[at++] = CLOSE_BRACKET;
    return at;
  }

  #tokenLength(fieldIndex: number): number {
    const start = this.#starts[fieldIndex] ?? -1;
    return start < 0 ? NULL.length : (this.#ends[fieldIndex] ?? 0) - start;
  }
}

/** Copies short spans four bytes at a time, which is faster than a native copy at such lengths. */
class TokenCopy {
  #source: Uint8Array = NULL;
  #sourceView: DataView = wideView(NULL);
  #out: Uint8Array = NULL;
  #outView: DataView = this.#sourceView;

  between(source: Uint8Array, out: Uint8Array): void {
    this.#sourceView = wideView(source);
    this.#source = source;
    if (out === this.#out) return;
    this.#out = out;
    this.#outView = new DataView(out.buffer, out.byteOffset, out.byteLength);
  }

  /** @returns the end of the copy */
  token(start: number, end: number, outStart: number): number {
    const outEnd = outStart + end - start;
    if (end - start > LOOP_COPY_BYTES_MAX) {
      this.#out.set(this.#source.subarray(start, end), outStart);
      return outEnd;
    }
    let from = start;
    let to = outStart;
    for (; to <= outEnd - 4; to += 4, from += 4) {
      this.#outView.setInt32(to, this.#sourceView.getInt32(from, true), true);
    }
    for (; to < outEnd; to++, from++) this.#out[to] = this.#source[from] ?? 0;
    return outEnd;
  }
}
