/**
 * The state that all entries of one informer share: the storage of their bytes, their decoding, and the rule for how
 * long a borrowed entry may be read.
 */
import { isDeepStrictEqual } from 'node:util';
import { KubeloomError } from '../../base/errors.ts';
import { copyBytes } from '../../shared/log/log.ts';
import { metadataText } from '../../kube/json/drop.ts';
import type { MsgpackDecoder } from '../../shared/record/msgpack.ts';
import type { DecodedCache } from './decoded-cache.ts';
import { EntryFlag, UNREADABLE, expiredError } from './entry.ts';
import type { Entry, EntryStorage } from './entry.ts';
import { PackedObjects } from './packed-objects.ts';
import type { PackedObjectsOptions } from './packed-objects.ts';
import type { FieldValues } from './extracted-fields.ts';
import type { ExtractedFields } from './extracted-fields.ts';
import type { SlabMemory } from './store-memory.ts';
import { Slabs } from './slabs.ts';
import type { Slab } from './slabs.ts';

/** `strict` refuses a borrowed entry as soon as its call has ended, `off` once its bytes are gone. */
export type BorrowChecks = 'strict' | 'off';

/** @internal */
export interface EntryOwnerOptions {
  readonly kind: string;
  readonly fields: readonly string[];
  readonly borrowChecks: BorrowChecks;
  readonly decodedCache: DecodedCache;
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

/** @internal */
export class EntryOwner implements EntryStorage {
  /** The first property that a structured clone of an entry reads: it belongs to the thread that made it. */
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
  readonly #isStrict: boolean;
  readonly #options: EntryOwnerOptions;

  constructor(options: EntryOwnerOptions) {
    this.kind = options.kind;
    this.fields = options.fields;
    this.#isStrict = options.borrowChecks === 'strict';
    this.slabs = new Slabs(options.slabMemory);
    this.packed = new PackedObjects({ ...options.packing, loose: this.slabs, memory: options.slabMemory });
    this.decodedCache = options.decodedCache;
    this.#options = options;
  }

  put(entry: Entry, source: Buffer, start: number, length: number): void {
    entry.length = length;
    this.slabs.put(entry, source, start, length);
  }

  /** Returns whether the entry has this object (JSON without a decoder): its bytes, or its content in other msgpack. */
  hasObject(entry: Entry, object: ObjectBytes, decoder: MsgpackDecoder | undefined): boolean {
    if (!entry.slab) return false;
    const isSame = hasSameBytes(object, this.#stored(entry, entry.slab));
    const isJson = !entry.decoder && !decoder;
    if (isJson || entry.flags & UNREADABLE || (isSame && entry.decoder === decoder)) return isSame;
    // The msgpack of an object differs between shards, and after one of its shapes has become a record.
    const copy = { bytes: privateCopy(object), start: 0, length: object.length };
    return isDeepStrictEqual(this.decodeFresh(entry), decoded(copy, decoder));
  }

  /** @throws ERR_KUBELOOM_BORROW_EXPIRED when the entry may not be read any more */
  checkReadable(entry: Entry): void {
    if (entry.flags & EntryFlag.Kept) return;
    if (this.#isStrict ? entry.borrows === 0 : entry.slab === undefined) throw expiredError(entry);
  }

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
      entry.privateBytes = privateCopy(this.#stored(entry, entry.slab));
    } else {
      entry.forgetDecoded();
    }
    if (entry.flags & EntryFlag.Packed) this.packed.release(entry);
    else this.slabs.release(entry);
    entry.dictionary = undefined;
  }

  decode(entry: Entry): unknown {
    const object = this.decodeFresh(entry);
    this.decodedCache.misses++;
    this.#options.guard?.(object, entry.key);
    // Set before the cache is asked, because the cache evicts at once what does not fit.
    entry.decoded = object;
    this.#remember(entry, costBytesOf(entry));
    return object;
  }

  decodeFresh(entry: Entry): unknown {
    const object = this.#decodable(entry);
    return this.#parse(entry, () => decoded(object, entry.decoder));
  }

  /** Returns `metadata` without `managedFields`, parsed alone if neither the object nor shared metadata is parsed. */
  decodeMetadata(entry: Entry): unknown {
    const shared = this.#sharedMetadata(entry);
    if (shared) this.decodedCache.hits++;
    const { metadata, costBytes } = shared ?? this.#parsedMetadata(entry) ?? metadataOfObject(entry);
    this.#options.guard?.(metadata, entry.key);
    entry.decodedMetadata = metadata;
    this.#remember(entry, costBytes);
    if (!shared) this.#share(entry.extracted, metadata, costBytes);
    return metadata;
  }

  /** Returns memory of its own for `bytes()`, so that it can be transferred to another thread. */
  jsonBytes(entry: Entry): Buffer {
    const object = this.#span(entry);
    if (!entry.decoder) return privateCopy(object);
    const bytes = Buffer.from(JSON.stringify(this.decodeFresh(entry)));
    return privateCopy({ bytes, start: 0, length: bytes.length });
  }

  fieldsOf(values: FieldValues): Readonly<Record<string, unknown>> {
    const fields: Record<string, unknown> = {};
    this.fields.forEach((path, index) => {
      const value = values.field(index);
      if (value !== undefined) fields[path] = value;
    });
    return Object.freeze(fields);
  }

  #sharedMetadata({ extracted, version, flags }: Entry): DecodedMetadata | undefined {
    if (extracted.metadata === undefined || flags & UNREADABLE) return undefined;
    const metadata = { ...extracted.metadata, resourceVersion: String(version) };
    return { metadata, costBytes: SHARED_METADATA_COST_BYTES };
  }

