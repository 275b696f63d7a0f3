/** The kit's seeded chance with the choices that fuzz tests make. */
import type { Random } from '../../src/clock.ts';
import { seededRandom } from '../../src/embedded/random.ts';

export class Seeded {
  readonly seed: number;
  /** Uniform in [0, 1). */
  readonly next: Random;

  constructor(seed: number) {
    this.seed = seed;
    this.next = seededRandom(seed);
  }

  /** An integer in [0, bound). */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('pick from nothing');
    return item;
  }

  shuffle<T>(items: readonly T[]): T[] {
    const shuffled = [...items];
    for (let index = shuffled.length - 1; index > 0; index--) {
      const other = this.below(index + 1);
      const item = shuffled[index] as T;
      shuffled[index] = shuffled[other] as T;
      shuffled[other] = item;
    }
    return shuffled;
  }
}
