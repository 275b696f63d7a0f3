/** Choices of property tests, made by the kit's seeded chance. */
import type { Random } from '../../src/clock.ts';

export { seededRandom } from '../../src/embedded/random.ts';

/** A whole number from `min` to `max`, both included. */
export function wholeNumber(random: Random, min: number, max: number): number {
  return min + Math.floor(random() * (max - min + 1));
}

export function pick<T>(random: Random, choices: readonly [T, ...T[]]): T {
  return choices[Math.floor(random() * choices.length)] ?? choices[0];
}

/** Any u32, with the values where signed and wrapping arithmetic go wrong much more often than by chance. */
export function anyU32(random: Random): number {
  const extremes = [0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, 2 ** 32 - 2, 2 ** 32 - 1] as const;
  return random() < 0.4 ? pick(random, extremes) : Math.floor(random() * 2 ** 32);
}
