/**
 * Parses what callers read of the entries of an informer: the whole object, metadata, or a member alone.
 *
 * While a handler is called with a state and the state before, a member with equal bytes is the same value in both: an
 * update of the status parses only the status, and `previous.spec === current.spec` shows an unchanged spec. The value
 * is kept for the next update only if the member did not change, because a tree that lives from change to change costs
 * more than parsing (docs/decisions/0013). All other values end with the call.
 */
import { isDeepStrictEqual } from 'node:util';
import { KubeloomError } from '../../base/errors.ts';
import { parseJson } from '../../base/parse-json.ts';
import { identityText } from '../../base/quotable.ts';
import { metadataText } from '../../kube/json/drop.ts';
import { isRecord } from '../../kube/meta-shape.ts';
import type { Fields, KubeMetadata } from '../../kube/meta-shape.ts';
import { parseObject } from './cut-object.ts';
import type { DecodedCache } from './decoded-cache.ts';
import { EntryFlag, UNREADABLE } from './entry.ts';
import type { EncodedObject, Entry, EntryReader } from './entry.ts';
import type { EntryTable } from './entry-table.ts';
import type { Labels, ObjectFacts } from './extracted-fields.ts';
import { ObjectParts } from './object-parts.ts';
import type { Member, OtherState } from './object-parts.ts';

/** Heap bytes of a parsed object for each byte of JSON (docs/decisions/0005). */
const HEAP_BYTES_PER_JSON_BYTE = 2.5;
/** The same object is 2 to 3 times smaller in msgpack than in JSON. */
const HEAP_BYTES_PER_MSGPACK_BYTE = 6;
/** Heap bytes of metadata shared with another state: a copy of the first level. */
const SHARED_METADATA_COST_BYTES = 256;
/** References to the row of an entry during a single handler call: the replica's and the call's. */
const REFERENCES_OF_ONE_CALL = 2;

export interface PartReaderOptions {
  readonly table: EntryTable;
  readonly decodedCache: DecodedCache;
  /** Returns the bytes of an entry, valid until the read after the next. @throws the error of the entry */
  readonly read: (entry: Entry) => EncodedObject;
  /** Receives an error that a read throws, once for each object. */
  readonly report: ((error: KubeloomError, key: string) => void) | undefined;
  /** Receives every shared tree before any caller: freezes it, or records the content. */
  readonly guard: ((tree: unknown, key: string) => void) | undefined;
  /** False when a mutation detector must see every tree of every state. */
  readonly mayShare: boolean;
}

interface DecodedMetadata {
  readonly metadata: unknown;
  readonly costBytes: number;
}

export class PartReader implements EntryReader {
  readonly #options: PartReaderOptions;
  /** Objects whose second identity was reported. */
  readonly #reported: WeakSet<ObjectFacts> = new WeakSet();

  constructor(options: PartReaderOptions) {
    this.#options = options;
  }

  object(entry: Entry): unknown {
    const { guard, decodedCache } = this.#options;
    const parts = partsOf(entry);
    if (parts.object !== undefined) {
      decodedCache.hits++;
      return parts.object;
    }
    // The guard sees the whole tree.
    const object = guard ? this.#whole(entry) : this.copy(entry);
    decodedCache.misses++;
    guard?.(object, entry.key);
    // Set before the cache is asked, because the cache evicts at once an object that does not fit.
    parts.object = object;
    this.#remember(entry, this.costBytesOf(entry));
    return object;
  }

  /** Returns a private object, whose managedFields are parsed when they are read. */
  copy(entry: Entry): unknown {
    const { bytes, start, length, decoder } = this.#options.read(entry);
    if (decoder) return this.#whole(entry);
    return this.#checked(entry, () => parseObject(bytes, start, start + length, malformedLater));
  }

