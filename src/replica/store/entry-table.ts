/**
 * The states of an informer's objects, a row each: version, flags, location of the bytes, references. A cache of a
 * million objects is a typed array and some plain arrays, none of which V8's collector copies (docs/decisions/0023).
 *
 * A row counts references: from the replica, from every pending notification, and from every thread that holds the row.
 * At zero the bytes return to the slabs and the number is free for the next state. All of this happens on the same
 * thread, so the count needs no lock. Callers receive an `Entry`, which is made for a row when a handler is called or a
 * lister is read.
 */
import { assert } from '../../base/errors.ts';
import type { MsgpackDecoder } from '../../shared/record/msgpack.ts';
import { NO_ROW, NumberColumns, ObjectColumn } from './columns.ts';
import { Batch } from './batch.ts';
import { Entry, EntryFlag } from './entry.ts';
import type { EntryRows, EntryStorage } from './entry.ts';
import type { ObjectFacts } from './extracted-fields.ts';

// Columns of a row. They are constants of this module, because V8 folds such constants, and every event reads the
// table.
/** Two columns. */
const VERSION = 0;
const VERSION_HIGH = 1;
const FLAGS = 2;
const REFERENCES = 3;
/** Number of the slab, offset in the slab, and length in the slab. */
const SLAB = 4;
const OFFSET = 5;
const STORED_BYTES = 6;
/** Length of the object in the codec, packed or not. */
const LENGTH = 7;
/**
 * Number of the dictionary that the bytes are packed against; before packing, the dictionary of the previous state. 0:
 * none.
 */
const DICTIONARY = 8;
/** Number of the decoder with the tables of the shard that wrote the bytes. 0: JSON. */
const DECODER = 9;
/** Number of earlier states in this row. An `Entry` of an earlier state must not read this row. */
const GENERATION = 10;
const COLUMNS = 11;

const TWO_POW_32 = 2 ** 32;
const { HasEntry, VersionText, Exported, Moved, Packed, Retained } = EntryFlag;

/** Entries in a batch: a caller that holds any of them keeps all of them alive. */
const ENTRIES_PER_BATCH = 8;

export class EntryTable implements EntryRows {
  readonly #numbers: NumberColumns = new NumberColumns(COLUMNS);
  readonly #facts: ObjectColumn<ObjectFacts> = new ObjectColumn();
  /** Entries that a call borrows, and entries just made: few. */
  readonly #borrowed: Entry[] = [];
  /** Entries with parsed parts, and the batches of entries that were handed out. */
  readonly #remembered: ObjectColumn<Entry | WeakRef<Batch<Entry>>> = new ObjectColumn();
  /** The batch for the next entries that are handed out. */
  #batch: Batch<Entry> = new Batch();
  /** The batch that was found last: a list meets its entries one after the other. */
  #found: Batch<Entry> | undefined;
  readonly #versionTexts: Map<number, string> = new Map();
  readonly #decoders: (MsgpackDecoder | undefined)[] = [undefined];
  readonly #free: number[] = [];
  #end = 0;
  #storage: EntryStorage | undefined;

  /** Sets the storage of the rows' bytes, before the first row. */
  bind(storage: EntryStorage): void {
    this.#storage = storage;
  }

  /** Adds a state without bytes and without references. */
  add(facts: ObjectFacts, version: number | string, flags: number, decoder?: MsgpackDecoder): number {
    const row = this.#free.pop() ?? this.#newRow();
    this.#fill(row, facts, version, flags, decoder);
    return row;
  }

  /**
   * Adds a state under the number of the row in another thread's table. A table contains either such rows or its own.
   */
  addAt(
    row: number,
    facts: ObjectFacts,
    version: number | string,
    flags: number,
    decoder?: MsgpackDecoder,
  ): void {
    assert(!this.has(row), 'the row is in use', row);
    this.#numbers.reserve(row);
    this.#fill(row, facts, version, flags, decoder);
  }

  /**
   * Adds a row that takes over the bytes of `row`; the caller then gives that row new bytes. There are no references to
   * the added row yet.
   */
  split(row: number): number {
    const flags = (this.flagsOf(row) & ~(HasEntry | VersionText | Exported)) | Moved;
    const former = this.add(this.factsOf(row), this.versionOf(row), flags, this.decoderOf(row));
    this.place(former, this.slabOf(row), this.offsetOf(row), this.storedBytesOf(row));
    this.setLength(former, this.lengthOf(row));
    this.setDictionary(former, this.dictionaryOf(row));
    return former;
  }

  /** Returns the number of an ended row, for the thread that stored it; undefined if there is none. */
  takeEnded(): number | undefined {
    return this.#free.pop();
  }

  /** Returns whether there is a state under this number. */
  has(row: number): boolean {
    return this.#facts.get(row) !== undefined;
  }

  /** Takes back a number that could not be returned now. */
  keepEnded(row: number): void {
    this.#free.push(row);
  }

