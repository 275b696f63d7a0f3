/**
 * One state of one object, as handlers and listers receive it: its identity and extracted fields are ready, the object
 * itself is parsed when it is read.
 *
 * There are two types. A handler receives `Borrowed<T>`, whose object is readable until that call, its promise
 * included, has ended. Listers and `retain()` return `CachedObject<T>`, which stays readable. Key, namespace, name,
 * uid, resourceVersion, labels and declared fields stay readable on both.
 *
 * An entry counts its references: one for being in the replica, one for every pending notification with it. At zero its
 * bytes return to the slabs; an entry that a lister has returned takes a private copy first. One thread does all of
 * this, so the count needs no lock.
 */
import { inspect } from 'node:util';
import { KubeloomError, assert } from '../../base/errors.ts';
import type { MetadataOf } from '../../kube/meta-shape.ts';
import type { DecodedCache } from './decoded-cache.ts';
import type { Dictionary } from './pack.ts';
import type { MsgpackDecoder } from '../../shared/record/msgpack.ts';
import type { Labels, FieldValues } from './extracted-fields.ts';
import type { ExtractedFields } from './extracted-fields.ts';
import type { SlabAllocation, Slab } from './slabs.ts';

/** The parts that are the same in all states of one object. */
export interface Identity {
  /** `namespace/name`, or `name` for a cluster-scoped object. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
}

/** The metadata that stays readable on both types. */
export interface ObjectIdentity extends Identity {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number | undefined;
  readonly deletionTimestamp: string | undefined;
  readonly controllerUid: string | undefined;
  readonly labels: Labels;
  /** The declared fields by their path; undefined where the object has none. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** An object that a handler borrows for one call. Call `retain()` to keep it. */
export interface Borrowed<T> extends ObjectIdentity {
  readonly finalStateUnknown: false;
  /**
   * `metadata` without `managedFields`; much cheaper than `object`. Read-only: other states of the object may share its
   * values.
   */
  readonly metadata: MetadataOf<T>;
  /** The whole object as the server sent it. Read-only: all readers share it. */
  readonly object: T;
  /** A deep, mutable copy of `object`. */
  copy(): Mutable<T>;
  /** The object's JSON, in a private copy. */
  bytes(): Buffer;
  /** The same entry, readable for as long as you keep it. */
  retain(): CachedObject<T>;
  toJSON(): T;
}

/** An object from a lister, or a retained one. */
export interface CachedObject<T> extends Borrowed<T> {
  readonly kept: true;
}

/** The storage and the decoder of entries: `EntryOwner`, one for each informer. */
export interface EntryStorage {
  readonly kind: string;
  readonly decodedCache: DecodedCache;
  checkReadable(entry: Entry): void;
  borrow(entry: Entry): void;
  endBorrow(entry: Entry, borrower: string): void;
  retire(entry: Entry): void;
  decode(entry: Entry): unknown;
  decodeFresh(entry: Entry): unknown;
  decodeMetadata(entry: Entry): unknown;
  jsonBytes(entry: Entry): Buffer;
  fieldsOf(fields: FieldValues): Readonly<Record<string, unknown>>;
}

/** `T` without the readonly of every level. */
export type Mutable<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends object
    ? { -readonly [K in keyof T]: Mutable<T[K]> }
    : T;

export const EntryFlag = {
  TooLarge: 2,
  TransformFailed: 4,
  Malformed: 8,
  /** A lister or `retain()` returned it: it must stay readable. */
  Kept: 16,
  /** Two threads have died on this object: only its identity is kept. */
  Quarantined: 32,
  /** It was there in the last round of packing. */
  Aged: 64,
  /** Its bytes are packed against `dictionary`. */
  Packed: 128,
  /** Packing does not make it smaller. */
  Unpackable: 256,
} as const;

export const UNREADABLE: number = EntryFlag.TooLarge | EntryFlag.Malformed | EntryFlag.Quarantined;

export class Entry<T = unknown> implements CachedObject<T>, SlabAllocation {
  // The owner is the first field: cloning an entry for another thread meets its guard and throws a coded error.
  readonly owner: EntryStorage;
  readonly identity: Identity;
  readonly extracted: ExtractedFields;
  readonly version: number | string;
  flags: number;
  references = 0;
  /** Number of calls in progress that borrow this entry (strict borrow checks only). */
  borrows = 0;
  /** The last borrower, for the message: the stack of its registration (strict borrow checks only). */
  lastBorrower = '';
  slab: Slab | undefined = undefined;
  offset = 0;
  storedBytes = 0;
  /** Length of the object in its codec, packed or not. */
  length = 0;
  /** The dictionary of its packed bytes; before it is packed, that of the previous state. */
  dictionary: Dictionary | undefined = undefined;
  privateBytes: Buffer | undefined = undefined;
  /** Decoder with the tables of the shard that wrote the bytes, when they are msgpack. */
  readonly decoder: MsgpackDecoder | undefined;
  decoded: T | undefined = undefined;
  decodedMetadata: unknown = undefined;

  constructor(
    owner: EntryStorage,
    identity: Identity,
    extracted: ExtractedFields,
    version: number | string,
    flags: number,
    decoder?: MsgpackDecoder,
  ) {
    this.owner = owner;
    this.identity = identity;
    this.extracted = extracted;
    this.version = version;
    this.flags = flags;
    this.decoder = decoder;
  }

