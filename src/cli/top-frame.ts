/**
 * The frame of `kubeloom top`: a pure function from the collected metrics of the last minute to lines of text. Rates are
 * differences of two snapshots, so that the same frame shows this process or another one.
 */
import type { MetricLabels } from '../base/metrics/table.ts';
import { MetricsReading, quantile, since } from '../base/metrics/reading.ts';
import type { StatsSnapshot } from '../base/metrics/snapshot.ts';
import type { MetricName } from '../base/metrics/table.ts';
import { Table } from './table.ts';
import { escapeControls } from '../base/printable.ts';

export type TopSort = 'name' | 'objects' | 'events' | 'backlog';

export interface TopState {
  readonly title: string;
  readonly sort: TopSort;
  /** Snapshots of the last minute, oldest first. */
  readonly snapshots: readonly StatsSnapshot[];
}

export type TopInput =
  | { readonly type: 'snapshot'; readonly snapshot: StatsSnapshot }
  | { readonly type: 'key'; readonly key: string };

const HISTORY_MS = 60_000;
/** Period of rates and quantiles. */
const RECENT_MS = 5_000;
const SPARKLINE_MAX = 60;
const KEYS: Readonly<Record<string, TopSort>> = { n: 'name', o: 'objects', e: 'events', b: 'backlog' };
const HELP = 'sort by: n name, o objects, e events, b backlog · q quit';

export function stepTop(state: TopState, input: TopInput): TopState {
  if (input.type === 'key') return { ...state, sort: KEYS[input.key] ?? state.sort };
  const { snapshot } = input;
  const recent = state.snapshots.filter(({ atMs }) => atMs >= snapshot.atMs - HISTORY_MS);
  return { ...state, snapshots: [...recent, snapshot] };
}

/** Returns at most `rows` lines of at most `columns` characters. */
export function frame(state: TopState, columns: number, rows: number): string[] {
  const history = new History(state.snapshots);
  const { now } = history;
  if (!now) return [state.title].map((line) => line.slice(0, columns));
  const lines = [
    `${state.title} · ${new Date(now.atMs).toISOString().slice(11, 19)}`,
    '',
    ...informerLines(history, state.sort),
    '',
    ...threadLines(history),
    ...queueLines(history),
    ...errorLines(now),
  ];
  const room = Math.max(1, rows - 2);
  return [...lines.slice(0, room), '', HELP].slice(0, rows).map((line) => line.slice(0, columns));
}

/** Returns one line for a program or a log file: the sums of all informers. */
export function plainLine(state: TopState): string {
  const history = new History(state.snapshots);
  const of = (name: MetricName): number => history.value(name, {}) ?? 0;
  return [
    `${count(of('kubeloom_informer_objects'))} objects`,
    `${count(history.rate('kubeloom_informer_records_total', {}))} events/s`,
    `backlog ${count(of('informer_queued_items'))}`,
    `lag ${seconds(of('kubeloom_informer_lag_seconds'))}`,
  ].join(', ');
}

interface InformerRow {
  readonly name: string;
  readonly objects: number;
  readonly events: number;
  readonly backlog: number;
  readonly cells: readonly string[];
}

const INFORMER_HEADERS = [
  'INFORMER',
  'PHASE',
  'OBJECTS',
  'EVENTS/S',
  'LAG',
  'BACKLOG',
  'ERRORS',
  'LAST MINUTE',
];

function informerLines(history: History, sort: TopSort): string[] {
  const rows = history.labels('kubeloom_informer_objects').map((labels) => informerRow(history, labels));
  rows.sort((a, b) => (sort === 'name' ? a.name.localeCompare(b.name) : b[sort] - a[sort]));
  return new Table(INFORMER_HEADERS).lines(rows.map(({ cells }) => cells));
}

function informerRow(history: History, labels: MetricLabels): InformerRow {
  const name = labels['name'] ?? '';
  const objects = history.value('kubeloom_informer_objects', labels) ?? 0;
  const events = history.rate('kubeloom_informer_records_total', labels);
  const backlog = history.value('informer_queued_items', labels) ?? 0;
  const [{ phase = '' } = {}] = history.labels('kubeloom_informer_phase', labels);
  const isStale = history.value('kubeloom_informer_stale', labels) === 1;
  const cells = [
    name,
    isStale ? `${phase} (stale)` : phase,
    count(objects),
    count(events),
    seconds(history.value('kubeloom_informer_lag_seconds', labels)),
    count(backlog),
    count(history.value('kubeloom_errors_total', labels) ?? 0),
    sparkline(history.rates('kubeloom_informer_records_total', labels)),
  ];
  return { name, objects, events, backlog, cells };
}

const QUEUE_HEADERS = ['QUEUE', 'DEPTH', 'ADDS/S', 'WAIT P99', 'WORK P99'];

