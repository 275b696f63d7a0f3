/**
 * Time and randomness, injected: production uses the real clock, tests and the simulator control their own.
 */

export interface Clock {
  /** Returns monotonic milliseconds with fractions. Real clocks of all threads of the process show the same time. */
  now(): number;
  /** Calls `callback` once after `delayMs`, however long that is, soon when it is negative; the returned function cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** Returns a uniform random number in [0, 1). */
export type Random = () => number;

export type RealTimers = Pick<
  typeof globalThis,
  'setTimeout' | 'clearTimeout' | 'setInterval' | 'clearInterval' | 'setImmediate'
>;

/** Longest delay of a timer, 24.8 days: Node replaces a longer delay by 1 ms. */
const TIMER_MS_MAX = 2 ** 31 - 1;

const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate } = globalThis;

/**
 * The global timers as they are when this module is loaded. A test that replaces them (node:test's `mock.timers`,
 * vitest's and sinon's fakes) stops the code that it tests, and not the pipeline. No other code in `src` uses the global timers.
 */
export const realTimers: RealTimers = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate };

export const realClock: Clock = clockOf(false);

/** The real clock for background work: its timers do not keep the process alive. */
export const backgroundClock: Clock = clockOf(true);

/** Calls `callback` after each interval. The returned function ends that. */
export function scheduleEvery(clock: Clock, intervalMs: number, callback: () => void): () => void {
  const tick = (): void => {
    cancel = clock.schedule(intervalMs, tick);
    callback();
  };
  let cancel = clock.schedule(intervalMs, tick);
  return () => cancel();
}

function clockOf(isBackground: boolean): Clock {
  const schedule = (delayMs: number, callback: () => void): (() => void) => {
    let timer: NodeJS.Timeout;
    const arm = (restMs: number): void => {
      const isLong = restMs > TIMER_MS_MAX;
      const then = isLong ? (): void => arm(restMs - TIMER_MS_MAX) : callback;
      // A process that was suspended finds deadlines that have passed. Node 24 and later warn about negative delays.
      timer = realTimers.setTimeout(then, isLong ? TIMER_MS_MAX : Math.max(0, restMs));
      if (isBackground) timer.unref();
    };
    arm(delayMs);
    return () => realTimers.clearTimeout(timer);
  };
  return { now: performance.now.bind(performance), schedule };
}
