/**
 * The comparison of two runs as an HTML file: differences first, followed by the plots of both runs side by side, on
 * equal axes.
 */
import type { ComparedFigure, ComparedThreshold, Comparison } from './compare.ts';
import { differenceText, outcomeText, percentText } from './compare-text.ts';
import { histogramPlots } from './histogram-plots.ts';
import { NOTHING, html, numberColumns, table, textColumns } from './html.ts';
import type { Html, HtmlPart } from './html.ts';
import { pageText } from './page.ts';
import type { Plot } from './plot.ts';
import { figure } from './report-page.ts';
import { timePlots, timelineOf } from './time-plots.ts';
import { verdictBox } from './verdict-section.ts';
import { valueText } from './value-text.ts';

export function comparePage(comparison: Comparison): string {
  const { names, results, warnings, title, facts, figures, thresholds } = comparison;
  const [before, after] = results;
  const pairs = pairsOf(comparison);
  const warned =
    warnings.length === 0
      ? NOTHING
      : html`<div class="verdict INVALID">
          <strong>Not the same conditions</strong>
          <ul>
            ${warnings.map((text) => html`<li>${text}</li>`)}
          </ul>
        </div>`;
  const body = html`<header>
      <p class="above">kubeloom loadtest --compare</p>
      <h1>${title}: A and B</h1>
      <p class="facts">A: ${names[0]} · B: ${names[1]}</p>
    </header>
    ${warned}
    <div class="pair">
      <div>
        <h3>A: ${names[0]}</h3>
        ${verdictBox({ ...before, leftovers: [] })}
      </div>
      <div>
        <h3>B: ${names[1]}</h3>
        ${verdictBox({ ...after, leftovers: [] })}
      </div>
    </div>
    <h2>Figures</h2>
    ${figureTable(figures)}
    <h2>Thresholds</h2>
    ${thresholds.length === 0 ? html`<p class="note">Neither run has any.</p>` : thresholdTable(thresholds)}
    <h2>What differs</h2>
    ${table(
      textColumns('', 'A', 'B'),
      facts.map(({ name, before: a, after: b }) => [name, a, b]),
    )}
    <h2>Plots</h2>
    <div class="pair">
      <h3>A</h3>
      <h3>B</h3>
      ${pairs.map(([a, b]) => html`${figure(a)}${figure(b)}`)}
    </div>
    <h2>Workloads</h2>
    <div class="pair">
      <pre>${before.run.workloadYaml}</pre>
      <pre>${after.run.workloadYaml}</pre>
    </div>`;
  return pageText(`A and B: ${title}`, 'wide', body, {
    timelines: results.map(timelineOf),
    plots: pairs.flat(),
  });
}

function figureTable(figures: readonly ComparedFigure[]): Html {
  const columns = [...textColumns('', 'Figure'), ...numberColumns('A', 'B', 'Difference', '')];
  const rows = figures.map((each, index): HtmlPart[] => {
    const { section, name, unit, before, after, change } = each;
    const tone = { better: 'good', worse: 'bad', none: 'muted' }[change];
    return [
      figures[index - 1]?.section === section ? '' : html`<span class="muted">${section}</span>`,
      name,
      valueText(before, unit),
      valueText(after, unit),
      html`<span class="${tone}">${differenceText(each)}</span>`,
      html`<span class="${tone}">${percentText(each)}</span>`,
    ];
  });
  return table(columns, rows);
}

function thresholdTable(thresholds: readonly ComparedThreshold[]): Html {
  const cell = (result: ComparedThreshold['before']): Html =>
    html`<span class="${result ? (result.isMet ? 'good' : 'bad') : 'muted'}">${outcomeText(result)}</span>`;
  const rows = thresholds.map(({ text, before, after }) => [text, cell(before), cell(after)]);
  return table(textColumns('Threshold', 'A', 'B'), rows);
}

/** Returns the plots that exist in both runs, on equal axes. */
function pairsOf({ results: [before, after] }: Comparison): (readonly [Plot, Plot])[] {
  const plotsOf = (result: typeof before, prefix: string, timeline: number): Plot[] => {
    const { rates, flow, latencies, cost } = timePlots(result, prefix, timeline);
    return [rates, ...flow, ...latencies, ...histogramPlots(result, prefix), ...cost];
  };
  const others = plotsOf(after, 'b-', 1);
  return plotsOf(before, 'a-', 0).flatMap((plot) => {
    const other = others.find(({ id }) => id.slice(2) === plot.id.slice(2));
    return other ? [onEqualAxes(plot, other)] : [];
  });
}

function onEqualAxes(one: Plot, other: Plot): readonly [Plot, Plot] {
  let highest = 0;
  for (const { values } of [...one.lines, ...other.lines])
    for (const value of values) if (value !== null) highest = Math.max(highest, value);
  const scale = one.y.scale === other.y.scale ? one.y.scale : 'asinh';
  const { x } = one;
  const { x: otherX } = other;
  const end = x.type === 'time' && otherX.type === 'time' ? Math.max(x.endSeconds, otherX.endSeconds) : 0;
  const equal = (plot: Plot): Plot => ({
    ...plot,
    x: plot.x.type === 'time' ? { ...plot.x, endSeconds: end } : plot.x,
    y: { ...plot.y, scale, max: highest },
  });
  return [equal(one), equal(other)];
}
