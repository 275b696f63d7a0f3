/**
 * The state that all entries of one informer share: the storage of their bytes, their decoding, and the rule for how
 * long a borrowed entry may be read.
 */
import { isDeepStrictEqual } from 'node:util';
import { KubeloomError } from '../../base/errors.ts';
import { copyBytes } from '../../base/copy-bytes.ts';
import { metadataText } from '../../kube/json/drop.ts';
import type { MsgpackDecoder } from '../../shared/record/msgpack.ts';
import type { DecodedCache } from './decoded-cache.ts';
import { EntryFlag, UNREADABLE, expiredError } from './entry.ts';
import type { Entry, EntryStorage } from './entry.ts';
import { PackedObjects } from './packed-objects.ts';
import type { PackedObjectsOptions } from './packed-objects.ts';
import type { ProjectedFields } from './projected-fields.ts';
import type { Projection } from './projection.ts';
import type { SlabMemory } from './slab-memory.ts';
import { Slabs } from './slabs.ts';
import type { Slab } from './slabs.ts';

/** `strict` refuses a borrowed entry as soon as its call has ended, `off` once its bytes are gone. */
export type BorrowChecks = 'strict' | 'off';

export interface EntryOwnerOptions {
  readonly kind: string;
  readonly fields: readonly string[];
  readonly borrowChecks: BorrowChecks;
  readonly decodedCache: DecodedCache;
  /** Default: a new one. */
  readonly slabMemory?: SlabMemory;
  readonly packing?: Pick<PackedObjectsOptions, 'totalBytesMin' | 'wastedBytesMin'>;
  readonly objectBytesMax: number;
  /** Receives every shared tree before any caller does: freezes it, or records its content. */
  readonly guard?: ((tree: unknown, key: string) => void) | undefined;
}

/** Heap bytes of a parsed object for each byte of its JSON (docs/decisions/0005). */
const HEAP_BYTES_PER_JSON_BYTE = 2.5;
/** The same object is 2 to 3 times smaller in msgpack than in JSON. */
const HEAP_BYTES_PER_MSGPACK_BYTE = 6;
/** Heap bytes of metadata shared with another state: the copy of its first level. */
const SHARED_METADATA_COST_BYTES = 256;

export class EntryOwner implements EntryStorage {
  /** The first property that a structured clone of an entry reads: an entry belongs to the thread that made it. */
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
  /** msgpack tables, by shard. */
  readonly decoders: Map<number, MsgpackDecoder> = new Map();
  readonly #isStrict: boolean;
  readonly #cache: DecodedCache;
  readonly #objectBytesMax: number;
  readonly #guard: EntryOwnerOptions['guard'];

  constructor(options: EntryOwnerOptions) {
    this.kind = options.kind;
    this.fields = options.fields;
    this.#isStrict = options.borrowChecks === 'strict';
    this.slabs = new Slabs(options.slabMemory);
    this.packed = new PackedObjects({ ...options.packing, loose: this.slabs, memory: options.slabMemory });
    this.#cache = options.decodedCache;
    this.#objectBytesMax = options.objectBytesMax;
    this.#guard = options.guard;
  }

  /** Stores a copy of the bytes for a new entry. */
  put(entry: Entry, source: Buffer, start: number, length: number): void {
    entry.length = length;
    this.slabs.put(entry, source, start, length);
  }

  /** Returns whether the entry has this object: the same bytes, or equal content in other msgpack. */
  hasObject(entry: Entry, { bytes, start, length, decoder }: EncodedObject): boolean {
    if (!entry.slab) return false;
    const end = start + length;
    const stored = this.#stored(entry, entry.slab);
    const isSame =
      length === entry.length && bytes.compare(stored.bytes, stored.start, stored.end, start, end) === 0;
    const isJson = !entry.decoder && !decoder;
    if (isJson || entry.flags & UNREADABLE || (isSame && entry.decoder === decoder)) return isSame;
    // The msgpack of an object differs between shards, and after one of its shapes has become a record.
    return isDeepStrictEqual(
      this.decodeFresh(entry),
      decoded(privateCopy(bytes, start, end), 0, length, decoder),
    );
  }

