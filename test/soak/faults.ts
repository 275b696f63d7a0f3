/** The faults of a soak, the errors that each explains, and their order: all of them before one comes again, by a seed. Pure. */
import { seededRandom } from '../../src/base/random.ts';
import type { Random } from '../../src/base/clock.ts';

export interface FaultKind {
  readonly name: string;
  /** The part that the fault strikes: the program with its threads, the members of the group, or the apiserver. */
  readonly strikes: 'program' | 'members' | 'server';
  /** Codes of errors, without ERR_KUBELOOM_, that may be reported because of the fault. */
  readonly codes: readonly string[];
}

/**
 * A machine that lets a timer wait this long can delay an answer by more than a member's limit for a renewal, a second: what a
 * member without answers reports is explained as well.
 */
export const LATE_MS = 200;

const CONNECTION = [
  'CONNECTION_RESET',
  'UNREACHABLE',
  'TRUNCATED',
  'TIMEOUT',
  'STALLED',
  'HTTP',
  'WRITE_UNCONFIRMED',
];
/** Codes that members report when they lose the server, or the right to work. */
const LOSS = [
  'LEADER_LOST',
  'PARTITION_LOST',
  'LEASE_LOST',
  'CONFLICT',
  'NOT_SYNCED',
  'STILL_RUNNING',
  'ABORTED',
];
const OUTAGE = [
  ...CONNECTION,
  ...LOSS,
  'GONE',
  'EXPIRED_LOOP',
  'HTTP_STATUS',
  'INTERNAL',
  'TOO_MANY_REQUESTS',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'NOT_FOUND',
  'NO_END_BOOKMARK',
  // An apiserver that shuts down opens watches and closes them at once.
  'VERY_SHORT_WATCH',
];
const THREAD = ['THREAD_RESTARTED', 'THREAD'];
/** Codes that a machine without time explains. */
export const LATE_CODES: readonly string[] = ['STALLED', 'TIMEOUT', ...LOSS];

export const FAULTS = [
  { name: 'shard thread exits', strikes: 'program', codes: THREAD },
  { name: 'shard thread blocks', strikes: 'program', codes: THREAD },
  { name: 'reflector thread throws', strikes: 'program', codes: THREAD },
  { name: 'pool thread exits', strikes: 'program', codes: THREAD },
  { name: 'pool thread blocks', strikes: 'program', codes: [] },
  { name: 'thread with a cache is terminated', strikes: 'program', codes: [] },
  { name: 'main thread blocks', strikes: 'program', codes: CONNECTION },
  { name: 'handlers are slow', strikes: 'program', codes: [] },
  { name: 'program is cut off', strikes: 'program', codes: CONNECTION },
  { name: 'program receives nothing', strikes: 'program', codes: CONNECTION },
  { name: 'names are made again', strikes: 'program', codes: CONNECTION },
  { name: 'member is killed', strikes: 'members', codes: LOSS },
  { name: 'member is stopped', strikes: 'members', codes: LOSS },
  { name: 'member is frozen', strikes: 'members', codes: [...CONNECTION, ...LOSS] },
  { name: 'member is slow', strikes: 'members', codes: [...CONNECTION, ...LOSS] },
  { name: 'member receives nothing', strikes: 'members', codes: [...CONNECTION, ...LOSS] },
  { name: 'member is cut off', strikes: 'members', codes: [...CONNECTION, ...LOSS] },
  { name: 'apiserver is killed', strikes: 'server', codes: OUTAGE },
  { name: 'apiserver is restarted', strikes: 'server', codes: OUTAGE },
  { name: 'history is compacted', strikes: 'server', codes: OUTAGE },
] as const satisfies readonly FaultKind[];

export type FaultName = (typeof FAULTS)[number]['name'];

/** A fault at its time. */
export interface Strike {
  readonly fault: FaultName;
  /** Time from the begin of the load. */
  readonly atMs: number;
  readonly lastsMs: number;
}

export interface PlannedWindow {
  readonly index: number;
  readonly loadMs: number;
  /** Ascending in time; none: nothing may be reported. */
  readonly strikes: readonly Strike[];
}

const LOAD_MS = 20_000;
const CALM_MS = 5000;
/** One window in so many has no fault. */
const CALM_EVERY = 6;
const PAUSE_MIN_MS = 1500;
const PAUSE_MAX_MS = 4500;
const LASTS_MIN_MS = 200;
const LASTS_MAX_MS = 5000;

/** Yields windows without end; the same seed gives the same ones. */
export function* windowsOf(seed: number): Generator<PlannedWindow, never> {
  const random = seededRandom(seed);
  let deck: FaultName[] = [];
  for (let index = 0; ; index++) {
    const isCalm = index % CALM_EVERY === CALM_EVERY - 1;
    const strikes: Strike[] = [];
    let atMs = isCalm ? LOAD_MS : PAUSE_MIN_MS;
    while (atMs < LOAD_MS) {
      if (deck.length === 0) deck = shuffled(random);
      const fault = deck.pop();
      if (!fault) break;
      strikes.push({ fault, atMs, lastsMs: between(random, LASTS_MIN_MS, LASTS_MAX_MS) });
      atMs += between(random, PAUSE_MIN_MS, PAUSE_MAX_MS);
    }
    yield { index, loadMs: isCalm ? CALM_MS : LOAD_MS, strikes };
  }
}

export function kindOf(fault: FaultName): FaultKind {
  const kind = FAULTS.find(({ name }) => name === fault);
  if (!kind) throw new RangeError(`no fault is called ${fault}`);
  return kind;
}

function shuffled(random: Random): FaultName[] {
  const names = FAULTS.map(({ name }) => ({ name, order: random() }));
  return names.toSorted((one, other) => one.order - other.order).map(({ name }) => name);
}

function between(random: Random, least: number, most: number): number {
  return Math.round(least + random() * (most - least));
}
