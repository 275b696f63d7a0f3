/**
 * Time and chance, injected: production uses the real ones, tests and the simulator step their own.
 */

export interface Clock {
  /** Milliseconds, monotonic, fractional. */
  now(): number;
  /** Calls `callback` once after `delayMs`; the returned function cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** Uniform in [0, 1). */
export type Random = () => number;

export interface RealTimers {
  readonly setTimeout: typeof globalThis.setTimeout;
  readonly clearTimeout: typeof globalThis.clearTimeout;
  readonly setInterval: typeof globalThis.setInterval;
  readonly clearInterval: typeof globalThis.clearInterval;
  readonly setImmediate: typeof globalThis.setImmediate;
}

/**
 * As they are when this module is loaded. A test that replaces the timers (node:test's `mock.timers`,
 * vitest's and sinon's fakes) stops its own code with that, and not the pipeline. Nothing in `src` uses the
 * global ones.
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

/** The real one for what nobody waits for: its timers let the process end. */
export const backgroundClock: Clock = {
  now,
  schedule: (delayMs, callback) => {
    const timer = realTimers.setTimeout(callback, delayMs).unref();
    return () => realTimers.clearTimeout(timer);
  },
};
