/** The tables of `kubeloom top`: a row for each informer, thread, queue and error. Pure. */
import { escapeControls } from '../../../base/printable.ts';
import type { MetricLabels } from '../../../metrics/index.ts';
import { countText, durationText, percentText, rateText, sparkline } from '../terminal/figures.ts';
import { figureColumn, textColumn } from '../terminal/screen-table.ts';
import type { ScreenColumn } from '../terminal/screen-table.ts';
import { MINUTE_VALUES } from './top-history.ts';
import type { TopHistory } from './top-history.ts';
import type { TopSort, TopState } from './top-state.ts';

export interface TopTable {
  readonly columns: readonly ScreenColumn[];
  readonly rows: readonly (readonly string[])[];
}

/** Widths of the values of `countText`, `durationText` and `percentText`. */
export const COUNT = 7;
export const DURATION = 5;
const PERCENT = 5;

/** Columns of the tables; the first contains the names. */
export const TOP_COLUMNS: Readonly<Record<'informers' | 'threads' | 'queues', readonly ScreenColumn[]>> = {
  informers: [
    textColumn('INFORMER', 0, 17),
    textColumn('PHASE', 2, 11, 15),
    figureColumn('OBJECTS', 3, COUNT),
    figureColumn('EVENTS/S', 1),
    figureColumn('LAG', 6, DURATION),
    figureColumn('P50', 8, DURATION),
    figureColumn('P99', 5, DURATION),
    figureColumn('BACKLOG', 4, COUNT),
    figureColumn('RELISTS', 9, COUNT),
    figureColumn('ERRORS', 7),
    { header: 'LAST MINUTE', align: 'right', min: 20, max: MINUTE_VALUES, rank: 10 },
  ],
  threads: [
    textColumn('THREAD', 0, 18),
    figureColumn('CPU', 1, PERCENT),
    figureColumn('RECORDS/S', 2),
    figureColumn('RING IN', 3),
    figureColumn('RING OUT', 4),
    figureColumn('LOG', 5, PERCENT),
    figureColumn('PAUSED', 6),
    figureColumn('RESTARTS', 7),
  ],
  queues: [
    textColumn('QUEUE', 0, 18),
    figureColumn('DEPTH', 1, COUNT),
    figureColumn('ADDS/S', 2, COUNT),
    figureColumn('WAIT P99', 3),
    figureColumn('WORK P99', 4),
  ],
};

export interface InformerFigures extends Readonly<Record<Exclude<TopSort, 'name'>, number | undefined>> {
  readonly p50: number | undefined;
  readonly isIdle: boolean;
}

/** `pods #2` before `pods #10`. */
const BY_NAME = new Intl.Collator('en', { numeric: true });

interface InformerRow {
  readonly name: string;
  readonly cells: readonly string[];
  readonly figures: InformerFigures;
}

export function informerTable({ history, sort }: TopState): TopTable {
  const informers = history.labels('kubeloom_informer_objects').map((labels) => informerRow(history, labels));
  informers.sort(
    (a, b) =>
      (sort === 'name' ? 0 : (b.figures[sort] ?? -1) - (a.figures[sort] ?? -1)) ||
      BY_NAME.compare(a.name, b.name),
  );
  return { columns: TOP_COLUMNS.informers, rows: informers.map(({ cells }) => cells) };
}

function informerRow(history: TopHistory, labels: MetricLabels): InformerRow {
  const { name = '' } = labels;
  const [{ phase = '' } = {}] = history.labels('kubeloom_informer_phase', labels);
  const isStale = history.value('kubeloom_informer_stale', labels) === 1;
  const figures = figuresOf(history, labels);
  const cells = [
    escapeControls(name),
    escapeControls(isStale ? `stale, ${phase}` : phase),
    countText(figures.objects),
    rateText(figures['events/s']),
    lagText(figures),
    durationText(figures.p50),
    durationText(figures.p99),
    countText(figures.backlog),
    countText(figures.relists),
    countText(figures.errors),
    sparkline(history.events(name)),
  ];
  return { name, cells, figures };
}

/** Returns `idle` when nothing can be late: the informers watch, and had no event in the recent period. */
export function lagText({ lag, isIdle }: InformerFigures): string {
  return isIdle ? 'idle' : durationText(lag);
}

function isIdle(history: TopHistory, labels: MetricLabels): boolean {
  const [{ phase = '' } = {}] = history.labels('kubeloom_informer_phase', labels);
  const isStale = history.value('kubeloom_informer_stale', labels) === 1;
  return phase === 'watching' && !isStale && history.rate('kubeloom_informer_records_total', labels) === 0;
}

