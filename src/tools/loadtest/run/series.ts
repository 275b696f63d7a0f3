/** Assembles the figures of all processes into columns, second by second. Pure. */
import { LatencyCounts, quantileMs } from '../histogram.ts';
import type { QuantileColumns, Series } from '../result.ts';
import type { ProcessCost } from '../process/cost.ts';
import type { SecondOfDeliveries } from '../watch/watcher.ts';
import type { Write } from '../write/generator.ts';

export interface Timed<T> {
  /** Milliseconds since the start of the run. */
  readonly atMs: number;
  readonly value: T;
}

export interface Observed {
  readonly durationMs: number;
  /** The start of the run, by `nowUs`. */
  readonly startedUs: number;
  readonly writes: readonly Write[];
  readonly deliveries: readonly SecondOfDeliveries[];
  readonly costs: ReadonlyMap<string, readonly Timed<ProcessCost>[]>;
  readonly server: ReadonlyMap<string, readonly Timed<number>[]>;
}

const INTERVAL_MS = 1000;

export function seriesOf({ durationMs, startedUs, writes, deliveries, costs, server }: Observed): Series {
  const length = Math.max(1, Math.ceil(durationMs / INTERVAL_MS));
  const secondOf = (us: number): number =>
    Math.min(length - 1, Math.max(0, Math.floor((us - startedUs) / 1e6)));
  const due = zeros(length);
  const sent = zeros(length);
  const answered = zeros(length);
  const lateness = histograms(length);
  const answers = histograms(length);
  for (const { dueUs, sentUs, answeredUs } of writes) {
    (due[secondOf(dueUs)] as number)++;
    (sent[secondOf(sentUs)] as number)++;
    (answered[secondOf(answeredUs)] as number)++;
    lateness[secondOf(sentUs)]?.observe((sentUs - dueUs) / 1000);
    answers[secondOf(answeredUs)]?.observe((answeredUs - sentUs) / 1000);
  }
  let waiting = 0;
  const pending = due.map((count, second) => (waiting += count - (answered[second] ?? 0)));
  const delivered = zeros(length);
  const handled = histograms(length);
  for (const { second, changes, latency } of deliveries) {
    const place = Math.min(length - 1, Math.max(0, second));
    (delivered[place] as number) += changes;
    handled[place]?.add(latency);
  }
  const columns = <T, V>(values: readonly Timed<T>[], of: (value: T) => V): (V | null)[] => {
    const column = Array.from({ length }, (): V | null => null);
    for (const { atMs, value } of values) column[secondOf(startedUs + atMs * 1000)] = of(value);
    return column;
  };
  return {
    intervalMs: INTERVAL_MS,
    atMs: Array.from({ length }, (_, second) => second * INTERVAL_MS),
    rateAsked: due,
    sent,
    answered,
    pending,
    delivered,
    latencyMs: {
      dueToSent: quantiles(lateness),
      sentToAnswered: quantiles(answers),
      answeredToHandler: quantiles(handled),
    },
    processes: Array.from(costs, ([name, values]) => ({
      name,
      cpu: columns(values, ({ cpu }) => cpu),
      rssBytes: columns(values, ({ rssBytes }) => rssBytes),
      loopDelayMs: columns(values, ({ loopDelayMs }) => loopDelayMs),
    })),
    server: Array.from(server, ([metric, values]) => ({ metric, values: columns(values, (value) => value) })),
  };
}

function zeros(length: number): number[] {
  return Array.from({ length }, () => 0);
}

function histograms(length: number): LatencyCounts[] {
  return Array.from({ length }, () => new LatencyCounts());
}

function quantiles(seconds: readonly LatencyCounts[]): QuantileColumns {
  const data = seconds.map((each) => each.data);
  return {
    p50: data.map((each) => quantileMs(each, 0.5)),
    p99: data.map((each) => quantileMs(each, 0.99)),
    max: data.map(({ maxMs }) => maxMs),
  };
}
