/**
 * The distribution of partitions over members: who owns which when all is well. Every member computes it from the group's
 * heartbeats; members with the same view come to the same result.
 */
import { createHash } from 'node:crypto';

/** Returns since when a member cannot take a partition, as text that sorts by time; undefined when it can. */
export type CannotTake = (member: string, partition: number) => string | undefined;

/**
 * Returns the preferred owner of each partition: the member with the highest hash of member and partition among those that
 * can take it and have room, so that a member's coming or going leaves most partitions where they are. Members have equally
 * many partitions, or one more, unless they cannot take them. A partition that no member can take goes to the member whose last
 * attempt is the longest ago.
 */
export function preferredOwners(
  partitionCount: number,
  members: readonly string[],
  cannotTake: CannotTake = () => undefined,
): (string | undefined)[] {
  const few = Math.floor(partitionCount / members.length);
  let largerLeft = partitionCount % members.length;
  const counts = new Map<string, number>();
  const take = (member: string): string => {
    const count = counts.get(member) ?? 0;
    if (count === few) largerLeft--;
    counts.set(member, count + 1);
    return member;
  };
  const hasRoom = (member: string): boolean => {
    const count = counts.get(member) ?? 0;
    return count < few || (count === few && largerLeft > 0);
  };
  return Array.from({ length: partitionCount }, (_, partition) => {
    const byScore = members.toSorted(
      (a, b) => scoreOf(b, partition) - scoreOf(a, partition) || (a < b ? -1 : 1),
    );
    const able = byScore.filter((member) => cannotTake(member, partition) === undefined);
    const owner = able.find(hasRoom) ?? able[0] ?? longestAgo(byScore, partition, cannotTake);
    return owner === undefined ? undefined : take(owner);
  });
}

function longestAgo(
  members: readonly string[],
  partition: number,
  cannotTake: CannotTake,
): string | undefined {
  const sinceOf = (member: string): string => cannotTake(member, partition) ?? '';
  return members.toSorted((a, b) => (sinceOf(a) < sinceOf(b) ? -1 : 1))[0];
}

/** Scores that were computed: members change rarely, and all of them are compared with each change. */
const scores = new Map<string, number[]>();
const SCORES_MAX = 1000;

/** Returns a number that is uniform over pairs. The lives of one member have the same scores. */
function scoreOf(member: string, partition: number): number {
  const identity = identityOf(member);
  let known = scores.get(identity);
  if (!known) {
    if (scores.size >= SCORES_MAX) scores.clear();
    scores.set(identity, (known = []));
  }
  return (known[partition] ??= createHash('sha256')
    .update(`${partition}/${identity}`)
    .digest()
    .readUIntBE(0, 6));
}

/** Returns the member of a life: `web-0` of `web-0.k3f9x1.2`. */
export function identityOf(life: string): string {
  const dot = life.indexOf('.');
  return dot < 0 ? life : life.slice(0, dot);
}
