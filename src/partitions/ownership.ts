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
  const rows = members.map((member) => ({ member, scores: scoresOf(member, partitionCount), count: 0 }));
  return Array.from({ length: partitionCount }, (_, partition) => {
    let owner: (typeof rows)[number] | undefined;
    let rank = '';
    for (const row of rows) {
      const since = cannotTake(row.member, partition);
      const hasRoom = row.count < few || (row.count === few && largerLeft > 0);
      // Texts in the order of preference: able with room, able, unable by the time of the last attempt.
      const own = since === undefined ? (hasRoom ? ' 0' : ' 1') : since;
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

interface Scored {
  readonly member: string;
  readonly scores: readonly number[];
}

function isAhead(a: Scored, b: Scored, partition: number): boolean {
  const [own = 0, other = 0] = [a.scores[partition], b.scores[partition]];
  return own > other || (own === other && a.member < b.member);
}

/** Scores that were computed: members change rarely, and all of them are compared with each change. */
const scores = new Map<string, number[]>();
const SCORES_MAX = 1000;

/** Returns a number for each partition, uniform over pairs. The lives of one member have the same scores. */
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
