/** Metrics of the server, read from `/metrics` if the user may read it and the server answers in time. */
import { KubeloomError, messageOf } from '../../../base/errors.ts';
import type { ErrorCode } from '../../../base/error-codes/error-table.ts';
import { TimeLimit } from '../../../base/time-limit.ts';
import type { Clock } from '../../../base/clock.ts';
import type { ApiClient } from '../../../http/api-client.ts';
import type { ServerMetric } from '../result.ts';
import { STAGE_NAMES, stagesOf } from './server-stages.ts';
import type { StageReading, StageSample } from './server-stages.ts';

export type Sample = StageSample;

/** By metric and labels as the server writes them. */
export type Samples = ReadonlyMap<string, Sample>;

/** The counters that show the cost of watches and lists. */
const COUNTERS: readonly string[] = [
  'apiserver_cache_list_total',
  'apiserver_init_events_total',
  'apiserver_terminated_watchers_total',
  'apiserver_watch_cache_events_dispatched_total',
  'apiserver_watch_events_sizes_sum',
  'apiserver_watch_events_total',
  'apiserver_watch_filtered_events_total',
  'apiserver_watch_list_duration_seconds_count',
  'apiserver_watch_list_duration_seconds_sum',
  'process_cpu_seconds_total',
];
export const GAUGES: readonly string[] = ['process_resident_memory_bytes', 'go_goroutines'];

const LINE = /^(?<metric>[a-zA-Z_:][\w:]*)(?:\{(?<labels>.*)\})? (?<value>\S+)/;
/** Sticky: labels follow each other, so no text is searched twice. */
const LABEL = /\s*(?<name>\w+)="(?<value>(?:[^"\\]|\\.)*)"\s*,?/gy;

/** Time for an answer: the load waits for it between two phases. */
const ANSWER_MS_MAX = 10_000;
/** Answers after which another request is of no use. */
const FINAL: ReadonlySet<ErrorCode> = new Set([
  'ERR_KUBELOOM_FORBIDDEN',
  'ERR_KUBELOOM_MALFORMED_RESPONSE',
  'ERR_KUBELOOM_NOT_FOUND',
  'ERR_KUBELOOM_UNAUTHORIZED',
]);

export interface ServerReading {
  readonly samples: Samples;
  readonly stages: StageReading;
}

export class ServerMetrics {
  readonly #client: ApiClient;
  readonly #counters: ReadonlySet<string>;
  /** Names of all lines that are read. */
  readonly #lines: ReadonlySet<string>;
  readonly #resources: ReadonlySet<string>;
  readonly #clock: Clock | undefined;
  #problem: string | undefined;
  #isGivenUp = false;

  /**
   * @param further names of additional metrics
   * @param resources plural names of the resources that the run writes
   */
  constructor(client: ApiClient, further: readonly string[], resources: readonly string[], clock?: Clock) {
    this.#client = client;
    this.#counters = new Set([...COUNTERS, ...GAUGES, ...further]);
    const ofStages = STAGE_NAMES.flatMap((name) =>
      ['bucket', 'sum', 'count'].map((part) => `${name}_${part}`),
    );
    this.#lines = new Set([...this.#counters, ...ofStages]);
    this.#resources = new Set(resources);
    this.#clock = clock;
  }

  /** The first reason for a missing reading. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Returns undefined without an answer. A server that refuses its metrics, or is too slow, is asked once. */
  async read(): Promise<ServerReading | undefined> {
    if (this.#isGivenUp) return undefined;
    using limit = new TimeLimit(ANSWER_MS_MAX, new AbortController().signal, this.#clock);
    try {
      const text = (await this.#client.getBody('/metrics', limit.signal)).toString();
      const samples = samplesOf(text, this.#lines);
      return {
        samples: new Map([...samples].filter(([, { metric }]) => this.#counters.has(metric))),
        stages: stagesOf(samples.values(), this.#resources),
      };
    } catch (error) {
      if (!(error instanceof KubeloomError) && !limit.signal.aborted) throw error;
      this.#isGivenUp = limit.signal.aborted || (error instanceof KubeloomError && FINAL.has(error.code));
      this.#problem ??= limit.signal.aborted
        ? `GET /metrics was not answered within ${ANSWER_MS_MAX / 1000} s`
        : problemOf(error);
      return undefined;
    }
  }
}

/** Problems whose usual advice, which is for lists and watches, would mislead the user. */
const PROBLEMS: Readonly<Partial<Record<ErrorCode, string>>> = {
  ERR_KUBELOOM_FORBIDDEN:
    'GET /metrics was forbidden: allow the user the verb get on the nonResourceURL /metrics (RBAC)',
  ERR_KUBELOOM_NOT_FOUND: 'GET /metrics was not found: this server has no metrics',
};

function problemOf(error: unknown): string {
  return (error instanceof KubeloomError ? PROBLEMS[error.code] : undefined) ?? messageOf(error);
}

export function samplesOf(text: string, wanted: ReadonlySet<string>): Samples {
  const samples = new Map<string, Sample>();
  for (const line of text.split('\n')) {
    const { metric = '', labels = '', value } = LINE.exec(line)?.groups ?? {};
    if (!wanted.has(metric)) continue;
    const pairs = Array.from(labels.matchAll(LABEL), ({ groups }) => [
      groups?.['name'] ?? '',
      groups?.['value'] ?? '',
    ]);
    samples.set(`${metric}{${labels}}`, {
      metric,
      labels: Object.fromEntries(pairs) as Readonly<Record<string, string>>,
      value: Number(value),
    });
  }
  return samples;
}

/** Returns the metrics that changed, by name. */
export function changesBetween(before: Samples | undefined, after: Samples | undefined): ServerMetric[] {
  if (!before || !after) return [];
  return Array.from(after, ([key, { metric, labels, value }]) => ({
    metric,
    labels,
    before: before.get(key)?.value ?? 0,
    after: value,
  }))
    .filter(({ before: first, after: last }) => first !== last)
    .toSorted((one, other) => (one.metric < other.metric ? -1 : 1));
}

/** Returns a figure of a metric: the sum over all labels. */
export function totalOf(samples: Samples, metric: string): number {
  let total = 0;
  for (const sample of samples.values()) if (sample.metric === metric) total += sample.value;
  return total;
}
