/** Seeded random numbers: the same seed gives the same run on every machine, and a failure names the seed. */
import { checkFinite } from './option-checks.ts';
import type { Random } from './clock.ts';

/** mulberry32: 32 bits of state, enough to choose the steps of a load or of a test. */
export function seededRandom(seed: number): Random {
  checkFinite('seed', seed);
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}
