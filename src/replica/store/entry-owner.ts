/**
 * The state that all entries of an informer share: the storage of the bytes, the decoding, and the rule for how long a
 * borrowed entry may be read.
 */
import { isDeepStrictEqual } from 'node:util';
import { KubeloomError } from '../../base/errors.ts';
import { jsonText } from '../../base/json-text.ts';
import { parseJson } from '../../base/parse-json.ts';
import { identityText } from '../../base/quotable.ts';
import { copyBytes } from '../../shared/log/log.ts';
import { metadataText } from '../../kube/json/drop.ts';
import { isRecord } from '../../kube/meta-shape.ts';
import type { Fields, KubeMetadata } from '../../kube/meta-shape.ts';
import type { MsgpackDecoder } from '../../shared/record/msgpack.ts';
import { parseObject } from './cut-object.ts';
import type { DecodedCache } from './decoded-cache.ts';
import type { EntryTable } from './entry-table.ts';
import { EntryFlag, UNREADABLE, expiredError } from './entry.ts';
import type { EncodedObject, Entry, EntryStorage, ForeignBytes, ObjectBytes } from './entry.ts';
import { HEAP_BYTES_PER_JSON_BYTE, Members } from './members.ts';
import { PackedObjects } from './packed-objects.ts';
import type { PackedObjectsOptions } from './packed-objects.ts';
import type { Labels, ObjectFacts } from './extracted-fields.ts';
import type { BytesReaders, SlabMemory } from './store-memory.ts';
import { Slabs } from './slabs.ts';

/** `strict` refuses a borrowed entry as soon as the call ends, `off` when the bytes are gone. */
export type RetainChecks = 'strict' | 'off';

/** @internal */
export interface EntryOwnerOptions {
  readonly kind: string;
  readonly fields: readonly string[];
  readonly retainChecks: RetainChecks;
  readonly decodedCache: DecodedCache;
  readonly slabMemory?: SlabMemory;
  readonly packing?: Pick<PackedObjectsOptions, 'totalBytesMin' | 'wastedBytesMin'>;
  readonly objectBytesMax: number;
  /** Receives an error that a read throws, once for each object. */
  readonly report?: (error: KubeloomError, key: string) => void;
  /** Receives every shared tree before any caller: freezes it, or records the content. */
  readonly guard?: ((tree: unknown, key: string) => void) | undefined;
  /** Whether states share the values of unchanged members. Default: true. */
  readonly sharesMembers?: boolean;
  /** Bytes of all rows, if another thread stores them; in that case this thread stores no bytes. */
  readonly foreign?: ForeignBytes;
}

/** The same object is 2 to 3 times smaller in msgpack than in JSON. */
const HEAP_BYTES_PER_MSGPACK_BYTE = 6;
/** Heap bytes of metadata shared with another state: a copy of the first level. */
const SHARED_METADATA_COST_BYTES = 256;

/** @internal */
export class EntryOwner implements EntryStorage {
  /**
   * The first property that a structured clone of an entry reads. It throws: an entry belongs to the thread that made
   * it.
   */
  readonly cloneGuard: object = {
    get clone(): never {
      return refuseClone();
    },
  };
  readonly kind: string;
  readonly fields: readonly string[];
  /** Bytes of objects as received. */
  readonly slabs: Slabs;
  /** Bytes of objects that have not changed for a while. */
  readonly packed: PackedObjects;
  readonly decodedCache: DecodedCache;
  readonly decoders: Map<number, MsgpackDecoder> = new Map();
  readonly table: EntryTable;
  readonly stored: EntryStorage['stored'];
  /** Other threads that read the bytes of rows. */
  readers: BytesReaders | undefined;
  readonly #isStrict: boolean;
  readonly #options: EntryOwnerOptions;
  readonly #members: Members;
  /** Objects whose second identity was reported. */
  readonly #reported: WeakSet<ObjectFacts> = new WeakSet();

