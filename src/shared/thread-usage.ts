/**
 * CPU time and work of a role's threads so far. Each thread continues with the published figures of the predecessor; figures that it
 * had not published are lost. A shard publishes records before their results, so a reader of a result finds the record
 * counted. The rest is published about four times a second, because a read of the CPU time costs a thread some tens of
 * microseconds.
 */
import type { Clock } from '../base/clock.ts';
import { threadCpuMs } from '../base/thread-cpu.ts';
import { CounterReader, CounterWriter, allocateCounters } from './counters.ts';

export const UsageCounter = {
  CpuMs: 0,
  Records: 1,
  LostWakeups: 2,
  /** Time in which the log, or a ring, had no room for what was read. */
  LogPausedMs: 3,
  RingPausedMs: 4,
  LogUsedBytes: 5,
} as const;

export type UsageCounter = (typeof UsageCounter)[keyof typeof UsageCounter];

const COUNTERS = 6;

/** Shortest time between two readings of the CPU time, each of which takes as long as dozens of events. */
const CPU_TIME_PERIOD_MS = 1000;

export interface ThreadUsage {
  /** Undefined where the platform does not report it. */
  readonly cpuMs: number | undefined;
  readonly records: number;
  /** Number of times that the thread found work without a wake-up. */
  readonly lostWakeups: number;
  readonly logPausedMs: number;
  readonly ringPausedMs: number;
  readonly logUsedBytes: number;
}

export function allocateUsage(): SharedArrayBuffer {
  return allocateCounters(COUNTERS);
}

export class UsageWriter extends CounterWriter {
  /** Published by the thread's predecessors. */
  readonly #before: Float64Array;
  readonly #clock: Pick<Clock, 'now'>;
  #publishedMs = -Infinity;
  /** Whether the thread worked since the last read of the CPU time; a start is work. */
  #hasWorked = true;

  constructor(buffer: SharedArrayBuffer, clock: Pick<Clock, 'now'>) {
    super(buffer);
    this.#before = this.values.slice();
    // Not a sum: a successor begins with an empty log.
    this.#before[UsageCounter.LogUsedBytes] = 0;
    this.#clock = clock;
  }

  /** Sets a counter to be published. @param value of this thread since the start */
  set(counter: UsageCounter, value: number): void {
    this.values[counter] = (this.#before[counter] ?? 0) + value;
  }

  /** Publishes with the thread's CPU time, unless that was read a moment ago or the thread has not worked since. */
  publishCpuTime(hasWorked: boolean): void {
    this.#hasWorked ||= hasWorked;
    if (!this.#hasWorked) return;
    const nowMs = this.#clock.now();
    if (nowMs - this.#publishedMs < CPU_TIME_PERIOD_MS) return;
    this.#publishedMs = nowMs;
    this.#hasWorked = false;
    this.set(UsageCounter.CpuMs, threadCpuMs() ?? NaN);
    this.publish();
  }
}

/** Returns the figures that a thread published last. */
export function readUsage(buffer: SharedArrayBuffer): ThreadUsage {
  const [cpuMs, records = 0, lostWakeups = 0, logPausedMs = 0, ringPausedMs = 0, logUsedBytes = 0] =
    new CounterReader(buffer).read();
  return {
    cpuMs: Number.isNaN(cpuMs) ? undefined : cpuMs,
    records,
    lostWakeups,
    logPausedMs,
    ringPausedMs,
    logUsedBytes,
  };
}
