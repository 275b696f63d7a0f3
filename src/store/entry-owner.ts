/**
 * What all entries of one informer share: where their bytes live, how they are decoded, and the rule for
 * how long a borrowed one may be read.
 */
import { KubeloomError } from '../errors.ts';
import { copyBytes } from '../log/copy-bytes.ts';
import { metadataText } from '../json/metadata.ts';
import type { MsgpackDecoder } from '../record/msgpack.ts';
import type { Lifetimes } from '../options.ts';
import type { DecodedCache } from './decoded-cache.ts';
import { EntryFlag, UNREADABLE, expiredError } from './entry.ts';
import type { Entry, EntryHome } from './entry.ts';
import { PackedObjects } from './packed-objects.ts';
import type { PackedObjectsOptions } from './packed-objects.ts';
import type { ProjectedFields } from './projected-fields.ts';
import type { Projection } from './projection.ts';
import type { SlabMemory } from './slab-memory.ts';
import { Slabs } from './slabs.ts';
import type { Slab } from './slabs.ts';

export interface EntryOwnerOptions {
  readonly kind: string;
  readonly fields: readonly string[];
  readonly lifetimes: Lifetimes;
  readonly decodedCache: DecodedCache;
  /** Default one of its own. */
  readonly slabMemory?: SlabMemory;
  readonly packing?: Pick<PackedObjectsOptions, 'totalBytesMin' | 'wastedBytesMin'>;
  readonly recordBytesMax: number;
  /** Sees every tree that is shared with others, before anybody does: freezes it, or remembers what it was. */
  readonly guard?: ((tree: unknown, key: string) => void) | undefined;
}

/** A parsed object takes about this many times its JSON in the heap (docs/decisions/0005). */
const HEAP_BYTES_PER_JSON_BYTE = 2.5;
/** The same object is 2 to 3 times smaller in msgpack. */
const HEAP_BYTES_PER_MSGPACK_BYTE = 6;
/** Of metadata that is another state's: the copy of its first level. */
const SHARED_METADATA_COST_BYTES = 256;

export class EntryOwner implements EntryHome {
  /** The first thing that a structured clone of an entry reads; an entry belongs to the thread that made it. */
  readonly cloneGuard: object = {
    get clone(): never {
      return refuseClone();
    },
  };
  readonly kind: string;
  readonly fields: readonly string[];
  /** Objects as they came. */
  readonly slabs: Slabs;
  /** Objects that have not changed for a while. */
  readonly packed: PackedObjects;
  /** msgpack tables of the shards, by shard. */
  readonly decoders: Map<number, MsgpackDecoder> = new Map();
  readonly #isStrict: boolean;
  readonly #cache: DecodedCache;
  readonly #recordBytesMax: number;
  readonly #guard: EntryOwnerOptions['guard'];

  constructor(options: EntryOwnerOptions) {
    this.kind = options.kind;
    this.fields = options.fields;
    this.#isStrict = options.lifetimes === 'strict';
    this.slabs = new Slabs(options.slabMemory);
    this.packed = new PackedObjects({ ...options.packing, loose: this.slabs, memory: options.slabMemory });
    this.#cache = options.decodedCache;
    this.#recordBytesMax = options.recordBytesMax;
    this.#guard = options.guard;
  }

  /** Gives a new entry its bytes, a copy. */
  put(entry: Entry, source: Buffer, start: number, length: number): void {
    entry.length = length;
    this.slabs.put(entry, source, start, length);
  }

  /** Throws when the entry may not be read any more. */
  checkReadable(entry: Entry): void {
    if (entry.flags & EntryFlag.Kept) return;
    if (this.#isStrict ? entry.loans === 0 : entry.slab === undefined) throw expiredError(entry);
  }

  /** Lends the entry for one call; `endLoan` ends it. */
  lend(entry: Entry): void {
    entry.loans++;
  }

  /** @param borrower whose call it was, for the message of who reads too late */
  endLoan(entry: Entry, borrower: string): void {
    entry.loans--;
    entry.lastBorrower = borrower;
  }

  /** Nobody holds the entry any more: its bytes go back, after a copy if somebody may still read it. */
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
    // First this, then the cache: what does not fit is forgotten at once.
    entry.decoded = object;
    this.#remember(entry, costBytesOf(entry));
    return object;
  }

  decodeFresh(entry: Entry): unknown {
    const { bytes, start, end } = this.#decodable(entry);
    const { decoder } = entry;
    return this.#parse(entry, () =>
      decoder ? decoder.decode(bytes, start, end) : JSON.parse(bytes.toString('utf8', start, end)),
    );
  }

  /** `metadata` without `managedFields`, parsed on its own unless the object, or that of a state with the same, is at hand. */
  decodeMetadata(entry: Entry): unknown {
    const shared = this.#sharedMetadata(entry);
    const { metadata, costBytes } = shared ?? this.#parsedMetadata(entry) ?? metadataOfObject(entry);
    this.#guard?.(metadata, entry.key);
    entry.decodedMetadata = metadata;
    this.#remember(entry, costBytes);
    if (!shared) this.#share(entry.projection, metadata, costBytes);
    return metadata;
  }

  /** What `bytes()` gives: memory of its own, so that it can also be transferred to another thread. */
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

  /** All but the version is that of another state. */
  #sharedMetadata({ projection, version, flags }: Entry): DecodedMetadata | undefined {
    if (projection.metadata === undefined || flags & UNREADABLE) return undefined;
    const metadata = { ...projection.metadata, resourceVersion: String(version) };
    return { metadata, costBytes: SHARED_METADATA_COST_BYTES };
  }

  /** Not under a guard: it wants to see every tree. */
  #share(projection: Projection, metadata: unknown, costBytes: number): void {
    if (this.#guard || !projection.isShared || typeof metadata !== 'object' || metadata === null) return;
    projection.metadata = metadata;
    this.#cache.rememberShared(projection, costBytes);
  }

  #remember(entry: Entry, costBytes: number): void {
    if (entry.flags & EntryFlag.Kept) this.#cache.remember(entry, costBytes);
    else this.#cache.rememberBriefly(entry, costBytes);
  }

  /** Undefined when only the whole object can tell. */
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
        `${entry.key} is larger than recordBytesMax (${this.#recordBytesMax}); raise it to read the object`,
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

interface DecodedMetadata {
  readonly metadata: unknown;
  /** Of the heap. */
  readonly costBytes: number;
}

/** Good until the next read. */
interface ByteSpan {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

function quarantinedError(entry: Entry): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_QUARANTINED',
    `${entry.key}@${entry.resourceVersion} ended the thread that worked on it twice; only its identity is kept. ` +
      'Look at the modules for transforms and indexes: they may not exit, loop for ever or take all memory',
  );
}

/** Without the cause: it quotes what it stumbled over, which may be a Secret. */
function malformedError(entry: Entry): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_MALFORMED_OBJECT',
    `${entry.key}@${entry.resourceVersion} is not the JSON of an object; entry.bytes() has what was received`,
  );
}

/** Not from Node's pool: that is shared with other buffers and cannot be transferred. */
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

/** How much of the object it is, nobody has counted. */
function metadataOfObject(entry: Entry): DecodedMetadata {
  const { metadata } = (entry.object ?? {}) as { metadata?: { managedFields?: unknown } };
  const { managedFields: _dropped, ...rest } = metadata ?? {};
  return { metadata: rest, costBytes: costBytesOf(entry) };
}
