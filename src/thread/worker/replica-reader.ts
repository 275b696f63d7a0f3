/**
 * Turns the records of the main thread into states of an informer's replica, in the reading thread. Rows keep the
 * numbers of the main thread, which does not reuse a number until this thread returns the row.
 */
import { assert } from '../../base/errors.ts';
import { DeltaKind } from '../../shared/record/delta.ts';
import { RowKind } from '../../shared/record/row.ts';
import type { RowRecord } from '../../shared/record/row.ts';
import { IdentityReader } from '../../replica/merge/informer-merge.ts';
import { NO_ORDINAL, NO_ROW, NumberColumns } from '../../replica/store/columns.ts';
import { EntryFlag } from '../../replica/store/entry.ts';
import type { EntryTable } from '../../replica/store/entry-table.ts';
import { ObjectFacts, SharedFields } from '../../replica/store/extracted-fields.ts';
import type { Replica } from '../../replica/store/replica.ts';
import type { ForeignMemory } from './foreign-memory.ts';
import { NO_MEMORY } from '../messages.ts';

/** The only source of the replica. */
const SOURCE = 0;

export class ReplicaReader {
  readonly #replica: Replica;
  readonly #memory: ForeignMemory;
  readonly #applied: (isListEnd: boolean) => void;
  readonly #identities: IdentityReader = new IdentityReader();
  readonly #sharedFields: SharedFields = new SharedFields();
  /** Ids of the objects by row. */
  readonly #ids: NumberColumns = new NumberColumns(1);
  /** Unused ids. */
  readonly #freeIds: number[] = [];
  #idEnd = 0;
  /** Ids of objects that the list in progress lacks. */
  #missingIds: number[] = [];
  #epoch = 0;

  /**
   * @param replica of a single source
   * @param applied called after each record
   */
  constructor(replica: Replica, memory: ForeignMemory, applied: (isListEnd: boolean) => void) {
    this.#replica = replica;
    this.#memory = memory;
    this.#applied = applied;
  }

  get table(): EntryTable {
    return this.#replica.table;
  }

  /** @param text the ring that holds the record */
  take(record: RowRecord, text: Buffer): void {
    const replica = this.#replica;
    switch (record.kind) {
      case RowKind.Put: {
        const { row } = record;
        this.#add(record, text);
        const id = this.#idAfter(record.previousRow, row);
        this.#ids.reserve(row);
        this.#ids.set(row, 0, id);
        replica.upsert(SOURCE, id, row);
        break;
      }
      case RowKind.Deleted:
        this.#add(record, text);
        this.#delete(record.row);
        break;
      case RowKind.Kept: {
        const ordinal = this.#ordinalOf(record.row);
        replica.keep(SOURCE, ordinal, ordinal);
        break;
      }
      case RowKind.Missing: {
        const ordinal = this.#ordinalOf(record.row);
        replica.swept(SOURCE, ordinal);
        this.#missingIds.push(ordinal);
        break;
      }
      case RowKind.ListBegin:
        replica.control(DeltaKind.ReplaceBegin, ++this.#epoch, '');
        break;
      case RowKind.ListEnd:
        for (const ordinal of replica.unlisted()) {
          replica.swept(SOURCE, ordinal);
          this.#missingIds.push(ordinal);
        }
        replica.control(DeltaKind.ReplaceEnd, this.#epoch, String(record.version));
        this.#freeMissing();
        break;
      case RowKind.Position:
        replica.control(DeltaKind.Bookmark, this.#epoch, String(record.version));
        break;
      case RowKind.Moved:
        this.#move(record);
        break;
    }
    this.#applied(record.kind === RowKind.ListEnd);
  }

  /** Adds the record's row to the table. */
  #add(record: RowRecord, text: Buffer): void {
    const { table } = this;
    const memory = this.#memory;
    const { row } = record;
    this.#learn(record);
    const decoder = record.decoder === 0 ? undefined : memory.decoder(record.decoder);
    table.addAt(row, this.#factsOf(record, text), record.version, record.flags, decoder);
    table.setLength(row, record.length);
    this.#place(record);
  }

  /** Sets the place of a row, unless the row has ended here, and returns the former row to the main thread. */
  #move(record: RowRecord): void {
    const { table } = this;
    const { row } = record;
    this.#learn(record);
    if (table.has(row)) {
      table.setFlag(row, EntryFlag.Packed, record.dictionary !== NO_MEMORY);
      this.#place(record);
    }
    table.keepEnded(record.previousRow);
  }

  /** Takes the messages about the memory that the record names. */
  #learn({ memory, dictionary, decoder }: RowRecord): void {
    const isKnown = this.#memory.has(memory) && this.#memory.has(dictionary);
    if (!isKnown || decoder !== 0) this.#memory.catchUp();
  }

  #place({ row, memory, offset, storedBytes, dictionary }: RowRecord): void {
    this.table.place(row, memory, offset, storedBytes);
    if (dictionary !== NO_MEMORY) this.table.setDictionary(row, dictionary);
  }

  #factsOf(record: RowRecord, text: Buffer): ObjectFacts {
    const previous = record.previousRow === NO_ROW ? undefined : this.table.factsOf(record.previousRow);
    if (record.hasSameFields) {
      assert(previous !== undefined, 'a record names the fields of an unknown object', record.row);
      previous.isShared = true;
      return previous;
    }
    const identity = previous ?? this.#identities.read(record, text);
    const start =
      record.textOffset + record.namespaceLength + record.nameLength + record.resourceVersionTextLength;
    const array = { start, end: start + record.extractedLength };
    return ObjectFacts.read(identity, text, array, this.#sharedFields, previous);
  }

  #delete(row: number): void {
    const { live } = this.#replica;
    const ordinal = live.get(this.table.keyOf(row));
    this.#replica.remove(row);
    if (ordinal !== NO_ORDINAL) this.#freeIds.push(ordinal);
  }

  /** Returns the ordinal of a state in the cache. In a replica of a single source, an object's ordinal is its id. */
  #ordinalOf(row: number): number {
    const { live } = this.#replica;
    const ordinal = live.get(this.table.keyOf(row));
    assert(live.rowAt(ordinal) === row, 'a record names a state that is not in the cache', row);
    return ordinal;
  }

  /** Returns the object's id, which is the same in the cache and in the list that replaces it. */
  #idAfter(previousRow: number, row: number): number {
    const { live } = this.#replica;
    const id = previousRow === NO_ROW ? NO_ORDINAL : this.#ids.get(previousRow, 0);
    if (id !== NO_ORDINAL && live.rowAt(id) === previousRow) return id;
    const ordinal = live.get(this.table.keyOf(row));
    return ordinal === NO_ORDINAL ? (this.#freeIds.pop() ?? this.#idEnd++) : ordinal;
  }

  #freeMissing(): void {
    const { live } = this.#replica;
    for (const id of this.#missingIds) if (live.rowAt(id) === NO_ROW) this.#freeIds.push(id);
    this.#missingIds = [];
  }
}