  /** Shares the metadata with other states, except under a guard, which must see every tree. */
  #share(extracted: ExtractedFields, metadata: unknown, costBytes: number): void {
    if (this.#options.guard || !extracted.isShared || typeof metadata !== 'object' || metadata === null)
      return;
    extracted.metadata = metadata;
    this.decodedCache.rememberShared(extracted, costBytes);
  }

  #remember(entry: Entry, costBytes: number): void {
    if (entry.flags & EntryFlag.Kept) this.decodedCache.remember(entry, costBytes);
    else this.decodedCache.rememberBriefly(entry, costBytes);
  }

  /** Returns undefined when the whole object must be parsed. */
  #parsedMetadata(entry: Entry): DecodedMetadata | undefined {
    const { bytes, start, length } = this.#decodable(entry);
    if (entry.decoded !== undefined || entry.decoder) return undefined;
    const text = metadataText(bytes, start, start + length);
    if (text === undefined) return undefined;
    const metadata = this.#parse(entry, () => JSON.parse(text));
    this.decodedCache.misses++;
    return { metadata, costBytes: text.length * HEAP_BYTES_PER_JSON_BYTE };
  }

  #decodable(entry: Entry): ObjectBytes {
    if (entry.flags & EntryFlag.Malformed) throw malformedError(entry);
    return this.#span(entry);
  }

  #span(entry: Entry): ObjectBytes {
    if (entry.flags & EntryFlag.Quarantined) {
      throw new KubeloomError(
        'ERR_KUBELOOM_QUARANTINED',
        `${entry.key}@${entry.resourceVersion}: two threads ended while they worked on it, so only its identity is ` +
          'kept. Check the modules for transforms and indexes: they may not exit, loop for ever or take all memory',
      );
    }
    if (entry.flags & EntryFlag.TooLarge) {
      throw new KubeloomError(
        'ERR_KUBELOOM_OBJECT_TOO_LARGE',
        `${entry.key} is larger than objectBytesMax (${this.#options.objectBytesMax}); raise it to read the object`,
      );
    }
    if (entry.privateBytes) return { bytes: entry.privateBytes, start: 0, length: entry.length };
    if (!entry.slab) throw expiredError(entry);
    return this.#stored(entry, entry.slab);
  }

  #stored(entry: Entry, slab: Slab): ObjectBytes {
    const { offset, length } = entry;
    if (entry.flags & EntryFlag.Packed) return { bytes: this.packed.unpacked(entry), start: 0, length };
    return { bytes: slab.bytes, start: offset, length };
  }

  #parse(entry: Entry, parse: () => unknown): unknown {
    try {
      return parse();
    } catch {
      throw malformedError(entry);
    }
  }
}

/** @internal The place of an object: in the log, in a ring, in a slab, or in a buffer of its own. */
export interface ObjectBytes {
  /** Valid until the record is released, or until the next read of an entry. */
  bytes: Buffer;
  start: number;
  length: number;
}

interface DecodedMetadata {
  readonly metadata: unknown;
  readonly costBytes: number;
}

function hasSameBytes(a: ObjectBytes, b: ObjectBytes): boolean {
  if (a.length !== b.length) return false;
  return a.bytes.compare(b.bytes, b.start, b.start + b.length, a.start, a.start + a.length) === 0;
}

function decoded({ bytes, start, length }: ObjectBytes, decoder: MsgpackDecoder | undefined): unknown {
  const end = start + length;
  return decoder ? decoder.decode(bytes, start, end) : JSON.parse(bytes.toString('utf8', start, end));
}

/** Has no cause: JSON.parse's message quotes the text, which may be a Secret. */
function malformedError(entry: Entry): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_MALFORMED_OBJECT',
    `${entry.key}@${entry.resourceVersion} is not the JSON of an object; entry.bytes() has what was received`,
  );
}

/** Copies into memory outside Node's pool, which is shared with other buffers and cannot be transferred. */
function privateCopy({ bytes, start, length }: ObjectBytes): Buffer {
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

function costBytesOf({ length, decoder }: Entry): number {
  return length * (decoder ? HEAP_BYTES_PER_MSGPACK_BYTE : HEAP_BYTES_PER_JSON_BYTE);
}

/** Charges the whole object: the size of its metadata is unknown here. */
function metadataOfObject(entry: Entry): DecodedMetadata {
  const { metadata } = (entry.object ?? {}) as { metadata?: { managedFields?: unknown } };
  const { managedFields: _dropped, ...rest } = metadata ?? {};
  return { metadata: rest, costBytes: costBytesOf(entry) };
}
