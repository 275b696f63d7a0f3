/**
 * Columns of a table, addressed by a row's number. The numbers of one row are beside each other, in one typed array that
 * doubles when it is full: at a million rows that is a copy of 20 MB, some milliseconds. Chunks that are never copied cost
 * a tenth of the main thread's time an event (docs/decisions/0023).
 */

const ROWS_MIN = 64;
const TWO_POW_32 = 2 ** 32;

/** Absence of a row where a row's number is expected. */
export const NONE = -1;

/** Columns of whole numbers of 32 bits with a sign; 0 at first. */
export class NumberColumns {
  readonly #columns: number;
  /** The numbers; another array after `reserve`. */
  words: Int32Array;

  constructor(columns: number) {
    this.#columns = columns;
    this.words = new Int32Array(ROWS_MIN * columns);
  }

  /** Returns the number of rows that there is room for. */
  get end(): number {
    return this.words.length / this.#columns;
  }

  /** Makes room for `row`, and for all rows before it. */
  reserve(row: number): void {
    let rows = this.end;
    if (row < rows) return;
    while (row >= rows) rows *= 2;
    const { words } = this;
    this.words = new Int32Array(rows * this.#columns);
    this.words.set(words);
  }

  get(row: number, column: number): number {
    return this.words[row * this.#columns + column] ?? 0;
  }

  set(row: number, column: number, value: number): void {
    this.words[row * this.#columns + column] = value;
  }

  /** Returns the whole number below 2^53 in this column and the next one. */
  getWide(row: number, column: number): number {
    return (this.get(row, column) >>> 0) + this.get(row, column + 1) * TWO_POW_32;
  }

  setWide(row: number, column: number, value: number): void {
    this.set(row, column, value | 0);
    this.set(row, column + 1, value / TWO_POW_32);
  }
}
