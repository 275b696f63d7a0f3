/**
 * Columns of a table, addressed by a row's number. The numbers of a row lie next to each other in a single typed array:
 * chunks would cost a tenth of the main thread's time an event. A large table reserves addresses and takes memory as it
 * grows, so rows are never copied: at a million rows a copy blocked the thread for 30 ms (docs/decisions/0023). Objects
 * of rows are in plain arrays of limited length for the same reason.
 */

const ROWS_MIN = 64;
/** Smaller tables are copied when they double. */
const COPIED_BYTES_MAX: number = 2 ** 21;
/**
 * Addresses of a large table: 6 million rows of the widest table. A larger table is copied once, into eight times as
 * many.
 */
const RESERVED_BYTES: number = 2 ** 28;
const WORD_BYTES = 4;
const TWO_POW_32 = 2 ** 32;

const CHUNK_BITS = 15;
/** Rows in an array of an `ObjectColumn`, limited so that V8's collector never copies the array. */
const CHUNK_ROWS: number = 2 ** CHUNK_BITS;
const CHUNK_MASK: number = CHUNK_ROWS - 1;

/** Absence of a row, where the number of a row is expected. */
export const NO_ROW = -1;
/** Absence of an object, where the ordinal of an object is expected. */
export const NO_ORDINAL = -1;

/** Columns of whole numbers of 32 bits with a sign; 0 at first. */
export class NumberColumns {
  readonly #columns: number;
  /** The numbers; another array after `reserve`. */
  words: Int32Array;
  /** Memory of a large table. V8 does not count shared memory against the heap (docs/decisions/0016). */
  #memory: SharedArrayBuffer | undefined;

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
    const length = rows * this.#columns;
    const bytes = length * WORD_BYTES;
    const { words } = this;
    if (this.#memory && bytes <= this.#memory.maxByteLength) {
      this.#memory.grow(bytes);
      this.words = new Int32Array(this.#memory, 0, length);
      return;
    }
    if (bytes > COPIED_BYTES_MAX) {
      this.#memory = new SharedArrayBuffer(bytes, { maxByteLength: Math.max(RESERVED_BYTES, bytes * 8) });
    }
    this.words = this.#memory ? new Int32Array(this.#memory, 0, length) : new Int32Array(length);
    this.words.set(words);
  }

  get(row: number, column: number): number {
    return this.words[row * this.#columns + column] ?? 0;
  }

  set(row: number, column: number, value: number): void {
    this.words[row * this.#columns + column] = value;
  }

  /** Returns the whole number below 2^53 in this column and the next. */
  getWide(row: number, column: number): number {
    return (this.get(row, column) >>> 0) + this.get(row, column + 1) * TWO_POW_32;
  }

  setWide(row: number, column: number, value: number): void {
    this.set(row, column, value | 0);
    this.set(row, column + 1, value / TWO_POW_32);
  }
}

/** A column of objects; undefined at first. */
export class ObjectColumn<Value extends object> {
  readonly #chunks: (Value | undefined)[][] = [];

  get(row: number): Value | undefined {
    return this.#chunks[row >>> CHUNK_BITS]?.[row & CHUNK_MASK];
  }

  set(row: number, value: Value | undefined): void {
    const chunk = row >>> CHUNK_BITS;
    const values = (this.#chunks[chunk] ??= newChunk<Value>(chunk));
    values[row & CHUNK_MASK] = value;
  }
}

/** The first chunk grows, because most tables are small. */
function newChunk<Value>(chunk: number): (Value | undefined)[] {
  return chunk === 0 ? [] : Array.from<Value | undefined>({ length: CHUNK_ROWS });
}
