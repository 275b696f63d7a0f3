/**
 * A debug option: every timer of the tests takes four times as long, as on a machine that is late everywhere. Loaded with
 * `--import` (`npm run prove -- --slow`). The product's timers keep their pace: `src/base/clock.ts` has taken the functions
 * before this module replaces them.
 */
import '../../src/base/clock.ts';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import { syncBuiltinESMExports } from 'node:module';

const TIMES = 4;

type Timer = (callback: (...args: never[]) => void, delayMs?: number, ...args: never[]) => unknown;

/** Returns a timer function that multiplies the delay, with the properties of the original. */
function slowed(timer: Timer): Timer {
  const slow: Timer = (callback, delayMs = 0, ...args) => timer(callback, delayMs * TIMES, ...args);
  return Object.defineProperties(slow, Object.getOwnPropertyDescriptors(timer));
}

const { setTimeout: pause } = timersPromises;
const slowPause: typeof pause = (delayMs = 0, value, options) => pause(delayMs * TIMES, value, options);

for (const name of ['setTimeout', 'setInterval'] as const) {
  const slow = slowed(globalThis[name] as unknown as Timer);
  Object.assign(globalThis, { [name]: slow });
  Object.assign(timers, { [name]: slow });
}
Object.assign(timersPromises, { setTimeout: slowPause });
syncBuiltinESMExports();
