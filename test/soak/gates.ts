/** The gates of a soak: from its windows to one line for each gate. Pure. */
import type { GaugeName } from './window-record.ts';

/** The part of a window that the gates read. */
export interface WindowResult {
  readonly violations: readonly string[];
  readonly faults: number;
  readonly changes: number;
  readonly atHours: number;
  readonly gauges: Readonly<Record<GaugeName, number>>;
}

export interface Gate {
  readonly name: string;
  readonly isMet: boolean;
  readonly seen: string;
}

const MIB = 2 ** 20;
/** Growth over the last half that counts as noise: of allocators, of connections and timers at rest, of heartbeats that are deleted later. */
export const GROWTH_MAX: Readonly<Record<GaugeName, number>> = {
  rssBytes: 48 * MIB,
  heapBytes: 8 * MIB,
  descriptors: 8,
  threads: 3,
  listeners: 0,
  leases: 12,
};
/** With fewer windows growth is not judged: six in the last half are the fewest that show a trend. */
export const WINDOWS_MIN = 12;
const CHANGES_MIN = 20;
/** Quantile of the standard normal distribution for a confidence of 95 %, one-sided. */
const QUANTILE_95 = 1.645;

/** The promises, by the first words of their violations. */
const PROMISES: readonly (readonly [name: string, prefixes: readonly string[]])[] = [
  ['nothing lost, doubled or reordered', ['history']],
  ['no stale cache', ['stale']],
  ['one owner, and every change worked', ['group']],
  ['one thread a key, and every change worked', ['pool']],
  ['reconciled within 60 s of the last fault', ['late']],
  ['no report without a cause', ['report']],
  ['every scrape answered, no counter back', ['scrape']],
  ['every fault struck', ['fault that']],
  ['every process lives', ['ended']],
];

export function gatesOf(windows: readonly WindowResult[]): Gate[] {
  return [
    ...PROMISES.map(([name, prefixes]) => promiseGate(windows, name, prefixes)),
    otherGate(windows),
    loadGate(windows),
    ...Object.keys(GROWTH_MAX).map((gauge) => growthGate(windows, gauge as GaugeName)),
  ];
}

function promiseGate(windows: readonly WindowResult[], name: string, prefixes: readonly string[]): Gate {
  const broken = windows.flatMap(({ violations }) => violations).filter((text) => startsWith(text, prefixes));
  return { name, isMet: broken.length === 0, seen: `${broken.length} ${broken[0] ?? ''}`.trim() };
}

/** A violation that no gate names is one as well. */
function otherGate(windows: readonly WindowResult[]): Gate {
  const known = PROMISES.flatMap(([, prefixes]) => prefixes);
  const others = windows.flatMap(({ violations }) => violations).filter((text) => !startsWith(text, known));
  return {
    name: 'nothing else',
    isMet: others.length === 0,
    seen: `${others.length} ${others[0] ?? ''}`.trim(),
  };
}

function startsWith(text: string, prefixes: readonly string[]): boolean {
  return prefixes.some((prefix) => text.startsWith(prefix));
}

/** A run without load, or without faults, proves nothing. */
function loadGate(windows: readonly WindowResult[]): Gate {
  const least = Math.min(...windows.map(({ changes }) => changes));
  const faults = windows.reduce((sum, window) => sum + window.faults, 0);
  const seen = `${faults} faults; ${windows.length === 0 ? 0 : least} changes in the window with the fewest`;
  return { name: 'load and faults', isMet: windows.length > 0 && least >= CHANGES_MIN && faults > 0, seen };
}

function growthGate(windows: readonly WindowResult[], gauge: GaugeName): Gate {
  const half = windows.slice(Math.floor(windows.length / 2));
  const samples = half.map(({ atHours, gauges }): Sample => ({ at: atHours, value: gauges[gauge] }));
  const [first, last] = [samples[0], samples.at(-1)];
  const name = `${gauge} flat over the last half`;
  if (windows.length < WINDOWS_MIN || !first || !last)
    return { name, isMet: true, seen: `not judged: ${windows.length} windows of ${WINDOWS_MIN}` };
  const { perHour, isGrowing } = trendOf(samples);
  const growth = perHour * (last.at - first.at);
  const seen = `${textOf(gauge, first.value)} → ${textOf(gauge, last.value)}, ${textOf(gauge, growth)} of ${textOf(gauge, GROWTH_MAX[gauge])}`;
  // A value that is not measured is no flat one.
  return { name, isMet: Number.isFinite(growth) && (!isGrowing || growth <= GROWTH_MAX[gauge]), seen };
}

function textOf(gauge: GaugeName, value: number): string {
  return gauge.endsWith('Bytes') ? `${(value / MIB).toFixed(1)} MiB` : String(Math.round(value * 10) / 10);
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

/**
 * Tests for growth with Theil and Sen's slope and Kendall's test of significance. The slope is the median of the slopes
 * of all pairs, so a few outliers do not change it.
 */
export function trendOf(samples: readonly Sample[]): Trend {
  const slopes: number[] = [];
  let concordance = 0;
  for (const [index, earlier] of samples.entries()) {
    for (const later of samples.slice(index + 1)) {
      slopes.push((later.value - earlier.value) / (later.at - earlier.at));
      concordance += Math.sign(later.value - earlier.value);
    }
  }
  const count = samples.length;
  const deviation = Math.sqrt((count * (count - 1) * (2 * count + 5)) / 18);
  return { perHour: median(slopes), isGrowing: (concordance - 1) / deviation > QUANTILE_95 };
}

/** NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
