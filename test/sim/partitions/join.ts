/**
 * Groups in calm weather, from a seed. A member alone begins on a busy machine. A join: a member is killed, the others take over, and while the heartbeat of the killed member is still
 * there, a new member joins. Judged: how long a partition is without work while it moves to the new member.
 */
import { PARTITIONS, World } from './life.ts';
import type { Mutant } from './life.ts';

export interface Join {
  readonly violations: readonly string[];
  /** Longest time for which no member worked on a partition after the join. */
  readonly idleMs: number;
}

/** Seeds of joins; a few of them show a member that waits for the killed member. */
export const JOINS = 25;
/** Two retry periods of the slowest clock, and the requests of a hand-over. The times are simulated. */
export const MOVE_MAX_MS = 5500;

/** Less than the 20 leases for which the heartbeat of a killed member remains. */
const BEFORE_JOIN_MAX_MS = 200_000;
const TAKEOVER_LIMIT_MS = 60_000;
const AFTER_JOIN_MS = 60_000;

/** Longer than a move, and shorter than the time after a join. */
export const FILL_MS = 20_000;

/** Ends of a member that fails again and again. */
const CRASHES = 15;
/** Longest time in all without work on a partition: a few leases, of which the first ends are not known before. */
export const IDLE_MAX_MS = 75_000;

/** A drain, two leases and a move, with the slowest clock. */
const GIVE_UP_MAX_MS = 80_000;

/** Later than the first renewals. */
const LATE_MAX_MS = 3000;

const ALL = Array.from({ length: PARTITIONS }, (_, partition) => partition);

export async function joinAfterKill(seed: number): Promise<Join> {
  const world = new World(seed, undefined, { weather: 'calm' });
  const { random, violations } = world;
  const areServed = (): boolean => ALL.every((partition) => world.isServed(partition));
  if (!(await pass(world, TAKEOVER_LIMIT_MS, areServed))) violations.push('the group does not begin');
  world.present[Math.floor(random() * world.present.length)]?.process.kill();
  await pass(world, 1);
  if (!(await pass(world, TAKEOVER_LIMIT_MS, areServed)))
    violations.push('the partitions are not taken over');
  await pass(world, random() * BEFORE_JOIN_MAX_MS);
  const idleMs = await joined(
    world,
    (partition) => !world.members.some((member) => member.isWorking(partition)),
  );
  return { violations, idleMs: Math.max(...idleMs) };
}

/**
 * A member joins a group of one, and takes long for its first list.
 *
 * @returns what went wrong, and how long each partition was not served, ascending
 */
export async function joinSlowly(seed: number): Promise<{ violations: string[]; idleMs: number[] }> {
  const world = new World(seed, undefined, { weather: 'calm', members: 1, fillMs: FILL_MS });
  const { violations } = world;
  const areServed = (): boolean => ALL.every((partition) => world.isServed(partition));
  if (!(await pass(world, TAKEOVER_LIMIT_MS, areServed))) violations.push('the group does not begin');
  const idleMs = await joined(world, (partition) => !world.isServed(partition));
  const owned = world.members.map(({ works }) => works.size);
  if (owned.join() !== '2,2') violations.push(`the members own ${owned.join()} partitions`);
  return { violations, idleMs: idleMs.sort((a, b) => a - b) };
}

/** @returns the longest time of each partition for which it was idle after the join of a member */
async function joined(world: World, isIdle: (partition: number) => boolean): Promise<number[]> {
  const { truth } = world;
  world.join();
  const idleSinceMs = new Map<number, number>();
  const longestMs = ALL.map(() => 0);
  await pass(world, AFTER_JOIN_MS, () => {
    for (const partition of ALL) {
      const sinceMs = idleSinceMs.get(partition) ?? truth.now();
      longestMs[partition] = Math.max(longestMs[partition] ?? 0, truth.now() - sinceMs);
      if (isIdle(partition)) idleSinceMs.set(partition, sinceMs);
      else idleSinceMs.delete(partition);
    }
    return false;
  });
  return longestMs;
}