  get finalStateUnknown(): false {
    return false;
  }

  get kept(): true {
    return true;
  }

  get key(): string {
    return this.identity.key;
  }

  get namespace(): string {
    return this.identity.namespace;
  }

  get name(): string {
    return this.identity.name;
  }

  get uid(): string {
    return this.extracted.uid;
  }

  get resourceVersion(): string {
    return String(this.version);
  }

  get generation(): number | undefined {
    return this.extracted.fields.generation;
  }

  get deletionTimestamp(): string | undefined {
    return this.extracted.fields.deletionTimestamp;
  }

  get controllerUid(): string | undefined {
    return this.extracted.fields.controllerUid;
  }

  get labels(): Labels {
    return this.extracted.fields.labels;
  }

  get fields(): Readonly<Record<string, unknown>> {
    return this.owner.fieldsOf(this.extracted.fields);
  }

  get object(): T {
    this.owner.checkReadable(this);
    if (this.decoded === undefined) return this.owner.decode(this) as T;
    this.owner.decodedCache.hits++;
    return this.decoded;
  }

  get metadata(): MetadataOf<T> {
    this.owner.checkReadable(this);
    if (this.decodedMetadata === undefined) return this.owner.decodeMetadata(this) as MetadataOf<T>;
    this.owner.decodedCache.hits++;
    return this.decodedMetadata as MetadataOf<T>;
  }

  copy(): Mutable<T> {
    this.owner.checkReadable(this);
    return this.owner.decodeFresh(this) as Mutable<T>;
  }

  bytes(): Buffer {
    this.owner.checkReadable(this);
    return this.owner.jsonBytes(this);
  }

  retain(): CachedObject<T> {
    this.owner.checkReadable(this);
    this.flags |= EntryFlag.Kept;
    return this;
  }

  toJSON(): T {
    return this.object;
  }

  static {
    inspectAs(this.prototype, (entry) => `${entry.owner.kind} ${entry.key}@${entry.resourceVersion}`);
  }

  forgetDecoded(): void {
    this.decoded = undefined;
    this.decodedMetadata = undefined;
  }

  addReference(): void {
    this.references++;
  }

  /** Drops one reference; the last one returns the bytes to the slabs. */
  dropReference(): void {
    assert(this.references > 0, 'a reference was dropped twice', this.key);
    this.references--;
    if (this.references === 0) this.owner.retire(this);
  }
}

/**
 * The object of a deletion that no watch event reported: a relist found the object missing. It answers like the last
 * known state, so a handler that reads identity, labels, fields, metadata or object treats both the same.
 */
export class DeletedFinalStateUnknown<T> implements ObjectIdentity {
  /**
   * The last known state; the object may have changed since. Readable until the handler's call has ended, like any
   * borrowed entry.
   */
  readonly last: Borrowed<T>;

  constructor(last: Borrowed<T>) {
    this.last = last;
  }

  get finalStateUnknown(): true {
    return true;
  }

  get key(): string {
    return this.last.key;
  }

  get namespace(): string {
    return this.last.namespace;
  }

  get name(): string {
    return this.last.name;
  }

  get uid(): string {
    return this.last.uid;
  }

  get resourceVersion(): string {
    return this.last.resourceVersion;
  }

  get generation(): number | undefined {
    return this.last.generation;
  }

  get deletionTimestamp(): string | undefined {
    return this.last.deletionTimestamp;
  }

  get controllerUid(): string | undefined {
    return this.last.controllerUid;
  }

  get labels(): Labels {
    return this.last.labels;
  }

  get fields(): Readonly<Record<string, unknown>> {
    return this.last.fields;
  }

  /** The last known metadata. */
  get metadata(): MetadataOf<T> {
    return this.last.metadata;
  }

  /** The last known object. */
  get object(): T {
    return this.last.object;
  }

  static {
    inspectAs(this.prototype, ({ last }) => `DeletedFinalStateUnknown ${inspect(last)}`);
  }
}

export function expiredError(entry: Entry): KubeloomError {
  const { borrower, cause } = borrowerOf(entry.lastBorrower);
  return new KubeloomError(
    'ERR_KUBELOOM_BORROW_EXPIRED',
    `${entry.key}@${entry.resourceVersion} was borrowed for one call, and that call has ended. Read what you need ` +
      `inside it, call retain() there to keep the entry, or get it from the lister when you need it.${borrower}`,
    cause ? { cause } : {},
  );
}

/** @param lastBorrower the frames of a handler's registration, or the name of an index function */
function borrowerOf(lastBorrower: string): { borrower: string; cause?: Error } {
  const [first = ''] = lastBorrower.trim().split('\n', 1);
  if (first === '') return { borrower: '' };
  if (!first.startsWith('at ')) return { borrower: ` It was borrowed by ${first}` };
  const cause = new Error('the handler was registered here');
  cause.stack = `${String(cause)}\n${lastBorrower}`;
  return { borrower: ` It was borrowed by the handler registered ${first}`, cause };
}

/** Defines the text that `console.log` prints. (`isolatedDeclarations` allows no method with a computed name.) */
function inspectAs<T extends object>(prototype: T, describe: (instance: T) => string): void {
  Object.defineProperty(prototype, inspect.custom, {
    value(this: T): string {
      return describe(this);
    },
  });
}
