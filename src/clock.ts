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

export const realClock: Clock = {
  now: () => performance.now(),
  schedule: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
