/**
 * Measures sharded watches at a real kube-apiserver, with the feature gate and without: members of a group as processes, under a load of
 * changes, and how long a partition is without an owner when a member is killed, leaves and joins.
 */
import { setTimeout } from 'node:timers/promises';
import { ObjectClient } from '../../src/controller/index.ts';
import { loadKubeConfig, resources } from '../../src/index.ts';
import type { ControlPlane } from '../../test/e2e/control-plane.ts';
import { startControlPlane } from '../../test/e2e/control-plane.ts';
import { getText } from '../../test/e2e/get-text.ts';
import { nowMs } from '../../test/e2e/members/history.ts';
import { GroupOfMembers } from './group-of-members.ts';
import { areServed, gapsOf, serverFiguresOf } from './sharding-figures.ts';
import type { Gaps, Phase } from './sharding-figures.ts';

export interface ShardingSize {
  readonly objects: number;
  /** Numbers of members, ascending. */
  readonly members: readonly number[];
  readonly changesPerSecond: number;
  /** Time for each number of members. */
  readonly seconds: number;
}

const { configMaps } = resources.core.v1;
const NAMESPACE = 'default';
const PADDING = 'x'.repeat(1000);
const PARTITIONS = 16;
const IN_FLIGHT = 32;
const LOOK_MS = 100;
const TICK_MS = 20;
/** The longest wait for a group, on a slow machine. */
const WAIT_MAX_MS = 600_000;
/** Reports of members come four times a second: after this time every member has reported. */
const REPORTED_MS = 600;

export interface ShardingOutcome {
  readonly phases: readonly Phase[];
  readonly gaps: readonly Gaps[];
}

/** Measures with the gate and without it. @param print receives what is done */
export async function measureSharding(
  size: ShardingSize,
  gates: readonly boolean[],
  print: (line: string) => void,
): Promise<ShardingOutcome> {
  const phases: Phase[] = [];
  const gaps: Gaps[] = [];
  for (const isFiltering of gates) {
    await using controlPlane = await startControlPlane({
      apiServerFlags: [`--feature-gates=ShardedListAndWatch=${isFiltering}`],
    });
    const scene = new Scene(controlPlane, size, isFiltering);
    print(`gate ${isFiltering ? 'on' : 'off'}: ${size.objects} objects are made`);
    await scene.fill();
    for (const members of size.members) {
      print(`gate ${isFiltering ? 'on' : 'off'}: ${members} members`);
      await using group = new GroupOfMembers(controlPlane.kubeconfigPath);
      phases.push(await scene.measure(group, members));
      if (members === size.members.at(-1) && members > 1) {
        print(`gate ${isFiltering ? 'on' : 'off'}: a kill, a join, a leave`);
        gaps.push(await scene.measureGaps(group));
      }
      // Members that are killed would hold the partitions of the next group for a lease.
      while (group.count > 0) await group.end('SIGTERM');
    }
  }
  return { phases, gaps };
}

class Scene {
  readonly #controlPlane: ControlPlane;
  readonly #size: ShardingSize;
  readonly #isFiltering: boolean;
  readonly #client: ObjectClient;
  #changes = 0;

  constructor(controlPlane: ControlPlane, size: ShardingSize, isFiltering: boolean) {
    this.#controlPlane = controlPlane;
    this.#size = size;
    this.#isFiltering = isFiltering;
    this.#client = new ObjectClient(loadKubeConfig({ path: controlPlane.kubeconfigPath }));
  }

