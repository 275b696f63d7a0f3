/** The gates of a soak. Pure: from the measurements to a line for each gate. */

/** The measurements of one window, taken at its end, at rest and after a garbage collection. */
export interface WindowResult {
  readonly index: number;
  /** Hours since the first window began. */
  readonly atHours: number;
  readonly changes: number;
  readonly faults: readonly string[];
  /** Planned faults that did not strike. */
  readonly missed: readonly string[];
  readonly violations: readonly string[];
  readonly gauges: Readonly<Record<GaugeName, number>>;
  /** Milliseconds from write to handler, outside faults. */
  readonly latencies: readonly number[];
  readonly loopDelayP99Ms: number;
  readonly loopDelayMaxMs: number;
}

export type GaugeName = 'heapBytes' | 'externalBytes' | 'rssBytes' | 'descriptors' | 'threads' | 'timers';

export interface Gate {
  readonly name: string;
  readonly isMet: boolean;
  readonly seen: string;
}

/** Growth an hour that is accepted although it is significant: noise of allocators. */
const GROWTH_PER_HOUR_MAX: Readonly<Record<GaugeName, number>> = {
  heapBytes: 2 ** 20,
  externalBytes: 2 ** 20,
  rssBytes: 2 ** 20,
  descriptors: 0,
  threads: 0,
  timers: 0,
};
/** The first quarter is warm-up. */
const WARM_SHARE = 0.25;
const LATENCY_RATIO_MAX = 1.2;
const LOOP_DELAY_P99_MS_MAX = 50;
const P99 = 0.99;

export function gatesOf(windows: readonly WindowResult[]): readonly Gate[] {
  const violations = windows.flatMap(({ violations: found }) => found);
  const missed = windows.flatMap(({ missed: faults }) => faults);
  return [
    {
      name: 'no violation',
      isMet: violations.length === 0,
      seen: `${violations.length} ${violations.slice(0, 3).join('; ')}`.trim(),
    },
    {
      name: 'every fault landed',
      isMet: missed.length === 0,
      seen: `${windows.flatMap(({ faults }) => faults).length} landed, ${missed.length} missed ${missed.join(' ')}`.trim(),
    },
    ...Object.keys(GROWTH_PER_HOUR_MAX).map((name) => growthGate(windows, name as GaugeName)),
    latencyGate(windows),
    loopGate(windows),
  ];
}

function growthGate(windows: readonly WindowResult[], name: GaugeName): Gate {
  const warm = windows.slice(Math.floor(windows.length * WARM_SHARE));
  const samples = warm.map(({ atHours, gauges }): Sample => ({ at: atHours, value: gauges[name] }));
  const trend = trendOf(samples);
  const [first = Number.NaN, last = Number.NaN] = [samples[0]?.value, samples.at(-1)?.value];
  const range = `${text(name, first)} → ${text(name, last)}`;
  const gate = `no growth of ${name}`;
  if (!trend) return { name: gate, isMet: true, seen: `${range}, too short for a trend` };
  const isMet = !trend.isGrowing || trend.perHour <= GROWTH_PER_HOUR_MAX[name];
  return { name: gate, isMet, seen: `${range}, ${text(name, trend.perHour)} an hour` };
}

/** Quarters, because a window has too few probes for a p99 of its own. */
function latencyGate(windows: readonly WindowResult[]): Gate {
  const quarter = Math.max(1, Math.floor(windows.length / 4));
  const p99 = (some: readonly WindowResult[]): number =>
    quantile(
      some.flatMap(({ latencies }) => latencies),
      P99,
    );
  const [first, last] = [p99(windows.slice(0, quarter)), p99(windows.slice(-quarter))];
  const ratio = last / first;
  return {
    name: `last p99 at most ${LATENCY_RATIO_MAX}x the first`,
    // Without a probe there is no ratio, and the gate is not met.
    isMet: ratio <= LATENCY_RATIO_MAX,
    seen: `${first.toFixed(2)} ms → ${last.toFixed(2)} ms`,
  };
}

function loopGate(windows: readonly WindowResult[]): Gate {
  const p99 = quantile(
    windows.map(({ loopDelayP99Ms }) => loopDelayP99Ms),
    P99,
  );
  const max = Math.max(...windows.map(({ loopDelayMaxMs }) => loopDelayMaxMs));
  return {
    name: `event loop delay p99 below ${LOOP_DELAY_P99_MS_MAX} ms`,
    isMet: p99 < LOOP_DELAY_P99_MS_MAX,
    seen: `p99 of the worst window ${p99.toFixed(1)} ms, max ${max.toFixed(1)} ms`,
  };
}

function text(name: GaugeName, value: number): string {
  return name.endsWith('Bytes') ? `${(value / 2 ** 20).toFixed(2)} MiB` : value.toFixed(1);
}

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

/**
 * Tests for growth with Theil and Sen's slope and Kendall's test of significance. The slope is the median of the slopes
 * of all pairs, so a few outliers do not change it. @returns undefined when there are too few samples
 */
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