/** Returns the figures of an informer; without labels the sums of all, with the longest lag. */
export function figuresOf(history: TopHistory, labels: MetricLabels): InformerFigures {
  const handled = (fraction: number): number | undefined =>
    history.quantile('kubeloom_latency_seconds', { ...labels, stage: 'done' }, fraction) ??
    // An informer without handlers: the program reads the cache.
    history.quantile('kubeloom_latency_seconds', { ...labels, stage: 'merged' }, fraction);
  const lags = history.labels('kubeloom_informer_lag_seconds', labels);
  const late = lags.filter((informer) => !isIdle(history, informer));
  const lists = history.value('kubeloom_lists_total', labels);
  const first = history.value('kubeloom_lists_total', { ...labels, cause: 'initial' }) ?? 0;
  return {
    objects: history.value('kubeloom_informer_objects', labels),
    'events/s': history.rate('kubeloom_informer_records_total', labels),
    lag: highest(late.map((informer) => history.value('kubeloom_informer_lag_seconds', informer) ?? 0)),
    isIdle: lags.length > 0 && late.length === 0,
    p50: handled(0.5),
    p99: handled(0.99),
    backlog: history.value('informer_queued_items', labels),
    relists: lists === undefined ? undefined : lists - first,
    errors: history.value('kubeloom_errors_total', labels) ?? 0,
  };
}

function highest(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.max(...values);
}

export function threadTable(history: TopHistory): TopTable {
  const rows = history.labels('kubeloom_thread_cpu_seconds_total').map((labels) => {
    const { threads = '', role = '' } = labels;
    const [, shard] = /^shard (\d+)$/.exec(role) ?? [];
    const ringFill = (ring: string): string =>
      shard === undefined
        ? ''
        : fill(
            history.value('kubeloom_ring_used_bytes', { threads, ring: `${ring} ${shard}` }),
            history.value('kubeloom_ring_capacity_bytes', { threads }),
          );
    const logFill = fill(
      history.value('kubeloom_log_used_bytes', { threads }),
      history.value('kubeloom_log_capacity_bytes', { threads }),
    );
    return [
      escapeControls(`${threads} ${role}`),
      percentText(history.rate('kubeloom_thread_cpu_seconds_total', labels)),
      figureOrBlank(history.rate('kubeloom_thread_records_total', labels), rateText),
      ringFill('deltas'),
      ringFill('notifications'),
      role === 'reflector' ? logFill : '',
      pausedText(history, threads, role),
      figureOrBlank(history.value('kubeloom_thread_restarts_total', labels), countText),
    ];
  });
  return { columns: TOP_COLUMNS.threads, rows };
}

/** Causes of the reflector's waits. */
const PAUSES: readonly string[] = ['log', 'ring'];

/** Returns the share of the recent period in which the reflector waited for others. */
function pausedText(history: TopHistory, threads: string, role: string): string {
  const shares = (role === 'reflector' ? PAUSES : [])
    .map((cause) => history.rate('kubeloom_paused_seconds_total', { threads, cause }))
    .filter((share) => share !== undefined);
  return shares.length === 0 ? '' : percentText(Math.max(...shares));
}

export function queueTable(history: TopHistory): TopTable {
  const rows = history
    .labels('workqueue_depth')
    .map((labels) => [
      escapeControls(labels['name'] ?? ''),
      countText(history.value('workqueue_depth', labels)),
      rateText(history.rate('workqueue_adds_total', labels)),
      durationText(history.quantile('workqueue_queue_duration_seconds', labels, 0.99)),
      durationText(history.quantile('workqueue_work_duration_seconds', labels, 0.99)),
    ]);
  return { columns: TOP_COLUMNS.queues, rows };
}

const ERROR_COLUMNS: readonly ScreenColumn[] = [textColumn('LAST ERRORS', 0, Infinity)];

/** Returns a single cell for each error: it ends with a message, which no column can hold. */
export function errorTable({ now }: TopHistory): TopTable {
  const rows = (now?.errors ?? []).map(({ atMs, informer, code, message }) => [
    escapeControls(`${clockText(atMs)}  ${informer}  ${code}  ${message}`),
  ]);
  return { columns: ERROR_COLUMNS, rows };
}

/** Returns the time of day in UTC. */
export function clockText(atMs: number): string {
  return new Date(atMs).toISOString().slice(11, 19);
}

/** Returns the part of a ring or a log that is in use. */
function fill(used: number | undefined, capacity: number | undefined): string {
  return figureOrBlank(used === undefined || !capacity ? undefined : used / capacity, percentText);
}

/** Returns '' for a figure that does not exist for this kind of thread. */
function figureOrBlank(value: number | undefined, text: (value: number) => string): string {
  return value === undefined ? '' : text(value);
}
