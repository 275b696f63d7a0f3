/** The figures of sharded watches: what members and the server report, and the table of it. Pure. */
import { markdownTable } from './markdown-table.ts';
import { sumOfMetric } from './server-metrics.ts';

/** A period in which a member works on a partition, as its reconciliations show it. */
export interface Tenure {
  readonly member: string;
  readonly partition: number;
  readonly epoch: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** A line of a member. Counters grow from its start. */
export interface MemberFigures {
  readonly member: string;
  /** Its partitions. */
  readonly owned: readonly number[];
  readonly objects: number;
  readonly events: number;
  readonly bytes: number;
  readonly cpuMs: number;
  readonly rssBytes: number;
  /** The longest list of a partition, or of the common caches. */
  readonly listMs: number;
  readonly tenures: readonly Tenure[];
}

/** The server's own metrics at one moment. */
export interface ServerFigures {
  readonly cpuSeconds: number;
  readonly rssBytes: number;
  readonly leaseRequests: number;
  readonly sentEvents: number;
  readonly filteredEvents: number;
  readonly shards: number;
}

/** The members and the server over a time. */
export interface Phase {
  readonly isFiltering: boolean;
  readonly members: number;
  readonly seconds: number;
  readonly changes: number;
  /** From the start of the members until they have every object. */
  readonly filledMs: number;
  readonly before: { readonly members: readonly MemberFigures[]; readonly server: ServerFigures };
  readonly after: { readonly members: readonly MemberFigures[]; readonly server: ServerFigures };
}

/** The figures of a member, the mean of the group. */
export interface MemberMeans {
  readonly isFiltering: boolean;
  readonly members: number;
  /** Objects in its caches. */
  readonly objects: number;
  readonly eventsPerSecond: number;
  readonly kibPerSecond: number;
  readonly cpuMsPerSecond: number;
  readonly rssMib: number;
}

/** Times without an owner, by what happened. */
export interface Gaps {
  readonly isFiltering: boolean;
  readonly kill: readonly number[];
  readonly leave: readonly number[];
  readonly join: readonly number[];
}

const MIB = 2 ** 20;

/**
 * Returns how long each partition that has changed hands since a time was without an owner: from the last work of the one before,
 * or from its death, to the first work of the next.
 *
 * @param killed the member that was killed at this time: its last line is older than its death
 */
export function gapsOf(tenures: readonly Tenure[], sinceMs: number, killed?: string): number[] {
  const gaps: number[] = [];
  const partitions = new Set(tenures.map(({ partition }) => partition));
  for (const partition of partitions) {
    const ofPartition = tenures.filter((tenure) => tenure.partition === partition);
    const ordered = ofPartition.toSorted((one, other) => one.epoch - other.epoch);
    for (const [index, next] of ordered.entries()) {
      const before = ordered[index - 1];
      if (!before || next.firstMs < sinceMs) continue;
      const lastMs = before.member === killed ? sinceMs : before.lastMs;
      gaps.push(Math.max(0, next.firstMs - lastMs));
    }
  }
  return gaps.toSorted((one, other) => one - other);
}

/**
 * Returns whether every partition of these members has been worked on since a time by its present owner, not only by the owner
 * before.
 */
export function areServed(
  members: readonly MemberFigures[],
  tenures: readonly Tenure[],
  sinceMs: number,
): boolean {
  return members.every(({ member, owned }) =>
    owned.every((partition) => {
      const newest = tenures
        .filter((tenure) => tenure.partition === partition)
        .toSorted((one, other) => other.epoch - one.epoch)[0];
      return newest?.member === member && newest.lastMs > sinceMs;
    }),
  );
}

/** Returns the tables as Markdown. */
export function tablesOf(phases: readonly Phase[], gaps: readonly Gaps[]): string {
  return `${memberTable(phases)}\n\n${serverTable(phases)}\n\n${gapTable(gaps)}\n`;
}

const MEMBER_COLUMNS: Readonly<Record<string, (phase: Phase) => string>> = {
  gate: ({ isFiltering }) => (isFiltering ? 'on' : 'off'),
  members: ({ members }) => String(members),
  'objects in the cache': (phase) => wholeText(meansOf(phase).objects),
  'first list of a partition, ms': ({ before }) =>
    wholeText(Math.max(...before.members.map(({ listMs }) => listMs))),
  'group has all objects, s': ({ filledMs }) => (filledMs / 1000).toFixed(1),
  'events/s': (phase) => wholeText(meansOf(phase).eventsPerSecond),
  'KiB/s': (phase) => wholeText(meansOf(phase).kibPerSecond),
  'CPU, ms/s': (phase) => wholeText(meansOf(phase).cpuMsPerSecond),
  'RSS, MiB': (phase) => wholeText(meansOf(phase).rssMib),
};

const SERVER_COLUMNS: Readonly<Record<string, (phase: Phase) => string>> = {
  gate: ({ isFiltering }) => (isFiltering ? 'on' : 'off'),
  members: ({ members }) => String(members),
  'changes/s': ({ changes, seconds }) => wholeText(changes / seconds),
  'events sent/s': (phase) => serverRate(phase, ({ sentEvents }) => sentEvents),
  'events filtered/s': (phase) => serverRate(phase, ({ filteredEvents }) => filteredEvents),
  'sharded watches': ({ after }) => String(after.server.shards),
  'Lease requests/s': (phase) => serverRate(phase, ({ leaseRequests }) => leaseRequests, 1),
  'CPU, ms/s': (phase) => serverRate(phase, ({ cpuSeconds }) => cpuSeconds * 1000),
  'RSS, MiB': ({ after }) => wholeText(after.server.rssBytes / MIB),
};

function memberTable(phases: readonly Phase[]): string {
  return `A member, the mean of the group:\n\n${markdownTable(MEMBER_COLUMNS, phases)}`;
}

function serverTable(phases: readonly Phase[]): string {
  return `The server:\n\n${markdownTable(SERVER_COLUMNS, phases)}`;
}

function gapTable(gaps: readonly Gaps[]): string {
  const columns: Readonly<Record<string, (row: Gaps) => string>> = {
    gate: ({ isFiltering }) => (isFiltering ? 'on' : 'off'),
    'after a kill, s': ({ kill }) => spread(kill),
    'at a leave, s': ({ leave }) => spread(leave),
    'at a join, s': ({ join }) => spread(join),
  };
  return `A partition without an owner, median and longest:\n\n${markdownTable(columns, gaps)}`;
}

export function meansOf(phase: Phase): MemberMeans {
  const { members } = phase.after;
  return {
    isFiltering: phase.isFiltering,
    members: phase.members,
    objects: mean(members.map(({ objects }) => objects)),
    eventsPerSecond: mean(ratesOf(phase, ({ events }) => events)),
    kibPerSecond: mean(ratesOf(phase, ({ bytes }) => bytes / 1024)),
    cpuMsPerSecond: mean(ratesOf(phase, ({ cpuMs }) => cpuMs)),
    rssMib: mean(members.map(({ rssBytes }) => rssBytes / MIB)),
  };
}

/** Returns what each member added in a second; a member that was not there before began at 0. */
function ratesOf({ before, after, seconds }: Phase, of: (figures: MemberFigures) => number): number[] {
  return after.members.map((figures) => {
    const earlier = before.members.find(({ member }) => member === figures.member);
    return (of(figures) - (earlier ? of(earlier) : 0)) / seconds;
  });
}

function serverRate(
  { before, after, seconds }: Phase,
  of: (figures: ServerFigures) => number,
  digits = 0,
): string {
  return ((of(after.server) - of(before.server)) / seconds).toFixed(digits);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function wholeText(value: number): string {
  return String(Math.round(value));
}

/** @param ascending in milliseconds */
function spread(ascending: readonly number[]): string {
  const seconds = (value: number | undefined): string => ((value ?? NaN) / 1000).toFixed(1);
  if (ascending.length === 0) return 'none';
  return `${seconds(ascending[Math.floor(ascending.length / 2)])}; ${seconds(ascending.at(-1))}`;
}

/** Reads the server's metrics from the text of `/metrics`. */
export function serverFiguresOf(text: string): ServerFigures {
  const sum = (metric: string, ...labels: readonly string[]): number => sumOfMetric(text, metric, ...labels);
  return {
    cpuSeconds: sum('process_cpu_seconds_total'),
    rssBytes: sum('process_resident_memory_bytes'),
    leaseRequests: sum('apiserver_request_total', 'resource="leases"'),
    sentEvents: sum('apiserver_watch_events_total', 'resource="configmaps"'),
    filteredEvents: sum('apiserver_watch_filtered_events_total', 'resource="configmaps"'),
    shards: sum('apiserver_watch_shards_total'),
  };
}
