/** The part of a report about watchers: their syncs, the sums of their groups, and the worst watchers. */
import type { LoadTestResult, SyncResult, WatcherResult } from '../result.ts';
import { NOTHING, html, numberColumns, table, textColumns } from './html.ts';
import type { Html, HtmlPart } from './html.ts';
import { DASH, countText, timeText, valueText } from './value-text.ts';
import { exactQuantile, faultsOf, syncDurations, watcherGroups } from './watcher-groups.ts';

/** Watchers with a separate row. */
export const WORST_SHOWN = 20;
const FINDINGS_SHOWN = 20;

const CAUSES: Readonly<Record<SyncResult['cause'], string>> = {
  start: 'first sync',
  storm: 'relist of a storm',
  server: 'relist that the server caused',
};
const CAUSE_COLORS: Readonly<Record<SyncResult['cause'], number>> = { start: 0, storm: 1, server: 4 };

export function syncSection(result: LoadTestResult): Html {
  const strips = watcherGroups(result).flatMap(({ name, watchers }) =>
    (Object.keys(CAUSES) as SyncResult['cause'][]).flatMap((cause) => {
      const all = watchers.flatMap(({ syncs }) => syncs.filter((sync) => sync.cause === cause));
      return all.length === 0 ? [] : [{ group: name, cause, all, durations: syncDurations(watchers, cause) }];
    }),
  );
  const rows = strips.map(({ group, cause, all, durations }) => [
    group,
    CAUSES[cause],
    [...new Set(all.map(({ mode }) => mode ?? 'no answer'))].join(', '),
    countText(all.length),
    html`<span class="${durations.length < all.length ? 'bad' : 'muted'}"
      >${countText(all.length - durations.length)}</span
    >`,
    ...[0, 0.5, 0.99, 1].map((share) => valueText(exactQuantile(durations, share), 'ms')),
    rangeText(
      all.map(({ items }) => items),
      'count',
    ),
    rangeText(
      all.map(({ bytes }) => bytes),
      'bytes',
    ),
  ]);
  const columns = [
    ...textColumns('Group', 'Cause', 'Answered as'),
    ...numberColumns('Syncs', 'Unfinished', 'Fastest', 'p50', 'p99', 'Slowest', 'Objects', 'Bytes'),
  ];
  return html`<h2>Syncs</h2>
    <p class="note">Each dot is one list, from the request to the last object.</p>
    ${stripChart(strips)}${table(columns, rows)}`;
}

interface Strip {
  readonly group: string;
  readonly cause: SyncResult['cause'];
  readonly durations: readonly number[];
}

const WIDTH = 1000;
const LABEL_WIDTH = 270;
const ROW_HEIGHT = 30;
const TICKS = 5;

function stripChart(strips: readonly Strip[]): Html {
  const longest = Math.max(1, ...strips.map(({ durations }) => durations.at(-1) ?? 0));
  const step = niceStep(longest / TICKS);
  const ticks = Array.from({ length: Math.floor(longest / step) + 1 }, (_, index) => index * step);
  const placeOf = (ms: number): string =>
    (LABEL_WIDTH + (ms / longest) * (WIDTH - LABEL_WIDTH - 20)).toFixed(1);
  const height = strips.length * ROW_HEIGHT + 22;
  const rows = strips.map(({ group, cause, durations }, index) => {
    const top = index * ROW_HEIGHT + ROW_HEIGHT / 2;
    const dots = durations.map(
      (ms) =>
        html`<circle
          class="dot"
          cx="${placeOf(ms)}"
          cy="${top}"
          r="4.5"
          fill="var(--c${CAUSE_COLORS[cause]})"
        />`,
    );
    return html`<text x="0" y="${top + 4}">${group} · ${CAUSES[cause]}</text
      ><line x1="${LABEL_WIDTH}" x2="${WIDTH}" y1="${top}" y2="${top}" />${dots}`;
  });
  const axis = ticks.map(
    (ms) =>
      html`<line x1="${placeOf(ms)}" x2="${placeOf(ms)}" y1="0" y2="${height - 20}" /><text
          x="${placeOf(ms)}"
          y="${height - 4}"
          text-anchor="middle"
          >${timeText(ms)}</text
        >`,
  );
  return html`<svg class="strip" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="durations of syncs">
    ${axis}${rows}
  </svg>`;
}

/** Returns the next number of 1, 2, 5, 10, 20, … */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((each) => each * power >= least) ?? 10);
}

