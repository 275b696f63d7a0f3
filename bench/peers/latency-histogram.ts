/** The latency from the wire to the handler: a high dynamic range histogram in microseconds, three digits exact. */
import hdr from 'hdr-histogram-js';
import type { Histogram } from 'hdr-histogram-js';
import type { Latency } from '../task.ts';

export const HIGHEST_US = 60_000_000;

/** Returns a histogram of microseconds, three digits exact. */
export function microsecondHistogram(): Histogram {
  return hdr.build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: HIGHEST_US,
    numberOfSignificantValueDigits: 3,
  });
}

export class LatencyHistogram {
  readonly #histogram = microsecondHistogram();

  /** @param sentUs wall clock of the source, microseconds since the epoch */
  record(sentUs: number): void {
    const nowUs = (performance.timeOrigin + performance.now()) * 1000;
    // Two clocks of the same machine may differ by a microsecond or two.
    this.#histogram.recordValue(Math.min(HIGHEST_US, Math.max(1, Math.round(nowUs - sentUs))));
  }

  get latency(): Latency {
    const at = (percentile: number): number => this.#histogram.getValueAtPercentile(percentile);
    return { p50Us: at(50), p90Us: at(90), p99Us: at(99), p999Us: at(99.9), maxUs: this.#histogram.maxValue };
  }
}
