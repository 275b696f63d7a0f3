/**
 * Rows of one informer that other threads read. A thread that has a row keeps one reference on it, so its bytes are
 * neither freed nor moved until the thread returns it: no locks, no epochs (docs/decisions/0025).
 */
import { assert } from '../../base/errors.ts';
import { NumberColumns } from '../store/columns.ts';
import type { EntryTable } from '../store/entry-table.ts';
import { EntryFlag } from '../store/entry.ts';

/** Rows that are looked at in one call of `endAll`. */
const ENDED_PER_CALL = 1024;

export class Loans {
  readonly #table: EntryTable;
  /** Number of threads by row. */
  readonly #threads: NumberColumns = new NumberColumns(1);

  constructor(table: EntryTable) {
    this.#table = table;
  }

  begin(row: number): void {
    this.#threads.reserve(row);
    const threads = this.#threads.get(row, 0) + 1;
    this.#threads.set(row, 0, threads);
    if (threads === 1) this.#table.setFlag(row, EntryFlag.Lent);
    this.#table.addReference(row);
  }

  end(row: number): void {
    const threads = this.#threads.get(row, 0) - 1;
    assert(threads >= 0, 'a row was returned that was not lent', row);
    this.#threads.set(row, 0, threads);
    if (threads === 0) this.#table.setFlag(row, EntryFlag.Lent, false);
    this.#table.dropReference(row);
  }
}

/** The rows that one thread has. */
export class ThreadLoans {
  readonly #loans: Loans;
  /** 1 for each row that the thread has. */
  readonly #rows: NumberColumns = new NumberColumns(1);
  /** The first row that `endAll` has not looked at. */
  #next = 0;
  count = 0;

  constructor(loans: Loans) {
    this.#loans = loans;
  }

  has(row: number): boolean {
    return this.#rows.get(row, 0) === 1;
  }

  begin(row: number): void {
    assert(!this.has(row), 'a row was lent twice', row);
    this.#rows.reserve(row);
    this.#rows.set(row, 0, 1);
    this.count++;
    this.#loans.begin(row);
  }

  end(row: number): void {
    assert(this.has(row), 'a thread returned a row that it does not have', row);
    this.#rows.set(row, 0, 0);
    this.count--;
    this.#loans.end(row);
  }

  /** Ends some of the loans of a thread that has ended; true while there are more. */
  endAll(): boolean {
    for (let looked = 0; looked < ENDED_PER_CALL && this.count > 0; looked++, this.#next++) {
      if (this.has(this.#next)) this.end(this.#next);
    }
    return this.count > 0;
  }
}
