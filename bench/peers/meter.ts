/**
 * The measurements of every client program: time, CPU time, the main thread's part of it, and the delay of
 * its event loop.
 */
import { threadCpuMs } from '../../src/base/thread-cpu.ts';
import type { LoopDelay } from '../task.ts';
import { LoopDelayMeter } from './loop-delay.ts';

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
