/**
 * A join from a seed, in calm weather: a member is killed, the others take over, and while the heartbeat of the killed member is still
 * there, a new member joins. Judged: how long a partition is without work while it moves to the new member.
 */
import { PARTITIONS, World } from './life.ts';
import type { Mutant } from './life.ts';

export interface Join {
  readonly violations: readonly string[];
  /** Longest time for which no member worked on a partition after the join. */
  readonly idleMs: number;
}

/** Less than the 20 leases for which the heartbeat of a killed member remains. */
const BEFORE_JOIN_MAX_MS = 200_000;
const TAKEOVER_LIMIT_MS = 60_000;
const AFTER_JOIN_MS = 60_000;

const ALL = Array.from({ length: PARTITIONS }, (_, partition) => partition);

export async function joinAfterKill(seed: number, mutant?: Mutant): Promise<Join> {
  const world = new World(seed, mutant, 'calm');
  const { truth, random, violations } = world;
  const pass = async (forMs: number, isOver: () => boolean = () => false): Promise<boolean> => {
    const endMs = truth.now() + forMs;
    while (truth.now() < endMs && violations.length === 0) {
      if (isOver()) return true;
      await world.advance();
    }
    return false;
  };
  const areServed = (): boolean => ALL.every((partition) => world.isServed(partition));
  if (!(await pass(TAKEOVER_LIMIT_MS, areServed))) violations.push('the group does not begin');
  world.present[Math.floor(random() * world.present.length)]?.process.kill();
  await pass(1);
  if (!(await pass(TAKEOVER_LIMIT_MS, areServed))) violations.push('the partitions are not taken over');
  await pass(random() * BEFORE_JOIN_MAX_MS);
  world.join();
  const idleSinceMs = new Map<number, number>();
  let idleMs = 0;
  await pass(AFTER_JOIN_MS, () => {
    for (const partition of ALL) {
      const isIdle = !world.members.some((member) => member.isWorking(partition));
      const sinceMs = idleSinceMs.get(partition) ?? truth.now();
      idleMs = Math.max(idleMs, truth.now() - sinceMs);
      if (isIdle) idleSinceMs.set(partition, sinceMs);
      else idleSinceMs.delete(partition);
    }
    return false;
  });
  return { violations, idleMs };
}
