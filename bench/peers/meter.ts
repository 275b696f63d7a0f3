/**
 * What every client program measures of itself: time, CPU time, the part of its main thread, and how late that one's event
 * loop was.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { IntervalHistogram } from 'node:perf_hooks';
import { threadCpuMs } from '../../src/threads/thread-cpu.ts';
import type { LoopDelay } from '../task.ts';

export interface Measured {
  readonly elapsedMs: number;
  readonly cpuMs: number;
  readonly mainThreadCpuMs?: number;
  readonly loopDelay: LoopDelay;
}

const NANOSECONDS_PER_MS = 1e6;
/** The timers come so much later than the last time when nothing delays it. */
const RESOLUTION_MS = 1;

/** What was added to the loop by others: the monitor's own interval is no delay. */
export function addedDelayMs(nanoseconds: number): number {
  return Math.max(0, nanoseconds / NANOSECONDS_PER_MS - RESOLUTION_MS);
}

export class Meter {
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  /** The monitor sees a delay when it is over; this knows of one that lasts. */
  readonly #ticker: NodeJS.Timeout = setInterval(() => (this.#tickedAt = performance.now()), RESOLUTION_MS);
  #tickedAt = 0;
  #startedAt = 0;
  #cpuBefore: NodeJS.CpuUsage = process.cpuUsage();
  #threadCpuBeforeMs: number | undefined;

  constructor() {
    this.#delay.enable();
    this.start();
  }

  /** Forgets what was before. */
  start(): void {
    this.#delay.reset();
    this.#cpuBefore = process.cpuUsage();
    this.#threadCpuBeforeMs = threadCpuMs();
    this.#startedAt = performance.now();
    this.#tickedAt = this.#startedAt;
  }

  stop(): Measured {
    const now = performance.now();
    const elapsedMs = now - this.#startedAt;
    const lastingMs = Math.max(0, now - this.#tickedAt - RESOLUTION_MS);
    clearInterval(this.#ticker);
    const { user, system } = process.cpuUsage(this.#cpuBefore);
    const threadCpuAfterMs = threadCpuMs();
    const threadCpuBeforeMs = this.#threadCpuBeforeMs;
    const isKnown = threadCpuAfterMs !== undefined && threadCpuBeforeMs !== undefined;
    const delay = this.#delay;
    // Shorter than one sample: nothing is known, and the histogram's numbers mean nothing.
    const isEmpty = delay.count === 0;
    return {
      elapsedMs,
      cpuMs: (user + system) / 1000,
      ...(isKnown ? { mainThreadCpuMs: threadCpuAfterMs - threadCpuBeforeMs } : {}),
      loopDelay: {
        p99Ms: isEmpty ? 0 : addedDelayMs(delay.percentile(99)),
        maxMs: Math.max(lastingMs, isEmpty ? 0 : addedDelayMs(delay.max)),
      },
    };
  }
}
