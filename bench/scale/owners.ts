/**
 * The preferred owner of each slot, by the rule of slots: rendezvous hashing among the members that have room, so that each
 * has equally many slots or one more. A member is a number, and its hashes of the slots are its random numbers.
 */
import { seededRandom } from '../../src/apiserver/testing/index.ts';

export class Ownership {
  readonly #slotCount: number;
  readonly #scores = new Map<number, readonly number[]>();

  constructor(slotCount: number) {
    this.#slotCount = slotCount;
  }

  /** Returns the preferred owner of each slot. */
  among(members: readonly number[]): readonly (number | undefined)[] {
    const few = Math.floor(this.#slotCount / members.length);
    let largerLeft = this.#slotCount % members.length;
    const candidates = members.map((member) => ({ member, scores: this.#scoresOf(member), count: 0 }));
    return Array.from({ length: this.#slotCount }, (_, slot) => {
      let best: (typeof candidates)[number] | undefined;
      for (const candidate of candidates) {
        const { count, scores } = candidate;
        const hasRoom = count < few || (count === few && largerLeft > 0);
        if (hasRoom && (scores[slot] ?? 0) > (best?.scores[slot] ?? -1)) best = candidate;
      }
      if (!best) return undefined;
      if (best.count === few) largerLeft--;
      best.count++;
      return best.member;
    });
  }

  #scoresOf(member: number): readonly number[] {
    let scores = this.#scores.get(member);
    if (!scores) {
      const random = seededRandom(member);
      scores = Array.from({ length: this.#slotCount }, () => random());
      this.#scores.set(member, scores);
    }
    return scores;
  }
}
