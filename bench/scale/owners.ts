/**
 * The preferred owner of each slot, by the rule of slots: rendezvous hashing among the members that have room, so that each
 * has equally many slots or one more.
 */
import { createHash } from 'node:crypto';

export class Ownership {
  readonly #slotCount: number;
  readonly #scores = new Map<string, readonly number[]>();

  constructor(slotCount: number) {
    this.#slotCount = slotCount;
  }

  /** Returns the preferred owner of each slot. */
  among(members: readonly string[]): readonly (string | undefined)[] {
    const few = Math.floor(this.#slotCount / members.length);
    let largerLeft = this.#slotCount % members.length;
    const counts = new Map(members.map((member) => [member, 0]));
    return Array.from({ length: this.#slotCount }, (_, slot) => {
      let best: string | undefined;
      let bestScore = -1;
      for (const [member, count] of counts) {
        const score = this.#scoresOf(member)[slot] ?? 0;
        const hasRoom = count < few || (count === few && largerLeft > 0);
        if (hasRoom && score > bestScore) [best, bestScore] = [member, score];
      }
      if (best === undefined) return undefined;
      const count = counts.get(best) ?? 0;
      if (count === few) largerLeft--;
      counts.set(best, count + 1);
      return best;
    });
  }

  #scoresOf(member: string): readonly number[] {
    const known = this.#scores.get(member);
    if (known) return known;
    const scores = Array.from({ length: this.#slotCount }, (_, slot) =>
      createHash('sha256').update(`${slot}/${member}`).digest().readUIntBE(0, 6),
    );
    this.#scores.set(member, scores);
    return scores;
  }
}
