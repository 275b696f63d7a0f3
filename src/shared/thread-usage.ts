/**
 * CPU time and work of a thread so far, its predecessors included. The thread publishes it about four times a second
 * while it works, because reading its CPU time costs some tens of microseconds.
 */
import type { Clock } from '../base/clock.ts';
import { threadCpuMs } from '../base/thread-cpu.ts';
import { CounterReader, CounterWriter, allocateCounters } from './counters.ts';

const CPU_MS = 0;
const RECORDS = 1;
const LOST_WAKEUPS = 2;
const COUNTERS = 3;

/** Shortest time between two publications. */
const PUBLISH_MS = 250;

export interface ThreadUsage {
  /** 0 where the platform does not report it. */
  readonly cpuMs: number;
  readonly records: number;
  /** Number of times that the thread found work without a wake-up. */
  readonly lostWakeups: number;
}

export function allocateUsage(): SharedArrayBuffer {
  return allocateCounters(COUNTERS);
}

export class UsageWriter {
  readonly #writer: CounterWriter;
  /** Published by the thread's predecessors. */
  readonly #before: Float64Array;
  readonly #clock: Clock;
  #publishedMs = -Infinity;

  constructor(buffer: SharedArrayBuffer, clock: Clock) {
    this.#writer = new CounterWriter(buffer);
    this.#before = this.#writer.values.slice();
    this.#clock = clock;
  }

  /** Publishes, unless it did a moment ago. @param records and `lostWakeups` of this thread since its start */
  report(records: number, lostWakeups: number): void {
    const nowMs = this.#clock.now();
    if (nowMs - this.#publishedMs < PUBLISH_MS) return;
    this.#publishedMs = nowMs;
    this.#set(CPU_MS, threadCpuMs() ?? 0);
    this.#set(RECORDS, records);
    this.#set(LOST_WAKEUPS, lostWakeups);
    this.#writer.publish();
  }

  #set(counter: number, value: number): void {
    this.#writer.values[counter] = (this.#before[counter] ?? 0) + value;
  }
}

/** Returns what a thread has published last. */
export function readUsage(buffer: SharedArrayBuffer): ThreadUsage {
  const [cpuMs = 0, records = 0, lostWakeups = 0] = new CounterReader(buffer).read();
  return { cpuMs, records, lostWakeups };
}
