/**
 * A group that divides its keys in calm weather, from a seed: members join, one is struck, and another joins. When the group is at
 * rest, the simulator counts exactly which changes the server sends to whom. All times are simulated.
 */
import { pass } from './join.ts';
import { KEYS_OF_PARTITION } from './keys.ts';
import { PARTITIONS, World } from './life.ts';
import type { Mutant } from './life.ts';

export const DIVISIONS = 8;
/** Longest time from a change to the end of the work on it, of C233: with the default times. */
const WAIT_MAX_MS = 60_000;
const JOINS_MAX = 3;
/** Longer than an outage, a lease, and the moves after them. */
const REST_MS = 90_000;
/** Longer than twice the 20 leases for which a heartbeat remains after a fault, on the slowest clock. */
const FORGET_MS = 800_000;
/** Longer than the 20 leases, on the slowest clock: the first deletions fail. */
const UNDELETABLE_MS = 390_000;
/** Changes until the last member has joined: they take longer than joins and fault. */
const CHANGES = 600;
/** Changes of each key that are counted. */
const ROUNDS = 5;

/** @returns what went wrong */
export async function divide(seed: number, mutant?: Mutant): Promise<readonly string[]> {
  const world = new World(seed, mutant, { weather: 'calm', members: 1 });
  const { random, keys, violations } = world;
  keys.change(CHANGES);
  for (let joins = Math.floor(random() * JOINS_MAX); joins >= 0; joins--) {
    await pass(world, random() * REST_MS);
    world.join();
  }
  await pass(world, REST_MS);
  if (world.lost > 0) violations.push(`${world.lost} works were lost without a fault`);
  const struck = world.present[Math.floor(random() * world.present.length)];
  const forgottenMs = world.truth.now() + FORGET_MS;
  if (seed % 2 === 0) world.store.undeletableUntilMs = world.truth.now() + UNDELETABLE_MS;
  if (struck) world.strike(struck);
  await pass(world, random() * REST_MS);
  world.join();
  await pass(world, Infinity, () => keys.changes === CHANGES);
  await pass(world, REST_MS);
  await count(world);
  if (keys.overdue.length > 0) violations.push(`no work has ended on keys ${keys.overdue.join()}`);
  if (keys.longestWaitMs > WAIT_MAX_MS) violations.push(`a change waited ${keys.longestWaitMs} ms`);
  await pass(world, forgottenMs - world.truth.now());
  const leases = PARTITIONS + world.present.length;
  if (world.store.names.length !== leases)
    violations.push(`the Leases are ${world.store.names.join()}, of ${world.present.length} members`);
  return [...violations, ...keys.violations];
}

/** Counts the changes that the server sends to each member of a group at rest. */
async function count(world: World): Promise<void> {
  const { keys, violations, present } = world;
  const before = new Map(keys.sent);
  const changes = ROUNDS * PARTITIONS * KEYS_OF_PARTITION;
  keys.change(changes);
  await pass(world, REST_MS, () => keys.changes === CHANGES + changes && keys.overdue.length === 0);
  const sent = [...keys.sent].map(([process, events]) => events - (before.get(process) ?? 0));
  const sum = sent.reduce((all, events) => all + events, 0);
  if (sum !== changes) violations.push(`the server sent ${sum} events of ${changes} changes`);
  const shares = present.map(({ process }) => (keys.sent.get(process) ?? 0) - (before.get(process) ?? 0));
  const least = Math.floor(PARTITIONS / present.length) * ROUNDS * KEYS_OF_PARTITION;
  const most = Math.ceil(PARTITIONS / present.length) * ROUNDS * KEYS_OF_PARTITION;
  if (shares.some((events) => events < least || events > most))
    violations.push(`members received ${shares.join()} of ${changes} changes`);
}