  /** @throws ERR_KUBELOOM_BORROW_EXPIRED when the entry may not be read any more */
  checkReadable(entry: Entry): void {
    if (entry.flags & EntryFlag.Kept) return;
    if (this.#isStrict ? entry.borrows === 0 : entry.slab === undefined) throw expiredError(entry);
  }

  /** Starts a borrow for one call; `endBorrow` ends it. */
  borrow(entry: Entry): void {
    entry.borrows++;
  }

  /** @param borrower the caller that borrowed it, for the message about a late read */
  endBorrow(entry: Entry, borrower: string): void {
    entry.borrows--;
    entry.lastBorrower = borrower;
  }

  /** Returns the bytes of an entry without references to the slabs, after a copy if a caller may still read it. */
  retire(entry: Entry): void {
    if (entry.slab === undefined) return;
    if (entry.flags & EntryFlag.Kept) {
      const { bytes, start, end } = this.#stored(entry, entry.slab);
      entry.privateBytes = privateCopy(bytes, start, end);
    } else {
      entry.forgetDecoded();
    }
    if (entry.flags & EntryFlag.Packed) this.packed.release(entry);
    else this.slabs.release(entry);
    entry.dictionary = undefined;
  }

  decode(entry: Entry): unknown {
    const object = this.decodeFresh(entry);
    this.#guard?.(object, entry.key);
    // Set before the cache is asked, because the cache evicts at once what does not fit.
    entry.decoded = object;
    this.#remember(entry, costBytesOf(entry));
    return object;
  }

  decodeFresh(entry: Entry): unknown {
    const { bytes, start, end } = this.#decodable(entry);
    return this.#parse(entry, () => decoded(bytes, start, end, entry.decoder));
  }

  /**
   * Returns `metadata` without `managedFields`. It is parsed alone, unless the object or shared metadata is parsed
   * already.
   */
  decodeMetadata(entry: Entry): unknown {
    const shared = this.#sharedMetadata(entry);
    const { metadata, costBytes } = shared ?? this.#parsedMetadata(entry) ?? metadataOfObject(entry);
    this.#guard?.(metadata, entry.key);
    entry.decodedMetadata = metadata;
    this.#remember(entry, costBytes);
    if (!shared) this.#share(entry.projection, metadata, costBytes);
    return metadata;
  }

  /** Returns memory of its own for `bytes()`, so that it can be transferred to another thread. */
  jsonBytes(entry: Entry): Buffer {
    const { bytes, start, end } = this.#span(entry);
    if (!entry.decoder) return privateCopy(bytes, start, end);
    const json = Buffer.from(JSON.stringify(this.decodeFresh(entry)));
    return privateCopy(json, 0, json.length);
  }

  fieldsOf(projected: ProjectedFields): Readonly<Record<string, unknown>> {
    const fields: Record<string, unknown> = {};
    this.fields.forEach((path, index) => {
      const value = projected.field(index);
      if (value !== undefined) fields[path] = value;
    });
    return Object.freeze(fields);
  }

  /** Returns the metadata shared with another state, with this entry's version. */
  #sharedMetadata({ projection, version, flags }: Entry): DecodedMetadata | undefined {
    if (projection.metadata === undefined || flags & UNREADABLE) return undefined;
    const metadata = { ...projection.metadata, resourceVersion: String(version) };
    return { metadata, costBytes: SHARED_METADATA_COST_BYTES };
  }

  /** Shares the metadata with other states, except under a guard, which must see every tree. */
  #share(projection: Projection, metadata: unknown, costBytes: number): void {
    if (this.#guard || !projection.isShared || typeof metadata !== 'object' || metadata === null) return;
    projection.metadata = metadata;
    this.#cache.rememberShared(projection, costBytes);
  }

