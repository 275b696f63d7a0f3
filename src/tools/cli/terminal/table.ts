/** Rows in aligned columns, as kubectl prints them: widths are kept, so that later rows line up. */
import { escapeControls } from '../../../base/printable.ts';
import { widthOf } from './cells.ts';

const GAP = 3;

export class Table {
  readonly #widths: number[];
  readonly #headers: readonly string[];
  #isHeaderPrinted = false;

  constructor(headers: readonly string[]) {
    this.#headers = headers;
    this.#widths = headers.map((header) => header.length);
  }

  /**
   * Returns the lines of these rows; the first call begins with the headers. A table that is wider than the terminal
   * continues below: the first column again, and the columns that had no room.
   *
   * @param columns of the terminal
   */
  lines(rows: readonly (readonly string[])[], columns: number = Infinity): string[] {
    const escaped = rows.map((row) => row.map(escapeControls));
    const all = this.#isHeaderPrinted || rows.length === 0 ? escaped : [this.#headers, ...escaped];
    if (rows.length > 0) this.#isHeaderPrinted = true;
    for (const row of all) this.#widen(row);
    const [first = [], ...others] = this.#parts(columns).map((part) =>
      all.map((row) => this.#line(row, part)),
    );
    return [...first, ...others.flatMap((lines) => ['', ...lines])];
  }

  /** Returns the columns of each part of the table, by index. */
  #parts(columns: number): readonly (readonly number[])[] {
    const [name = 0] = this.#widths;
    const parts: number[][] = [];
    let used = name;
    for (const [index, width] of this.#widths.entries()) {
      if (index === 0) continue;
      if (parts.length === 0 || used + GAP + width > columns) {
        parts.push([0]);
        used = name;
      }
      parts.at(-1)?.push(index);
      used += GAP + width;
    }
    return parts.length === 0 ? [[0]] : parts;
  }

  #widen(row: readonly string[]): void {
    for (const [index, cell] of row.entries()) {
      this.#widths[index] = Math.max(this.#widths[index] ?? 0, widthOf(cell));
    }
  }

  #line(row: readonly string[], part: readonly number[]): string {
    return part
      .map((index) => {
        const cell = row[index] ?? '';
        return cell + ' '.repeat((this.#widths[index] ?? 0) + GAP - widthOf(cell));
      })
      .join('')
      .trimEnd();
  }
}
