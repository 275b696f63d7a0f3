/**
 * Columns of a table, addressed by a row's number: whole numbers in typed arrays, everything else in plain arrays. Both
 * are divided into chunks. A table grows by a chunk and never copies one, so growing takes the same time at any size.
 */

const CHUNK_BITS = 10;
const CHUNK_ROWS: number = 1 << CHUNK_BITS;
const CHUNK_MASK: number = CHUNK_ROWS - 1;
const TWO_POW_32 = 2 ** 32;

/** Absence of a row where a row's number is expected. */
export const NONE = -1;

const NO_ROWS: Int32Array = new Int32Array(0);

/** Columns of whole numbers of 32 bits with a sign; 0 at first. The numbers of one row are beside each other. */
export class NumberColumns {
  readonly #columns: number;
  readonly #chunks: Int32Array[] = [];

  constructor(columns: number) {
    this.#columns = columns;
  }

  /** Makes room for `row`, and for all rows before it. */
  reserve(row: number): void {
    while (row >> CHUNK_BITS >= this.#chunks.length) {
      this.#chunks.push(new Int32Array(CHUNK_ROWS * this.#columns));
    }
  }

  /** Returns the number of rows that there is room for. */
  get end(): number {
    return this.#chunks.length << CHUNK_BITS;
  }

  get(row: number, column: number): number {
    return this.#chunks[row >> CHUNK_BITS]?.[(row & CHUNK_MASK) * this.#columns + column] ?? 0;
  }

  set(row: number, column: number, value: number): void {
    const chunk = this.#chunks[row >> CHUNK_BITS];
    if (chunk) chunk[(row & CHUNK_MASK) * this.#columns + column] = value;
  }

  /** The chunk of a row, and its first number there: for callers that read or write several numbers of one row. */
  chunkOf(row: number): Int32Array {
    return this.#chunks[row >> CHUNK_BITS] ?? NO_ROWS;
  }

  indexOf(row: number): number {
    return (row & CHUNK_MASK) * this.#columns;
  }

  /** Adds to a number and returns the sum. */
  add(row: number, column: number, value: number): number {
    const sum = this.get(row, column) + value;
    this.set(row, column, sum);
    return sum;
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

/** A column of any values; undefined at first. */
export class ValueColumn<Value> {
  readonly #chunks: (Value | undefined)[][] = [];

  get(row: number): Value | undefined {
    return this.#chunks[row >> CHUNK_BITS]?.[row & CHUNK_MASK];
  }

  set(row: number, value: Value | undefined): void {
    while (row >> CHUNK_BITS >= this.#chunks.length) {
      this.#chunks.push(Array.from({ length: CHUNK_ROWS }, () => undefined));
    }
    const chunk = this.#chunks[row >> CHUNK_BITS];
    if (chunk) chunk[row & CHUNK_MASK] = value;
  }
}
