/** A case of a suite: data. What is measured, on which source, by which clients. */
import type { HighRateSourceOptions } from '../src/embedded/source.ts';
import type { ClientName, SuiteName } from './names.ts';
import type { Task } from './task.ts';

/** `smoke` runs everything tiny; `quick` the default rows; `standard` what is worth minutes; `all` the whole grid. */
export type Level = 'smoke' | 'quick' | 'standard' | 'all';

export type SourceSpec = Omit<HighRateSourceOptions, 'isolation' | 'port'>;

/** What the task of a case does not get from its source. */
export type TaskShape = Omit<Task, 'url' | 'token' | 'ca' | 'events' | 'objects' | 'resource'> & {
  readonly resource?: string;
};

export interface BenchCase {
  readonly suite: SuiteName;
  /** What rows call it; with handler, shards and client it names a row. */
  readonly name: string;
  /** Goals are judged on `default` rows; `all` is the grid beyond them. */
  readonly tier: 'default' | 'standard' | 'all';
  /** `pods` and `objectBytes` are always given. */
  readonly source: SourceSpec & { readonly pods: number; readonly objectBytes: number };
  /** On the embedded apiserver, with so many changes a second, which breaks the watch: for relists. */
  readonly churnPerSecond?: number;
  readonly task: TaskShape;
  /** Each with the number of events it is to receive: a slow client needs fewer for the same time. */
  readonly clients: Readonly<Partial<Record<ClientName, number>>>;
}

/** At most so many objects and events in a smoke; readers and paces are small as well. */
const SMOKE = { pods: 200, events: 300, cellMs: 20, roundBytesMax: 2 ** 20 };
/** Who takes part in a smoke of the default rows: the others need toolchains, and minutes. Elsewhere kubeloom only. */
const SMOKE_CLIENTS: readonly string[] = ['kubeloom', 'limit', 'client-node'];
/** A quick run has so much of the time of a standard one, except for what must be whole. */
const QUICK_SHARE = 0.5;

/** The case at the size of its level. */
export function sized(benchCase: BenchCase, level: Level): BenchCase {
  if (level === 'smoke') return tiny(benchCase);
  if (level !== 'quick' || benchCase.suite === 'memory') return benchCase;
  return withEvents(benchCase, (events) => Math.ceil(events * QUICK_SHARE));
}

function tiny(benchCase: BenchCase): BenchCase {
  const { source, task, tier } = benchCase;
  const who = tier === 'default' ? SMOKE_CLIENTS : ['kubeloom'];
  const { podCounts, readers, warmUpEvents, ...rest } = task;
  const small = withEvents(benchCase, (events) => Math.min(events, SMOKE.events));
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
    },
    clients: Object.fromEntries(Object.entries(small.clients).filter(([name]) => who.includes(name))),
  };
}

function withEvents(benchCase: BenchCase, change: (events: number) => number): BenchCase {
  const clients = Object.entries(benchCase.clients).map(([name, events]) => [name, change(events)] as const);
  return { ...benchCase, clients: Object.fromEntries(clients) };
}

export function belongsTo({ tier }: BenchCase, level: Level): boolean {
  if (level === 'quick') return tier === 'default';
  return level === 'all' || tier !== 'all';
}

/** How often everybody runs. Goals are judged on the default rows; of the others a standard run shows one round. */
export function roundsOf({ tier }: BenchCase, level: Level): number {
  if (level === 'all') return 3;
  return level === 'standard' && tier === 'default' ? 3 : 1;
}

/** Cases that differ by their size only are one when they are tiny: the first, which has the peers. */
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

/** `readers` without a grid. */
function podsOnly({ podCounts = [] }: TaskShape): boolean {
  return podCounts.length === 0;
}
