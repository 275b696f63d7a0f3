/**
 * Turns the records of the main thread into states of one informer's replica, in the thread that reads its cache. Rows have
 * the numbers of the main thread, which keeps each of them until this thread returns it.
 */
import { assert } from '../../base/errors.ts';
import { DeltaKind } from '../../shared/record/delta.ts';
import { StateKind } from '../../shared/record/state.ts';
import type { StateRecord } from '../../shared/record/state.ts';
import { IdentityReader } from '../merge/informer-merge.ts';
import { NONE, NumberColumns } from '../store/columns.ts';
import { EntryFlag } from '../store/entry.ts';
import type { EntryTable } from '../store/entry-table.ts';
import { ObjectFacts, SharedFields } from '../store/extracted-fields.ts';
import type { Replica } from '../store/replica.ts';
import type { ForeignMemory } from './foreign-memory.ts';

/** The only source of the replica. */
const SOURCE = 0;

export class StateMerge {
  readonly #replica: Replica;
  readonly #memory: ForeignMemory;
  readonly #applied: (isListEnd: boolean) => void;
  readonly #identities: IdentityReader = new IdentityReader();
  readonly #sharedFields: SharedFields = new SharedFields();
  /** Ids of the objects by row. */
  readonly #ids: NumberColumns = new NumberColumns(1);
  /** Ids that no object has. */
  readonly #freeIds: number[] = [];
  #idEnd = 0;
  /** Ids of objects that are not in the list in progress. */
  #missingIds: number[] = [];
  #epoch = 0;

  /** @param replica of one source @param applied called after each record */
  constructor(replica: Replica, memory: ForeignMemory, applied: (isListEnd: boolean) => void) {
    this.#replica = replica;
    this.#memory = memory;
    this.#applied = applied;
  }

  get table(): EntryTable {
    return this.#replica.table;
  }

  /** @param text the ring that holds the record */
  take(record: StateRecord, text: Buffer): void {
    const replica = this.#replica;
    switch (record.kind) {
      case StateKind.Put: {
        const { row } = record;
        this.#add(record, text);
        const id = this.#idAfter(record.previousRow, row);
        this.#ids.reserve(row);
        this.#ids.set(row, 0, id);
        replica.upsert(SOURCE, id, row);
        break;
      }
      case StateKind.Deleted:
        this.#add(record, text);
        this.#delete(record.row);
        break;
      case StateKind.Kept: {
        const slot = this.#slotOf(record.row);
        replica.keep(SOURCE, slot, slot);
        break;
      }
      case StateKind.Missing: {
        const slot = this.#slotOf(record.row);
        replica.swept(SOURCE, slot);
        this.#missingIds.push(slot);
        break;
      }
      case StateKind.ListBegin:
        replica.control(DeltaKind.ReplaceBegin, ++this.#epoch, '');
        break;
      case StateKind.ListEnd:
        replica.control(DeltaKind.ReplaceEnd, this.#epoch, String(record.version));
        this.#freeMissing();
        break;
      case StateKind.Position:
        replica.control(DeltaKind.Bookmark, this.#epoch, String(record.version));
        break;
      case StateKind.Moved:
        this.#move(record);
        break;
    }
    this.#applied(record.kind === StateKind.ListEnd);
  }

  /** Adds the record's row to the table. */
  #add(record: StateRecord, text: Buffer): void {
    const { table } = this;
    const memory = this.#memory;
    const { row } = record;
    this.#learn(record);
    const decoder = record.decoder === 0 ? undefined : memory.decoder(record.decoder);
    table.addAt(row, this.#factsOf(record, text), record.version, record.flags, decoder);
    table.setLength(row, record.length);
    this.#place(record);
  }

  /** Sets the place of a row, unless it has ended here, and returns its former one. */
  #move(record: StateRecord): void {
    const { table } = this;
    const { row } = record;
    this.#learn(record);
    if (table.has(row)) {
      table.setFlag(row, EntryFlag.Packed, record.dictionary !== NONE);
      this.#place(record);
    }
    table.keepEnded(record.previousRow);
  }

  /** Takes the messages about memory that the record names. */
  #learn({ memory, dictionary, decoder }: StateRecord): void {
    const isKnown = this.#memory.has(memory) && this.#memory.has(dictionary);
    if (!isKnown || decoder !== 0) this.#memory.catchUp();
  }

  #place({ row, memory, offset, storedBytes, dictionary }: StateRecord): void {
    this.table.place(row, memory, offset, storedBytes);
    if (dictionary !== NONE) this.table.setDictionary(row, dictionary);
  }

  #factsOf(record: StateRecord, text: Buffer): ObjectFacts {
    const previous = record.previousRow === NONE ? undefined : this.table.factsOf(record.previousRow);
    if (record.hasSameFields) {
      assert(previous !== undefined, 'a record names the fields of an unknown object', record.row);
      if (!previous.isShared) previous.isShared = true;
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
    const slot = live.get(this.table.keyOf(row));
    this.#replica.remove(row);
    if (slot !== NONE) this.#freeIds.push(slot);
  }

  /** Returns the slot of a state in the cache. With one source an object's slot is its id. */
  #slotOf(row: number): number {
    const { live } = this.#replica;
    const slot = live.get(this.table.keyOf(row));
    assert(live.rowAt(slot) === row, 'a record names a state that is not in the cache', row);
    return slot;
  }

  /** Returns the object's id, which is the same in the cache and in the list that replaces it. */
  #idAfter(previousRow: number, row: number): number {
    const { live } = this.#replica;
    const id = previousRow === NONE ? NONE : this.#ids.get(previousRow, 0);
    if (id !== NONE && live.rowAt(id) === previousRow) return id;
    const slot = live.get(this.table.keyOf(row));
    return slot === NONE ? (this.#freeIds.pop() ?? this.#idEnd++) : slot;
  }

  #freeMissing(): void {
    const { live } = this.#replica;
    for (const id of this.#missingIds) if (live.rowAt(id) === NONE) this.#freeIds.push(id);
    this.#missingIds = [];
  }
}