  async fill(): Promise<void> {
    let next = 0;
    const write = async (): Promise<void> => {
      for (let number = next++; number < this.#size.objects; number = next++)
        await this.#client.create(configMaps, {
          metadata: { name: nameOf(number), namespace: NAMESPACE },
          data: { padding: PADDING },
        });
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, write));
  }

  async measure(group: GroupOfMembers, members: number): Promise<Phase> {
    const { objects, seconds } = this.#size;
    const startMs = nowMs();
    for (let count = 0; count < members; count++) group.start();
    // Where the server does not filter, each member has every object.
    const wanted = this.#isFiltering ? objects : objects * members;
    const has = (): number => group.figures.reduce((sum, figures) => sum + figures.objects, 0);
    await until(() => has() >= wanted && isDivided(group));
    const filledMs = nowMs() - startMs;
    // The first lists and reconciliations end before the measurement begins.
    await this.#load(2, () => Promise.resolve());
    let before: Phase['before'] | undefined;
    const changesBefore = this.#changes;
    await this.#load(seconds, async () => {
      before = { members: group.figures, server: await this.#server() };
    });
    const after = { members: group.figures, server: await this.#server() };
    if (!before) throw new Error('nothing was measured');
    const changes = this.#changes - changesBefore;
    return { isFiltering: this.#isFiltering, members, seconds, changes, filledMs, before, after };
  }

  /** A member is killed, another joins, and leaves again: each time until all partitions have owners that work. */
  async measureGaps(group: GroupOfMembers): Promise<Gaps> {
    const stop = new AbortController();
    const loading = this.#change(stop.signal);
    try {
      const killMs = nowMs();
      const killed = await group.end('SIGKILL');
      await this.#served(group, killMs);
      const kill = gapsOf(group.tenures, killMs, killed);
      const joinMs = nowMs();
      group.start();
      await this.#served(group, joinMs);
      const join = gapsOf(group.tenures, joinMs);
      const leaveMs = nowMs();
      await group.end('SIGTERM');
      await this.#served(group, leaveMs);
      return { isFiltering: this.#isFiltering, kill, join, leave: gapsOf(group.tenures, leaveMs) };
    } finally {
      stop.abort();
      await loading;
    }
  }

  /** Waits until the division is even, and the owner of every partition has worked since this time. */
  async #served(group: GroupOfMembers, sinceMs: number): Promise<void> {
    await until(() => isDivided(group) && areServed(group.figures, group.tenures, sinceMs));
    await setTimeout(REPORTED_MS);
  }

  /** Changes objects for a time. @param begun called when the members have reported, and the time begins */
  async #load(seconds: number, begun: () => Promise<void>): Promise<void> {
    await setTimeout(REPORTED_MS);
    await begun();
    const stop = new AbortController();
    const loading = this.#change(stop.signal);
    await setTimeout(seconds * 1000);
    stop.abort();
    await loading;
    await setTimeout(REPORTED_MS);
  }

  async #change(signal: AbortSignal): Promise<void> {
    const startMs = nowMs();
    const before = this.#changes;
    const pending = new Set<Promise<unknown>>();
    while (!signal.aborted) {
      const due = before + ((nowMs() - startMs) / 1000) * this.#size.changesPerSecond;
      while (this.#changes < due && pending.size < IN_FLIGHT) {
        const number = this.#changes++;
        const patch = { data: { change: String(number) } };
        const key = `${NAMESPACE}/${nameOf(number % this.#size.objects)}`;
        const writing = this.#client.patch(configMaps, key, patch).finally(() => pending.delete(writing));
        pending.add(writing);
      }
      await setTimeout(TICK_MS);
    }
    await Promise.all(pending);
  }

  async #server(): Promise<Phase['before']['server']> {
    return serverFiguresOf(await getText(this.#controlPlane, '/metrics'));
  }
}

/** Members have equally many partitions, or one more. */
function isDivided({ figures, count }: GroupOfMembers): boolean {
  const owned = figures.map((member) => member.owned.length);
  const sum = owned.reduce((before, number) => before + number, 0);
  return figures.length === count && sum === PARTITIONS && Math.max(...owned) - Math.min(...owned) <= 1;
}

function nameOf(number: number): string {
  return `figures-${number}`;
}

async function until(isSo: () => boolean): Promise<void> {
  const endMs = nowMs() + WAIT_MAX_MS;
  while (!isSo()) {
    if (nowMs() > endMs) throw new Error(`the group was not complete within ${WAIT_MAX_MS / 1000} s`);
    await setTimeout(LOOK_MS);
  }
}
