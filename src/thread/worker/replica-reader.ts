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
  /** Ids of the objects by row. As in a shard, ids are valid for a list and the changes after it. */
  readonly #ids: NumberColumns = new NumberColumns(1);
  /** Unused ids. */
  #freeIds: number[] = [];
  #idEnd = 0;
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
      case RowKind.Put:
        this.#add(record, text);
        replica.upsert(SOURCE, this.#idAfter(record.previousRow, record.row), record.row);
        break;
      case RowKind.Deleted:
        this.#add(record, text);
        this.#delete(record.row);
        break;
      case RowKind.Kept:
        replica.keep(SOURCE, this.#idAfter(NO_ROW, record.row), this.#ordinalOf(record.row));
        break;
      case RowKind.Missing:
        replica.remove(record.row);
        break;
      case RowKind.ListBegin:
        replica.control(DeltaKind.ReplaceBegin, ++this.#epoch, '');
        this.#freeIds = [];
        this.#idEnd = 0;
        break;
      case RowKind.ListEnd:
        while (!replica.control(DeltaKind.ReplaceEnd, this.#epoch, String(record.version)));
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
    const ordinal = this.#replica.changing.get(this.table.keyOf(row));
    this.#replica.remove(row);
    if (ordinal !== NO_ORDINAL) this.#freeIds.push(ordinal);
  }

  /** Returns the ordinal of a state in the cache. */
  #ordinalOf(row: number): number {
    const { live } = this.#replica;
    const ordinal = live.get(this.table.keyOf(row));
    assert(live.rowAt(ordinal) === row, 'a record names a state that is not in the cache', row);
    return ordinal;
  }

  /** Returns the object's id, which is new with the row. In a replica of a single source, the id is the ordinal. */
  #idAfter(previousRow: number, row: number): number {
    const { changing } = this.#replica;
    let id = previousRow === NO_ROW ? NO_ORDINAL : this.#ids.get(previousRow, 0);
    if (id === NO_ORDINAL || changing.rowAt(id) !== previousRow) id = changing.get(this.table.keyOf(row));
    if (id === NO_ORDINAL) id = this.#freeIds.pop() ?? this.#idEnd++;
    this.#ids.reserve(row);
    this.#ids.set(row, 0, id);
    return id;
  }
}