/** A machine is suspended, and another member restarts after that. @returns what went wrong */
export async function restartAfterSuspension(seed: number): Promise<readonly string[]> {
  const world = new World(seed, undefined, { weather: 'calm' });
  const { violations } = world;
  const areServed = (): boolean => ALL.every((partition) => world.isServed(partition));
  await pass(world, TAKEOVER_LIMIT_MS, areServed);
  const [suspended, other] = world.present;
  if (suspended) world.suspend(suspended);
  await pass(world, TAKEOVER_LIMIT_MS, () => suspended?.isFrozen === false && world.random() < 0.01);
  other?.process.run(() => other.stop.abort());
  await pass(world, TAKEOVER_LIMIT_MS, () => other?.hasEnded === true);
  world.join(other?.process.identity);
  const isWell = (): boolean => areServed() && world.isBalanced;
  if (!(await pass(world, TAKEOVER_LIMIT_MS, isWell)) || violations.length > 0)
    violations.push('the group does not come to rest');
  return violations;
}

/** A member joins a group in which another member does not see the Leases. @returns what went wrong */
export async function joinUnseen(seed: number): Promise<readonly string[]> {
  const world = new World(seed, undefined, { weather: 'calm', members: 2 });
  await pass(world, TAKEOVER_LIMIT_MS, () => ALL.every((partition) => world.isServed(partition)));
  world.present[0]?.breakWatch(GIVE_UP_MAX_MS);
  world.join();
  const isActive = (): boolean =>
    world.members.at(-1)?.member.states.some(({ kind }) => kind === 'active') === true;
  if (!(await pass(world, GIVE_UP_MAX_MS, isActive))) world.violations.push('the member has no partition');
  return world.violations;
}

/**
 * A member is killed again and again soon after its start, and comes back, under its name or under a new name.
 *
 * @returns the longest time in all for which no member worked on a partition
 */
export async function crashLoop(seed: number, mutant?: Mutant): Promise<Join> {
  const world = new World(seed, mutant, { weather: 'calm', members: 2 });
  const { truth, random, violations } = world;
  await pass(world, TAKEOVER_LIMIT_MS, () => ALL.every((partition) => world.isServed(partition)));
  const hasName = random() < 0.5;
  const upMs = 5000 + random() * 7000;
  const downMs = 2000 + random() * 4000;
  const idleMs = ALL.map(() => 0);
  let lastMs = truth.now();
  for (let crash = 0; crash < CRASHES; crash++) {
    world.join(hasName ? 'crashing' : undefined);
    const crashing = world.members.at(-1);
    for (const forMs of [upMs, downMs]) {
      await pass(world, forMs, () => {
        for (const partition of ALL.filter((each) => !world.isServed(each)))
          idleMs[partition] = (idleMs[partition] ?? 0) + truth.now() - lastMs;
        lastMs = truth.now();
        return false;
      });
      crashing?.process.kill();
    }
  }
  return { violations, idleMs: Math.max(...idleMs) };
}

/** A group of one, whose timers are late, as on a busy machine. @returns what went wrong */
export async function beginAlone(seed: number, mutant?: Mutant): Promise<readonly string[]> {
  const world = new World(seed, mutant, { weather: 'calm', members: 1, lateMaxMs: LATE_MAX_MS });
  const areServed = (): boolean => ALL.every((partition) => world.isServed(partition));
  if (!(await pass(world, TAKEOVER_LIMIT_MS, areServed))) world.violations.push('the member does not begin');
  return world.violations;
}

/** @returns whether the condition came within the time */
export async function pass(
  world: World,
  forMs: number,
  isOver: () => boolean = () => false,
): Promise<boolean> {
  const endMs = world.truth.now() + forMs;
  while (world.truth.now() < endMs && world.violations.length === 0) {
    if (isOver()) return true;
    await world.advance();
  }
  return false;
}
