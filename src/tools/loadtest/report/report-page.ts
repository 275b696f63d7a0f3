/** The report of a run as an HTML file. Pure, except that it reads the script of the page. */
import { quantileMs } from '../histogram.ts';
import type { LoadTestResult } from '../result.ts';
import { STEPS, STEP_NAMES } from './figures.ts';
import { groupsOf, histogramPlots } from './histogram-plots.ts';
import { NOTHING, html, numberColumns, table, textColumns } from './html.ts';
import type { Html } from './html.ts';
import { pageText } from './page.ts';
import type { Plot, TimeMark } from './plot.ts';
import { leftoverSection, runSection, serverTable } from './run-section.ts';
import { processesShown, timePlots, timelineOf } from './time-plots.ts';
import { countText, timeText, valueText } from './value-text.ts';
import { phaseSection, thresholdSection, tiles, verdictBox } from './verdict-section.ts';
import { stageNotes, writeTimes } from './write-times.ts';
import { syncSection, watcherSection } from './watcher-section.ts';

export function reportPage(result: LoadTestResult): string {
  const { run } = result;
  const { rates, flow, latencies, cost, server } = timePlots(result, '', 0);
  const histograms = histogramPlots(result, '');
  const timeline = timelineOf(result);
  const body = html`${header(result)} ${verdictBox(result)} ${tiles(result)} ${thresholdSection(result)}
    <h2>Rates</h2>
    ${figure(rates)}
    <div class="plots">${flow.map(figure)}</div>
    ${markKey(timeline.marks)}
    <h2>Latencies</h2>
    <p class="note">
      Logarithmic, second by second: p50, p99 dashed, max faint. Below 0, the watch was faster than the answer
      to the write.
    </p>
    <div class="plots three">${latencies.map(figure)}</div>
    <h2>Latencies of the whole run</h2>
    <p class="note">The share of the observations in each bucket; buckets grow with the latency.</p>
    <div class="plots three">${histograms.map(figure)}</div>
    ${latencyTable(result)} ${writeTimeSection(result)} ${phaseSection(result)} ${syncSection(result)}
    ${watcherSection(result)}
    <h2>Cost of the processes</h2>
    ${processNote(result)}
    <div class="plots three">${cost.map(figure)}</div>
    <h2>The server</h2>
    <div class="plots">${server.map(figure)}</div>
    ${serverTable(result)} ${runSection(result)} ${leftoverSection(result)}`;
  const plots = [rates, ...flow, ...latencies, ...histograms, ...cost, ...server];
  return pageText(`${result.conclusion.kind}: ${run.workload.name}`, '', body, {
    timelines: [timeline],
    plots,
  });
}

function header({ run }: LoadTestResult): Html {
  const started = `${run.startedAt.slice(0, 16).replace('T', ' ')} UTC`;
  const facts = [
    started,
    timeText(run.durationMs),
    `server ${run.versions.server}`,
    `kubeloom ${run.versions.kubeloom}`,
    `seed ${run.workload.seed}`,
  ];
  return html`<header>
    <p class="above">kubeloom loadtest</p>
    <h1>${run.workload.name}</h1>
    <p class="facts">${facts.join(' · ')}</p>
  </header>`;
}

/** Returns the place of a plot; the page's script draws it. */
export function figure({ id, title }: Plot): Html {
  return html`<figure>
    <figcaption>${title}</figcaption>
    <div class="plot" id="${id}"></div>
  </figure>`;
}

const MARK_NAMES: Readonly<Record<TimeMark['type'], string>> = {
  relist: 'relists',
  cut: 'watches cut',
  fault: 'faults that the workload caused',
};
const MARKS_SHOWN = 40;

/** Returns the meaning of the colours of the marks, and the first marks as text. */
export function markKey(marks: readonly TimeMark[]): Html {
  if (marks.length === 0) return NOTHING;
  const types = [...new Set(marks.map(({ type }) => type))];
  const key = types.map((type) => html`<i style="background:var(--${type})"></i>${MARK_NAMES[type]}`);
  const items = marks.slice(0, MARKS_SHOWN).map(({ atSeconds, type, count, text }) => {
    const more = count === 1 ? '' : `, and ${countText(count - 1)} more in this second`;
    return [timeText(atSeconds * 1000), type, `${text}${more}`];
  });
  const rest = marks.length - items.length;
  const end = rest === 0 ? NOTHING : html`<p class="note">and ${countText(rest)} more</p>`;
  const list = table([...numberColumns('At'), ...textColumns('Mark', '')], items);
  return html`<p class="key">Marks: ${key}</p>
    <details>
      <summary>${countText(marks.length)} marks</summary>
      ${list}${end}
    </details>`;
}

const SHARES = { p50: 0.5, p90: 0.9, p99: 0.99, 'p99.9': 0.999, max: 1 };

function latencyTable(result: LoadTestResult): Html {
  const rows = STEPS.flatMap((step) =>
    groupsOf(result, step).map(({ name, histogram }) => [
      STEP_NAMES[step],
      name,
      countText(histogram.count),
      valueText(histogram.minMs, 'ms'),
      ...Object.values(SHARES).map((share) => valueText(quantileMs(histogram, share), 'ms')),
    ]),
  );
  const figures = numberColumns('Observations', 'min', ...Object.keys(SHARES));
  return table([...textColumns('Step', 'Measured by'), ...figures], rows);
}

function writeTimeSection(result: LoadTestResult): Html {
  const columns = [
    ...textColumns('Phase', 'Time', 'Measured by'),
    ...numberColumns('Observations', 'p50', 'p99'),
  ];
  const rows = writeTimes(result).map(({ phase, name, isServers, count, p50Ms, p99Ms }) => [
    phase,
    name,
    isServers ? 'server' : 'load test',
    countText(count),
    valueText(p50Ms, 'ms'),
    valueText(p99Ms, 'ms'),
  ]);
  return html`<h2>Where a write’s time went</h2>
    <p class="note">
      The server’s stages are parts of the steps around them, by its own histograms. Their buckets are wide,
      so that their quantiles are estimates.
    </p>
    ${table(columns, rows)} ${stageNotes(result).map((note) => html`<p class="note">${note}</p>`)}`;
}

function processNote({ series: { processes } }: LoadTestResult): Html {
  const shown = processesShown(processes).length;
  if (shown === processes.length) return NOTHING;
  return html`<p class="note">
    ${shown} of ${countText(processes.length)} processes: the generator, and those with the most memory.
  </p>`;
}
