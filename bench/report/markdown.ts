/**
 * The figures of `docs/benchmarks.md`: machines, charts and losses. All rows are in the JSON files beside the charts.
 */
import { isMoreBetter } from '../names.ts';
import type { Row } from '../row.ts';
import type { Report } from '../document.ts';
import { machineText } from '../document.ts';
import { numberText, sizeText } from '../table-text.ts';

export const BEGIN = '<!-- figures: written by npm run bench -- --report -->';
export const END = '<!-- end of figures -->';

/** A run of the benchmark, and the file in `docs/benchmarks` with all rows of the run. */
export interface PublishedRun {
  readonly file: string;
  readonly report: Report;
}

/** The section of the page: machines, charts, and the judged rows in which a peer is better. */
export function figuresText(runs: readonly PublishedRun[], charts: readonly string[]): string {
  return [
    ...runs.map(
      ({ file, report: { machine } }) =>
        `- \`docs/benchmarks/${file}\`, ${machine.date}: ${machineText(machine)}`,
    ),
    '',
    `Charts: ${charts.map((file) => `\`docs/benchmarks/${file}\``).join(', ')}.`,
    '',
    ...runs.flatMap(({ file, report: { results } }) => [
      `### Losses in ${file}`,
      '',
      ...lossLines(results.filter((row) => row.default)),
      '',
    ]),
  ].join('\n');
}

/**
 * Returns the rows in which a peer's median is better than kubeloom's, in the same case and unit of one run.
 * The limit is no peer.
 */
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

/** Returns the page with new figures between its two marks. */
export function withFigures(page: string, figures: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) return `${page.trimEnd()}\n\n${BEGIN}\n\n${figures}\n${END}\n`;
  return `${page.slice(0, begin + BEGIN.length)}\n\n${figures}\n${page.slice(end)}`;
}
