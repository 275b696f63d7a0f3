/**
 * A state of an object, as handlers and listers receive it: identity and extracted fields are ready, the object itself
 * is parsed when it is read.
 *
 * There are two types. A handler receives `Borrowed<T>`, whose object is readable until that call, including the
 * promise, has ended. Listers and `retain()` return `CachedObject<T>`, which stays readable. Key, namespace, name, uid,
 * resourceVersion, labels and declared fields stay readable on both.
 *
 * The state itself is a row of the table (entry-table.ts). An entry is made for the row when a handler is called or a
 * lister is read, and the table keeps it while a caller may compare entries by identity. Before the row ends, an entry
 * from a lister copies the bytes.
 */
import type { SpecOf, StatusOf, Mutable, CachedObject } from './cached-object.ts';
import { KubeloomError } from '../../base/errors.ts';
import { inspectAs } from '../../base/inspect-as.ts';
import { Mark, mark } from '../../kube/meta-shape.ts';
import type { MetadataOf } from '../../kube/meta-shape.ts';
import type { DecodedCache } from './decoded-cache.ts';
import type { Batch } from './batch.ts';
import type { MsgpackDecoder } from '../../shared/record/msgpack.ts';
import type { DeclaredFields, Labels, ObjectFacts } from './extracted-fields.ts';
import type { ObjectParts } from './object-parts.ts';

/** @internal Location of an object: in the log, in a ring, in a slab, or in a separate buffer. */
export interface ObjectBytes {
  /** Valid until the record is released; for an entry, until the read after the next. */
  bytes: Buffer;
  start: number;
  length: number;
}

/** @internal */
export interface EncodedObject extends Readonly<ObjectBytes> {
  /** Decoder of msgpack; undefined: the bytes are JSON. */
  readonly decoder: MsgpackDecoder | undefined;
}

/** @internal The bytes of rows that are in the memory of another thread. */
export interface ForeignBytes {
  /** Returns the object of a row, valid until the read after the next. */
  read(row: number): Readonly<ObjectBytes>;
}

/** @internal */
export interface RowBytes {
  /** Frees the bytes of a row. */
  release(row: number): void;
}

/** @internal The rows of entries: `EntryTable`. */
export interface EntryRows {
  addReference(row: number): number;
  dropReference(row: number): void;
  open(row: number): Entry;
  borrow(entry: Entry): void;
  endBorrow(entry: Entry, borrower: string): void;
  closeEntry(entry: Entry): void;
}

/** @internal Parses what callers read: `PartReader`. */
export interface EntryReader {
  object(entry: Entry): unknown;
  /** Returns a private object. */
  copy(entry: Entry): unknown;
  /** Returns metadata without managedFields. */
  metadata(entry: Entry): unknown;
  member(entry: Entry, name: string): unknown;
  isMemberSame(before: Entry, entry: Entry, name: string): boolean;
  /** Called after the last call that borrows an entry. */
  endCall(entry: Entry): void;
  /** Returns the cost of the parsed object in the cache of parsed objects. */
  costBytesOf(entry: Entry): number;
}

/** @internal The storage and the decoder of entries: an `EntryOwner` for each informer. */
export interface EntryStorage {
  readonly kind: string;
  /** Paths of the declared fields. */
  readonly fields: readonly string[];
  readonly table: EntryRows;
  /** Storage of the bytes of rows, as received and packed; undefined when another thread stores them. */
  readonly stored: { readonly loose: RowBytes; readonly packed: RowBytes } | undefined;
  readonly decodedCache: DecodedCache;
  readonly reader: EntryReader;
  checkReadable(entry: Entry): void;
  keep(entry: Entry): void;
  /**
   * Called before the row of an entry ends, if callers may hold the entry: copies the bytes if the entry must stay
   * readable.
   */
  endEntry(entry: Entry): void;
  jsonBytes(entry: Entry): Buffer;
}

/** @internal */
export const EntryFlag = {
  TooLarge: 2,
  TransformFailed: 4,
  Malformed: 8,
  /** A lister or `retain()` returned the entry, so it must stay readable. Only entries carry this flag, not rows. */
  Retained: 16,
  /** The row existed in the last round of packing. */
  Aged: 64,
  /** The bytes are packed against a dictionary. */
  Packed: 128,
  /** Packing does not make the object smaller. */
  Unpackable: 256,
  /** There is an `Entry` of the row that callers may hold. */
  HasEntry: 1024,
  /** The version is text, because it is not a number below 2^53. */
  VersionText: 512,
  /** Another thread reads the bytes, or did. */
  Exported: 2048,
  /** The former place of a row that was moved: threads may still read the bytes. */
  Moved: 4096,
  /** The last state of a deleted object that was never in the cache. */
  NeverCached: 8192,
} as const;

/** @internal */
export const UNREADABLE: number = EntryFlag.TooLarge | EntryFlag.Malformed;

/** @internal The numbers of a row that an entry keeps. */
export interface EntryRow {
  readonly row: number;
  readonly rowGeneration: number;
  readonly version: number | string;
  readonly flags: number;
  readonly length: number;
}