  /**
   * Returns `metadata` without `managedFields`, parsed separately if neither the object nor shared metadata is parsed.
   */
  metadata(entry: Entry): unknown {
    const { guard, decodedCache } = this.#options;
    const parts = partsOf(entry);
    const shared = parts.metadata === undefined ? sharedMetadata(entry) : undefined;
    if (parts.metadata !== undefined || shared) decodedCache.hits++;
    if (parts.metadata !== undefined) return parts.metadata;
    const { metadata, costBytes } = shared ?? this.#parsedMetadata(entry) ?? this.#metadataOfObject(entry);
    guard?.(metadata, entry.key);
    parts.metadata = metadata;
    this.#remember(entry, costBytes);
    if (!shared) this.#shareMetadata(entry, parts, metadata, costBytes);
    return metadata;
  }

  /** Returns a member, parsed separately unless the whole object is parsed or must be. */
  member(entry: Entry, name: string): unknown {
    const { read, decodedCache, guard } = this.#options;
    const parts = partsOf(entry);
    const known = parts.found(name)?.value;
    const other = known?.isInCall ? undefined : this.#otherState(entry);
    if (known?.parsed !== undefined && !other) {
      decodedCache.hits++;
      return known.parsed;
    }
    if (parts.object !== undefined && !other) return memberOfObject(parts.object, name);
    const object = read(entry);
    const member = object.decoder ? undefined : parts.find(name, object, other, true);
    if (!member) return parts.isComplete ? undefined : memberOfObject(entry.object, name);
    const isFirst = !parts.hasValues;
    // A value that was parsed before the call is not yet the other state's.
    if (other) this.#takeValue(entry, name, member);
    const { value } = member;
    const tree =
      value.parsed ??
      (parts.object === undefined ? parsedMember(read(entry), member) : memberOfObject(parts.object, name));
    if (tree === undefined) return memberOfObject(entry.object, name);
    decodedCache.misses++;
    guard?.(tree, entry.key);
    value.parsed = tree;
    value.isInCall = entry.borrows > 0;
    // The cache may forget the value at once.
    if (isFirst && entry.borrows === 0) this.#remember(entry, this.costBytesOf(entry));
    this.#keepShared(member);
    return tree;
  }

