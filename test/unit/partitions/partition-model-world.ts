/** A state of the model of partitions, and its key. */
import type { LeaderElectionRecord, StoredRecord } from '../../../src/controller/index.ts';
import type { PartitionEvent, PartitionState } from '../../../src/partitions/partition-state.ts';

export const TICK_MS = 1000;
/** Clocks of the members: nothing may depend on the difference. */
export const CLOCK_OFFSETS_MS: readonly number[] = [0, 4 * TICK_MS];

export type Answer = Extract<PartitionEvent, { readonly type: 'answered' | 'failed' }>;

/** A request on its way, or its answer. */
export interface Call {
  readonly write: { readonly draft: LeaderElectionRecord; readonly version: unknown } | undefined;
  readonly answer: Answer | undefined;
  /** Time may pass before it arrives. A message that never arrives is the same until then. */
  readonly isLate: boolean;
  readonly isCancelled: boolean;
}

export interface OfPartition {
  readonly state: PartitionState;
  readonly work: 'none' | 'running' | 'ending' | 'aborted';
  readonly calls: readonly Call[];
}

export interface Member {
  readonly partitions: readonly OfPartition[];
  readonly condition: 'running' | 'frozen' | 'dead';
  readonly hasSecondView: boolean;
  /** The watch has failed: it sees records only when it claims a partition. */
  readonly isBlind: boolean;
}

export interface World {
  readonly tick: number;
  readonly faultsLeft: number;
  readonly records: readonly (StoredRecord | undefined)[];
  /** Epoch of the last work on each partition; -1 before the first. */
  readonly epochs: readonly number[];
  readonly members: readonly Member[];
  /** A promise that the last move has broken. */
  readonly broken: string | undefined;
}

/** No rule of the tests looks further back. */
const AGE_MAX_MS = 12_000;
/** Times by the clock of a member. */
const OWN_TIMES: ReadonlySet<string> = new Set(['sinceMs', 'notBeforeMs', 'untilMs', 'atMs', 'sentMs']);

interface Origin {
  readonly nowMs: number;
  readonly tickMs: number;
  readonly version: number;
  readonly transitions: number;
}

/**
 * Returns what the future of a state depends on, and nothing else. Times count from the present, up to an age from which on
 * nothing depends on them; versions and epochs count from those of the server. Without this, every passing tick would make
 * another state.
 */
export function keyOf(world: World): string {
  const { tick, members, records, epochs, ...rest } = world;
  const origins = records.map((stored, partition) => ({
    tickMs: tick * TICK_MS,
    version: Number(stored?.source ?? 0),
    transitions: Math.max(stored?.record.leaseTransitions ?? -1, epochs[partition] ?? -1),
  }));
  const relative = (value: unknown, partition: number, nowMs: number): unknown => {
    const { [partition]: origin } = origins;
    return origin ? shifted(value, { ...origin, nowMs }) : value;
  };
  return JSON.stringify({
    rest,
    epochs: epochs.map((epoch, partition) => epoch - (origins[partition]?.transitions ?? 0)),
    records: records.map((stored, partition) => relative(stored, partition, 0)),
    members: members.map(({ partitions, ...member }, index) => ({
      ...member,
      partitions: partitions.map((of, partition) =>
        relative(of, partition, tick * TICK_MS + (CLOCK_OFFSETS_MS[index] ?? 0)),
      ),
    })),
  });
}

function shifted(value: unknown, origin: Origin): unknown {
  if (Array.isArray(value)) return value.map((each) => shifted(each, origin));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, member(name, each, origin)]));
}

function member(name: string, value: unknown, origin: Origin): unknown {
  if (OWN_TIMES.has(name)) return Math.max(Number(value) - origin.nowMs, -AGE_MAX_MS);
  switch (name) {
    // A version that is not the server's is old, whichever it is: no write of it can succeed any more.
    case 'source':
    case 'version':
      return value === undefined ? value : Math.max(Number(value) - origin.version, -1);
    case 'leaseTransitions':
      return Number(value) - origin.transitions;
    case 'renewTime':
      return Math.max(Number(value) - origin.tickMs, -AGE_MAX_MS);
    // It tells no records apart that have been renewed at one time.
    case 'acquireTime':
      return value !== '';
    default:
      return shifted(value, origin);
  }
}
