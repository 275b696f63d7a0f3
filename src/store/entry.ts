/**
 * One state of one object, as handlers and listers see it: identity and projected fields at hand, the object
 * itself parsed when it is read.
 *
 * Two doors, two types. A handler gets `Borrowed<T>`: its object is good until that call, its promise
 * included, is done. Listers and `retain()` give `CachedObject<T>`, good for as long as you hold it. Key,
 * namespace, name, uid, resourceVersion, labels and declared fields stay readable for ever on both.
 *
 * An entry is counted: one hold for being in the replica, one for every pending notification that names it.
 * When nobody holds it, its bytes go back to the slabs; if a lister had handed it out it takes a private
 * copy first. One thread does all of this, so the count needs no lock.
 */
import { inspect } from 'node:util';
import { KubeloomError, assert } from '../errors.ts';
import type { Dictionary } from '../packing/dictionary.ts';
import type { MsgpackDecoder } from '../record/msgpack.ts';
import type { Labels, ProjectedFields } from './projected-fields.ts';
import type { Projection } from './projection.ts';
import type { Located, Slab } from './slabs.ts';

/** What is the same in all states of one object. */
export interface Identity {
  /** `namespace/name`, or `name` for a cluster-scoped object. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
}

/** The parts of an object's metadata that it has on both doors. */
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

/** An object that a handler was lent. Call `retain()` to keep it. */
export interface Borrowed<T> extends ObjectIdentity {
  readonly finalStateUnknown: false;
  /**
   * `metadata` without `managedFields`; much cheaper than `object`. Read-only: what is in it may be that of other states
   * of the object too.
   */
  readonly metadata: MetadataOf<T>;
  /** The whole object as the server sent it. Read-only: it is shared with everybody else. */
  readonly object: T;
  /** A deep, mutable copy of `object`. */
  copy(): Mutable<T>;
  /** The object's JSON, in a private copy. */
  bytes(): Buffer;
  /** The same entry, good for as long as you hold it. */
  retain(): CachedObject<T>;
  toJSON(): T;
}

/** An object from a lister, or a retained one. */
export interface CachedObject<T> extends Borrowed<T> {
  readonly kept: true;
}

/** Where entries live and how they are decoded: `EntryOwner`, one for each informer. */
export interface EntryHome {
  readonly kind: string;
  /** Throws when the entry may not be read any more. */
  checkReadable(entry: Entry): void;
  lend(entry: Entry): void;
  endLoan(entry: Entry, borrower: string): void;
  retire(entry: Entry): void;
  decode(entry: Entry): unknown;
  decodeFresh(entry: Entry): unknown;
  decodeMetadata(entry: Entry): unknown;
  jsonBytes(entry: Entry): Buffer;
  fieldsOf(fields: ProjectedFields): Readonly<Record<string, unknown>>;
}

export type MetadataOf<T> = T extends { readonly metadata?: infer M } ? NonNullable<M> : KubeMetadata;
/** `T` without the readonly of every level. */
export type Mutable<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends object
    ? { -readonly [K in keyof T]: Mutable<T[K]> }
    : T;

export interface KubeMetadata {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export const EntryFlag = {
  TooLarge: 2,
  TransformFailed: 4,
  Malformed: 8,
  /** A lister or `retain()` gave it to somebody: it must stay readable. */
  Kept: 16,
  /** Whoever worked on it died of it, twice: only the identity is here. */
  Quarantined: 32,
  /** It was there when the last round of packing came. */
  Aged: 64,
  /** Its bytes are packed against `dictionary`. */
  Packed: 128,
  /** Nothing is gained by packing it. */
  Unpackable: 256,
} as const;

/** Flags of entries whose object throws. */
export const UNREADABLE: number = EntryFlag.TooLarge | EntryFlag.Malformed | EntryFlag.Quarantined;

export class Entry<T = unknown> implements CachedObject<T>, Located {
  // The owner comes first: cloning an entry to another thread meets its guard and gets a coded error.
  readonly owner: EntryHome;
  readonly identity: Identity;
  readonly projection: Projection;
  readonly version: number | string;
  flags: number;
  holds = 0;
  /** Calls in progress that were lent this entry (strict lifetimes only). */
  loans = 0;
  /** Whose call ended last (strict lifetimes only): the stack of a registration, for the message. */
  lastBorrower = '';
  slab: Slab | undefined = undefined;
  offset = 0;
  storedBytes = 0;
  /** Of the object in its codec, packed or not. */
  length = 0;
  /** What it is packed against; before that what the state before was packed against. */
  dictionary: Dictionary | undefined = undefined;
  privateBytes: Buffer | undefined = undefined;
  /** Set when the bytes are msgpack: the tables of the shard that wrote them. */
  readonly decoder: MsgpackDecoder | undefined;
  decoded: T | undefined = undefined;
  decodedMetadata: unknown = undefined;

  constructor(
    owner: EntryHome,
    identity: Identity,
    projection: Projection,
    version: number | string,
    flags: number,
    decoder?: MsgpackDecoder,
  ) {
    this.owner = owner;
    this.identity = identity;
    this.projection = projection;
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
    return this.projection.uid;
  }

  get resourceVersion(): string {
    return String(this.version);
  }

  get generation(): number | undefined {
    return this.projection.fields.generation;
  }

  get deletionTimestamp(): string | undefined {
    return this.projection.fields.deletionTimestamp;
  }

  get controllerUid(): string | undefined {
    return this.projection.fields.controllerUid;
  }

  get labels(): Labels {
    return this.projection.fields.labels;
  }

  get fields(): Readonly<Record<string, unknown>> {
    return this.owner.fieldsOf(this.projection.fields);
  }

  get object(): T {
    this.owner.checkReadable(this);
    return this.decoded ?? (this.owner.decode(this) as T);
  }

  get metadata(): MetadataOf<T> {
    this.owner.checkReadable(this);
    return (this.decodedMetadata ?? this.owner.decodeMetadata(this)) as MetadataOf<T>;
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

  hold(): void {
    this.holds++;
  }

  /** Gives one hold back; the last one gives the bytes back. */
  letGo(): void {
    assert(this.holds > 0, 'let go too often', this.key);
    this.holds--;
    if (this.holds === 0) this.owner.retire(this);
  }
}

/** The object of a deletion that the watch did not show: only a relist found it missing. */
export class DeletedFinalStateUnknown<T> implements Identity {
  /**
   * The last state that was seen; the object may have changed since. Good until the handler's call is done,
   * like any borrowed entry.
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

  /** The last known object. */
  get object(): T {
    return this.last.object;
  }

  static {
    inspectAs(this.prototype, ({ last }) => `DeletedFinalStateUnknown ${inspect(last)}`);
  }
}

export function expiredError(entry: Entry): KubeloomError {
  const borrower = entry.lastBorrower === '' ? '' : `\nIt was lent to\n${entry.lastBorrower}`;
  return new KubeloomError(
    'ERR_KUBELOOM_BORROW_EXPIRED',
    `${entry.key}@${entry.resourceVersion} was lent for one call and that call is done. Read what you need ` +
      'inside it, call retain() there to keep the entry, or get it from the lister when you need it.' +
      borrower,
  );
}

/** How `console.log` shows instances. (`isolatedDeclarations` allows no method with a computed name.) */
function inspectAs<T extends object>(prototype: T, describe: (instance: T) => string): void {
  Object.defineProperty(prototype, inspect.custom, {
    value(this: T): string {
      return describe(this);
    },
  });
}