  /** Returns whether two states of an object contain the same bytes in a member, or both lack the member. */
  isMemberSame(before: Entry, entry: Entry, name: string): boolean {
    if (before === entry) return true;
    // The caller then reads the new state, whose own error says why it cannot be read.
    if ((before.flags | entry.flags) & UNREADABLE) return false;
    const [object, objectBefore] = [this.#options.read(entry), this.#options.read(before)];
    if (object.decoder || objectBefore.decoder)
      return isDeepStrictEqual(memberOfObject(before.object, name), memberOfObject(entry.object, name));
    const other = this.#otherState(entry) && { parts: partsOf(before), read: () => objectBefore };
    const [parts, partsBefore] = [partsOf(entry), partsOf(before)];
    const member = parts.find(name, object, other, false);
    const memberBefore = partsBefore.find(name, objectBefore, undefined, false);
    if (!member || !memberBefore)
      return !member && !memberBefore && parts.isComplete && partsBefore.isComplete;
    return member.value === memberBefore.value || hasSameBytes(object, member, objectBefore, memberBefore);
  }

  /**
   * Called after the last call that borrows the entry: drops the values of members, unless another handler, or a caller
   * who retained the entry, may read them.
   */
  endCall(entry: Entry): void {
    const { parts } = entry;
    if (!parts) return;
    const isRetained = (entry.flags & EntryFlag.Retained) !== 0;
    if (!isRetained && this.#options.table.referencesOf(entry.row) <= REFERENCES_OF_ONE_CALL)
      parts.forgetOwnValues();
    else if (parts.hasValues) this.#remember(entry, this.costBytesOf(entry));
    if (parts.object === undefined && parts.metadata === undefined && !parts.hasValues)
      entry.parts = undefined;
  }

  costBytesOf({ row, length, privateCopy: copy }: Entry): number {
    const decoder = copy ? copy.decoder : this.#options.table.decoderOf(row);
    return length * (decoder ? HEAP_BYTES_PER_MSGPACK_BYTE : HEAP_BYTES_PER_JSON_BYTE);
  }

  #whole(entry: Entry): unknown {
    const object = this.#options.read(entry);
    return this.#checked(entry, () => decoded(object));
  }

  /** Takes over the value that another state of a call has parsed for equal bytes. */
  #takeValue(entry: Entry, name: string, member: Member): void {
    for (const other of [entry.before, entry.after]) {
      if (!other?.parts || other.borrows === 0) continue;
      const { parts } = other;
      const known = parts.found(name)?.value;
      const value = known?.parsed ?? memberOfObject(parts.object, name);
      if (value === undefined || known === member.value) continue;
      // Both are read here: an earlier object is no longer valid.
      const [object, otherObject] = [this.#options.read(entry), this.#options.read(other)];
      const twin = otherObject.decoder ? undefined : parts.find(name, otherObject, undefined, false);
      if (!twin || !hasSameBytes(object, member, otherObject, twin)) continue;
      twin.value.parsed ??= value;
      twin.value.isShared = true;
      member.value = twin.value;
      return;
    }
  }

  /** Returns the other state of a call, and keeps the parts of the newer state for the next call. */
  #otherState(entry: Entry): OtherState | undefined {
    if (!this.#options.mayShare) return undefined;
    const { facts, before, after } = entry;
    const isAfter = before !== undefined && before.borrows > 0;
    const other = isAfter ? before : after;
    if (!other || other.borrows === 0) return undefined;
    const parts = partsOf(other);
    if (isAfter && !facts.parts?.isOf(entry)) {
      const own = partsOf(entry);
      own.sharedMetadata = facts.parts?.sharedMetadata;
      facts.parts = own;
    }
    return { parts, read: () => this.#options.read(other) };
  }

  /** Shares the metadata with other states, except under a guard, which must see every tree. */
  #shareMetadata({ facts }: Entry, parts: ObjectParts, metadata: unknown, costBytes: number): void {
    if (this.#options.guard || !facts.isShared || !isRecord(metadata)) return;
    facts.parts ??= parts;
    facts.parts.sharedMetadata = metadata;
    this.#options.decodedCache.rememberShared(facts, costBytes);
  }

  #remember(entry: Entry, costBytes: number): void {
    const { decodedCache } = this.#options;
    if (entry.flags & EntryFlag.Retained) decodedCache.rememberRead(entry, costBytes);
    else decodedCache.rememberBriefly(entry, costBytes);
  }

  /** Keeps a value that states share. */
  #keepShared({ value, length }: Member): void {
    if (!value.isShared || value.isCharged) return;
    value.isCharged = true;
    this.#options.decodedCache.rememberShared(value, length * HEAP_BYTES_PER_JSON_BYTE);
  }

  /** Returns undefined when the whole object must be parsed. */
  #parsedMetadata(entry: Entry): DecodedMetadata | undefined {
    const { bytes, start, length, decoder } = this.#options.read(entry);
    if (entry.parts?.object !== undefined || decoder) return undefined;
    const text = metadataText(bytes, start, start + length);
    if (text === undefined) return undefined;
    const metadata = this.#checkedMetadata(
      entry,
      parsed(entry, () => parseJson(text)),
    );
    this.#options.decodedCache.misses++;
    return { metadata, costBytes: text.length * HEAP_BYTES_PER_JSON_BYTE };
  }

  /** Charges the whole object: the size of the metadata alone is unknown here. */
  #metadataOfObject(entry: Entry): DecodedMetadata {
    const found = memberOfObject(entry.object, 'metadata');
    const metadata = isRecord(found) ? found : {};
    // Does not read managedFields, which would be parsed.
    const names = Object.keys(metadata).filter((name) => name !== 'managedFields');
    const kept = Object.fromEntries(names.map((name) => [name, metadata[name]]));
    return { metadata: kept, costBytes: this.costBytesOf(entry) };
  }

  #checked(entry: Entry, parse: () => unknown): unknown {
    const object = parsed(entry, parse);
    this.#checkedMetadata(entry, isRecord(object) ? object['metadata'] : undefined);
    return object;
  }

  /** Refuses an object with a second identity, as when a key occurs twice: the entry has the first, JSON.parse the last. */
  #checkedMetadata(entry: Entry, metadata: unknown): unknown {
    const what = isRecord(metadata) ? secondValue(entry, metadata) : '';
    if (what === '') return metadata;
    const message = `has two values of metadata.${what}: a key may occur twice; entry.bytes() has what was received`;
    const error = new KubeloomError(
      'ERR_KUBELOOM_MALFORMED_OBJECT',
      `${entry.key}@${entry.resourceVersion} ${message}`,
    );
    if (!this.#reported.has(entry.facts)) this.#options.report?.(error, entry.key);
    this.#reported.add(entry.facts);
    throw error;
  }
}

