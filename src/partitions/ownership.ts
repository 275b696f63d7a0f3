/**
 * The distribution of partitions over members: who owns which when all is well, and which partition moves next. Every member
 * computes it from the group's heartbeat leases; members with the same view come to the same result.
 */
import { createHash } from 'node:crypto';
import type { PartitionState, Wish } from './partition-state.ts';

/**
 * Returns the preferred owner of each partition: the member with the highest hash of member and partition among those that have room,
 * so that a member's coming or going leaves most partitions where they are. Members have equally many partitions, or one more.
 */
export function preferredOwners(partitionCount: number, members: readonly string[]): (string | undefined)[] {
  const few = Math.floor(partitionCount / members.length);
  let largerLeft = partitionCount % members.length;
  const counts = new Map<string, number>();
  return Array.from({ length: partitionCount }, (_, partition) => {
    const scored = members.map((member) => ({ member, score: scoreOf(member, partition) }));
    scored.sort((a, b) => (a.score < b.score ? 1 : -1));
    for (const { member } of scored) {
      const count = counts.get(member) ?? 0;
      if (count > few || (count === few && largerLeft === 0)) continue;
      if (count === few) largerLeft--;
      counts.set(member, count + 1);
      return member;
    }
    return undefined;
  });
}

/**
 * Returns the wishes of a member. It hands over one partition at a time, so that a change of members moves no more than one
 * partition of each member at once.
 *
 * @param owners from `preferredOwners`; undefined when the member leaves the group
 */
export function wishesOf(
  partitions: readonly PartitionState[],
  owners: readonly (string | undefined)[] | undefined,
  identity: string,
): Wish[] {
  if (!owners) return partitions.map(() => 'leave');
  let isMoving = partitions.some(({ kind }) => kind === 'draining' || kind === 'releasing');
  return partitions.map(({ kind }, partition) => {
    if (owners[partition] === identity) return 'own';
    const isMovable = kind === 'syncing' || kind === 'active';
    if (isMoving || !isMovable) return 'cover';
    isMoving = true;
    return 'leave';
  });
}

/** Returns a text of fixed length, uniform over pairs, as its order is. */
function scoreOf(member: string, partition: number): string {
  return createHash('sha256').update(`${partition}/${member}`).digest('hex');
}
