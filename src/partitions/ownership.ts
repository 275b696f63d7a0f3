/**
 * The distribution of partitions over members: the preferred owner of each partition. Every member computes it from the
 * group's heartbeats; members with the same view come to the same result.
 */
import { createHash } from 'node:crypto';
import type { Note } from './heartbeat.ts';

/** Returns since when a member cannot take a partition, as text that sorts by time; undefined if it can. */
export type CannotTake = (member: string, partition: number) => string | undefined;

/**
 * Returns the preferred owner of each partition: the member with the highest hash of member and partition among the
 * members that can take it and have room. So most partitions stay where they are when a member joins or leaves. The
 * numbers of partitions of any two members differ by at most 1, unless members cannot take partitions. A partition that
 * no member can take goes to the member with the oldest failed attempt.
 */
export function preferredOwners(
  partitionCount: number,
  members: readonly string[],
  cannotTake: CannotTake = () => undefined,
): (string | undefined)[] {
  // A member that can take no partition has no share.
  const all = Array.from({ length: partitionCount }, (_, partition) => partition);
  const able = members.filter((member) =>
    all.some((partition) => cannotTake(member, partition) === undefined),
  );
  const shares = able.length || members.length;
  const few = Math.floor(partitionCount / shares);
  let largerLeft = partitionCount % shares;
  const rows = members.map((member) => ({ member, scores: scoresOf(member, partitionCount), count: 0 }));
  return all.map((partition) => {
    let owner: (typeof rows)[number] | undefined;
    let rank = '';
    for (const row of rows) {
      const since = cannotTake(row.member, partition);
      const hasRoom = row.count < few || (row.count === few && largerLeft > 0);
      // Text that sorts by preference: able with room, able, unable by the time of the last attempt.
      const own = `${since ?? ''} ${hasRoom ? 0 : 1}`;
      if (owner && (own > rank || (own === rank && !isAhead(row, owner, partition)))) continue;
      owner = row;
      rank = own;
    }
    if (!owner) return undefined;
    if (owner.count === few) largerLeft--;
    owner.count++;
    return owner.member;
  });
}

/**
 * Leaves a partition with the member whose work on it is active, as long as the preferred owner has no active partition:
 * its caches may not be filled yet. A single partition moves to such a member first.
 *
 * @param holds partitions of the members that can be preferred, as their heartbeats say
 */
export function ownersUntilFilled(
  preferred: readonly (string | undefined)[],
  holds: ReadonlyMap<string, Note['holds']>,
): (string | undefined)[] {
  const servers = preferred.map((_, partition) => serverOf(partition, holds));
  const first = new Map<string, number>();
  for (const [member, held] of holds) {
    if (servers.includes(member)) continue;
    const scores = scoresOf(member, preferred.length);
    // By score: by number, the same partition would always be the first, whichever member joins.
    const own = preferred
      .flatMap((owner, partition) => (owner === member ? [partition] : []))
      .sort((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0));
    const next = own.find((partition) => held[partition]) ?? own[0];
    if (next !== undefined) first.set(member, next);
  }
  return preferred.map((owner, partition) => {
    const isWaiting = owner !== undefined && (first.get(owner) ?? partition) !== partition;
    return (isWaiting ? servers[partition] : undefined) ?? owner;
  });
}

/** Returns the member whose work on the partition is active; the newest one, where a heartbeat is old. */
function serverOf(partition: number, holds: ReadonlyMap<string, Note['holds']>): string | undefined {
  let server: string | undefined;
  let newest = -1;
  for (const [member, { [partition]: [epoch = -1, isActive = false] = [] }] of holds) {
    if (!isActive || epoch <= newest) continue;
    server = member;
    newest = epoch;
  }
  return server;
}

interface Scored {
  readonly member: string;
  readonly scores: readonly number[];
}

function isAhead(a: Scored, b: Scored, partition: number): boolean {
  const [own = 0, other = 0] = [a.scores[partition], b.scores[partition]];
  return own > other || (own === other && a.member < b.member);
}

/** Computed scores: members change rarely, and every change compares all of them. */
const scores = new Map<string, number[]>();
const SCORES_MAX = 1000;

/** Returns a number for each partition, uniform over pairs. All lives of a member have equal scores. */
function scoresOf(member: string, partitionCount: number): readonly number[] {
  const identity = identityOf(member);
  let known = scores.get(identity);
  if (!known) {
    if (scores.size >= SCORES_MAX) scores.clear();
    scores.set(identity, (known = []));
  }
  for (let partition = known.length; partition < partitionCount; partition++)
    known.push(createHash('sha256').update(`${partition}/${identity}`).digest().readUIntBE(0, 6));
  return known;
}

/** Returns the member of a life: `web-0` of `web-0.k3f9x1.2`. */
export function identityOf(life: string): string {
  const dot = life.indexOf('.');
  return dot < 0 ? life : life.slice(0, dot);
}

/** Returns the process of a life: `web-0.k3f9x1` of `web-0.k3f9x1.2`. */
export function processOf(life: string): string {
  return life.slice(0, Math.max(life.lastIndexOf('.'), 0));
}
