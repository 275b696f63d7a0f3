/**
 * A table on a screen that is drawn again each second. Widths depend only on the terminal and the names, never on
 * figures, so that columns do not move. A narrow terminal shows the columns of the first ranks.
 */
import { cut, fitted, widthOf } from './cells.ts';

export interface ScreenColumn {
  readonly header: string;
  readonly align: 'left' | 'right';
  readonly min: number;
  /** Width that the column takes when there is room. */
  readonly max: number;
  /** Order in which columns get room. The first column of a table is always shown. */
  readonly rank: number;
}

/** A part of the rows of a table. The first cell of a row is the row's name. */
export interface ScreenPage {
  readonly rows: readonly (readonly string[])[];
  /** Index of the first row that is shown. */
  readonly first: number;
  /** Number of rows that are shown. */
  readonly count: number;
}

const GAP = 2;

/** Returns a column of figures, as wide as the header or the widest value. */
export function figureColumn(header: string, rank: number, width: number = header.length): ScreenColumn {
  return { header, align: 'right', min: width, max: width, rank };
}

/** Returns a column of text. */
export function textColumn(header: string, rank: number, min: number, max: number = Infinity): ScreenColumn {
  return { header, align: 'left', min, max, rank };
}

/** Returns a line of headers and a line for each row of the page. The first header says which rows are shown. */
export function screenTable(
  columns: readonly ScreenColumn[],
  { rows, first, count }: ScreenPage,
  width: number,
): string[] {
  const page = rows.slice(first, first + count);
  const [name = '', ...others] = columns.map(({ header }) => header);
  const isCut = page.length < rows.length;
  const headers = [
    isCut ? `${name} ${pageText(first + 1, first + page.length, rows.length)}` : name,
    ...others,
  ];
  // As wide as on any page, and never cut: the other columns stay in place when the user scrolls.
  const headerWidth = isCut
    ? widthOf(`${name} ${pageText(rows.length, rows.length, rows.length)}`)
    : widthOf(name);
  const longest = Math.max(headerWidth, ...rows.map(([of = '']) => widthOf(of)));
  const widths = widthsOf(columns, { min: headerWidth, max: longest }, width);
  return [headers, ...page].map((row) => {
    const cells = columns.flatMap(({ align }, index) => {
      const cellWidth = widths[index];
      return cellWidth === undefined ? [] : [fitted(row[index] ?? '', cellWidth, align)];
    });
    return cut(cells.join(' '.repeat(GAP)).trimEnd(), width);
  });
}

function pageText(first: number, last: number, count: number): string {
  return `${first}–${last} of ${count}`;
}

/**
 * Returns the width of each column; undefined for a column without room.
 *
 * @param names widths of the header and the longest cell of the first column
 */
export function widthsOf(
  columns: readonly ScreenColumn[],
  names: { readonly min: number; readonly max: number },
  width: number,
): readonly (number | undefined)[] {
  // Names come before columns: half of the terminal is theirs.
  const nameMin = Math.max(names.min, Math.min(names.max, Math.max(columns[0]?.min ?? 0, width >> 1)));
  const widths: (number | undefined)[] = [Math.min(nameMin, width)];
  let room = width - (widths[0] as number);
  for (const column of columns.slice(1).sort((a, b) => a.rank - b.rank)) {
    if (column.min + GAP > room) break;
    widths[columns.indexOf(column)] = column.min;
    room -= column.min + GAP;
  }
  return columns.map(({ max }, index) => {
    const min = widths[index];
    if (min === undefined) return undefined;
    const wanted = index === 0 ? names.max : max;
    const added = Math.min(room, Math.max(0, wanted - min));
    room -= added;
    return min + added;
  });
}
