/** A case of a suite, as data: the task, the source, and the clients. */
import type { SourceOptions } from './source/server.ts';
import type { ClientName, SuiteName, Unit } from './names.ts';
import type { Task } from './task.ts';

/**
 * The size of a run. `smoke` runs every case at tiny size; `quick` the default rows; `standard` also rows of
 * minutes; `all` the whole grid.
 */
export type Level = 'smoke' | 'quick' | 'standard' | 'all';

/** The part of a case's task that is independent of the source. */
export type TaskShape = Omit<Task, 'url' | 'token' | 'ca' | 'events' | 'objects' | 'resource'> & {
  readonly resource?: string;
};

/** A figure of kubeloom in a case, or a ratio of it, and the value that it should reach. */
export interface Goal {
  readonly unit: Unit;
  /** The name of the figure; '' for the main figure of the unit. */
  readonly figure: string;
  /**
   * The ratio that counts: to the best JavaScript client on the same Node, to a client, or to the same figure of another
   * case. Undefined: the figure itself.
   */
  readonly to?: 'javascript' | ClientName | { readonly caseName: string };
  readonly relation: 'at least' | 'at most';
  readonly value: number;
}

export interface BenchCase {
  readonly suite: SuiteName;
  /** Name of the case in rows; with handler, shards and client it identifies a row. */
  readonly name: string;
  /** Goals are judged on `default` rows; `all` is the grid beyond them. */
  readonly tier: 'default' | 'standard' | 'all';
  /** `pods` and `objectBytes` are always given. */
  readonly source: SourceOptions & { readonly pods: number; readonly objectBytes: number };
  /** Relists on the embedded apiserver: changes a second, while the server breaks the watch. */
  readonly churnPerSecond?: number;
  readonly task: TaskShape;
  /** The clients run on one core, with V8's old generation of this size. Default: on the whole machine. */
  readonly oneCoreHeapMiB?: number;
  /** The number of events for each client: a slow client needs fewer for the same time. */
  readonly clients: Readonly<Partial<Record<ClientName, number>>>;
  readonly goals?: readonly Goal[];
}

/** Limits of a smoke. Readers and paces are small as well. */
const SMOKE = { pods: 200, events: 300, cellMs: 20, roundBytesMax: 2 ** 20 };
/**
 * The clients of a smoke of the default rows; other rows use kubeloom only. client-go with protobuf is left out where there
 * is no Go. The remaining clients need more time, and no code of ours that these do not run.
 */
const SMOKE_CLIENTS: readonly ClientName[] = [
  'kubeloom',
  'kubeloom-lts',
  'limit',
  'client-node',
  'client-go-protobuf',
];
/** Share of the events in a quick run, except in cases that need all events. */
const QUICK_SHARE = 0.5;

/** Returns the case at the size of the level. */
export function sized(benchCase: BenchCase, level: Level): BenchCase {
  if (level === 'smoke') return tiny(benchCase);
  if (level !== 'quick' || benchCase.suite === 'memory') return benchCase;
  return withEvents(benchCase, (events) => Math.ceil(events * QUICK_SHARE));
}

function tiny(benchCase: BenchCase): BenchCase {
  const { source, task, tier } = benchCase;
  const { podCounts, readers, warmUpEvents, ...rest } = task;
  const small = withClients(
    withEvents(benchCase, (events) => Math.min(events, SMOKE.events)),
    tier === 'default' ? SMOKE_CLIENTS : ['kubeloom'],
  );
  return {
    ...small,
    source: { ...source, pods: Math.min(source.pods, SMOKE.pods), roundBytesMax: SMOKE.roundBytesMax },
    task: {
      ...rest,
      cellMs: SMOKE.cellMs,
      settleMs: 0,
      ...(podCounts ? { podCounts: podCounts.slice(0, 1).map(() => SMOKE.pods) } : {}),
      ...(readers ? { readers: readers.slice(0, 2) } : {}),
      ...(warmUpEvents === undefined ? {} : { warmUpEvents: 1 }),
      ...(task.informers === undefined ? {} : { informers: 3 }),
      ...(task.members === undefined ? {} : { members: 3 }),
    },
  };
}

/** Returns the clients of the case, in the order of a round. */
export function clientsOf({ clients }: BenchCase): ClientName[] {
  return Object.keys(clients) as ClientName[];
}

/** @param wanted all clients of the case when it is undefined */
export function withClients(benchCase: BenchCase, wanted: readonly ClientName[] | undefined): BenchCase {
  if (wanted === undefined) return benchCase;
  const kept = Object.entries(benchCase.clients).filter(([name]) => wanted.includes(name as ClientName));
  return { ...benchCase, clients: Object.fromEntries(kept) };
}

function withEvents(benchCase: BenchCase, change: (events: number) => number): BenchCase {
  const clients = Object.entries(benchCase.clients).map(([name, events]) => [name, change(events)] as const);
  return { ...benchCase, clients: Object.fromEntries(clients) };
}

export function belongsTo({ tier }: BenchCase, level: Level): boolean {
  if (level === 'quick') return tier === 'default';
  return level === 'all' || tier !== 'all';
}

/**
 * Returns the number of rounds. Goals are judged on the default rows; a standard run measures all other rows in a
 * single round.
 */
export function roundsOf({ tier }: BenchCase, level: Level): number {
  if (level === 'all') return 3;
  return level === 'standard' && tier === 'default' ? 3 : 1;
}

/**
 * Keeps the first of the cases that differ only in size, because they are equal at a tiny size. The first case includes
 * the peers.
 */
export function distinct(cases: readonly BenchCase[]): BenchCase[] {
  const kindOf = ({ suite, source, churnPerSecond, task }: BenchCase): string => {
    const { objectBytes: _bytes, pods: _pods, events = 0, ratePerSecond = 0, ...rest } = source;
    const { podCounts: _counts, readers: _readers, warmUpEvents: _warmUp, ...shape } = task;
    return JSON.stringify([
      suite,
      rest,
      events > 0,
      ratePerSecond > 0,
      churnPerSecond,
      shape,
      podsOnly(task),
    ]);
  };
  return [...new Map(cases.toReversed().map((each) => [kindOf(each), each])).values()].toReversed();
}

/** True for `readers` without a grid. */
function podsOnly({ podCounts = [] }: TaskShape): boolean {
  return podCounts.length === 0;
}