function threadLines(history: History): string[] {
  const rows = history.labels('kubeloom_thread_cpu_seconds_total').map((labels) => {
    const { threads = '', role = '' } = labels;
    const used = history.value('kubeloom_ring_used_bytes', {
      threads,
      ring: role.replace('shard', 'deltas'),
    });
    const capacity = history.value('kubeloom_ring_capacity_bytes', { threads });
    return [
      `${threads} ${role}`,
      percent(history.rate('kubeloom_thread_cpu_seconds_total', labels)),
      count(history.rate('kubeloom_thread_records_total', labels)),
      used === undefined || capacity === undefined ? '' : percent(used / capacity),
      count(history.value('kubeloom_thread_restarts_total', labels) ?? 0),
    ];
  });
  return new Table(['THREAD', 'CPU', 'RECORDS/S', 'RING', 'RESTARTS']).lines(rows);
}

function queueLines(history: History): string[] {
  const rows = history
    .labels('workqueue_depth')
    .map((labels) => [
      labels['name'] ?? '',
      count(history.value('workqueue_depth', labels) ?? 0),
      count(history.rate('workqueue_adds_total', labels)),
      seconds(history.quantile('workqueue_queue_duration_seconds', labels, 0.99)),
      seconds(history.quantile('workqueue_work_duration_seconds', labels, 0.99)),
    ]);
  return rows.length === 0 ? [] : ['', ...new Table(QUEUE_HEADERS).lines(rows)];
}

function errorLines({ errors }: StatsSnapshot): string[] {
  if (errors.length === 0) return [];
  const lines = errors.map(({ atMs, informer, code, message }) => {
    const time = new Date(atMs).toISOString().slice(11, 19);
    return `${time}  ${escapeControls(informer)}  ${code}  ${escapeControls(message)}`;
  });
  return ['', 'LAST ERRORS', ...lines];
}

interface Moment {
  readonly atMs: number;
  readonly reading: MetricsReading;
}

/** Snapshots with their readings. */
class History {
  readonly #moments: readonly Moment[];
  readonly now: StatsSnapshot | undefined;

  constructor(snapshots: readonly StatsSnapshot[]) {
    this.#moments = snapshots.map(({ atMs, families }) => ({ atMs, reading: new MetricsReading(families) }));
    this.now = snapshots.at(-1);
  }

  labels(name: MetricName, match: MetricLabels = {}): readonly MetricLabels[] {
    return this.#moments.at(-1)?.reading.labels(name, match) ?? [];
  }

  value(name: MetricName, match: MetricLabels): number | undefined {
    return this.#moments.at(-1)?.reading.sum(name, match);
  }

  /** Increase in a second, over the recent period. */
  rate(name: MetricName, match: MetricLabels): number {
    const [last, earlier] = [this.#moments.at(-1), this.#earlier];
    return last && earlier ? increase(earlier, last, name, match) : 0;
  }

  /** Increase in a second between each two snapshots. */
  rates(name: MetricName, match: MetricLabels): readonly number[] {
    return this.#moments.slice(1).map((moment, index) => {
      const before = this.#moments[index];
      return before ? increase(before, moment, name, match) : 0;
    });
  }

  quantile(name: MetricName, match: MetricLabels, fraction: number): number | undefined {
    const later = this.#moments.at(-1)?.reading.histogram(name, match);
    return later && quantile(since(later, this.#earlier?.reading.histogram(name, match)), fraction);
  }

  /** The newest snapshot that is at least the recent period old, or else the oldest one. */
  get #earlier(): Moment | undefined {
    const last = this.#moments.at(-1);
    if (!last || this.#moments.length < 2) return undefined;
    return this.#moments.findLast(({ atMs }) => atMs <= last.atMs - RECENT_MS) ?? this.#moments[0];
  }
}

function increase(earlier: Moment, later: Moment, name: MetricName, match: MetricLabels): number {
  const difference = (later.reading.sum(name, match) ?? 0) - (earlier.reading.sum(name, match) ?? 0);
  // A counter that went back belongs to a new source of the same name.
  return later.atMs > earlier.atMs ? Math.max(0, difference) / ((later.atMs - earlier.atMs) / 1000) : 0;
}

const BLOCKS = '▁▂▃▄▅▆▇█';

/** Returns one character for each of the last values, the highest as a full block. */
export function sparkline(values: readonly number[]): string {
  const shown = values.slice(-SPARKLINE_MAX);
  const highest = Math.max(...shown, Number.MIN_VALUE);
  return shown.map((value) => BLOCKS[Math.round((value / highest) * (BLOCKS.length - 1))]).join('');
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

function percent(fraction: number): string {
  return `${Math.round(fraction * 100)} %`;
}

/** Returns a duration with two or three digits: `850 µs`, `3.2 ms`, `12 s`. */
function seconds(value: number | undefined): string {
  if (value === undefined) return '–';
  if (value < 0.001) return `${Math.round(value * 1e6)} µs`;
  if (value < 1) return `${value < 0.01 ? (value * 1000).toFixed(1) : Math.round(value * 1000)} ms`;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} s`;
}
