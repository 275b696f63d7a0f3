/**
 * The frame of `kubeloom top`: a pure function of the state and the size of the terminal. The sums of all informers are
 * at the top, the keys at the bottom, and tables in between share the lines.
 */
import { escapeControls } from '../../../base/printable.ts';
import { cut, fitted, flow, widthOf } from '../terminal/cells.ts';
import { countText, durationText, rateText, sparkline } from '../terminal/figures.ts';
import { screenTable } from '../terminal/screen-table.ts';
import { MINUTE_VALUES } from './top-history.ts';
import type { TopHistory } from './top-history.ts';
import {
  COUNT,
  DURATION,
  clockText,
  errorTable,
  figuresOf,
  informerTable,
  lagText,
  queueTable,
  threadTable,
} from './top-rows.ts';
import { QUIT_KEY, SORT_KEYS } from './top-state.ts';
import type { TopState } from './top-state.ts';

/** Returns exactly `rows` lines of at most `columns` columns. */
export function frame(state: TopState, columns: number, rows: number): string[] {
  // On a terminal with few lines, the informers matter more than the sums and the keys.
  const flowing = Math.max(1, Math.floor(rows / 8));
  const foot = keyLines(state, columns).slice(0, flowing);
  const above = Math.max(0, rows - foot.length);
  const head = headLines(state, columns, flowing);
  const lines = [...head, ...bodyLines(state, columns, above - head.length - 1)].slice(0, above);
  while (lines.length < above) lines.push('');
  return [...lines, ...foot].slice(-rows).map((line) => cut(line.trimEnd(), columns));
}

/** Returns a line for a program or a log file: the sums of all informers, and the longest lag. */
export function plainLine({ history }: TopState): string {
  return totals(history)
    .map(({ label, text }) => `${label} ${text}`)
    .join(', ');
}

const GAP = 3;
const MINUTE_LABEL = 'last minute ';

/** @param flowing highest number of lines for the sums */
function headLines({ title, history, lost }: TopState, columns: number, flowing: number): string[] {
  const { now } = history;
  const notice = lost === undefined ? '' : escapeControls(lost);
  if (!now) return [escapeControls(title), notice];
  const clock = `${clockText(now.atMs)} UTC`;
  const titleWidth = Math.max(0, columns - widthOf(clock) - 1);
  const sums = totals(history).map(({ label, text, width }) => `${label} ${text.padEnd(width)}`);
  return [
    `${fitted(escapeControls(title), titleWidth, 'left')} ${clock}`,
    ...flow(sums, GAP, columns).slice(0, flowing),
    minuteLine(history.events(), columns),
    notice,
  ];
}

interface Total {
  readonly label: string;
  readonly text: string;
  /** Width of the widest text. */
  readonly width: number;
}

function totals(history: TopHistory): readonly Total[] {
  const figures = figuresOf(history, {});
  return [
    { label: 'objects', text: countText(figures.objects ?? 0), width: COUNT },
    { label: 'events/s', text: rateText(figures['events/s']), width: COUNT },
    { label: 'lag', text: lagText(figures), width: DURATION },
    { label: 'p50', text: durationText(figures.p50), width: DURATION },
    { label: 'p99', text: durationText(figures.p99), width: DURATION },
    { label: 'backlog', text: countText(figures.backlog ?? 0), width: COUNT },
    { label: 'relists', text: countText(figures.relists), width: COUNT },
    { label: 'errors', text: countText(figures.errors), width: COUNT },
  ];
}

/** Returns the events of the last minute, the newest at the right end, and the height of the highest block. */
function minuteLine(events: readonly number[], columns: number): string {
  const room = columns - MINUTE_LABEL.length - '  up to 999,999 events/s'.length;
  const shown = room < 1 ? [] : events.slice(-Math.min(MINUTE_VALUES, room));
  if (shown.length === 0) return '';
  const blocks = sparkline(shown).padStart(Math.min(MINUTE_VALUES, room));
  return `${MINUTE_LABEL}${blocks}  up to ${rateText(Math.max(...shown))} events/s`;
}

function bodyLines(state: TopState, columns: number, lines: number): string[] {
  const { history, scrolled } = state;
  const informers = informerTable(state);
  const tables = [informers, threadTable(history), queueTable(history), errorTable(history)].filter(
    ({ rows }) => rows.length > 0,
  );
  const counts = shares(
    tables.map(({ rows }) => rows.length),
    lines,
  );
  const sections = tables.map(({ columns: of, rows }, index) => {
    const count = counts[index] ?? 0;
    const first = rows === informers.rows ? Math.min(scrolled, rows.length - count) : 0;
    return count === 0 ? [] : screenTable(of, { rows, first, count }, columns);
  });
  return sections
    .filter((section) => section.length > 0)
    .flatMap((section, index) => (index === 0 ? section : ['', ...section]));
}

/** Lines of a table besides the rows: the headers, and the empty line above them. */
const TABLE_LINES = 2;

/** Returns the number of rows for each table: the tables get a row each in turn, in order. */
export function shares(wanted: readonly number[], lines: number): readonly number[] {
  const counts = wanted.map(() => 0);
  // There is no empty line above the first table.
  let room = lines + 1;
  for (let given = true; given;) {
    given = false;
    for (const [index, count] of counts.entries()) {
      const cost = count === 0 ? TABLE_LINES + 1 : 1;
      if (count >= (wanted[index] as number) || cost > room) continue;
      counts[index] = count + 1;
      room -= cost;
      given = true;
    }
  }
  return counts;
}

function keyLines({ sort }: TopState, columns: number): string[] {
  const sorts = Object.entries(SORT_KEYS).map(([key, column]) => {
    const text = `${key} ${column}`;
    return column === sort ? `[${text}]` : ` ${text} `;
  });
  return flow([`${QUIT_KEY} quit`, '↑↓ scroll', 'sort by:', ...sorts], 1, columns);
}
