/**
 * Rows as a table of text: a line for each main figure of a case, with CPU time and the event loop's delay of
 * the same runs.
 */
import { FIGURE, ratioToBest } from './row.ts';
import type { Row } from './row.ts';

const HEADERS = [
  'CASE',
  'HANDLER',
  'CLIENT',
  'MEDIAN',
  'MIN',
  'MAX',
  'UNIT',
  '/BEST JS',
  '/LIMIT',
  'CPU µs',
  'LOOP p99',
  'LOOP max ms',
];
const GAP = '   ';
const SMALL = 100;
const LOOP_DELAY = 'loop-delay-';

export function tableText(rows: readonly Row[]): string {
  const own = rows.filter((row) => row.value !== null && isOwnLine(row));
  const failed = rows.filter((row) => row.error !== undefined && (row.value === null || isOwnLine(row)));
  const failures = failed.map((row) => `${lineName(row)}, ${row.handler}, ${row.client}: ${row.error}`);
  const lines = own.length === 0 ? [] : alignedText([HEADERS, ...own.map((row) => cells(row, rows))]);
  return [...lines, ...failures].join('\n');
}

/** Lines whose columns have the width of their longest cell. */
export function alignedText(table: readonly (readonly string[])[]): string[] {
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((cells) => cells[column]?.length ?? 0)),
  );
  return table.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

/** CPU time and loop delays are columns of other lines. */
function isOwnLine({ unit, case: name }: Row): boolean {
  return unit !== 'cpu-us/event' && !name.includes(LOOP_DELAY);
}

function baseOf(name: string): string {
  return name.split(FIGURE)[0] ?? name;
}

function lineName(row: Row): string {
  const shards = row.shards === null || row.shards === 1 ? '' : `, ${row.shards} shards`;
  return `${row.suite}: ${row.case}, ${sizeText(row.objectBytes)}${shards}`;
}

function cells(row: Row, rows: readonly Row[]): string[] {
  const beside = (name: string, unit: string): string => {
    const found = rows.find(
      (other) =>
        other.case === name &&
        other.unit === unit &&
        other.client === row.client &&
        other.suite === row.suite &&
        other.handler === row.handler &&
        other.objectBytes === row.objectBytes &&
        other.shards === row.shards,
    );
    return numberText(found?.value ?? null);
  };
  const base = baseOf(row.case);
  return [
    lineName(row),
    row.handler,
    row.client,
    ...[row.value, row.min, row.max].map(numberText),
    row.unit,
    ratioText(ratioToBest(row)?.ratio),
    ratioText(row.ratios.limit),
    beside(base, 'cpu-us/event'),
    beside(`${base}${FIGURE}${LOOP_DELAY}p99`, 'ms'),
    beside(`${base}${FIGURE}${LOOP_DELAY}max`, 'ms'),
  ];
}

/** 5 KB */
export function sizeText(bytes: number): string {
  return bytes < 1024 ? `${bytes} B` : `${Math.round(bytes / 1024)} KB`;
}

/** Three digits: more would be noise. */
export function numberText(value: number | null): string {
  if (value === null) return '';
  return value < SMALL ? value.toPrecision(3) : Math.round(value).toLocaleString('en-US');
}

export function ratioText(ratio: number | undefined): string {
  return ratio === undefined ? '' : `${ratio.toFixed(ratio < 1 ? 2 : 1)}x`;
}
