/**
 * The figures of `docs/benchmarks.md`: machines, charts and losses. All rows are in the JSON files beside the charts.
 */
import { COMPILED, SAME_NODE, isMoreBetter } from '../names.ts';
import type { Row } from '../row.ts';
import type { Report } from '../document.ts';
import { machineText } from '../document.ts';
import { numberText, sizeText } from '../table-text.ts';

/** A part of the page that is written from results. */
export type Part = 'programs' | 'figures';

/** The lines before and after a part. */
export function marksOf(part: Part): { readonly begin: string; readonly end: string } {
  return { begin: `<!-- ${part}: written by npm run bench -- --report -->`, end: `<!-- end of ${part} -->` };
}

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
    ...runs.flatMap(({ file, report: { results } }) => {
      // The table of programs has every ratio.
      const judged = results.filter((row) => row.default && row.suite !== 'programs');
      return judged.length === 0 ? [] : [`### Losses in ${file}`, '', ...lossLines(judged), ''];
    }),
  ].join('\n');
}

/**
 * Returns a line for each case in which the medians of peers are better than kubeloom's, in any unit, within one run.
 * Peers in JavaScript are those on the same Node; the limit is no peer.
 */
export function lossLines(rows: readonly Row[]): string[] {
  const lossesOfCases = new Map<string, string[]>();
  for (const row of rows) {
    const peers = rows.filter((peer) => isPeer(row, peer) && isSame(row, peer) && isBetter(peer, row));
    if (peers.length === 0) continue;
    const name = `${row.suite}: ${row.case}, ${sizeText(row.objectBytes)}, ${row.handler}`;
    const figures = [row, ...peers].map(({ client, value }) => `${client} ${numberText(value)}`).join(', ');
    lossesOfCases.set(name, [...(lossesOfCases.get(name) ?? []), `${row.unit}: ${figures}`]);
  }
  const lines = [...lossesOfCases].map(([name, losses]) => `- ${name}, ${losses.join('; ')}`);
  return lines.length === 0 ? ['Nothing in these runs.'] : lines;
}

function isPeer({ client }: Row, peer: Row): boolean {
  if (SAME_NODE[client]?.includes(peer.client)) return true;
  return client === 'kubeloom' && COMPILED.includes(peer.client);
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

/** Returns the page with a new text between the two marks of the part. */
export function withPart(page: string, part: Part, text: string): string {
  const { begin, end } = marksOf(part);
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) return `${page.trimEnd()}\n\n${begin}\n\n${text}\n${end}\n`;
  return `${page.slice(0, from + begin.length)}\n\n${text}\n${page.slice(to)}`;
}
