/**
 * The rows of an informer that another thread reads. Each row carries a reference for the thread, so the bytes are
 * neither freed nor moved until the thread returns the row: no locks, no epochs (docs/decisions/0025).
 */
import { assert } from '../../base/errors.ts';
import { SUPERSEDED_HEAP_BYTES } from '../../replica/deliver/pending.ts';
import { NO_ROW, NumberColumns } from '../../replica/store/columns.ts';
import type { EntryTable } from '../../replica/store/entry-table.ts';

/** Rows checked in a call of `endAll`. */
const ENDED_PER_CALL = 1024;

// Values of a row's column; 0 for a row that the thread does not hold.
const CURRENT = 1;
/** A record removes the row from the thread's cache. */
const SUPERSEDED = 2;

export class ExportedRows {
  readonly #table: EntryTable;
  /** For each row: whether the thread holds it, and whether a record removes it from the thread's cache. */
  readonly #rows: NumberColumns = new NumberColumns(1);
  /** The first row that `endAll` did not check. */
  #next = 0;
  count = 0;
  /** Length of these rows' objects. */
  bytes = 0;
  /** Bytes of states that only the thread still needs. */
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

  /**
   * Marks a row that the thread will return after reading the last record. Ignores a row that the thread does not hold.
   */
  supersede(row: number): void {
    if (row === NO_ROW || this.#rows.get(row, 0) !== CURRENT) return;
    this.#rows.set(row, 0, SUPERSEDED);
    this.supersededBytes += this.#heldBytes(row);
  }

  /** Reverts `supersede`: a relist found the state missing, and listed it later. */
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

  /** Ends some of the exports of an ended thread; true while there are more. */
  endAll(): boolean {
    for (let looked = 0; looked < ENDED_PER_CALL && this.count > 0; looked++, this.#next++) {
      if (this.has(this.#next)) this.end(this.#next);
    }
    return this.count > 0;
  }
}