  /** @param table empty: the new owner becomes the storage of the table */
  constructor(table: EntryTable, options: EntryOwnerOptions) {
    this.table = table;
    table.bind(this);
    this.kind = options.kind;
    this.fields = options.fields;
    this.#isStrict = options.retainChecks === 'strict';
    const readers = (): BytesReaders | undefined => this.readers;
    this.slabs = new Slabs({ table, memory: options.slabMemory, readers });
    this.packed = new PackedObjects({
      ...options.packing,
      table,
      loose: this.slabs,
      memory: options.slabMemory,
      readers,
    });
    this.stored = options.foreign ? undefined : { loose: this.slabs, packed: this.packed };
    this.decodedCache = options.decodedCache;
    this.#options = options;
    this.#members = new Members({
      table,
      decodedCache: options.decodedCache,
      read: (entry) => this.#decodable(entry),
      mayShare: options.sharesMembers ?? true,
      guard: options.guard,
      remember: (entry, costBytes) => this.#remember(entry, costBytes),
    });
  }

  /**
   * Returns whether the row stores this object (JSON if there is no decoder): equal bytes, or equal content in
   * different msgpack.
   */
  hasObject(row: number, object: ObjectBytes, decoder: MsgpackDecoder | undefined): boolean {
    const stored = this.#stored(row);
    const isSame = hasSameBytes(object, stored);
    const isJson = !stored.decoder && !decoder;
    if (isJson || this.table.hasFlag(row, UNREADABLE) || (isSame && stored.decoder === decoder))
      return isSame;
    // The msgpack of an object differs between shards, and before and after a shape of the object becomes a record.
    const listed = decoded({ bytes: privateCopy(object), start: 0, length: object.length, decoder });
    return isDeepStrictEqual(decoded(stored), listed);
  }

  /** @throws ERR_KUBELOOM_BORROW_EXPIRED when the entry may no longer be read */
  checkReadable(entry: Entry): void {
    if (entry.flags & EntryFlag.Retained) return;
    if (this.#isStrict ? entry.borrows === 0 : !this.table.isCurrent(entry)) throw expiredError(entry);
  }

  /** Makes the entry readable for good. */
  keep(entry: Entry): void {
    entry.flags |= EntryFlag.Retained;
    if (entry.borrows === 0) this.table.close(entry, true);
    if (!entry.privateCopy && !this.table.isKnown(entry)) entry.privateCopy = this.#copyOf(entry.row);
  }

  endEntry(entry: Entry): void {
    if (entry.flags & EntryFlag.Retained) entry.privateCopy = this.#copyOf(entry.row);
    else entry.forgetDecoded();
  }

  decode(entry: Entry): unknown {
    const { guard } = this.#options;
    // The guard sees the whole tree.
    const object = guard ? this.#decodeWhole(entry) : this.decodeFresh(entry);
    this.decodedCache.misses++;
    guard?.(object, entry.key);
    // Set before the cache is asked, because the cache evicts at once an object that does not fit.
    entry.decoded = object;
    this.#remember(entry, costBytesOf(this.#span(entry)));
    return object;
  }

  /** Returns a private object, whose managedFields are parsed when they are read. */
  decodeFresh(entry: Entry): unknown {
    const { bytes, start, length, decoder } = this.#decodable(entry);
    if (decoder) return this.#decodeWhole(entry);
    return this.#checked(
      entry,
      this.#parse(entry, () => parseObject(bytes, start, start + length, malformedLater)),
    );
  }

  #decodeWhole(entry: Entry): unknown {
    const object = this.#decodable(entry);
    return this.#checked(
      entry,
      this.#parse(entry, () => decoded(object)),
    );
  }

  #checked(entry: Entry, object: unknown): unknown {
    this.#checkOneIdentity(entry, isRecord(object) ? object['metadata'] : undefined);
    return object;
  }

  /**
   * Returns `metadata` without `managedFields`, parsed separately if neither the object nor shared metadata is parsed.
   */
  decodeMetadata(entry: Entry): unknown {
    const shared = this.#sharedMetadata(entry);
    if (shared) this.decodedCache.hits++;
    const { metadata, costBytes } = shared ?? this.#parsedMetadata(entry) ?? this.#metadataOfObject(entry);
    this.#options.guard?.(metadata, entry.key);
    entry.decodedMetadata = metadata;
    this.#remember(entry, costBytes);
    if (!shared) this.#share(entry.facts, metadata, costBytes);
    return metadata;
  }

  decodeMember(entry: Entry, name: string): unknown {
    return this.#members.decode(entry, name);
  }

  endMembers(entry: Entry): void {
    this.#members.end(entry);
  }

  isMemberSame(before: Entry, entry: Entry, name: string): boolean {
    return this.#members.isSame(before, entry, name);
  }

  /** Returns separate memory for `bytes()`, so that it can be transferred to another thread. */
  jsonBytes(entry: Entry): Buffer {
    const object = this.#span(entry);
    if (!object.decoder) return privateCopy(object);
    const bytes = Buffer.from(jsonText(this.decodeFresh(entry)));
    return privateCopy({ bytes, start: 0, length: bytes.length });
  }

  #sharedMetadata({ facts, version, flags }: Entry): DecodedMetadata | undefined {
    if (facts.metadata === undefined || flags & UNREADABLE) return undefined;
    const metadata = { ...facts.metadata, resourceVersion: String(version) };
    return { metadata, costBytes: SHARED_METADATA_COST_BYTES };
  }

  /** Shares the metadata with other states, except under a guard, which must see every tree. */
  #share(facts: ObjectFacts, metadata: unknown, costBytes: number): void {
    if (this.#options.guard || typeof metadata !== 'object' || metadata === null) return;
    if (facts.keepMetadata(metadata)) this.decodedCache.rememberShared(facts, costBytes);
  }

  #remember(entry: Entry, costBytes: number): void {
    if (entry.flags & EntryFlag.Retained) this.decodedCache.rememberRead(entry, costBytes);
    else this.decodedCache.rememberBriefly(entry, costBytes);
  }

  /** Returns undefined when the whole object must be parsed. */
  #parsedMetadata(entry: Entry): DecodedMetadata | undefined {
    const { bytes, start, length, decoder } = this.#decodable(entry);
    if (entry.decoded !== undefined || decoder) return undefined;
    const text = metadataText(bytes, start, start + length);
    if (text === undefined) return undefined;
    const metadata = this.#parse(entry, () => parseJson(text));
    this.#checkOneIdentity(entry, metadata);
    this.decodedCache.misses++;
    return { metadata, costBytes: text.length * HEAP_BYTES_PER_JSON_BYTE };
  }

  /** Charges the whole object: the size of the metadata alone is unknown here. */
  #metadataOfObject(entry: Entry): DecodedMetadata {
    const { metadata } = (entry.object ?? {}) as { metadata?: { managedFields?: unknown } };
    const { managedFields: _dropped, ...rest } = metadata ?? {};
    return { metadata: rest, costBytes: costBytesOf(this.#span(entry)) };
  }

  #decodable(entry: Entry): EncodedObject {
    if (entry.flags & EntryFlag.Malformed) throw malformedError(entry);
    return this.#span(entry);
  }

  #span(entry: Entry): EncodedObject {
    if (entry.flags & EntryFlag.Quarantined) {
      throw new KubeloomError(
        'ERR_KUBELOOM_QUARANTINED',
        `${entry.key}@${entry.resourceVersion}: two threads ended while they processed it, so only the identity is ` +
          'kept. Check the modules for transforms and indexes: they may not exit, loop for ever or take all memory',
      );
    }
    if (entry.flags & EntryFlag.TooLarge) {
      throw new KubeloomError(
        'ERR_KUBELOOM_OBJECT_TOO_LARGE',
        `${entry.key} is larger than objectBytesMax (${this.#options.objectBytesMax}); raise it to read the object`,
      );
    }
    if (entry.privateCopy) return entry.privateCopy;
    if (!this.table.isCurrent(entry)) throw expiredError(entry);
    return this.#stored(entry.row);
  }

  #stored(row: number): EncodedObject {
    const { table } = this;
    const length = table.lengthOf(row);
    const decoder = table.decoderOf(row);
    const { foreign } = this.#options;
    if (foreign) {
      const { bytes, start } = foreign.read(row);
      return { bytes, start, length, decoder };
    }
    if (table.hasFlag(row, EntryFlag.Packed)) {
      return { bytes: this.packed.unpacked(row), start: 0, length, decoder };
    }
    const { bytes } = this.slabs.slabOf(row);
    return { bytes, start: table.offsetOf(row), length, decoder };
  }

  #copyOf(row: number): EncodedObject {
    const stored = this.#stored(row);
    return { ...stored, bytes: privateCopy(stored), start: 0 };
  }

  /** Refuses an object with a second identity, as when a key occurs twice: the entry has the first, JSON.parse the last. */
  #checkOneIdentity(entry: Entry, metadata: unknown): void {
    const what = isRecord(metadata) ? secondValue(entry, metadata) : '';
    if (what === '') return;
    const message = `has two values of metadata.${what}: a key may occur twice; entry.bytes() has what was received`;
    const error = new KubeloomError(
      'ERR_KUBELOOM_MALFORMED_OBJECT',
      `${entry.key}@${entry.resourceVersion} ${message}`,
    );
    if (!this.#reported.has(entry.facts)) this.#options.report?.(error, entry.key);
    this.#reported.add(entry.facts);
    throw error;
  }

  #parse(entry: Entry, parse: () => unknown): unknown {
    let value: unknown;
    try {
      value = parse();
    } catch {
      throw malformedError(entry);
    }
    if (value === undefined) throw malformedError(entry);
    return value;
  }
}

