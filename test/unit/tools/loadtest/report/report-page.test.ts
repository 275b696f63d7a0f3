/** The page of a load test as text; `report.browser.ts` opens it in a browser. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clock, drawAll } from '../../../../../src/tools/loadtest/report/browser/draw.ts';
import { histogramPlots } from '../../../../../src/tools/loadtest/report/histogram-plots.ts';
import { html, scriptJson } from '../../../../../src/tools/loadtest/report/html.ts';
import type { Plot, PlotData } from '../../../../../src/tools/loadtest/report/plot.ts';
import { reportPage } from '../../../../../src/tools/loadtest/report/report-page.ts';
import {
  processesShown,
  timePlots,
  timelineOf,
} from '../../../../../src/tools/loadtest/report/time-plots.ts';
import { valueText } from '../../../../../src/tools/loadtest/report/value-text.ts';
import { worstWatchers } from '../../../../../src/tools/loadtest/report/watcher-section.ts';
import { exampleResult } from '../example-result.ts';

const result = exampleResult();

describe('the page of a load test', () => {
  const page = reportPage(result);

  it('begins with the verdict and has all parts in the order of a reader', () => {
    const parts = [
      '<strong>THRESHOLD</strong>',
      '<h2>Thresholds',
      '<h2>Rates',
      '<h2>Latencies',
      '<h2>Where a write’s time went',
      '<h2>Phases',
      '<h2>Syncs',
      '<h2>Watchers',
      '<h2>Cost',
      '<h2>The server',
      '<h2>What was run',
      '<h2>Leftovers',
    ];
    const places = parts.map((part) => page.indexOf(part));
    assert.ok(!places.includes(-1), places.join());
    const ascending = places.toSorted((one, other) => one - other);
    assert.deepEqual(places, ascending);
  });

  it('refers to nothing outside itself, and forbids to load anything', () => {
    assert.ok(page.includes(`content="default-src &#39;none&#39;; style-src`));
    const markup = page.slice(0, page.indexOf('<script'));
    assert.doesNotMatch(markup, /\b(?:src|href)=/);
    assert.doesNotMatch(page, /^import /m);
    assert.doesNotMatch(page, /sourceMappingURL/);
  });

  it('has its data as JSON, with a place for each plot', () => {
    const [, json = ''] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page) ?? [];
    const { plots, timelines } = JSON.parse(json) as PlotData;
    assert.equal(timelines.length, 1);
    for (const { id, x, lines } of plots) {
      assert.ok(page.includes(`<div class="plot" id="${id}"></div>`), id);
      for (const { values } of lines) assert.equal(values.length, x.values.length, id);
    }
  });

  it('shows the server’s stages between the steps of a write, and names the absent ones', () => {
    const cells = (row: string): string[] =>
      Array.from(row.matchAll(/<td[^>]*>([^<]*)/g), ([, text = '']) => text);
    const rows = (page.split('<h2>Where a write’s time went')[1] ?? '').split('<tr>').map(cells);
    assert.deepEqual(
      rows
        .filter(([phase]) => phase === 'steady')
        .slice(0, 6)
        .map(([, time, by]) => `${time}, ${by}`),
      [
        'due to sent, load test',
        'sent to answered, load test',
        'request PUT, server',
        'etcd update, server',
        'answered to handler, load test',
        'dispatch to watchers total, server',
      ],
    );
    assert.match(page, /not offered by this server: apiserver_watch_cache_read_wait_seconds/);
  });

  it('says why the server’s counters and stages are missing', () => {
    const unread = 'GET /metrics was not answered within 10 s';
    const serverStages = { stages: [], absent: [], unread };
    const without = reportPage({ ...result, serverMetrics: [], serverStages });
    assert.match(without, /The counters of the server could not be read: GET \/metrics was not answered/);
    assert.match(without, /the server&#39;s stages are incomplete: GET \/metrics was not answered/);
  });

  it('escapes text in markup and in JSON', () => {
    assert.equal(
      html`<p title="${'"&\''}">${'<b>'}${html`<i>${1}</i>`}</p>`.html,
      '<p title="&quot;&amp;&#39;">&lt;b&gt;<i>1</i></p>',
    );
    assert.equal(scriptJson({ a: '</script><!--' }).html, String.raw`{"a":"\u003c/script>\u003c!--"}`);
  });
});

describe('the plots of a load test', () => {
  it('merge marks of one type and second', () => {
    const marks = [1000, 1100, 1999, 2000].map(
      (atMs, index) => ({ atMs, type: 'cut', watcher: `w${index}`, text: 'ended' }) as const,
    );
    assert.deepEqual(timelineOf({ ...result, marks }).marks, [
      { atSeconds: 1, type: 'cut', count: 3, text: 'w0: ended' },
      { atSeconds: 2, type: 'cut', count: 1, text: 'w3: ended' },
    ]);
  });

  it('have a logarithmic axis of both signs where a latency is not above 0', () => {
    const scales = (given: typeof result): string[] =>
      timePlots(given, '', 0).latencies.map(({ y }) => y.scale);
    assert.deepEqual(scales(result), ['log', 'log', 'log']);
    const { series } = result;
    const answeredToHandler = { ...series.latencyMs.answeredToHandler, p50: series.atMs.map(() => -1) };
    const changed = { ...series, latencyMs: { ...series.latencyMs, answeredToHandler } };
    assert.deepEqual(scales({ ...result, series: changed }), ['log', 'log', 'asinh']);
  });

  it('have the generator and the largest of many processes', () => {
    const [generator] = result.series.processes;
    assert.ok(generator);
    const processes = [
      generator,
      ...Array.from({ length: 20 }, (_, index) => ({
        ...generator,
        name: `watchers ${index}`,
        rssBytes: [index],
      })),
    ];
    const names = processesShown(processes).map(({ name }) => name);
    assert.deepEqual(names, [
      'generator',
      ...[19, 18, 17, 16, 15, 14, 13].map((index) => `watchers ${index}`),
    ]);
  });

  it('have histograms whose shares add up to 1, also below 0', () => {
    const plots = histogramPlots(result, '');
    assert.equal(plots.length, 3);
    for (const { lines, x } of plots) {
      assert.equal(x.type, 'bins');
      for (const { values } of lines) {
        const sum = values.reduce<number>((total, each) => total + (each ?? 0), 0);
        assert.ok(Math.abs(sum - 1) < 1e-9, String(sum));
      }
    }
    const x = plots[2]?.x;
    assert.ok(x?.type === 'bins' && x.labels.some((label) => label.startsWith('-')));
  });
});

describe('the axis of a plot', () => {
  /** Returns the distances of lines on the axis of a plot; undefined: whatever fits. */
  function distances(unit: Plot['y']['unit']): readonly number[] | undefined {
    let found: readonly number[] | undefined;
    class FakePlot {
      static readonly pxRatio = 1;
      static readonly paths = { stepped: () => () => null };

      constructor({ axes }: { readonly axes: readonly { readonly incrs?: readonly number[] }[] }) {
        found = axes[1]?.incrs;
      }
    }
    const [first] = timePlots(result, '', 0).flow;
    assert.ok(first);
    const plot = { ...first, y: { ...first.y, unit } };
    const element = { textContent: '', clientWidth: 600 };
    drawAll({ timelines: [timelineOf(result)], plots: [plot] }, {
      document: { getElementById: () => element },
      uPlot: FakePlot,
      style: () => '',
      text: valueText,
      darkness: { addEventListener: () => {} },
      onResize: () => {},
    } as unknown as Parameters<typeof drawAll>[1]);
    return found;
  }

  it('has whole numbers only when it counts', () => {
    const counts = distances('count') ?? [];
    assert.deepEqual(counts.slice(0, 5), [1, 2, 5, 10, 20]);
    assert.ok(counts.every((distance) => Number.isInteger(distance)));
    assert.equal(distances('ms'), undefined);
  });
});

