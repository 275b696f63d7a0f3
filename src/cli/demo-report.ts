/** What the demo found, as one JSON object, as a text for people, and as a verdict. Pure. */
import type { Rate } from './arguments.ts';
import { factLines } from './fact-lines.ts';
import { Table } from './table.ts';
import type { Verdict } from './verdict.ts';

/** Printed by --json, in this order. */
export interface DemoReport {
  readonly pods: number;
  /** Changes in the server's log after the informer's list. */
  readonly eventsSent: number;
  /** Changes told as the log has them, by the handler that got fewer of them. */
  readonly eventsDelivered: number;
  /** Over both handlers, the initial list included. */
  readonly lost: number;
  readonly duplicated: number;
  readonly reordered: number;
  /** Same keys and resourceVersions, and the bytes of a sample of objects equal the server's answers. */
  readonly storeEqualsServer: boolean;
  /** Delivered to the handler that does not wait, from the first change it was told of to the last. */
  readonly eventsPerSecond: number;
  /** From run() to the first list in the cache. */
  readonly syncMs: number;
  /** Of monitorEventLoopDelay: the main thread from before the sync to the end; includes its interval of 1 ms. */
  readonly eventLoopDelayMs: { readonly p99: number; readonly max: number };
  /** The process's peak. */
  readonly rssBytes: number;
  readonly threads: readonly ThreadReport[];
  /** Only with --compare. */
  readonly comparison?: Comparison;
}

export interface ThreadReport {
  readonly role: string;
  readonly deltas: number;
  /** Null where the platform does not tell, and for threads that run on another one. */
  readonly cpuMs: number | null;
}

/** The informer of @kubernetes/client-node on the same stream. */
export interface Comparison {
  readonly clientNodeEventsPerSecond: number;
  /** Of the demo's rate to that one. */
  readonly ratio: number;
  /** Of its process, while it got the changes. */
  readonly clientNodeCpuMs: number;
  /** From its start to its first change. */
  readonly clientNodeSyncMs: number;
}

export interface HandlerResult {
  readonly name: string;
  readonly verdict: Verdict;
  /** Most notifications that waited for it at once. */
  readonly behindMax: number;
}

export type Conclusion =
  | { readonly kind: 'PASS'; readonly reasons: readonly [] }
  | { readonly kind: 'FAIL' | 'INVALID'; readonly reasons: readonly string[] };

export const EXIT_CODES: Readonly<Record<Conclusion['kind'], number>> = { PASS: 0, FAIL: 1, INVALID: 2 };

/** A load that the machine did not manage to send proves nothing. */
const SENT_SHARE_MIN = 0.95;

export interface Intended {
  readonly rate: Rate;
  readonly durationSeconds: number;
}

export function conclude(
  report: DemoReport,
  handlers: readonly HandlerResult[],
  { rate, durationSeconds }: Intended,
): Conclusion {
  const failures = [...failuresOf(report), ...handlers.flatMap(handlerFailures)];
  const intended = rate === 'max' ? 1 : rate * durationSeconds * SENT_SHARE_MIN;
  if (report.eventsSent < intended) {
    const wanted = `at least ${number(Math.ceil(intended))}`;
    const shortfall = `only ${number(report.eventsSent)} changes were sent, ${wanted} are needed`;
    return { kind: 'INVALID', reasons: [shortfall, ...failures] };
  }
  return failures.length === 0 ? { kind: 'PASS', reasons: [] } : { kind: 'FAIL', reasons: failures };
}

function failuresOf(report: DemoReport): string[] {
  const shards = report.threads.filter(({ role }) => role.startsWith('shard'));
  const failures = shards
    .filter(({ deltas }) => !(deltas > 0))
    .map(({ role }) => `${role} handled no deltas`);
  if (shards.length === 0) failures.push('no shard reported what it did');
  if (!report.storeEqualsServer) failures.push('the cache does not equal the server');
  return failures;
}

function handlerFailures({ name, verdict }: HandlerResult): string[] {
  const { delivered, lost, duplicated, reordered, findings } = verdict;
  const failures: string[] = [];
  if (delivered === 0) failures.push(`the ${name} handler was told of no change`);
  if (lost + duplicated + reordered > 0) {
    const counts = `${number(lost)} lost, ${number(duplicated)} duplicated, ${number(reordered)} reordered`;
    failures.push(`the ${name} handler: ${counts} (${findings.join('; ')})`);
  }
  return failures;
}

/** The end of `npm start`: three small tables and the verdict. */
export function reportText(
  report: DemoReport,
  handlers: readonly HandlerResult[],
  conclusion: Conclusion,
): string {
  const sections = [factLines(factsOf(report)), handlerLines(handlers), threadLines(report.threads)];
  return [...sections.map((lines) => lines.join('\n')), conclusionText(conclusion)].join('\n\n');
}

export function conclusionText({ kind, reasons }: Conclusion): string {
  if (kind === 'PASS') {
    return 'PASS: every change reached both handlers once, in order, and the cache equals the server.';
  }
  return [`${kind}:`, ...reasons.map((reason) => `  ${reason}`)].join('\n');
}

function factsOf(report: DemoReport): [string, string][] {
  const { p99, max } = report.eventLoopDelayMs;
  const facts: [string, string][] = [
    ['pods at the start', number(report.pods)],
    ['initial sync', `${number(report.syncMs)} ms`],
    ['changes sent', number(report.eventsSent)],
    ['changes delivered', `${number(report.eventsDelivered)} to each handler`],
    ['rate', `${number(report.eventsPerSecond)} events/s`],
    ['event loop delay', `p99 ${p99} ms, max ${max} ms (including the sampling interval of 1 ms)`],
    ['resident memory', `${number(Math.round(report.rssBytes / 1e6))} MB at its peak`],
    ['cache equals server', report.storeEqualsServer ? 'yes' : 'NO'],
  ];
  if (report.comparison) {
    const { clientNodeEventsPerSecond, ratio, clientNodeCpuMs, clientNodeSyncMs } = report.comparison;
    const peer = `${number(clientNodeEventsPerSecond)} events/s on the same stream, CPU ${number(clientNodeCpuMs)} ms`;
    facts.push(['client-node informer', `${peer}, sync ${number(clientNodeSyncMs)} ms`]);
    facts.push(['ratio', `${ratio}`]);
  }
  return facts;
}

function handlerLines(handlers: readonly HandlerResult[]): string[] {
  const table = new Table([
    'HANDLER',
    'INITIAL',
    'CHANGES',
    'LOST',
    'DUPLICATED',
    'REORDERED',
    'FURTHEST BEHIND',
  ]);
  return table.lines(
    handlers.map(({ name, verdict, behindMax }) => [
      name,
      number(verdict.initial),
      number(verdict.delivered),
      number(verdict.lost),
      number(verdict.duplicated),
      number(verdict.reordered),
      number(behindMax),
    ]),
  );
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

/** @param sent undefined when the server does not say */
export function progressText(sent: number | undefined, prompt: number, slow: number): string {
  const issued = sent === undefined ? '' : `sent ${number(sent)}, `;
  return `${issued}prompt handler ${number(prompt)}, slow handler ${number(slow)}`;
}

/** 200,000 */
export function number(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}
