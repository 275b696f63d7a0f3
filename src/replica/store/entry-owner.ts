/**
 * The state that all entries of an informer share: the storage of the bytes, the decoding, and the rule for how long a
 * borrowed entry may be read.
 */
import { isDeepStrictEqual } from 'node:util';
import { KubeloomError } from '../../base/errors.ts';
import { jsonText } from '../../base/json-text.ts';
import { copyBytes } from '../../shared/log/log.ts';
import type { MsgpackDecoder } from '../../shared/record/msgpack.ts';
import type { DecodedCache } from './decoded-cache.ts';
import type { EntryTable } from './entry-table.ts';
import { EntryFlag, UNREADABLE, expiredError } from './entry.ts';
import type { EncodedObject, Entry, EntryStorage, ForeignBytes, ObjectBytes } from './entry.ts';
import { PackedObjects, hasSameBytes } from './packed-objects.ts';
import type { PackedObjectsOptions } from './packed-objects.ts';
import { PartReader, decoded, malformedError } from './part-reader.ts';
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
  readonly packing?: Pick<PackedObjectsOptions, 'totalBytesMin' | 'wastedBytesMin' | 'looseBytesMax'>;
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
  readonly reader: PartReader;
  readonly decoders: Map<number, MsgpackDecoder> = new Map();
  readonly table: EntryTable;
  readonly stored: EntryStorage['stored'];
  /** Other threads that read the bytes of rows. */
  readers: BytesReaders | undefined;
  readonly #isStrict: boolean;
  readonly #options: EntryOwnerOptions;

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
    this.reader = new PartReader({
      table,
      decodedCache: options.decodedCache,
      read: (entry) => this.#decodable(entry),
      report: options.report,
      guard: options.guard,
      mayShare: options.sharesMembers ?? true,
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

  /** Returns separate memory for `bytes()`, so that it can be transferred to another thread. */
  jsonBytes(entry: Entry): Buffer {
    const object = this.#span(entry);
    if (!object.decoder) return privateCopy(object);
    const bytes = Buffer.from(jsonText(this.reader.copy(entry)));
    return privateCopy({ bytes, start: 0, length: bytes.length });
  }

  #decodable(entry: Entry): EncodedObject {
    if (entry.flags & EntryFlag.Malformed) throw malformedError(entry);
    return this.#span(entry);
  }

  #span(entry: Entry): EncodedObject {
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
