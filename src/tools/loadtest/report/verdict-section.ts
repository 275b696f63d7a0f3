/** The beginning of a report: the verdict, the figures that a reader looks for first, the thresholds and the phases. */
import { quantileMs } from '../histogram.ts';
import type { Conclusion, LoadTestResult, ThresholdResult } from '../result.ts';
import { confirmedWrites, pacedLatencies } from './figures.ts';
import { NOTHING, html, numberColumns, table, textColumns } from './html.ts';
import type { Html, HtmlPart } from './html.ts';
import { DASH, countText, timeText, valueText } from './value-text.ts';
import { exactQuantile, faultsOf, syncDurations, watcherGroups } from './watcher-groups.ts';

/** The meaning of each conclusion, in a sentence. */
export const MEANINGS: Readonly<Record<Conclusion['kind'], string>> = {
  PASS: 'Every write reached every watcher once and in order, or was covered by a relist, the caches equal a LIST, and every threshold was met.',
  FAIL: 'Delivery was violated: a watcher did not receive exactly what was written.',
  INVALID:
    'This run proves nothing: writes failed, or a part was saturated, so that the load was not as requested.',
  THRESHOLD: 'Every write was delivered once and in order, and a threshold was missed.',
  INTERRUPTED: 'The user ended the run; the report covers what was done.',
};

export function verdictBox(result: LoadTestResult): Html {
  const { kind, reasons } = result.conclusion;
  const list =
    reasons.length === 0
      ? NOTHING
      : html`<ul>
          ${reasons.map((reason) => html`<li>${reason}</li>`)}
        </ul>`;
  const [first, ...others] = result.leftovers;
  const more = others.length === 0 ? '' : ` and ${countText(others.length)} more`;
  const note = first
    ? html`<p class="note">Not removed: ${first.what}${more}. Leftovers are listed at the end.</p>`
    : NOTHING;
  return html`<div class="verdict ${kind}" id="verdict">
    <strong>${kind}</strong>
    <p>${MEANINGS[kind]}</p>
    ${list}${note}
  </div>`;
}

export function tiles(result: LoadTestResult): Html {
  const groups = watcherGroups(result);
  const sum = (of: (group: (typeof groups)[number]) => number): number =>
    groups.reduce((total, group) => total + of(group), 0);
  const faults = sum(faultsOf);
  const paced = result.phases.filter(({ rateAsked }) => rateAsked !== null);
  const fastest = paced.toSorted((one, other) => (other.rateAsked ?? 0) - (one.rateAsked ?? 0))[0];
  const handled = pacedLatencies(result, 'answeredToHandler');
  const firsts = syncDurations(result.watchers, 'start');
  const verdicts = ['lost', 'duplicated', 'reordered', 'unequal'] as const;
  const found = verdicts.map(
    (verdict) =>
      `${countText(sum((group) => group[verdict]))} ${verdict === 'unequal' ? 'caches differ' : verdict}`,
  );
  return html`<dl class="tiles">
    ${tile('Writes confirmed', countText(confirmedWrites(result.writes)), failedText(result))}
    ${tile('Changes delivered', countText(sum(({ delivered }) => delivered)), `to ${countText(result.watchers.length)} watchers; ${countText(sum(({ covered }) => covered))} covered by a relist`)}
    ${tile('Faults of delivery', html`<span class="${faults === 0 ? 'good' : 'bad'}">${countText(faults)}</span>`, found.join(', '))}
    ${fastest ? tile(`Rate achieved, ${fastest.name}`, valueText(fastest.rateAchieved, 'perSecond'), `${valueText(fastest.rateAsked, 'perSecond')} asked`) : NOTHING}
    ${tile('Answered to handler, p99', valueText(quantileMs(handled, 0.99), 'ms'), `p50 ${valueText(quantileMs(handled, 0.5), 'ms')}, max ${valueText(handled.maxMs, 'ms')}`)}
    ${tile('First sync, slowest', valueText(exactQuantile(firsts, 1), 'ms'), `median ${valueText(exactQuantile(firsts, 0.5), 'ms')}`)}
  </dl>`;
}

function tile(name: string, value: HtmlPart, note: string): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}<small>${note}</small></dd>
  </div>`;
}

function failedText({ writes }: LoadTestResult): string {
  const { refused, unanswered } = writes;
  return refused + unanswered === 0
    ? 'none failed'
    : `${countText(refused)} refused, ${countText(unanswered)} unanswered`;
}

export function thresholdSection({ thresholds }: LoadTestResult): Html {
  if (thresholds.length === 0)
    return html`<h2>Thresholds</h2>
      <p class="note">The workload has none.</p>`;
  const columns = [
    ...textColumns('', 'Threshold'),
    ...numberColumns('Measured'),
    ...textColumns('Share of the limit'),
  ];
  const rows = thresholds.map((result) => [
    metText(result.isMet),
    result.threshold.text,
    figureText(result),
    meter(result),
  ]);
  return html`<h2>Thresholds</h2>
    ${table(columns, rows)}`;
}

export function metText(isMet: boolean): Html {
  return isMet ? html`<span class="good">✓ met</span>` : html`<span class="bad">✗ missed</span>`;
}

/** Returns the measured figure of a threshold as text. */
export function figureText({ threshold, figure }: ThresholdResult): string {
  if (figure === null) return 'nothing measured';
  const { type } = threshold.subject;
  return type === 'latency' || type === 'sync' ? timeText(figure) : figure.toLocaleString('en-US');
}

/** Returns how much of an upper limit was used; empty for other limits. */
function meter({ threshold: { operator, value }, figure, isMet }: ThresholdResult): Html {
  if (figure === null || value <= 0 || (operator !== '<' && operator !== '<=')) return NOTHING;
  const percent = Math.round((figure / value) * 100);
  const width = Math.max(2, Math.min(100, percent));
  return html`<span class="${isMet ? 'good' : 'bad'}"
      ><span class="meter"><i style="width:${width}%"></i></span
    ></span>
    <span class="muted">${countText(percent)} %</span>`;
}

export function phaseSection({ phases }: LoadTestResult): Html {
  const columns = [
    ...textColumns('Phase', 'Type'),
    ...numberColumns('Began at', 'Took', 'Writes', 'Rate asked', 'Achieved', 'Failed'),
  ];
  const rows = phases.map(({ name, type, startMs, endMs, outcome, writes, rateAsked, rateAchieved }) => {
    const failed = writes.refused + writes.unanswered;
    return [
      outcome === 'done' ? name : html`${name} <span class="doubt">interrupted</span>`,
      type,
      timeText(startMs),
      timeText(endMs - startMs),
      countText(confirmedWrites(writes)),
      valueText(rateAsked, 'perSecond'),
      rateAsked === null ? DASH : valueText(rateAchieved, 'perSecond'),
      html`<span class="${failed === 0 ? 'muted' : 'bad'}">${countText(failed)}</span>`,
    ];
  });
  return html`<h2>Phases</h2>
    ${table(columns, rows)}`;
}
