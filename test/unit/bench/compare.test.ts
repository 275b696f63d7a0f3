/** The check for regressions, the smoke's check, and the figures of the page. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BenchCase } from '../../../bench/case.ts';
import { compareWith, comparisonText, ratiosOf, readBaseline, TOLERANCE } from '../../../bench/compare.ts';
import { describeMachine } from '../../../bench/document.ts';
import { figuresText, lossLines, marksOf, withPart } from '../../../bench/report/markdown.ts';
import { programsText } from '../../../bench/report/programs.ts';
import type { Row } from '../../../bench/row.ts';
import { smokeFindings } from '../../../bench/smoke.ts';

const ROW: Row = {
  suite: 'watch',
  client: 'kubeloom',
  case: 'pods',
  objectBytes: 5120,
  handler: 'key',
  shards: 1,
  value: 1000,
  unit: 'events/s',
  min: 900,
  max: 1100,
  runs: 3,
  ratios: { 'client-node': 10, limit: 0.5 },
  version: '1.2.3, Node 20.0.0',
  default: true,
};
const NAME = 'watch/pods/5120/key/events/s to client-node';
const stored = (ratio: number) => ({ machine: '', ratios: { [NAME]: ratio } });

describe('the comparison with stored ratios', () => {
  it("stores kubeloom's default rows, without delays of the event loop and parts of the CPU time", () => {
    const delay = { ...ROW, case: 'pods: loop-delay-p99', unit: 'ms' } as const;
    const part = { ...ROW, case: 'pods: main-thread', unit: 'cpu-us/event' } as const;
    const others = [{ ...ROW, default: false }, { ...ROW, client: 'client-go' } as const, delay, part];
    assert.deepEqual(ratiosOf([...others, ROW]), {
      [NAME]: 10,
      'watch/pods/5120/key/events/s to the limit': 0.5,
    });
  });

  it('passes within the tolerance and fails below it', () => {
    const verdict = (ratio: number): boolean | undefined =>
      compareWith(stored(ratio), [ROW])[0]?.isRegression;
    assert.equal(verdict(10), false);
    assert.equal(verdict(10 / TOLERANCE), false);
    assert.equal(verdict(10.1 / TOLERANCE), true);
    assert.match(comparisonText(compareWith(stored(100), [ROW])), /^WORSE .*0 passed, 1 failed/s);
  });

  it('counts a row that failed as a regression, and ignores suites that did not run', () => {
    const missing = compareWith(stored(10), [{ ...ROW, ratios: {} }]);
    assert.deepEqual(missing, [{ name: NAME, stored: 10, now: null, isRegression: true }]);
    assert.deepEqual(compareWith(stored(10), [{ ...ROW, suite: 'sync' }]), []);
  });

  it('names the command that writes a baseline when there is none', () => {
    assert.throws(() => readBaseline('/nowhere/baseline.json'), {
      code: 'ERR_KUBELOOM_USAGE',
      message: /--write-baseline/,
    });
  });
});

describe('a smoke', () => {
  const benchCase: BenchCase = {
    suite: 'watch',
    name: 'pods',
    tier: 'default',
    source: { pods: 1, objectBytes: 5120 },
    task: { case: 'watch', handler: 'key' },
    clients: { kubeloom: 1 },
  };

  it('accepts a figure between its least and its most', () => {
    assert.deepEqual(smokeFindings([benchCase], [ROW]), []);
  });

  it('accepts no wake-ups of a thread that is never done, and times too short for the clock', () => {
    for (const unit of ['ms', 'wake-ups/s'] as const) {
      const none: Row = { ...ROW, unit, value: 0, min: 0, max: 0 };
      assert.deepEqual(smokeFindings([benchCase], [none]), []);
    }
  });

  it('accepts that a toolchain is absent, but not that it fails', () => {
    const failed: Row = { ...ROW, value: null, error: 'not measured: no go on this machine' };
    assert.deepEqual(smokeFindings([benchCase], [failed]), []);
    const broken: Row = { ...failed, error: 'not measured: go failed: undefined: pod' };
    assert.equal(smokeFindings([benchCase], [broken]).length, 1);
  });

  it('reports rows that are missing, failed, no number, or out of order', () => {
    const mad: Row[][] = [
      [],
      [{ ...ROW, error: 'it died' }],
      [{ ...ROW, value: null }],
      [{ ...ROW, value: Number.NaN }],
      [{ ...ROW, value: 0, min: 0 }],
      [{ ...ROW, min: 1001 }],
      [{ ...ROW, handler: 'object' }],
    ];
    for (const rows of mad) assert.equal(smokeFindings([benchCase], rows).length, 1, JSON.stringify(rows));
  });
});

describe('the page', () => {
  it('gets a new part between its marks and keeps the rest', () => {
    const { begin, end } = marksOf('programs');
    const page = `# Title\n\n${begin}\nold\n${end}\n\nend\n`;
    const written = withPart(page, 'programs', 'new');
    assert.ok(written.startsWith('# Title') && written.endsWith('end\n') && written.includes('new'));
    assert.ok(!written.includes('old'));
    assert.equal(withPart(written, 'programs', 'new'), written);
  });

  it('has a table of programs with their time, and the ratios of time and memory to the client on the same Node', () => {
    const ratios = { 'client-node': 1.5, 'client-node-2': 3 };
    const cpu: Row = { ...ROW, suite: 'programs', handler: 'phase', unit: 'cpu-us/event', value: 80, ratios };
    const program = (name: string, row: Partial<Row> = {}): Row => ({ ...cpu, case: name, ...row });
    const text = programsText([
      program('drop-in, 100 events/s'),
      program('drop-in, 100 events/s: rss-max', { unit: 'bytes', ratios: { 'client-node': 0.5 } }),
      program('drop-in, 100 events/s', { unit: 'cpu-ms/s' }),
      program('drop-in, 100 events/s', { client: 'client-node' }),
      program('drop-in, 100 events/s', { client: 'kubeloom-lts' }),
      program('drop-in, 100 events/s', { client: 'client-go-protobuf', ratios: {} }),
      program('informer, list of 5 pods', { handler: 'object', unit: 'ms', value: 1234, ratios: {} }),
      program('informer, list of 5 pods', { handler: 'object' }),
      ROW,
    ]);
    assert.deepEqual(text.split('\n'), [
      '| job | drop-in: phase | informer: object |',
      '|---:|---:|---:|',
      '| 100 events/s | 80.0 µs, 1.5x, 0.50x |  |',
      '| 100 events/s, the current LTS | 80.0 µs, 3.0x |  |',
      '| 100 events/s, controller-runtime | 80.0 µs |  |',
      '| list of 5 pods |  | 1,234 ms |',
    ]);
  });

  it('names every loss, in rates and in times, and leaves the limit out', () => {
    const peer: Row = { ...ROW, client: 'client-go', value: 2000 };
    const slower: Row = { ...ROW, client: 'kube-rs', value: 500 };
    const limit: Row = { ...ROW, client: 'limit', value: 9000 };
    assert.deepEqual(lossLines([ROW, peer, slower, limit]), [
      '- watch: pods, 5 KB, key, events/s: kubeloom 1,000, client-go 2,000',
    ]);
    const time: Row = { ...ROW, unit: 'ms' };
    const quicker: Row = { ...time, client: 'client-go', value: 10 };
    assert.deepEqual(lossLines([ROW, time, peer, quicker]), [
      '- watch: pods, 5 KB, key, events/s: kubeloom 1,000, client-go 2,000; ms: kubeloom 1,000, client-go 10.0',
    ]);
    assert.deepEqual(lossLines([ROW]), ['Nothing in these runs.']);
  });

  it('compares clients in JavaScript on the same Node only', () => {
    const lts: Row = { ...ROW, client: 'kubeloom-lts', value: 1500 };
    const clientNode2: Row = { ...ROW, client: 'client-node-2', value: 2000 };
    assert.deepEqual(lossLines([ROW, lts, clientNode2]), [
      '- watch: pods, 5 KB, key, events/s: kubeloom-lts 1,500, client-node-2 2,000',
    ]);
  });

  it('compares within a run, and lists the losses of judged rows of every run', () => {
    const machine = describeMachine();
    const peer: Row = { ...ROW, client: 'client-go', value: 2000 };
    const variation: Row = { ...ROW, case: 'TLS', default: false };
    const text = figuresText(
      [
        {
          file: 'run-1.json',
          report: { machine, results: [ROW, variation, { ...variation, client: 'client-go', value: 2000 }] },
        },
        { file: 'run-2.json', report: { machine, results: [{ ...ROW, value: 3000 }, peer] } },
        { file: 'run-3.json', report: { machine, results: [ROW, peer] } },
      ],
      [],
    );
    assert.deepEqual(text.match(/^###.*|^- watch.*|^- `[\w/]*run-\d.json`/gm), [
      '- `docs/benchmarks/run-1.json`',
      '- `docs/benchmarks/run-2.json`',
      '- `docs/benchmarks/run-3.json`',
      '### Losses in run-1.json',
      '### Losses in run-2.json',
      '### Losses in run-3.json',
      '- watch: pods, 5 KB, key, events/s: kubeloom 1,000, client-go 2,000',
    ]);
  });
});