describe('the table of the worst watchers', () => {
  it('has those with faults first, then those with relists, then the slowest', () => {
    const [one] = result.watchers;
    assert.ok(one);
    const [sync] = one.syncs;
    assert.ok(sync);
    const base = { ...one, relists: 0, cutWatches: 0 };
    const slow = { ...base, name: 'slow', syncs: [{ ...sync, durationMs: 9000 }] };
    const never = { ...base, name: 'never', syncs: [{ ...sync, durationMs: null }] };
    const cut = { ...base, name: 'cut', cutWatches: 1 };
    const lost = { ...base, name: 'lost', verdict: { ...one.verdict, lost: 1 } };
    const others = Array.from({ length: 1000 }, (_, index) => ({ ...base, name: `other ${index}` }));
    const worst = worstWatchers([...others, slow, never, cut, lost]);
    const names = worst.slice(0, 4).map(({ name }) => name);
    assert.deepEqual(names, ['lost', 'cut', 'never', 'slow']);
    assert.equal(worst.length, 20);
  });
});

it('figures are short text with a unit', () => {
  for (const [value, unit, text] of [
    [0.0123, 'ms', '12.3 µs'],
    [-1.234, 'ms', '-1.23 ms'],
    [999.7, 'ms', '1 s'],
    [3060, 'ms', '3.06 s'],
    [125_000, 'ms', '2 min 5 s'],
    [2 ** 30 * 1.5, 'bytes', '1.5 GiB'],
    [498.7, 'perSecond', '499/s'],
    [0.614, 'cpu', '0.61 CPU'],
    [0.0501, 'share', '5.01 %'],
    [null, 'ms', '–'],
    [1234.5, 'count', '1,235'],
  ] as const)
    assert.equal(valueText(value, unit), text);
});

it('the time of a run is minutes and seconds, with hours after the first one', () => {
  assert.deepEqual([0, 65.9, 3605].map(clock), ['0:00', '1:05', '1:00:05']);
});
