/**
 * The measurements of every client program: time, CPU time, the main thread's part of the CPU time, and the delay of
 * the main thread's event loop.
 */
import { threadCpuMs } from '../../src/base/thread-cpu.ts';
import type { LoopDelay } from '../task.ts';
import { openSync, readSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { IntervalHistogram } from 'node:perf_hooks';
import { HIGHEST_US, microsecondHistogram } from './latency-histogram.ts';

export interface Measured {
  readonly elapsedMs: number;
  readonly cpuMs: number;
  readonly mainThreadCpuMs?: number;
  readonly loopDelay: LoopDelay;
}

export class Meter {
  readonly #loopDelay: LoopDelayMeter = new LoopDelayMeter();
  #startedAt = 0;
  #cpuBefore: NodeJS.CpuUsage = process.cpuUsage();
  #threadCpuBeforeMs: number | undefined;

  constructor() {
    this.start();
  }

  /** Forgets earlier measurements. */
  start(): void {
    this.#loopDelay.start();
    this.#cpuBefore = process.cpuUsage();
    this.#threadCpuBeforeMs = threadCpuMs();
    this.#startedAt = performance.now();
  }

  stop(): Measured {
    const elapsedMs = performance.now() - this.#startedAt;
    const loopDelay = this.#loopDelay.stop();
    const { user, system } = process.cpuUsage(this.#cpuBefore);
    const threadCpuAfterMs = threadCpuMs();
    const threadCpuBeforeMs = this.#threadCpuBeforeMs;
    const isKnown = threadCpuAfterMs !== undefined && threadCpuBeforeMs !== undefined;
    return {
      elapsedMs,
      cpuMs: (user + system) / 1000,
      ...(isKnown ? { mainThreadCpuMs: threadCpuAfterMs - threadCpuBeforeMs } : {}),
      loopDelay,
    };
  }
}

const NANOSECONDS_PER_MS = 1e6;
const US_PER_MS = 1000;
/** The lateness of timers without any load. */
const RESOLUTION_MS = 1;
const RUN_DELAY_FILE = '/proc/thread-self/schedstat';
/** Room for three numbers of 64 bits as text. */
const RUN_DELAY_BYTES = 64;

/** Returns the delay without the monitor's own interval. */
export function addedDelayMs(nanoseconds: number): number {
  return Math.max(0, nanoseconds / NANOSECONDS_PER_MS - RESOLUTION_MS);
}

/**
 * Linux's run delay: the time in which the calling thread was ready to run and had no processor. The event loop's delay
 * less this time is caused by the program itself. It is read every millisecond, so the file stays open.
 */
class RunDelay {
  readonly #file: number | undefined = openRunDelay();
  readonly #bytes: Buffer = Buffer.alloc(RUN_DELAY_BYTES);

  /** Milliseconds since the thread began; undefined when the system does not count them. */
  get ms(): number | undefined {
    if (this.#file === undefined) return undefined;
    const length = readSync(this.#file, this.#bytes, 0, RUN_DELAY_BYTES, 0);
    const [, nanoseconds] = this.#bytes.toString('latin1', 0, length).split(' ');
    return Number(nanoseconds) / 1e6;
  }
}

function openRunDelay(): number | undefined {
  try {
    return openSync(RUN_DELAY_FILE, 'r');
  } catch {
    // Not Linux, or a kernel that does not count it.
    return undefined;
  }
}

/** Measures the delay of the calling thread's event loop, and the same without the waits for a processor. */
class LoopDelayMeter {
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #runDelay: RunDelay = new RunDelay();
  /** Microseconds by which each tick was late, less the thread's wait for a processor. */
  readonly #own = microsecondHistogram();
  /** The monitor sees a delay only after the end of the delay; this timer shows a delay that lasts. */
  readonly #ticker: NodeJS.Timeout = setInterval(() => this.#tick(), RESOLUTION_MS);
  #tickedAt = 0;
  #runDelayMs: number | undefined;

  constructor() {
    this.#delay.enable();
    this.start();
  }

  /** Forgets earlier samples. */
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
    // Shorter than a sample: the histogram is empty, and the numbers are meaningless.
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