/** Returns the parts of an entry; the facts may have them from a call before. */
function partsOf(entry: Entry): ObjectParts {
  const { parts } = entry.facts;
  return (entry.parts ??= parts?.isOf(entry) ? parts : new ObjectParts(entry));
}

function sharedMetadata({ facts, version, flags }: Entry): DecodedMetadata | undefined {
  const shared = facts.parts?.sharedMetadata;
  if (shared === undefined || flags & UNREADABLE) return undefined;
  const metadata = { ...shared, resourceVersion: String(version) };
  return { metadata, costBytes: SHARED_METADATA_COST_BYTES };
}

function parsed(entry: Entry, parse: () => unknown): unknown {
  let value: unknown;
  try {
    value = parse();
  } catch {
    throw malformedError(entry);
  }
  if (value === undefined) throw malformedError(entry);
  return value;
}

export function decoded({ bytes, start, length, decoder }: EncodedObject): unknown {
  const end = start + length;
  return decoder ? decoder.decode(bytes, start, end) : parseJson(bytes.toString('utf8', start, end));
}

function hasSameBytes(a: EncodedObject, ofA: Member, b: EncodedObject, ofB: Member): boolean {
  if (ofA.length !== ofB.length) return false;
  const [from, to] = [b.start + ofB.valueStart, b.start + ofB.valueEnd];
  return a.bytes.compare(b.bytes, from, to, a.start + ofA.valueStart, a.start + ofA.valueEnd) === 0;
}

/** @returns undefined when the bytes are not JSON */
function parsedMember({ bytes, start }: EncodedObject, { valueStart, valueEnd }: Member): unknown {
  return parseJson(bytes.toString('utf8', start + valueStart, start + valueEnd));
}

/** Returns an own member of a parsed object; undefined if it is absent. */
function memberOfObject(object: unknown, name: string): unknown {
  const isObject = typeof object === 'object' && object !== null && Object.hasOwn(object, name);
  return isObject ? Reflect.get(object, name) : undefined;
}

/** Omits the cause: the message of a codec may quote the object, which may be a Secret. */
export function malformedError({
  key,
  resourceVersion,
}: Pick<Entry, 'key' | 'resourceVersion'>): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_MALFORMED_OBJECT',
    `${key}@${resourceVersion} is not the JSON of an object; entry.bytes() returns the received bytes`,
  );
}

/** Takes the names from the metadata: the object may outlive its entry. */
function malformedLater({ namespace, name = '', resourceVersion = '' }: KubeMetadata): KubeloomError {
  return malformedError({ key: namespace ? `${namespace}/${name}` : name, resourceVersion });
}

/** Returns the member of metadata that has another value than the entry, with both values; '' if there is none. */
function secondValue(entry: Entry, metadata: Fields): string {
  for (const member of ['name', 'namespace', 'uid', 'resourceVersion'] as const) {
    const value = metadata[member];
    const isSame =
      member === 'uid'
        ? typeof value !== 'string' || entry.facts.hasUid(value)
        : isSameText(value, entry[member]);
    if (!isSame) return `${member}, ${identityText({ entry: entry[member], object: value })}`;
  }
  const { labels } = metadata;
  return isRecord(labels) && !hasLabels(labels, entry.labels) ? 'labels' : '';
}

/** An absent value contradicts no other value. */
function isSameText(value: unknown, expected: string): boolean {
  return typeof value !== 'string' || value === expected;
}

function hasLabels(labels: Readonly<Record<string, unknown>>, expected: Labels): boolean {
  for (const name in expected) if (!isSameText(labels[name] ?? '', expected[name] ?? '')) return false;
  for (const name in labels)
    if (!Object.hasOwn(expected, name) && typeof labels[name] === 'string') return false;
  return true;
}
