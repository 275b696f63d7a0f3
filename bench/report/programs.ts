/** The table of programs in `docs/benchmarks.md`: a line a job, a column a program. */
import { markdownTable } from '../kube-apiserver/markdown-table.ts';
import type { ClientName } from '../names.ts';
import { FIGURE, ratioToBest } from '../row.ts';
import type { Row } from '../row.ts';
import { numberText, ratioText, sizeText } from '../table-text.ts';
import { POD_BYTES } from '../suites/common.ts';

/** Programs beside kubeloom's on this Node, which have lines of their own. */
const OTHERS: Readonly<Partial<Record<ClientName, string>>> = {
  'kubeloom-lts': 'the current LTS',
  'client-go-protobuf': 'controller-runtime',
};
const MEMORY = `${FIGURE}rss-max`;
const UNITS: Readonly<Partial<Record<Row['unit'], string>>> = { ms: 'ms', 'cpu-us/event': 'µs' };

/**
 * Each cell has kubeloom's time, the time's ratio to client-node on the same Node, and the ratio of the highest memory. The time
 * of a list is its duration; the time of any other job is CPU time of the process an event.
 */
export function programsText(rows: readonly Row[]): string {
  const own = rows.filter(
    ({ suite, client }) => suite === 'programs' && (client === 'kubeloom' || client in OTHERS),
  );
  const times = own.filter(({ case: name, unit }) => !name.includes(FIGURE) && unit === unitOf(name));
  const programs = [...new Set(times.map(programOf))];
  const jobs = [...new Set(times.map(jobOf))];
  const cell = (job: string, program: string): string => {
    const time = times.find((row) => jobOf(row) === job && programOf(row) === program);
    if (!time) return '';
    const memory = own.find((row) => row.case === time.case + MEMORY && isSame(row, time));
    const ratios = [time, memory].map((row) => row && ratioText(ratioToBest(row)?.ratio));
    return [`${numberText(time.value)} ${UNITS[time.unit]}`, ...ratios.filter(Boolean)].join(', ');
  };
  const columns = programs.map((program) => [program, (job: string) => cell(job, program)] as const);
  return markdownTable({ job: (job) => job, ...Object.fromEntries(columns) }, jobs);
}

function unitOf(name: string): Row['unit'] {
  return name.includes(', list of ') ? 'ms' : 'cpu-us/event';
}

function programOf({ case: name, handler }: Row): string {
  return `${name.split(', ', 1)[0]}: ${handler}`;
}

function jobOf({ case: name, client, objectBytes }: Row): string {
  return [
    name.slice(name.indexOf(', ') + 2),
    OTHERS[client],
    objectBytes === POD_BYTES ? undefined : sizeText(objectBytes),
  ]
    .filter((text) => text !== undefined)
    .join(', ');
}

function isSame(row: Row, { client, handler, objectBytes }: Row): boolean {
  return row.client === client && row.handler === handler && row.objectBytes === objectBytes;
}