  #fill(
    row: number,
    facts: ObjectFacts,
    version: number | string,
    flags: number,
    decoder: MsgpackDecoder | undefined,
  ): void {
    const words = this.#numbers.words;
    const at = row * COLUMNS;
    words[at + FLAGS] = flags;
    words[at + REFERENCES] = 0;
    words[at + DICTIONARY] = 0;
    words[at + DECODER] = decoder ? this.#decoderNumber(decoder) : 0;
    if (typeof version === 'number') {
      words[at + VERSION] = version | 0;
      words[at + VERSION_HIGH] = version / TWO_POW_32;
    } else {
      this.#versionTexts.set(row, version);
      words[at + FLAGS] = flags | VersionText;
    }
    this.#facts.set(row, facts);
  }

  /** Adds a reference; returns the length of the object. */
  addReference(row: number): number {
    const words = this.#numbers.words;
    const at = row * COLUMNS;
    words[at + REFERENCES] = (words[at + REFERENCES] ?? 0) + 1;
    return words[at + LENGTH] ?? 0;
  }

  /**
   * Adds the reference of another thread, and marks the row: from now on, a move of the bytes must be reported to that
   * thread. Returns the object's length.
   */
  exportRow(row: number): number {
    const words = this.#numbers.words;
    words[row * COLUMNS + FLAGS] = (words[row * COLUMNS + FLAGS] ?? 0) | Exported;
    return this.addReference(row);
  }

  /** Drops a reference; the last drop returns the bytes to the slabs and frees the row. */
  dropReference(row: number): void {
    const words = this.#numbers.words;
    const at = row * COLUMNS;
    const left = (words[at + REFERENCES] ?? 0) - 1;
    words[at + REFERENCES] = left;
    if (left > 0) return;
    assert(left === 0, 'a reference was dropped twice');
    const flags = words[at + FLAGS] ?? 0;
    if (flags & HasEntry) this.#endEntry(row);
    const stored = this.#storage?.stored;
    if (flags & Packed) stored?.packed.release(row);
    else stored?.loose.release(row);
    if (flags & VersionText) this.#versionTexts.delete(row);
    words[at + GENERATION] = ((words[at + GENERATION] ?? 0) + 1) | 0;
    this.#facts.set(row, undefined);
    this.#free.push(row);
  }

  /** Returns the entry that callers may already hold, or a new entry, which the table keeps until `close`. */
  open(row: number): Entry {
    const known = this.#knownEntry(row);
    if (known) return known;
    const entry = this.#newEntry(row, 0);
    this.#borrowed.push(entry);
    return entry;
  }

  /** Returns the entry of a row for a caller that may hold it for good. */
  handOut(row: number): Entry {
    const known = this.#knownEntry(row);
    if (!known) {
      const entry = this.#newEntry(row, Retained);
      this.#remember(row, entry);
      return entry;
    }
    if (!(known.flags & Retained)) this.#storage?.keep(known);
    return known;
  }

  /** Returns the entry of a row; undefined for `NO_ROW`. */
  entryOf(row: number): Entry | undefined {
    return row === NO_ROW ? undefined : this.open(row);
  }

  /** Returns whether `open` returns this entry for the entry's row. */
  isKnown(entry: Entry): boolean {
    return this.isCurrent(entry) && this.#knownEntry(entry.row) === entry;
  }

  borrow(entry: Entry): void {
    entry.borrows++;
  }

  /** @param borrower the caller that borrowed it, for the message about a late read */
  endBorrow(entry: Entry, borrower: string): void {
    entry.borrows--;
    entry.lastBorrower = borrower;
    if (entry.borrows === 0) {
      entry.before = entry.after = undefined;
      if (entry.decodedMembers) entry.owner.endMembers(entry);
    }
    this.closeEntry(entry);
  }

  /** Called after each call that borrows: keeps the entry if it must stay readable or was partly parsed. */
  closeEntry(entry: Entry): void {
    if (entry.borrows > 0) return;
    const { decoded, decodedMetadata, decodedMembers } = entry;
    const isParsed = (decoded ?? decodedMetadata ?? decodedMembers) !== undefined;
    this.close(entry, isParsed || (entry.flags & Retained) !== 0);
  }

  /**
   * Called after the last call that borrows the entry. @param isRemembered whether the table keeps the entry as long as
   * the row lasts
   */
  close(entry: Entry, isRemembered: boolean): void {
    const { row } = entry;
    const words = this.#numbers.words;
    const at = row * COLUMNS;
    if (words[at + GENERATION] !== entry.rowGeneration) return;
    const flags = words[at + FLAGS] ?? 0;
    const hasEntry = (flags & HasEntry) !== 0;
    const wasBorrowed = hasEntry && this.#removeBorrowed(entry);
    if (hasEntry && !wasBorrowed && this.#find(row) !== entry) return;
    if (isRemembered) this.#remember(row, entry);
    else if (!wasBorrowed) this.#remembered.set(row, undefined);
    words[at + FLAGS] = isRemembered ? flags | HasEntry : flags & ~HasEntry;
  }

  /** Returns whether the row, with the bytes, still belongs to the entry's state. */
  isCurrent({ row, rowGeneration }: Entry): boolean {
    return this.#numbers.get(row, GENERATION) === rowGeneration;
  }

  factsOf(row: number): ObjectFacts {
    const facts = this.#facts.get(row);
    assert(facts !== undefined, 'a row without an object');
    return facts;
  }

  keyOf(row: number): string {
    return this.factsOf(row).key;
  }

  versionOf(row: number): number | string {
    if (this.hasFlag(row, VersionText)) return this.#versionTexts.get(row) ?? '';
    return numberOf(this.#numbers.words, row * COLUMNS);
  }

  flagsOf(row: number): number {
    return this.#numbers.get(row, FLAGS);
  }

  hasFlag(row: number, flag: number): boolean {
    return (this.#numbers.get(row, FLAGS) & flag) !== 0;
  }

  setFlag(row: number, flag: number, isSet: boolean = true): void {
    const flags = this.#numbers.get(row, FLAGS);
    this.#numbers.set(row, FLAGS, isSet ? flags | flag : flags & ~flag);
  }

  referencesOf(row: number): number {
    return this.#numbers.get(row, REFERENCES);
  }

  slabOf(row: number): number {
    return this.#numbers.get(row, SLAB);
  }

  offsetOf(row: number): number {
    return this.#numbers.get(row, OFFSET);
  }

  storedBytesOf(row: number): number {
    return this.#numbers.get(row, STORED_BYTES);
  }

  /** Sets the place of the row's bytes. */
  place(row: number, slab: number, offset: number, storedBytes: number): void {
    const words = this.#numbers.words;
    const at = row * COLUMNS;
    words[at + SLAB] = slab;
    words[at + OFFSET] = offset;
    words[at + STORED_BYTES] = storedBytes;
  }

  lengthOf(row: number): number {
    return this.#numbers.get(row, LENGTH);
  }

  setLength(row: number, length: number): void {
    this.#numbers.set(row, LENGTH, length);
  }

  dictionaryOf(row: number): number {
    return this.#numbers.get(row, DICTIONARY);
  }

  setDictionary(row: number, dictionary: number): void {
    this.#numbers.set(row, DICTIONARY, dictionary);
  }

  decoderOf(row: number): MsgpackDecoder | undefined {
    return this.#decoders[this.#numbers.get(row, DECODER)];
  }

  #newRow(): number {
    this.#numbers.reserve(this.#end);
    return this.#end++;
  }

  #newEntry(row: number, flag: number): Entry {
    const words = this.#numbers.words;
    const at = row * COLUMNS;
    const flags = words[at + FLAGS] ?? 0;
    const version = flags & VersionText ? this.versionOf(row) : numberOf(words, at);
    assert(this.#storage !== undefined, 'a table without storage');
    const rowGeneration = words[at + GENERATION] ?? 0;
    const length = words[at + LENGTH] ?? 0;
    words[at + FLAGS] = flags | HasEntry;
    const state = { row, rowGeneration, version, flags: flags | flag, length };
    return new Entry(this.#storage, state, this.factsOf(row));
  }

  #knownEntry(row: number): Entry | undefined {
    return this.hasFlag(row, HasEntry) ? this.#find(row) : undefined;
  }

  /** Returns the entry of an open row; undefined if it was garbage-collected. */
  #find(row: number): Entry | undefined {
    const known = this.#remembered.get(row);
    if (known instanceof Entry) return known;
    if (known !== this.#found?.reference) this.#found = known?.deref();
    for (const entry of this.#found?.members ?? this.#borrowed) if (entry.row === row) return entry;
    return undefined;
  }

  /** Keeps the entry findable as long as callers or the cache of parsed objects hold it. */
  #remember(row: number, entry: Entry): void {
    if (!(entry.flags & Retained)) {
      this.#remembered.set(row, entry);
      return;
    }
    if (this.#batch.members.length >= ENTRIES_PER_BATCH) this.#batch = new Batch();
    if (entry.batch === undefined) entry.batch = this.#batch.add(entry);
    const { reference } = entry.batch ?? this.#batch;
    this.#remembered.set(row, reference);
  }

  #endEntry(row: number): void {
    const entry = this.#find(row);
    if (entry) {
      this.#storage?.endEntry(entry);
      this.#removeBorrowed(entry);
      entry.batch?.remove(entry);
      entry.batch = undefined;
    }
    this.#remembered.set(row, undefined);
  }

  /** Removes the entry from the borrowed entries; returns false if it was not borrowed. */
  #removeBorrowed(entry: Entry): boolean {
    const borrowed = this.#borrowed;
    const last = borrowed.length - 1;
    for (let at = last; at >= 0; at--) {
      if (borrowed[at] !== entry) continue;
      borrowed[at] = borrowed[last] ?? entry;
      borrowed.pop();
      return true;
    }
    return false;
  }

  /** Decoders are few: one for each shard, and another after each replacement of a shard. */
  #decoderNumber(decoder: MsgpackDecoder): number {
    const known = this.#decoders.lastIndexOf(decoder);
    return known > 0 ? known : this.#decoders.push(decoder) - 1;
  }
}

function numberOf(words: Int32Array, at: number): number {
  return ((words[at + VERSION] ?? 0) >>> 0) + (words[at + VERSION_HIGH] ?? 0) * TWO_POW_32;
}
