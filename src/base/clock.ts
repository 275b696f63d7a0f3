/**
 * Time and randomness, injected: production uses the real ones, tests and the simulator control their own.
 */

export interface Clock {
  /** Returns monotonic milliseconds with fractions. */
  now(): number;
  /** Calls `callback` once after `delayMs`; the returned function cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** Returns a uniform random number in [0, 1). */
export type Random = () => number;

export interface RealTimers {
  readonly setTimeout: typeof globalThis.setTimeout;
  readonly clearTimeout: typeof globalThis.clearTimeout;
  readonly setInterval: typeof globalThis.setInterval;
  readonly clearInterval: typeof globalThis.clearInterval;
  readonly setImmediate: typeof globalThis.setImmediate;
}

/**
 * The global timers as they are when this module is loaded. A test that replaces them (node:test's `mock.timers`,
 * vitest's and sinon's fakes) stops its own code, and not the pipeline. No other code in `src` uses the global timers.
 */
export const realTimers: RealTimers = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  setImmediate: globalThis.setImmediate,
};

const now = performance.now.bind(performance);

export const realClock: Clock = {
  now,
  schedule: (delayMs, callback) => {
    const timer = realTimers.setTimeout(callback, delayMs);
    return () => realTimers.clearTimeout(timer);
  },
};

/** The real clock for background work: its timers do not keep the process alive. */
export const backgroundClock: Clock = {
  now,
  schedule: (delayMs, callback) => {
    const timer = realTimers.setTimeout(callback, delayMs).unref();
    return () => realTimers.clearTimeout(timer);
  },
};
