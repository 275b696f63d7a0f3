/** The figures of `docs/benchmarks.md`: tables of everything that was measured, losses first. */
import { isMoreBetter } from '../names.ts';
import type { Row } from '../row.ts';
import type { Report } from '../document.ts';
import { machineText } from '../machine.ts';
import { numberText, ratioText, sizeText } from '../table-text.ts';

export const BEGIN = '<!-- figures: written by npm run bench -- --report -->';
export const END = '<!-- end of figures -->';

const COLUMNS = [
  'case',
  'size',
  'handler',
  'client',
  'median',
  'min',
  'max',
  'unit',
  '/client-node',
  '/limit',
];

export function figuresText(reports: readonly Report[], charts: readonly string[]): string {
  // Of one run there is nothing to tell apart.
  const runOf = (index: number): string => (reports.length > 1 ? `, run ${index + 1}` : '');
  const machines = [...new Set(reports.map(({ machine }) => `${machine.date}: ${machineText(machine)}`))];
  return [
    ...machines.map((machine) => `- ${machine}`),
    '',
    ...charts.map((file) => `![${file.replace('.svg', '')}](benchmarks/${file})`),
    '',
    ...reports.flatMap(({ results }, index) => [
      `### What we lose${runOf(index)}`,
      '',
      ...lossLines(results),
      '',
    ]),
    ...reports.flatMap(({ results }, index) => suiteTables(results, runOf(index))),
  ].join('\n');
}

function suiteTables(rows: readonly Row[], run: string): string[] {
  const suites = [...new Set(rows.map(({ suite }) => suite))];
  return suites.flatMap((suite) => [
    `### ${suite}${run}`,
    '',
    ...tableLines(rows.filter((row) => row.suite === suite)),
    '',
  ]);
}

/** Where a peer's median is better than ours, in the same case and unit of one run. The limit is no peer. */
export function lossLines(rows: readonly Row[]): string[] {
  const own = rows.filter(({ client, value }) => client === 'kubeloom' && value !== null);
  const lines = own.flatMap((row) =>
    rows
      .filter(
        (peer) => isSame(row, peer) && !['kubeloom', 'limit'].includes(peer.client) && isBetter(peer, row),
      )
      .map((peer) => {
        const figures = `${numberText(peer.value)} against ${numberText(row.value)} ${row.unit}`;
        return `- ${row.suite}: ${row.case}, ${sizeText(row.objectBytes)}, ${row.handler}: ${peer.client} ${figures}`;
      }),
  );
  return lines.length === 0 ? ['Nothing in these runs.'] : lines;
}

function isSame(row: Row, peer: Row): boolean {
  return (
    row.suite === peer.suite &&
    row.case === peer.case &&
    row.unit === peer.unit &&
    row.handler === peer.handler &&
    row.objectBytes === peer.objectBytes
  );
}

function isBetter(peer: Row, row: Row): boolean {
  if (peer.value === null || row.value === null) return false;
  return isMoreBetter(row.unit) ? peer.value > row.value : peer.value < row.value;
}

function tableLines(rows: readonly Row[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(COLUMNS), line(COLUMNS.map(() => '---')), ...rows.map((row) => line(cells(row)))];
}

function cells(row: Row): string[] {
  const name = row.default ? `**${row.case}**` : row.case;
  const head = [name, sizeText(row.objectBytes), row.handler, row.client];
  if (row.value === null) return [...head, 'failed', '', '', escaped(row.error ?? ''), '', ''];
  return [
    ...head,
    ...[row.value, row.min, row.max].map(numberText),
    row.unit,
    ratioText(row.ratioToClientNode),
    ratioText(row.ratioToLimit),
  ];
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');
}

/** The page with new figures between its two marks. */
export function withFigures(page: string, figures: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) return `${page.trimEnd()}\n\n${BEGIN}\n\n${figures}\n${END}\n`;
  return `${page.slice(0, begin + BEGIN.length)}\n\n${figures}\n${page.slice(end)}`;
}
