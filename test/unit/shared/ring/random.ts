/** Random choices of property tests, from the test kit's seeded generator. */
import type { Random } from '../../../../src/base/clock.ts';

export { seededRandom } from '../../../../src/base/random.ts';

/** Returns a whole number from `min` to `max`, both included. */
export function wholeNumber(random: Random, min: number, max: number): number {
  return min + Math.floor(random() * (max - min + 1));
}

export function pick<T>(random: Random, choices: readonly [T, ...T[]]): T {
  return choices[Math.floor(random() * choices.length)] ?? choices[0];
}

/** Returns any u32; values at which signed and wrapping arithmetic fail come more often than by chance. */
export function anyU32(random: Random): number {
  const extremes = [0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, 2 ** 32 - 2, 2 ** 32 - 1] as const;
  return random() < 0.4 ? pick(random, extremes) : Math.floor(random() * 2 ** 32);
}
