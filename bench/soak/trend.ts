/**
 * A test for growth: Theil and Sen's slope and Kendall's test of significance. The slope is the median of the
 * slopes of all pairs, so a few outliers do not change it.
 */

export interface Sample {
  /** Hours. */
  readonly at: number;
  readonly value: number;
}

export interface Trend {
  readonly perHour: number;
  /** True when the growth is significant, with a confidence of 95 %, one-sided. */
  readonly isGrowing: boolean;
}

/** 95 % quantile of the standard normal distribution. */
const QUANTILE_95 = 1.645;
const SAMPLES_MIN = 8;

/** Undefined when there are too few samples. */
export function trendOf(samples: readonly Sample[]): Trend | undefined {
  const count = samples.length;
  if (count < SAMPLES_MIN) return undefined;
  const slopes: number[] = [];
  let concordance = 0;
  for (const [index, earlier] of samples.entries()) {
    for (const later of samples.slice(index + 1)) {
      slopes.push((later.value - earlier.value) / (later.at - earlier.at));
      concordance += Math.sign(later.value - earlier.value);
    }
  }
  const deviation = Math.sqrt((count * (count - 1) * (2 * count + 5)) / 18);
  return { perHour: median(slopes), isGrowing: (concordance - 1) / deviation > QUANTILE_95 };
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** NaN without values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
