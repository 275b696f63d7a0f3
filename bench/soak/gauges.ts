/** The values that must not grow: memory after a garbage collection, file descriptors, threads, timers. */
import { readFileSync, readdirSync } from 'node:fs';
import type { GaugeName } from './gates.ts';

/** Finalizers run between collections; more collections change nothing. */
const COLLECTIONS = 3;

export async function readGauges(): Promise<Record<GaugeName, number>> {
  const { gc } = globalThis;
  if (!gc) throw new RangeError('the soak needs node --expose-gc: npm run soak');
  for (let done = 0; done < COLLECTIONS; done++) {
    await gc({ execution: 'async' });
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout');
  return {
    heapBytes: heapUsed,
    externalBytes: external,
    rssBytes: rss,
    descriptors: readdirSync('/proc/self/fd').length,
    threads: Number(/^Threads:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]),
    timers: timers.length,
  };
}
