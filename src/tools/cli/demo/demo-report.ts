/** The result of the demo: as a JSON object, as a text, and as a verdict. Pure. */
import { factLines, faultsText, hasFaults, number, verdictLines } from '../terminal/report.ts';
import type { Conclusion, Judged } from '../terminal/report.ts';
import { Table } from '../terminal/table.ts';

/** The output of --json, in this order. */
export interface DemoReport {
  readonly pods: number;
  /** Changes in the server's log after the informer's list. */
  readonly eventsSent: number;
  /** Changes delivered as the log records them, to the handler that received fewer. */
  readonly eventsDelivered: number;
  /** Sums over both handlers, including the initial list. */
  readonly lost: number;
  readonly duplicated: number;
  readonly reordered: number;
  /** Keys and resourceVersions are equal, and the bytes of a sample of objects equal the server's answers. */
  readonly storeEqualsServer: boolean;
  /** The rate of the prompt handler, from the first change to the last. */
  readonly eventsPerSecond: number;
  /** From run() to the first list in the cache. */
  readonly syncMs: number;
  /**
   * monitorEventLoopDelay of the main thread from before the sync to the end; includes the sampling interval of 1 ms.
   */
  readonly eventLoopDelayMs: { readonly p99: number; readonly max: number };
  /** The process's peak resident memory. */
  readonly rssBytes: number;
  readonly threads: readonly ThreadReport[];
}

export interface ThreadReport {
  readonly role: string;
  readonly deltas: number;
  /** Null if the platform lacks the figure, and for roles that run on another role's thread. */
  readonly cpuMs: number | null;
}

export interface HandlerResult extends Judged {
  /** The largest number of notifications that were pending for the handler at once. */
  readonly behindMax: number;
}

export const PASSED = 'every change reached both handlers once, in order, and the cache equals the server.';

export function conclude(report: DemoReport, handlers: readonly HandlerResult[]): Conclusion {
  const failures = [...failuresOf(report), ...handlers.flatMap(handlerFailures)];
  return failures.length === 0 ? { kind: 'PASS', reasons: [] } : { kind: 'FAIL', reasons: failures };
}

function failuresOf(report: DemoReport): string[] {
  const shards = report.threads.filter(({ role }) => role.startsWith('shard'));
  const failures = shards
    .filter(({ deltas }) => !(deltas > 0))
    .map(({ role }) => `${role} handled no deltas`);
  if (shards.length === 0) failures.push('no shard reported its figures');
  if (!report.storeEqualsServer) failures.push('the cache does not equal the server');
  return failures;
}

function handlerFailures({ name, verdict }: HandlerResult): string[] {
  const failures: string[] = [];
  if (verdict.delivered === 0) failures.push(`the ${name} handler received no change`);
  if (hasFaults(verdict)) failures.push(`the ${name} handler: ${faultsText(verdict)}`);
  return failures;
}

/** The result of `npm start`: three small tables. @param columns of the terminal */
export function reportText(
  report: DemoReport,
  handlers: readonly HandlerResult[],
  columns: number = Infinity,
): string {
  const behind = ({ behindMax }: HandlerResult): readonly string[] => [number(behindMax)];
  const handlerLines = verdictLines('HANDLER', ['FURTHEST BEHIND'], handlers, behind, columns);
  const sections = [factLines(factsOf(report), columns), handlerLines, threadLines(report.threads)];
  return sections.map((lines) => lines.join('\n')).join('\n\n');
}

function factsOf(report: DemoReport): [string, string][] {
  const { p99, max } = report.eventLoopDelayMs;
  return [
    ['pods at the start', number(report.pods)],
    ['initial sync', `${number(report.syncMs)} ms`],
    ['changes sent', number(report.eventsSent)],
    ['changes delivered', `${number(report.eventsDelivered)} to each handler`],
    ['rate', `${number(report.eventsPerSecond)} events/s`],
    ['event loop delay', `p99 ${p99} ms, max ${max} ms (including the sampling interval of 1 ms)`],
    ['resident memory', `${number(Math.round(report.rssBytes / 1e6))} MB at its peak`],
    ['cache equals server', report.storeEqualsServer ? 'yes' : 'NO'],
  ];
}

function threadLines(threads: readonly ThreadReport[]): string[] {
  const table = new Table(['THREAD', 'DELTAS', 'CPU']);
  return table.lines(
    threads.map(({ role, deltas, cpuMs }) => [
      role,
      number(deltas),
      cpuMs === null ? 'unknown' : `${number(cpuMs)} ms`,
    ]),
  );
}

/** @param sent undefined when the server did not report it */
export function progressText(sent: number | undefined, prompt: number, slow: number): string {
  const issued = sent === undefined ? '' : `sent ${number(sent)}, `;
  return `${issued}prompt handler ${number(prompt)}, slow handler ${number(slow)}`;
}
