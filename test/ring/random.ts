/**
 * Seeded chance for property tests: the same seed gives the same run on every machine, and a failure names
 * its seed.
 */
import type { Random } from '../../src/clock.ts';

/** mulberry32: 32 bits of state, good enough to choose test steps, three lines long. */
export function seededRandom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

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