/** @internal */
export class Entry<T = unknown> implements CachedObject<T> {
  // The owner is the first field: cloning an entry for another thread meets the owner's guard and throws a coded error.
  readonly owner: EntryStorage;
  /** The row of the entry's state; it belongs to a later state if the table's generation differs. */
  readonly row: number;
  readonly rowGeneration: number;
  readonly facts: ObjectFacts;
  readonly version: number | string;
  /** Flags of the state when the entry was made. */
  flags: number;
  /** Length of the object in the codec. */
  readonly length: number;
  /** Number of calls in progress that borrow this entry. */
  borrows = 0;
  /** The last borrower, for the message: the stack of the handler's registration (strict retain checks only). */
  lastBorrower = '';
  /** The object, after the row ended, if the entry must stay readable. */
  privateCopy: EncodedObject | undefined = undefined;
  /** The parsed parts of the object. */
  parts: ObjectParts | undefined = undefined;
  /** The states before and after, while a call borrows both. */
  before: Entry | undefined = undefined;
  after: Entry | undefined = undefined;
  forgottenAtKiB = 0;
  /** The batch through which the table finds the entry, after a lister or `retain()` returned it. */
  batch: Batch<Entry> | undefined = undefined;

  constructor(
    owner: EntryStorage,
    { row, rowGeneration, version, flags, length }: EntryRow,
    facts: ObjectFacts,
  ) {
    this.owner = owner;
    this.row = row;
    this.rowGeneration = rowGeneration;
    this.version = version;
    this.flags = flags;
    this.length = length;
    this.facts = facts;
  }

  get finalStateUnknown(): false {
    return false;
  }

  get kept(): true {
    return true;
  }

  get key(): string {
    return this.facts.key;
  }

  get namespace(): string {
    return this.facts.namespace;
  }

  get name(): string {
    return this.facts.name;
  }

  get uid(): string {
    return this.facts.uid;
  }

  get resourceVersion(): string {
    return String(this.version);
  }

  get generation(): number | undefined {
    return this.facts.fields.generation;
  }

  get deletionTimestamp(): string | undefined {
    return this.facts.fields.deletionTimestamp;
  }

  get controllerUid(): string | undefined {
    return this.facts.fields.controllerUid;
  }

  get labels(): Labels {
    return this.facts.fields.labels;
  }

  get fields(): DeclaredFields {
    return this.facts.fields.declared(this.owner.fields);
  }

  get object(): T {
    this.owner.checkReadable(this);
    return this.owner.reader.object(this) as T;
  }

  get metadata(): MetadataOf<T> {
    this.owner.checkReadable(this);
    return this.owner.reader.metadata(this) as MetadataOf<T>;
  }

  get spec(): SpecOf<T> {
    return this.member('spec') as SpecOf<T>;
  }

  get status(): StatusOf<T> {
    return this.member('status') as StatusOf<T>;
  }

  member<Name extends keyof T & string>(name: Name): T[Name];
  member(name: string): unknown;
  member(name: string): unknown {
    this.owner.checkReadable(this);
    return this.owner.reader.member(this, name);
  }

  /** Begins a call that borrows this state and the state before. */
  follow(before: Entry): void {
    if (before === this) return;
    this.before = before;
    before.after = this;
  }

  copy(): Mutable<T> {
    this.owner.checkReadable(this);
    return this.owner.reader.copy(this) as Mutable<T>;
  }

  bytes(): Buffer {
    this.owner.checkReadable(this);
    return this.owner.jsonBytes(this);
  }

  retain(): CachedObject<T> {
    this.owner.checkReadable(this);
    this.owner.keep(this);
    return this;
  }

  toJSON(): T {
    return this.object;
  }

  static {
    mark(this.prototype, Mark.Entry);
    inspectAs(this.prototype, (entry) => `${entry.owner.kind} ${entry.key}@${entry.resourceVersion}`);
  }

  forgetDecoded(): void {
    const { parts } = this;
    if (parts) parts.object = parts.metadata = undefined;
    // During a call, equal members are the same value.
    if (this.borrows === 0) {
      parts?.forgetOwnValues();
      this.parts = undefined;
    }
    this.forgottenAtKiB = this.owner.decodedCache.parsedKiB;
    this.owner.table.closeEntry(this);
  }

  addReference(): void {
    this.owner.table.addReference(this.row);
  }

  dropReference(): void {
    this.owner.table.dropReference(this.row);
  }
}

/** @internal */
export function expiredError(entry: Entry): KubeloomError {
  const { borrower, cause } = borrowerOf(entry.lastBorrower);
  return new KubeloomError(
    'ERR_KUBELOOM_BORROW_EXPIRED',
    `${entry.key}@${entry.resourceVersion} was borrowed for a call that has ended. Read what you need ` +
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
  cause.stack = `${cause.name}: ${cause.message}\n${lastBorrower}`;
  return { borrower: ` It was borrowed by the handler registered ${first}`, cause };
}
