/** The test kit's seeded generator with the choices that fuzz tests make. */
import type { Random } from '../../../../src/base/clock.ts';
import { seededRandom } from '../../../../src/base/random.ts';

export class Seeded {
  readonly seed: number;
  /** Returns a number, uniform in [0, 1). */
  readonly next: Random;

  constructor(seed: number) {
    this.seed = seed;
    this.next = seededRandom(seed);
  }

  /** Returns an integer in [0, bound). */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('pick from an empty list');
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
