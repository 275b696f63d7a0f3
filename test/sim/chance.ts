/** All random choices of one seed: the same calls in the same order return the same values. */
import type { Random } from '../../src/base/clock.ts';
import { seededRandom } from '../../src/tools/apiserver/testing/index.ts';

export class Chance {
  readonly random: Random;

  constructor(seed: number) {
    this.random = seededRandom(seed);
    // Neighbouring seeds begin with similar values.
    for (let skipped = 0; skipped < 8; skipped++) this.random();
  }

  happens(probability: number): boolean {
    return this.random() < probability;
  }

  /** Returns an integer from `from` to `to`, both included. */
  integer(from: number, to: number): number {
    return from + Math.floor(this.random() * (to - from + 1));
  }

  /** Returns a number between `from` and `to`, with every order of magnitude equally likely. */
  magnitude(from: number, to: number): number {
    return from * (to / from) ** this.random();
  }

  /** Returns an element; undefined, and no random number is used, when there is none. */
  pick<T>(from: readonly [T, ...T[]]): T;
  pick<T>(from: readonly T[]): T | undefined;
  pick<T>(from: readonly T[]): T | undefined {
    return from.length === 0 ? undefined : from[Math.floor(this.random() * from.length)];
  }

  /** Returns an element with a weight above 0, or undefined. */
  weighted<T extends { readonly weight: number }>(from: readonly T[]): T | undefined {
    const total = from.reduce((sum, { weight }) => sum + weight, 0);
    let left = this.random() * total;
    return from.find(({ weight }) => (left -= weight) < 0);
  }
}
