/**
 * The rows of one informer that one other thread reads. It keeps one reference on each, so their bytes are neither freed
 * nor moved until the thread returns them: no locks, no epochs (docs/decisions/0025).
 */
import { assert } from '../../base/errors.ts';
import { NumberColumns } from '../store/columns.ts';
import type { EntryTable } from '../store/entry-table.ts';

/** Rows that are looked at in one call of `endAll`. */
const ENDED_PER_CALL = 1024;

export class Loans {
  readonly #table: EntryTable;
  /** 1 for each row that the thread has. */
  readonly #rows: NumberColumns = new NumberColumns(1);
  /** The first row that `endAll` has not looked at. */
  #next = 0;
  count = 0;
  /** Length of these rows' objects. */
  bytes = 0;

  constructor(table: EntryTable) {
    this.#table = table;
  }

  has(row: number): boolean {
    return this.#rows.get(row, 0) === 1;
  }

  begin(row: number): void {
    assert(!this.has(row), 'a row was lent twice', row);
    this.#rows.reserve(row);
    this.#rows.set(row, 0, 1);
    this.count++;
    this.bytes += this.#table.lend(row);
  }

  end(row: number): void {
    assert(this.has(row), 'a thread returned a row that it does not have', row);
    this.#rows.set(row, 0, 0);
    this.count--;
    this.bytes -= this.#table.lengthOf(row);
    this.#table.dropReference(row);
  }

  /** Ends some of the loans of a thread that has ended; true while there are more. */
  endAll(): boolean {
    for (let looked = 0; looked < ENDED_PER_CALL && this.count > 0; looked++, this.#next++) {
      if (this.has(this.#next)) this.end(this.#next);
    }
    return this.count > 0;
  }
}