export function watcherSection(result: LoadTestResult): Html {
  const groups = watcherGroups(result);
  const faults = ['Lost', 'Duplicated', 'Reordered', 'Caches that differ'];
  const columns = [
    ...textColumns('Group', 'Client', 'Of'),
    ...numberColumns('Watchers', 'Changes', 'Covered', ...faults, 'Relists', 'Watches cut', 'Received'),
  ];
  const rows = groups.map((group): HtmlPart[] => [
    group.name,
    group.client,
    group.of,
    countText(group.watchers.length),
    countText(group.delivered),
    countText(group.covered),
    ...[group.lost, group.duplicated, group.reordered, group.unequal].map(faultText),
    countText(group.relists),
    countText(group.cutWatches),
    valueText(group.receivedBytes, 'bytes'),
  ]);
  const faulty = groups.some((group) => faultsOf(group) > 0);
  return html`<h2>Watchers</h2>
    ${table(columns, rows)}${worstTable(result.watchers)}${faulty ? findings(result.watchers) : NOTHING}`;
}

function worstTable(watchers: readonly WatcherResult[]): Html {
  const worst = worstWatchers(watchers);
  const columns = [
    ...textColumns('Watcher', 'Process'),
    ...numberColumns('First sync', 'Initial', 'Changes', 'Covered', 'Lost', 'Duplicated', 'Reordered'),
    ...textColumns('Equals a LIST'),
    ...numberColumns('Relists', 'Watches cut', 'Received'),
  ];
  const rows = worst.map((watcher): HtmlPart[] => {
    const { name, process, syncs, verdict, cacheEqualsList, relists, cutWatches, receivedBytes } = watcher;
    return [
      name,
      String(process),
      valueText(syncs[0]?.durationMs ?? null, 'ms'),
      countText(verdict.initial),
      countText(verdict.delivered),
      countText(verdict.covered),
      ...[verdict.lost, verdict.duplicated, verdict.reordered].map(faultText),
      cacheEqualsList === null ? DASH : cacheEqualsList ? 'yes' : html`<span class="bad">no</span>`,
      countText(relists),
      countText(cutWatches),
      valueText(receivedBytes, 'bytes'),
    ];
  });
  const title =
    worst.length < watchers.length
      ? `The ${worst.length} of ${countText(watchers.length)} watchers with the most faults, relists and cut watches, or the slowest sync`
      : 'Each watcher';
  return html`<h3>${title}</h3>
    ${table(columns, rows)}`;
}

/** Returns the watchers by number of faults, then by relists and cuts, then by slowness, the worst first. */
export function worstWatchers(watchers: readonly WatcherResult[]): WatcherResult[] {
  const faults = ({ verdict, cacheEqualsList }: WatcherResult): number =>
    verdict.lost + verdict.duplicated + verdict.reordered + (cacheEqualsList === false ? 1 : 0);
  const cuts = ({ relists, cutWatches }: WatcherResult): number => relists + cutWatches;
  const sync = ({ syncs }: WatcherResult): number => syncs[0]?.durationMs ?? Number.MAX_VALUE;
  return watchers
    .toSorted(
      (one, other) => faults(other) - faults(one) || cuts(other) - cuts(one) || sync(other) - sync(one),
    )
    .slice(0, WORST_SHOWN);
}

function findings(watchers: readonly WatcherResult[]): Html {
  const all = watchers.flatMap(({ name, verdict }) =>
    verdict.findings.map((finding) => `${name}: ${finding}`),
  );
  const shown = all.slice(0, FINDINGS_SHOWN);
  const rest = all.length - shown.length;
  const more = rest === 0 ? NOTHING : html`<li>and ${countText(rest)} more in the result's JSON</li>`;
  return html`<h3>Findings</h3>
    <ul>
      ${shown.map((finding) => html`<li>${finding}</li>`)}${more}
    </ul>`;
}

function faultText(count: number): Html {
  return html`<span class="${count === 0 ? 'muted' : 'bad'}">${countText(count)}</span>`;
}

function rangeText(values: readonly (number | null)[], unit: 'count' | 'bytes'): string {
  const known = values.filter((value) => value !== null).sort((one, other) => one - other);
  const least = valueText(known[0] ?? null, unit);
  const most = valueText(known.at(-1) ?? null, unit);
  return least === most ? least : `${least} to ${most}`;
}
