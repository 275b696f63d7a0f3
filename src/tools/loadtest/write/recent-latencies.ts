/** The latencies of the last seconds, for a live view: counted in windows of a second; old windows are dropped. */
import { LatencyCounts, quantileMs, sumOf } from '../histogram.ts';
import type { LiveQuantiles } from '../live.ts';

const WINDOWS = 5;
const WINDOW_US = 1e6;

export class RecentLatencies {
  readonly #windows = new Map<number, LatencyCounts>();

  observe(atUs: number, durationMs: number): void {
    const window = Math.floor(atUs / WINDOW_US);
    let counts = this.#windows.get(window);
    if (!counts) {
      counts = new LatencyCounts();
      this.#windows.set(window, counts);
      this.#drop(atUs);
    }
    counts.observe(durationMs);
  }

  /** Returns the quantiles of the last 5 s; null without an observation. */
  quantiles(atUs: number): LiveQuantiles | null {
    this.#drop(atUs);
    const sum = sumOf(Array.from(this.#windows.values(), ({ data }) => data));
    const p50 = quantileMs(sum, 0.5);
    const p99 = quantileMs(sum, 0.99);
    return p50 === null || p99 === null || sum.maxMs === null ? null : { p50, p99, max: sum.maxMs };
  }

  #drop(atUs: number): void {
    const oldest = Math.floor(atUs / WINDOW_US) - WINDOWS;
    for (const window of this.#windows.keys()) if (window <= oldest) this.#windows.delete(window);
  }
}
