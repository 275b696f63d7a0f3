/**
 * Time and randomness, injected: production uses the real ones, tests and the simulator control their own.
 */

export interface Clock {
  /** Returns monotonic milliseconds with fractions. Real clocks of all threads of the process show the same time. */
  now(): number;
  /** Calls `callback` once after `delayMs`, soon when that is negative; the returned function cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** Returns a uniform random number in [0, 1). */
export type Random = () => number;

export type RealTimers = Pick<
  typeof globalThis,
  'setTimeout' | 'clearTimeout' | 'setInterval' | 'clearInterval' | 'setImmediate'
>;

const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate } = globalThis;

/**
 * The global timers as they are when this module is loaded. A test that replaces them (node:test's `mock.timers`,
 * vitest's and sinon's fakes) stops its own code, and not the pipeline. No other code in `src` uses the global timers.
 */
export const realTimers: RealTimers = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate };

export const realClock: Clock = clockOf(false);

/** The real clock for background work: its timers do not keep the process alive. */
export const backgroundClock: Clock = clockOf(true);

function clockOf(isBackground: boolean): Clock {
  const schedule = (delayMs: number, callback: () => void): (() => void) => {
    // A process that was suspended finds deadlines that have passed. Node 24 and later warn about negative delays.
    const timer = realTimers.setTimeout(callback, Math.max(0, delayMs));
    if (isBackground) timer.unref();
    return () => realTimers.clearTimeout(timer);
  };
  return { now: performance.now.bind(performance), schedule };
}
