/** How late the event loop of the calling thread is, and how late it would be if the thread never waited for a processor. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { IntervalHistogram } from 'node:perf_hooks';
import hdr from 'hdr-histogram-js';
import type { LoopDelay } from '../task.ts';
import { RunDelay } from './run-delay.ts';

const NANOSECONDS_PER_MS = 1e6;
const US_PER_MS = 1000;
/** The timers come so much later than the last time when nothing delays them. */
const RESOLUTION_MS = 1;
const HIGHEST_US = 60_000_000;

/** What was added to the loop by others: the monitor's own interval is no delay. */
export function addedDelayMs(nanoseconds: number): number {
  return Math.max(0, nanoseconds / NANOSECONDS_PER_MS - RESOLUTION_MS);
}

export class LoopDelayMeter {
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #runDelay: RunDelay = new RunDelay();
  /** Microseconds that each tick was late by, less what the thread waited for a processor meanwhile. */
  readonly #own = hdr.build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: HIGHEST_US,
    numberOfSignificantValueDigits: 3,
  });
  /** The monitor sees a delay when it is over; this knows of one that lasts. */
  readonly #ticker: NodeJS.Timeout = setInterval(() => this.#tick(), RESOLUTION_MS);
  #tickedAt = 0;
  #runDelayMs: number | undefined;

  constructor() {
    this.#delay.enable();
    this.start();
  }

  /** Forgets what was before. */
  start(): void {
    this.#delay.reset();
    this.#own.reset();
    this.#tickedAt = performance.now();
    this.#runDelayMs = this.#runDelay.ms;
  }

  stop(): LoopDelay {
    const lastingMs = Math.max(0, performance.now() - this.#tickedAt - RESOLUTION_MS);
    this.#tick();
    clearInterval(this.#ticker);
    const delay = this.#delay;
    // Shorter than one sample: nothing is known, and the histogram's numbers mean nothing.
    const isEmpty = delay.count === 0;
    const own = this.#own;
    return {
      p99Ms: isEmpty ? 0 : addedDelayMs(delay.percentile(99)),
      maxMs: Math.max(lastingMs, isEmpty ? 0 : addedDelayMs(delay.max)),
      ...(this.#runDelayMs === undefined
        ? {}
        : { ownP99Ms: own.getValueAtPercentile(99) / US_PER_MS, ownMaxMs: own.maxValue / US_PER_MS }),
    };
  }

  #tick(): void {
    const now = performance.now();
    const runDelayMs = this.#runDelay.ms;
    const lateMs = now - this.#tickedAt - RESOLUTION_MS;
    this.#tickedAt = now;
    if (runDelayMs === undefined || this.#runDelayMs === undefined) return;
    const ownMs = Math.max(0, lateMs - (runDelayMs - this.#runDelayMs));
    this.#runDelayMs = runDelayMs;
    this.#own.recordValue(Math.min(HIGHEST_US, Math.round(ownMs * US_PER_MS)));
  }
}