  #remember(entry: Entry, costBytes: number): void {
    if (entry.flags & EntryFlag.Kept) this.#cache.remember(entry, costBytes);
    else this.#cache.rememberBriefly(entry, costBytes);
  }

  /** Returns undefined when the whole object must be parsed. */
  #parsedMetadata(entry: Entry): DecodedMetadata | undefined {
    const { bytes, start, end } = this.#decodable(entry);
    if (entry.decoded !== undefined || entry.decoder) return undefined;
    const text = metadataText(bytes, start, end);
    if (text === undefined) return undefined;
    const metadata = this.#parse(entry, () => JSON.parse(text));
    return { metadata, costBytes: text.length * HEAP_BYTES_PER_JSON_BYTE };
  }

  #decodable(entry: Entry): ByteSpan {
    if (entry.flags & EntryFlag.Malformed) throw malformedError(entry);
    return this.#span(entry);
  }

  #span(entry: Entry): ByteSpan {
    if (entry.flags & EntryFlag.Quarantined) throw quarantinedError(entry);
    if (entry.flags & EntryFlag.TooLarge) {
      throw new KubeloomError(
        'ERR_KUBELOOM_OBJECT_TOO_LARGE',
        `${entry.key} is larger than objectBytesMax (${this.#objectBytesMax}); raise it to read the object`,
      );
    }
    if (entry.privateBytes) return { bytes: entry.privateBytes, start: 0, end: entry.length };
    if (!entry.slab) throw expiredError(entry);
    return this.#stored(entry, entry.slab);
  }

  #stored(entry: Entry, slab: Slab): ByteSpan {
    if (entry.flags & EntryFlag.Packed)
      return { bytes: this.packed.unpacked(entry), start: 0, end: entry.length };
    return { bytes: slab.bytes, start: entry.offset, end: entry.offset + entry.length };
  }

  #parse(entry: Entry, parse: () => unknown): unknown {
    try {
      return parse();
    } catch {
      throw malformedError(entry);
    }
  }
}

/** An object outside the store. */
export interface EncodedObject {
  readonly bytes: Buffer;
  readonly start: number;
  readonly length: number;
  /** Decoder of the bytes when they are msgpack. */
  readonly decoder: MsgpackDecoder | undefined;
}

interface DecodedMetadata {
  readonly metadata: unknown;
  /** Heap bytes. */
  readonly costBytes: number;
}

/** A place of bytes, valid until the next read. */
interface ByteSpan {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

function decoded(bytes: Buffer, start: number, end: number, decoder: MsgpackDecoder | undefined): unknown {
  return decoder ? decoder.decode(bytes, start, end) : JSON.parse(bytes.toString('utf8', start, end));
}

function quarantinedError(entry: Entry): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_QUARANTINED',
    `${entry.key}@${entry.resourceVersion}: two threads ended while they worked on it, so only its identity is kept. ` +
      'Check the modules for transforms and indexes: they may not exit, loop for ever or take all memory',
  );
}

/** Has no cause: JSON.parse's message quotes the text, which may be a Secret. */
function malformedError(entry: Entry): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_MALFORMED_OBJECT',
    `${entry.key}@${entry.resourceVersion} is not the JSON of an object; entry.bytes() has what was received`,
  );
}

/** Copies into memory outside Node's pool, which is shared with other buffers and cannot be transferred. */
function privateCopy(bytes: Buffer, start: number, end: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(end - start);
  copyBytes(bytes, start, end, copy, 0);
  return copy;
}

function refuseClone(): never {
  throw new KubeloomError(
    'ERR_KUBELOOM_CLONE',
    'an entry cannot be sent to another thread; send entry.bytes(), or the fields you need',
  );
}

function costBytesOf({ length, decoder }: Entry): number {
  return length * (decoder ? HEAP_BYTES_PER_MSGPACK_BYTE : HEAP_BYTES_PER_JSON_BYTE);
}

/** Charges the whole object: the size of its metadata is unknown here. */
function metadataOfObject(entry: Entry): DecodedMetadata {
  const { metadata } = (entry.object ?? {}) as { metadata?: { managedFields?: unknown } };
  const { managedFields: _dropped, ...rest } = metadata ?? {};
  return { metadata: rest, costBytes: costBytesOf(entry) };
}
