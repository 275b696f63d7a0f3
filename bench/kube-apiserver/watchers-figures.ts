/** Figures of a healthy watcher beside slow watchers, and their table. Pure. */
import { markdownTable } from './markdown-table.ts';

/** Activity of the watchers beside the healthy watcher; `alone`: there are none. */
export const NEIGHBOURS = ['alone', 'reconnecting', 'stalled', 'stalled and reconnecting'] as const;
export type Neighbours = (typeof NEIGHBOURS)[number];
/** A reconnecting watcher ends its watch, and starts another, this often. */
export const RECONNECT_MS = 500;
/** Selects the objects of the measurement. */
export const LABEL = 'figures=watchers';

export interface WatcherFigures {
  readonly neighbours: Neighbours;
  readonly changesPerSecond: number;
  readonly seconds: number;
  /** Answered writes. */
  readonly changes: number;
  /** From the start of each write to the arrival of its event at the healthy watcher, ascending. */
  readonly delaysMs: readonly number[];
  /** CPU time of the server. */
  readonly serverCpuSeconds: number;
  /** Watches that the server ended because their client did not read. */
  readonly terminated: number;
}

const COLUMNS: Readonly<Record<string, (figures: WatcherFigures) => string>> = {
  'changes/s due': ({ changesPerSecond }) => String(changesPerSecond),
  'beside the healthy watcher': ({ neighbours }) => neighbours,
  'changes/s': ({ changes, seconds }) => String(Math.round(changes / seconds)),
  'p50, ms': ({ delaysMs }) => quantileText(delaysMs, 0.5),
  'p99, ms': ({ delaysMs }) => quantileText(delaysMs, 0.99),
  'max, ms': ({ delaysMs }) => quantileText(delaysMs, 1),
  'not received': ({ changes, delaysMs }) => String(changes - delaysMs.length),
  'server CPU, ms/s': ({ serverCpuSeconds, seconds }) =>
    String(Math.round((1000 * serverCpuSeconds) / seconds)),
  'watches ended by the server': ({ terminated }) => String(terminated),
};

/** Returns a table as Markdown: a row for each rate and each kind of neighbours. */
export function watchersTable(figures: readonly WatcherFigures[]): string {
  return markdownTable(COLUMNS, figures);
}

/** @param ascending values */
function quantileText(ascending: readonly number[], part: number): string {
  const value = ascending[Math.max(0, Math.ceil(part * ascending.length) - 1)];
  return value === undefined ? 'none' : value.toFixed(1);
}
