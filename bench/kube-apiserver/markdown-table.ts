/** Tables of figures as Markdown. */

/** @param columns name of each column, and the text of its cell in a row */
export function markdownTable<Row>(
  columns: Readonly<Record<string, (row: Row) => string>>,
  rows: readonly Row[],
): string {
  const names = Object.keys(columns);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const body = rows.map((row) => line(Object.values(columns).map((cell) => cell(row))));
  return [line(names), `|${names.map(() => '---:|').join('')}`, ...body].join('\n');
}
