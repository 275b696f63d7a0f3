/** All chance of one seed: whoever asks in the same order gets the same answers. */
import type { Random } from '../../src/clock.ts';
import { seededRandom } from '../../src/testing/index.ts';

export class Chance {
  readonly random: Random;

  constructor(seed: number) {
    this.random = seededRandom(seed);
    // Seeds that are neighbours begin alike.
    for (let skipped = 0; skipped < 8; skipped++) this.random();
  }

  happens(probability: number): boolean {
    return this.random() < probability;
  }

  /** From `from` to `to`, both included. */
  integer(from: number, to: number): number {
    return from + Math.floor(this.random() * (to - from + 1));
  }

  /** Between `from` and `to`, small ones as often as large ones. */
  magnitude(from: number, to: number): number {
    return from * (to / from) ** this.random();
  }

  pick<T>(from: readonly [T, ...T[]]): T {
    return from[Math.floor(this.random() * from.length)] ?? from[0];
  }

  /** One of those with a weight above 0, or undefined. */
  weighted<T extends { readonly weight: number }>(from: readonly T[]): T | undefined {
    const total = from.reduce((sum, { weight }) => sum + weight, 0);
    let left = this.random() * total;
    return from.find(({ weight }) => (left -= weight) < 0);
  }
}
