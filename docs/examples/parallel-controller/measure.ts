/** Measures work: its time, and for how long it delays the event loop of this thread. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Interval of the histogram, which is a part of every delay. */
const RESOLUTION_MS = 1;

export async function measured(name: string, count: number, work: () => Promise<void>): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  // It records from its second tick on.
  await new Promise((resolve) => setTimeout(resolve, 5 * RESOLUTION_MS));
  const startMs = performance.now();
  const startCpu = process.cpuUsage();
  await work();
  const elapsedMs = performance.now() - startMs;
  const { user, system } = process.cpuUsage(startCpu);
  // A delay that lasted until now is recorded next.
  await new Promise((resolve) => setTimeout(resolve, 5 * RESOLUTION_MS));
  delay.disable();
  const [p99Ms, maxMs] = [delay.percentile(99), delay.max].map((ns) => (ns / 1e6 - RESOLUTION_MS).toFixed(1));
  console.log(
    `${name}: ${(elapsedMs / count).toFixed(1)} ms a key, ${((user + system) / 1000 / count).toFixed(1)} ms of CPU a key, ` +
      `event loop delayed by ${p99Ms} ms (p99), at most ${maxMs} ms`,
  );
}
