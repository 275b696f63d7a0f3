/** The cost of this process, second by second. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { realTimers } from '../../../base/clock.ts';

export interface ProcessCost {
  /** CPU seconds a second, of all threads. */
  readonly cpu: number;
  readonly rssBytes: number;
  readonly loopDelayMs: number;
}

const INTERVAL_MS = 1000;
/** The resolution of the histogram is also the smallest value. */
const RESOLUTION_MS = 1;

/** Calls `report` once a second, with the cost since the previous call. */
export function reportCost(report: (cost: ProcessCost) => void): void {
  const loopDelay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  loopDelay.enable();
  let cpu = process.cpuUsage();
  let measuredMs = performance.now();
  realTimers.setInterval(() => {
    const { user, system } = process.cpuUsage(cpu);
    const nowMs = performance.now();
    report({
      cpu: (user + system) / 1000 / (nowMs - measuredMs),
      rssBytes: process.memoryUsage.rss(),
      loopDelayMs: Math.max(0, loopDelay.max / 1e6 - RESOLUTION_MS),
    });
    cpu = process.cpuUsage();
    measuredMs = nowMs;
    loopDelay.reset();
  }, INTERVAL_MS);
}
