/**
 * The rows of one informer that one other thread reads. It keeps one reference on each, so their bytes are neither freed
 * nor moved until the thread returns them: no locks, no epochs (docs/decisions/0025).
 */
import { assert } from '../../base/errors.ts';
import { SUPERSEDED_HEAP_BYTES } from '../deliver/pending.ts';
import { NO_ROW, NumberColumns } from '../store/columns.ts';
import type { EntryTable } from '../store/entry-table.ts';

/** Rows that are looked at in one call of `endAll`. */
const ENDED_PER_CALL = 1024;

// Values of a row's column; 0 for a row that the thread does not have.
const CURRENT = 1;
/** A record takes the row out of the thread's cache. */
const SUPERSEDED = 2;

export class ExportedRows {
  readonly #table: EntryTable;
  /** Whether the thread has a row, and whether its cache is to lose it. */
  readonly #rows: NumberColumns = new NumberColumns(1);
  /** The first row that `endAll` has not looked at. */
  #next = 0;
  count = 0;
  /** Length of these rows' objects. */
  bytes = 0;
  /** Bytes that nothing but the thread needs any more. */
  supersededBytes = 0;

  constructor(table: EntryTable) {
    this.#table = table;
  }

  has(row: number): boolean {
    return this.#rows.get(row, 0) !== 0;
  }

  begin(row: number): void {
    assert(!this.has(row), 'a row was exported twice', row);
    this.#rows.reserve(row);
    this.#rows.set(row, 0, CURRENT);
    this.count++;
    this.bytes += this.#table.exportRow(row);
  }

  /** Counts a row that the thread returns when it has taken the last record. Ignores a row that it does not have. */
  supersede(row: number): void {
    if (row === NO_ROW || this.#rows.get(row, 0) !== CURRENT) return;
    this.#rows.set(row, 0, SUPERSEDED);
    this.supersededBytes += this.#heldBytes(row);
  }

  /** Takes that back: a relist found the state missing, and then listed it again. */
  keep(row: number): void {
    if (this.#rows.get(row, 0) !== SUPERSEDED) return;
    this.#rows.set(row, 0, CURRENT);
    this.supersededBytes -= this.#heldBytes(row);
  }

  end(row: number): void {
    assert(this.has(row), 'a thread returned a row that it does not have', row);
    this.keep(row);
    this.#rows.set(row, 0, 0);
    this.count--;
    this.bytes -= this.#table.lengthOf(row);
    this.#table.dropReference(row);
  }

  #heldBytes(row: number): number {
    return this.#table.lengthOf(row) + SUPERSEDED_HEAP_BYTES;
  }

  /** Ends some of the exports of a thread that has ended; true while there are more. */
  endAll(): boolean {
    for (let looked = 0; looked < ENDED_PER_CALL && this.count > 0; looked++, this.#next++) {
      if (this.has(this.#next)) this.end(this.#next);
    }
    return this.count > 0;
  }
}