interface DecodedMetadata {
  readonly metadata: unknown;
  readonly costBytes: number;
}

function hasSameBytes(a: ObjectBytes, b: ObjectBytes): boolean {
  if (a.length !== b.length) return false;
  return a.bytes.compare(b.bytes, b.start, b.start + b.length, a.start, a.start + a.length) === 0;
}

function decoded({ bytes, start, length, decoder }: EncodedObject): unknown {
  const end = start + length;
  return decoder ? decoder.decode(bytes, start, end) : parseJson(bytes.toString('utf8', start, end));
}

/** Omits the cause: the message of a codec may quote the object, which may be a Secret. */
function malformedError({ key, resourceVersion }: Pick<Entry, 'key' | 'resourceVersion'>): KubeloomError {
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

/** Copies into memory outside Node's pool, which is shared with other buffers and cannot be transferred. */
function privateCopy({ bytes, start, length }: Readonly<ObjectBytes>): Buffer {
  const copy = Buffer.allocUnsafeSlow(length);
  copyBytes(bytes, start, start + length, copy, 0);
  return copy;
}

function refuseClone(): never {
  throw new KubeloomError(
    'ERR_KUBELOOM_CLONE',
    'an entry cannot be sent to another thread; send entry.bytes(), or the fields you need',
  );
}

function costBytesOf({ length, decoder }: EncodedObject): number {
  return length * (decoder ? HEAP_BYTES_PER_MSGPACK_BYTE : HEAP_BYTES_PER_JSON_BYTE);
}
