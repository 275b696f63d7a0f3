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

const CONNECTION = [
  'CONNECTION_RESET',
  'UNREACHABLE',
  'TRUNCATED',
  'HTTP',
  'WRITE_UNCONFIRMED',
  'GONE',
  // A fault may end a watch before its first event.
  'VERY_SHORT_WATCH',
  'NO_END_BOOKMARK',
];
/** Codes that a busy machine explains as well: a request takes too long, so a member loses the right to work. */
export const BUSY_CODES: readonly string[] = [
  'STALLED',
  'TIMEOUT',
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
  'EXPIRED_LOOP',
  'HTTP_STATUS',
  'INTERNAL',
  'TOO_MANY_REQUESTS',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'NOT_FOUND',
];
const THREAD = ['THREAD_RESTARTED', 'THREAD'];
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
  { name: 'member is killed', strikes: 'members', codes: [] },
  { name: 'member is stopped', strikes: 'members', codes: [] },
  { name: 'member is frozen', strikes: 'members', codes: CONNECTION },
  { name: 'member is slow', strikes: 'members', codes: CONNECTION },
  { name: 'member receives nothing', strikes: 'members', codes: CONNECTION },
  { name: 'member is cut off', strikes: 'members', codes: CONNECTION },
  { name: 'apiserver is killed', strikes: 'server', codes: OUTAGE },
  { name: 'apiserver is restarted', strikes: 'server', codes: OUTAGE },
  { name: 'history is compacted', strikes: 'server', codes: OUTAGE },
] as const satisfies readonly FaultKind[];

export type FaultName = (typeof FAULTS)[number]['name'];

/** A fault at its place in the load. */
export interface Strike {
  readonly fault: FaultName;
  /** Number of writes from the strike before to this one. */
  readonly afterWrites: number;
  /** Number of writes for which a fault lasts that does not end by itself. */
  readonly lastsWrites: number;
}

export interface PlannedWindow {
  readonly index: number;
  /** None: nothing may be reported but what a busy machine explains. */
  readonly strikes: readonly Strike[];
}

export const STRIKES = 5;
/** Windows that contain each fault, and a calm one. */
export const WINDOWS_MIN = 6;
/** Writes after the last strike of a window. */
export const LAST_WRITES = 200;
/** One window in so many has no fault. */
const CALM_EVERY = 6;
const AFTER_MIN = 50;
const AFTER_MAX = 250;
const LASTS_MIN = 50;
const LASTS_MAX = 500;

/** Yields windows without end; the same seed gives the same ones. */
export function* windowsOf(seed: number): Generator<PlannedWindow, never> {
  const random = seededRandom(seed);
  let deck: FaultName[] = [];
  for (let index = 0; ; index++) {
    const isCalm = index % CALM_EVERY === CALM_EVERY - 1;
    const strikes: Strike[] = [];
    for (let left = isCalm ? 0 : STRIKES; left > 0; left--) {
      if (deck.length === 0) deck = shuffled(random);
      const fault = deck.pop();
      if (!fault) break;
      const afterWrites = between(random, AFTER_MIN, AFTER_MAX);
      strikes.push({ fault, afterWrites, lastsWrites: between(random, LASTS_MIN, LASTS_MAX) });
    }
    yield { index, strikes };
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
