/** The bill of a deployment: unit costs multiplied, and hand-overs from the simulation. Pure. */
import { summarise } from '../statistics.ts';
import { RENEW_MS, simulate } from './group-simulation.ts';
import type { GroupPlan, Incident } from './group-simulation.ts';
import { CPU_AT_RATES, UNIT_COSTS as COST } from './unit-costs.ts';

export interface Deployment {
  readonly objects: number;
  readonly changesPerSecond: number;
  readonly members: number;
  readonly partitions: number;
  /** The server filters by shard selector. Otherwise each member has one watch of everything, and filters itself. */
  readonly isFiltered: boolean;
}

export interface Bill {
  readonly watches: number;
  readonly sentPerSecond: number;
  readonly sentBytesPerSecond: number;
  /** Bytes of all first lists together. */
  readonly firstListBytes: number;
  readonly leaseWritesPerSecond: number;
  /** Costs of the member with the most partitions. */
  readonly member: {
    readonly objects: number;
    readonly receivedPerSecond: number;
    readonly ownPerSecond: number;
    readonly keyCores: number;
    readonly objectCores: number;
    readonly mainObjectCores: number;
    readonly restBytes: number;
    readonly listBytes: number;
    readonly startMs: number;
  };
  readonly partitionListMs: number;
  readonly partitionListBytes: number;
  readonly server: {
    /** Cores of all apiservers together: each event passes through every watch, also those that do not send it. */
    readonly watchCores: number;
    /** Cores of each apiserver that has such watches. */
    readonly encodeCores: number;
    readonly cacheBytes: number;
  };
}

/** Longest time for which the work on a partition drains, in all figures. */
const DRAIN_MS_MAX = 1000;
/** Objects that have changed are packed after 2 to 4 s. */
const UNPACKED_SECONDS = 4;
const SEEDS = 20;

export function billOf({ objects, changesPerSecond, members, partitions, isFiltered }: Deployment): Bill {
  const part = Math.ceil(partitions / members) / partitions;
  const own = changesPerSecond * part;
  // Without a selector no state is matched: neither that before the event nor that after it.
  const watchNs = COST.watchNs.value - (isFiltered ? 0 : 2 * COST.matchNs.value);
  const partitionListMs = listMs({ objects, partitions, isFiltered });
  const received = isFiltered ? own : changesPerSecond;
  const watches = isFiltered ? Math.max(partitions, members) : members;
  const sent = isFiltered ? changesPerSecond : changesPerSecond * members;
  const dropped = ((received - own) * (COST.readUs.value + COST.tlsUs.value)) / 1e6;
  const keyCores = cpuAt(own) + dropped;
  const objectsOwn = objects * part;
  const lists = isFiltered ? objects : objects * members;
  return {
    watches,
    sentPerSecond: sent,
    sentBytesPerSecond: sent * COST.objectBytes.value,
    firstListBytes: lists * COST.objectBytes.value,
    leaseWritesPerSecond: members > 1 ? (partitions + members) / (RENEW_MS / 1000) : 0,
    member: {
      objects: objectsOwn,
      receivedPerSecond: received,
      ownPerSecond: own,
      keyCores,
      objectCores: keyCores + (own * (COST.eventObjectUs.value - COST.eventKeyUs.value)) / 1e6,
      mainObjectCores: (own * COST.mainObjectUs.value) / 1e6,
      restBytes:
        COST.processBytes.value +
        objectsOwn * COST.cachedBytes.value +
        own * UNPACKED_SECONDS * COST.objectBytes.value,
      listBytes: COST.processBytes.value + objectsOwn * COST.listedBytes.value,
      // Without filtering one list serves all partitions of a member.
      startMs: isFiltered ? Math.ceil(partitions / members) * partitionListMs : partitionListMs,
    },
    partitionListMs,
    partitionListBytes: (isFiltered ? objects / partitions : objects) * COST.objectBytes.value,
    server: {
      watchCores: (changesPerSecond * watches * watchNs) / 1e9,
      encodeCores: (changesPerSecond * COST.encodeUs.value) / 1e6,
      cacheBytes: objects * COST.goObjectBytes.value,
    },
  };
}

/** Returns how long a member lists one partition. A server that filters looks at all objects; one that does not sends them. */
export function listMs({
  objects,
  partitions,
  isFiltered,
}: Pick<Deployment, 'objects' | 'partitions' | 'isFiltered'>): number {
  const own = objects / partitions;
  return isFiltered
    ? (objects * COST.matchNs.value) / 1e6 + (own * COST.listUs.value) / 1000
    : ((objects - own) * (COST.readUs.value + COST.tlsUs.value) + own * COST.listUs.value) / 1000;
}

/** Costs of an incident, over the runs of several seeds. */
export interface Course {
  /** Partitions that lost their member: how long no member works them. */
  readonly orphans: Gaps;
  /** Partitions that moved although their member goes on. */
  readonly moved: Gaps;
  readonly settledMs: number;
}

export interface Gaps {
  /** Partitions, on average of the runs. */
  readonly count: number;
  readonly medianMs: number;
  readonly maxMs: number;
}

export function courseOf(deployment: Deployment, incident: Incident, seeds: number = SEEDS): Course {
  const plan: GroupPlan = {
    members: deployment.members,
    partitions: deployment.partitions,
    syncMs: listMs(deployment),
    drainMsMax: DRAIN_MS_MAX,
  };
  const runs = Array.from({ length: seeds }, (_, seed) => simulate(plan, incident, seed));
  const gapsOf = (gapsMs: readonly number[]): Gaps => {
    const { median, max } = summarise(gapsMs) ?? { median: 0, max: 0 };
    return { count: gapsMs.length / seeds, medianMs: median, maxMs: max };
  };
  return {
    orphans: gapsOf(runs.flatMap(({ orphanGapsMs }) => orphanGapsMs)),
    moved: gapsOf(runs.flatMap(({ movedGapsMs }) => movedGapsMs)),
    settledMs: summarise(runs.map(({ settledMs }) => settledMs))?.median ?? 0,
  };
}

/** Returns cores, between the measured rates on a line; above the highest, each event costs what it does at full rate. */
export function cpuAt(changesPerSecond: number): number {
  let [before] = CPU_AT_RATES;
  for (const point of CPU_AT_RATES) {
    if (changesPerSecond <= point[0]) {
      const [rate, cpuMs] = before ?? point;
      const share = point[0] === rate ? 1 : (changesPerSecond - rate) / (point[0] - rate);
      return (cpuMs + share * (point[1] - cpuMs)) / 1000;
    }
    before = point;
  }
  const [rate, cpuMs] = before ?? [0, 0];
  return cpuMs / 1000 + ((changesPerSecond - rate) * COST.eventKeyUs.value) / 1e6;
}
