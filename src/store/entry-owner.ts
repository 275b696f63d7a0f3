/**
 * What all entries of one informer share: where their bytes live, how they are decoded, and the rule for
 * how long a borrowed one may be read.
 */
import { KubeloomError } from '../errors.ts';
import { findPath } from '../json/read.ts';
import { dropPaths } from '../json/drop.ts';
import { pathTrie } from '../json/path-trie.ts';
import type { MsgpackDecoder } from '../record/msgpack.ts';
import type { DecodedCache } from './decoded-cache.ts';
import { EntryFlag, expiredError } from './entry.ts';
import type { Entry } from './entry.ts';
import type { Projection } from './projection.ts';
import { Slabs } from './slabs.ts';

export type Lifetimes = 'strict' | 'fast';

export interface EntryOwnerOptions {
  readonly kind: string;
  readonly fields: readonly string[];
  readonly lifetimes: Lifetimes;
  readonly decodedCache: DecodedCache;
  readonly recordBytesMax: number;
}

/** A parsed object takes about this many times its JSON in the heap (docs/decisions/0005). */
const HEAP_BYTES_PER_JSON_BYTE = 2.5;
const METADATA_COST_BYTES = 2048;
const MANAGED_FIELDS = pathTrie(['managedFields']);

export class EntryOwner {
  readonly kind: string;
  readonly fields: readonly string[];
  readonly slabs: Slabs = new Slabs();
  /** msgpack tables of the shards, by shard. */
  readonly decoders: Map<number, MsgpackDecoder> = new Map();
  readonly #isStrict: boolean;
  readonly #cache: DecodedCache;
  readonly #recordBytesMax: number;

  constructor(options: EntryOwnerOptions) {
    this.kind = options.kind;
    this.fields = options.fields;
    this.#isStrict = options.lifetimes === 'strict';
    this.#cache = options.decodedCache;
    this.#recordBytesMax = options.recordBytesMax;
    // First property a structured clone would read: an entry belongs to the thread that made it.
    Object.defineProperty(this, 'clone', { enumerable: true, get: refuseClone });
  }

  /** Throws when the entry may not be read any more. */
  checkReadable(entry: Entry): void {
    if (entry.flags & EntryFlag.Kept) return;
    if (this.#isStrict ? entry.loans === 0 : entry.slab === undefined) throw expiredError(entry);
  }

  /** Lends the entry to a handler for one call; `endLoan` ends it. */
  lend(entry: Entry): void {
    entry.loans++;
  }

  endLoan(entry: Entry): void {
    entry.loans--;
  }

  /** Nobody holds the entry any more: its bytes go back, after a copy if somebody may still read it. */
  retire(entry: Entry): void {
    if (entry.slab === undefined) return;
    if (entry.flags & EntryFlag.Kept) {
      const { bytes } = entry.slab;
      entry.privateBytes = Buffer.from(bytes.subarray(entry.offset, entry.offset + entry.length));
    } else {
      entry.forgetDecoded();
    }
    this.slabs.release(entry);
  }

  decode(entry: Entry): unknown {
    const object = this.decodeFresh(entry);
    this.#cache.remember(entry, entry.length * HEAP_BYTES_PER_JSON_BYTE);
    return object;
  }

  decodeFresh(entry: Entry): unknown {
    const { bytes, start, end } = this.#span(entry);
    if (entry.decoder) return entry.decoder.decode(bytes, start, end);
    return this.#parse(entry, bytes, start, end);
  }

  /** `metadata` without `managedFields`, parsed on its own unless the object is at hand. */
  decodeMetadata(entry: Entry): unknown {
    if (entry.decoded !== undefined || entry.decoder) return withoutManagedFields(entry.object);
    const { bytes, start, end } = this.#span(entry);
    const span = findPath(bytes, start, end, 'metadata');
    if (!span) return withoutManagedFields(entry.object);
    const scratch = Buffer.allocUnsafe(span.end - span.start);
    const copyEnd = dropPaths(bytes, span.start, span.end, MANAGED_FIELDS, scratch, 0);
    if (copyEnd < 0) return withoutManagedFields(entry.object);
    this.#cache.remember(entry, METADATA_COST_BYTES);
    return this.#parse(entry, scratch, 0, copyEnd);
  }

  jsonBytes(entry: Entry): Buffer {
    if (entry.decoder) return Buffer.from(JSON.stringify(this.decodeFresh(entry)));
    const { bytes, start, end } = this.#span(entry);
    return Buffer.from(bytes.subarray(start, end));
  }

  fieldsOf(projection: Projection): Readonly<Record<string, unknown>> {
    const fields: Record<string, unknown> = {};
    this.fields.forEach((path, index) => {
      const value = projection.field(index);
      if (value !== undefined) fields[path] = value;
    });
    return fields;
  }

  #span(entry: Entry): { bytes: Buffer; start: number; end: number } {
    if (entry.flags & EntryFlag.TooLarge) {
      throw new KubeloomError(
        'ERR_KUBELOOM_OBJECT_TOO_LARGE',
        `${entry.key} is larger than recordBytesMax (${this.#recordBytesMax}); raise it to read the object`,
      );
    }
    if (entry.privateBytes) return { bytes: entry.privateBytes, start: 0, end: entry.length };
    if (!entry.slab) throw expiredError(entry);
    return { bytes: entry.slab.bytes, start: entry.offset, end: entry.offset + entry.length };
  }

  #parse(entry: Entry, bytes: Buffer, start: number, end: number): unknown {
    try {
      return JSON.parse(bytes.toString('utf8', start, end));
    } catch (cause) {
      throw new KubeloomError(
        'ERR_KUBELOOM_MALFORMED_OBJECT',
        `${entry.key}@${entry.resourceVersion} is not valid JSON as the server sent it`,
        { cause },
      );
    }
  }
}

function refuseClone(): never {
  throw new KubeloomError(
    'ERR_KUBELOOM_CLONE',
    'an entry cannot be sent to another thread; send entry.bytes(), or the fields you need',
  );
}

function withoutManagedFields(object: unknown): unknown {
  const metadata = (object as { metadata?: { managedFields?: unknown } } | undefined)?.metadata;
  const { managedFields: _dropped, ...rest } = metadata ?? {};
  return rest;
}
