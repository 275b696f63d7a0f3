/**
 * The distribution of slots over members: who owns which when all is well, and which slot moves next. Every member
 * computes it from the group's heartbeat leases; members with the same view come to the same result.
 */
import { createHash } from 'node:crypto';
import type { SlotState, Wish } from './slot-state.ts';

/**
 * Returns the preferred owner of each slot: the member with the highest hash of member and slot among those that have room,
 * so that a member's coming or going leaves most slots where they are. Members have equally many slots, or one more.
 */
export function preferredOwners(slotCount: number, members: readonly string[]): (string | undefined)[] {
  const few = Math.floor(slotCount / members.length);
  let largerLeft = slotCount % members.length;
  const counts = new Map<string, number>();
  return Array.from({ length: slotCount }, (_, slot) => {
    const scored = members.map((member) => ({ member, score: scoreOf(member, slot) }));
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
 * Returns the wishes of a member. It hands over one slot at a time, so that a change of members moves no more than one
 * slot of each member at once.
 *
 * @param owners from `preferredOwners`; undefined when the member leaves the group
 */
export function wishesOf(
  slots: readonly SlotState[],
  owners: readonly (string | undefined)[] | undefined,
  identity: string,
): Wish[] {
  if (!owners) return slots.map(() => 'leave');
  let isMoving = slots.some(({ kind }) => kind === 'draining' || kind === 'releasing');
  return slots.map(({ kind }, slot) => {
    if (owners[slot] === identity) return 'own';
    const isMovable = kind === 'syncing' || kind === 'active';
    if (isMoving || !isMovable) return 'cover';
    isMoving = true;
    return 'leave';
  });
}

/** Returns a text of fixed length, uniform over pairs, as its order is. */
function scoreOf(member: string, slot: number): string {
  return createHash('sha256').update(`${slot}/${member}`).digest('hex');
}
