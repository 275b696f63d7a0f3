/** A row of the results: a figure of a client in a case, as printed and written. */
import type { BenchCase } from './case.ts';
import { SAME_NODE, isMoreBetter } from './names.ts';
import type { ClientName, SuiteName, Unit } from './names.ts';
import { ratioOf, summarise } from './statistics.ts';
import type { Handler } from './task.ts';

/** Separates the name of a case from that of a figure. */
export const FIGURE = ': ';

export interface Row {
  readonly suite: SuiteName;
  readonly client: ClientName;
  /** The case, and the figure if the case reports several of a unit: `pods: loop-delay-p99`. */
  readonly case: string;
  readonly objectBytes: number;
  readonly handler: Handler;
  /** Null for clients without shards. */
  readonly shards: number | null;
  /** The median; null when no run succeeded. */
  readonly value: number | null;
  readonly unit: Unit;
  readonly min: number | null;
  readonly max: number | null;
  /** Number of runs that succeeded. */
  readonly runs: number;
  /** Ratios to the other clients of the case; above 1: better than that client. Clients that were not measured are absent. */
  readonly ratios: Readonly<Partial<Record<ClientName, number>>>;
  /** The client's version and runtime; null when no run succeeded. */
  readonly version: string | null;
  /** True for rows on which goals are judged. */
  readonly default: boolean;
  /** Why there is no value, or why some runs have none. */
  readonly error?: string;
}

/** A figure of a run. `suffix` distinguishes figures of the same unit. */
export interface Figure {
  readonly suffix: string;
  readonly unit: Unit;
  readonly value: number;
}

/** The figures of a client in a round, or the client's error. */
export interface Run {
  readonly figures: readonly Figure[];
  readonly shards: number | null;
  readonly version: string | null;
  readonly error?: string;
}

export type RunsByClient = ReadonlyMap<ClientName, readonly Run[]>;

const keyOf = ({ suffix, unit }: Figure): string => `${suffix} ${unit}`;

/** All rows of a case, in the order of the clients. */
export function rowsOf(benchCase: BenchCase, runs: RunsByClient): Row[] {
  const kinds = new Map<string, Figure>();
  for (const figure of [...runs.values()].flat().flatMap(({ figures }) => figures)) {
    kinds.set(keyOf(figure), figure);
  }
  const rows: Row[] = [];
  for (const [client, own] of runs) {
    const hasFigures = own.some(({ figures }) => figures.length > 0);
    if (!hasFigures) rows.push(failedRow(benchCase, client, own));
    else for (const kind of kinds.values()) rows.push(...rowOf(benchCase, client, runs, kind));
  }
  return rows;
}

function valuesOf(runs: readonly Run[] | undefined, kind: Figure): (number | undefined)[] {
  return (runs ?? []).map(({ figures }) => figures.find((each) => keyOf(each) === keyOf(kind))?.value);
}

function rowOf(benchCase: BenchCase, client: ClientName, runs: RunsByClient, kind: Figure): Row[] {
  const own = valuesOf(runs.get(client), kind);
  const measured = own.filter((value) => value !== undefined);
  const summary = summarise(measured);
  if (summary === undefined) return [];
  const ratios: Partial<Record<ClientName, number>> = {};
  for (const [peer, theirs] of runs) {
    const ratio = ratioOf(own, valuesOf(theirs, kind), isMoreBetter(kind.unit));
    if (peer !== client && ratio !== null) ratios[peer] = ratio;
  }
  return [
    {
      ...commonOf(benchCase, client, runs.get(client) ?? []),
      case: kind.suffix === '' ? benchCase.name : `${benchCase.name}${FIGURE}${kind.suffix}`,
      value: summary.median,
      unit: kind.unit,
      min: summary.min,
      max: summary.max,
      runs: measured.length,
      ratios,
    },
  ];
}

/** A client, and how much better a row is than it. */
export interface PeerRatio {
  readonly peer: ClientName;
  readonly ratio: number;
}

/** Returns the lowest of kubeloom's ratios to the JavaScript clients on the same Node: that to the best of them. */
export function ratioToBest({ client, ratios }: Row): PeerRatio | undefined {
  const all = (SAME_NODE[client] ?? []).flatMap((peer) => {
    const ratio = ratios[peer];
    return ratio === undefined ? [] : [{ peer, ratio }];
  });
  return all.toSorted((one, other) => one.ratio - other.ratio)[0];
}

/** Unit of a case's first figure, for the row of a client without a figure. */
const UNITS: Readonly<Record<SuiteName, Unit>> = {
  programs: 'cpu-us/event',
  watch: 'events/s',
  sizes: 'events/s',
  sync: 'ms',
  latency: 'ms',
  memory: 'bytes',
  growth: 'events/s',
  readers: 'ms',
  micro: 'events/s',
  metrics: 'events/s',
  rest: 'cpu-ms/s',
  start: 'ms',
  small: 'ms',
  threads: 'ms',
};

function failedRow(benchCase: BenchCase, client: ClientName, runs: readonly Run[]): Row {
  return {
    ...commonOf(benchCase, client, runs),
    case: benchCase.name,
    value: null,
    unit: UNITS[benchCase.suite],
    min: null,
    max: null,
    runs: 0,
    ratios: {},
  };
}

function commonOf(
  { suite, tier, source: { objectBytes }, task: { handler } }: BenchCase,
  client: ClientName,
  runs: readonly Run[],
): Pick<Row, 'suite' | 'client' | 'objectBytes' | 'handler' | 'shards' | 'version' | 'default' | 'error'> {
  const shards = runs.find((run) => run.shards !== null)?.shards ?? null;
  const version = runs.find((run) => run.version !== null)?.version ?? null;
  const error = runs.find((run) => run.error !== undefined)?.error;
  const row = { suite, client, objectBytes, handler, shards, version, default: tier === 'default' };
  return error === undefined ? row : { ...row, error };
}
