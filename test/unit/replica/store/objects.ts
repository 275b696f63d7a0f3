/** Entries for tests: a short spec becomes JSON in real slabs, as the merge stores it. */
import { DecodedCache } from '../../../../src/replica/store/decoded-cache.ts';
import { EntryOwner } from '../../../../src/replica/store/entry-owner.ts';
import type { EntryOwnerOptions } from '../../../../src/replica/store/entry-owner.ts';
import { EntryTable } from '../../../../src/replica/store/entry-table.ts';
import { EntryFlag } from '../../../../src/replica/store/entry.ts';
import type { EncodedObject, Entry } from '../../../../src/replica/store/entry.ts';
import { ObjectFacts, SharedFields } from '../../../../src/replica/store/extracted-fields.ts';
import type { Identity } from '../../../../src/replica/store/extracted-fields.ts';
import { MsgpackEncoder, encodeStructures } from '../../../../src/indexer/msgpack-encoder.ts';
import { MsgpackDecoder } from '../../../../src/shared/record/msgpack.ts';

const SHAPE_BYTES_MAX = 4096;

export interface ObjectSpec {
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
  readonly version: number | string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Values of the owner's declared fields, in their order. */
  readonly fields?: readonly unknown[];
  readonly spec?: unknown;
  readonly controllerUid?: string;
  readonly managedFields?: readonly unknown[];
}

export interface WireObject {
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly spec: unknown;
}

export function at(name: string, version: number | string): ObjectSpec {
  return { name, version };
}

export function wireObject(spec: ObjectSpec): WireObject {
  const metadata = {
    name: spec.name,
    ...(spec.namespace ? { namespace: spec.namespace } : {}),
    uid: spec.uid ?? `uid-of-${spec.name}`,
    resourceVersion: String(spec.version),
    ...(spec.labels ? { labels: spec.labels } : {}),
    ...(spec.managedFields ? { managedFields: spec.managedFields } : {}),
  };
  return { kind: 'Pod', metadata, spec: spec.spec ?? {} };
}

export function jsonOf(spec: ObjectSpec): Buffer {
  return Buffer.from(JSON.stringify(wireObject(spec)));
}

/** One shard with its msgpack tables, and the decoder on the main thread. */
export class ShardCodec {
  readonly #encoder: MsgpackEncoder = new MsgpackEncoder(SHAPE_BYTES_MAX);
  readonly #decoder: MsgpackDecoder = new MsgpackDecoder();

  /** @returns undefined for what msgpack would not give back, which stays JSON */
  encode(object: object, json: string): EncodedObject | undefined {
    const encoded = this.#encoder.encode(object, json);
    const { first, structures } = this.#encoder.takeNewStructures();
    for (const record of encodeStructures(first, structures, SHAPE_BYTES_MAX)) this.#decoder.update(record);
    if (encoded === undefined) return undefined;
    return { bytes: Buffer.from(encoded), start: 0, length: encoded.length, decoder: this.#decoder };
  }
}

/** Returns the fields that a shard would extract: a JSON array, one character a byte. */
export function extractedText(spec: ObjectSpec): string {
  const { uid = `uid-of-${spec.name}`, controllerUid = null, labels = null, fields = [] } = spec;
  return Buffer.from(JSON.stringify([uid, null, null, controllerUid, labels, ...fields])).toString('latin1');
}

/** @param text the array's bytes, one character each */
export function factsOf(
  identity: Identity,
  text: string,
  shared: SharedFields = new SharedFields(),
  previous?: ObjectFacts,
): ObjectFacts {
  const bytes = Buffer.from(text, 'latin1');
  return ObjectFacts.read(identity, bytes, { start: 0, end: bytes.length }, shared, previous);
}

export function identityOf({ namespace = '', name }: ObjectSpec): Identity {
  return { key: namespace === '' ? name : `${namespace}/${name}`, namespace, name };
}

export function newOwner(
  options: Partial<EntryOwnerOptions> & { readonly cacheBytes?: number } = {},
): EntryOwner {
  const { cacheBytes = 2 ** 20, ...rest } = options;
  return new EntryOwner(new EntryTable(), {
    kind: 'Pod',
    fields: [],
    retainChecks: 'strict',
    decodedCache: new DecodedCache(cacheBytes),
    objectBytesMax: 4096,
    ...rest,
  });
}

export interface EntryOptions {
  readonly bytes?: Buffer;
  readonly flags?: number;
  readonly facts?: ObjectFacts;
  readonly decoder?: MsgpackDecoder | undefined;
}

/** Returns an entry in `owner`'s slabs, still without references. */
export function newEntry(owner: EntryOwner, spec: ObjectSpec, options: EntryOptions = {}): Entry {
  const { bytes = jsonOf(spec), flags = 0, decoder } = options;
  const { facts = factsOf(identityOf(spec), extractedText(spec)) } = options;
  const row = owner.table.add(facts, spec.version, flags, decoder);
  owner.table.setLength(row, bytes.length);
  owner.slabs.put(row, bytes, 0, bytes.length);
  return owner.table.open(row);
}

/** Returns whether the bytes of an entry in the cache are packed. */
export function isPacked(entry: Entry): boolean {
  return tableOf(entry).hasFlag(entry.row, EntryFlag.Packed);
}

export function tableOf(entry: Entry): EntryTable {
  return (entry.owner as EntryOwner).table;
}

/** Borrows the entry for the time of `call`, as a listener does it. */
export function borrowed<T>(entry: Entry, borrower: string, call: () => T): T {
  entry.owner.table.borrow(entry);
  try {
    return call();
  } finally {
    entry.owner.table.endBorrow(entry, borrower);
  }
}

/** Runs whole rounds of packing and compacts the slabs after each. */
export function packRounds(owner: EntryOwner, count: number = 1): void {
  for (let rounds = 0; rounds < count; rounds++) {
    const steps = owner.packed.round();
    while (!steps.next().done);
    compactAll(owner);
  }
}

export function compactAll({ slabs, packed }: EntryOwner): void {
  for (const each of [slabs, packed.slabs]) while (each.hasCompaction) each.compact();
}
