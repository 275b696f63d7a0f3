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

  /** Returns the lines of these rows; the first call begins with the headers. */
  lines(rows: readonly (readonly string[])[]): string[] {
    const escaped = rows.map((row) => row.map(escapeControls));
    const all = this.#isHeaderPrinted || rows.length === 0 ? escaped : [this.#headers, ...escaped];
    if (rows.length > 0) this.#isHeaderPrinted = true;
    for (const row of all) this.#widen(row);
    return all.map((row) => this.#line(row));
  }

  #widen(row: readonly string[]): void {
    for (const [index, cell] of row.entries()) {
      this.#widths[index] = Math.max(this.#widths[index] ?? 0, widthOf(cell));
    }
  }

  #line(row: readonly string[]): string {
    return row
      .map((cell, index) => cell + ' '.repeat((this.#widths[index] ?? 0) + GAP - widthOf(cell)))
      .join('')
      .trimEnd();
  }
}
