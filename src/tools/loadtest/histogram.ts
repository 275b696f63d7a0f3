/**
 * Latencies in fixed buckets, which each process counts separately and a report adds up. Signed: a watch can be faster
 * than the answer to the write. A bucket is 7 % wide, so a quantile is off by half of that at most.
 */
import type { HistogramCounts } from './result.ts';

const PER_DECADE = 32;
const SMALLEST_MS = 0.01;
const LARGEST_MS = 600_000;
/** Bounds below 0 are less fine: they only show how far ahead the watch was. */
const NEGATIVE_PER_DECADE = 8;
const SMALLEST_NEGATIVE_MS = 0.1;
const LARGEST_NEGATIVE_MS = 10_000;

/** Upper bounds of the buckets, ascending, each inclusive; the last bucket is unbounded. */
export const BOUNDS_MS: readonly number[] = [
  ...bounds(SMALLEST_NEGATIVE_MS, LARGEST_NEGATIVE_MS, NEGATIVE_PER_DECADE)
    .map((bound) => -bound)
    .toReversed(),
  0,
  ...bounds(SMALLEST_MS, LARGEST_MS, PER_DECADE),
];

function bounds(smallest: number, largest: number, perDecade: number): number[] {
  const steps = Math.ceil(Math.log10(largest / smallest) * perDecade);
  return Array.from({ length: steps + 1 }, (_, index) =>
    Number((smallest * 10 ** (index / perDecade)).toPrecision(4)),
  );
}

export class LatencyCounts {
  readonly #counts = new Float64Array(BOUNDS_MS.length + 1);
  #count = 0;
  #sumMs = 0;
  #minMs = Number.POSITIVE_INFINITY;
  #maxMs = Number.NEGATIVE_INFINITY;

  observe(durationMs: number): void {
    (this.#counts[bucketOf(durationMs)] as number)++;
    this.#count++;
    this.#sumMs += durationMs;
    this.#minMs = Math.min(this.#minMs, durationMs);
    this.#maxMs = Math.max(this.#maxMs, durationMs);
  }

  add({ count, sumMs, minMs, maxMs, buckets }: HistogramCounts): void {
    for (const [index, observations] of buckets) (this.#counts[index] as number) += observations;
    this.#count += count;
    this.#sumMs += sumMs;
    this.#minMs = Math.min(this.#minMs, minMs ?? Number.POSITIVE_INFINITY);
    this.#maxMs = Math.max(this.#maxMs, maxMs ?? Number.NEGATIVE_INFINITY);
  }

  get data(): HistogramCounts {
    const isEmpty = this.#count === 0;
    const buckets: [number, number][] = [];
    for (const [index, count] of this.#counts.entries()) if (count > 0) buckets.push([index, count]);
    return {
      count: this.#count,
      sumMs: rounded(this.#sumMs),
      minMs: isEmpty ? null : rounded(this.#minMs),
      maxMs: isEmpty ? null : rounded(this.#maxMs),
      buckets,
    };
  }
}

/** Returns the sum of all histograms. */
export function sumOf(histograms: Iterable<HistogramCounts>): HistogramCounts {
  const sum = new LatencyCounts();
  for (const each of histograms) sum.add(each);
  return sum.data;
}

/**
 * Returns the duration that this share of the observations does not exceed, interpolated within the bucket.
 *
 * @param share from 0 to 1; 1 is the exact maximum
 * @returns null without an observation
 */
export function quantileMs(histogram: HistogramCounts, share: number): number | null {
  const { count, minMs, maxMs, buckets } = histogram;
  if (minMs === null || maxMs === null) return null;
  if (share >= 1) return maxMs;
  let left = share * count;
  for (const [index, observations] of buckets) {
    if (left > observations) {
      left -= observations;
      continue;
    }
    const lower = Math.max(minMs, BOUNDS_MS[index - 1] ?? minMs);
    const upper = Math.min(maxMs, BOUNDS_MS[index] ?? maxMs);
    return rounded(lower + (upper - lower) * (left / observations));
  }
  return maxMs;
}

function bucketOf(durationMs: number): number {
  let low = 0;
  let high = BOUNDS_MS.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((BOUNDS_MS[middle] as number) < durationMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Microseconds are enough. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
