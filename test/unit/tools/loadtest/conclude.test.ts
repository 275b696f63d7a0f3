/** The conclusion of a load test, and the figures behind its thresholds. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LatencyCounts } from '../../../../src/tools/loadtest/histogram.ts';
import { EXIT_CODES, conclude } from '../../../../src/tools/loadtest/run/conclude.ts';
import type { Circumstances, Concluded } from '../../../../src/tools/loadtest/run/conclude.ts';
import { thresholdResults } from '../../../../src/tools/loadtest/run/thresholds.ts';
import type {
  Conclusion,
  LatencyHistogram,
  LoadTestResult,
  WatcherResult,
} from '../../../../src/tools/loadtest/result.ts';
import { parseThreshold } from '../../../../src/tools/loadtest/workload/threshold.ts';
import type { LatencyStep } from '../../../../src/tools/loadtest/workload/workload.ts';
import { exampleResult } from './example-result.ts';

const GOOD: LoadTestResult = { ...exampleResult(), thresholds: [] };
const QUIET: Circumstances = { isInterrupted: false, missing: [], firstFailure: 'ERR: because' };

function conclusionOf(change: Partial<Concluded>, circumstances = QUIET): Conclusion {
  return conclude({ ...GOOD, ...change }, circumstances);
}

function watchers(change: Partial<WatcherResult>): { watchers: readonly WatcherResult[] } {
  return { watchers: [{ ...(GOOD.watchers[0] as WatcherResult), ...change }] };
}

function faulty(change: Partial<WatcherResult['verdict']>): { watchers: readonly WatcherResult[] } {
  const [first] = GOOD.watchers;
  return watchers({ verdict: { ...(first as WatcherResult).verdict, findings: ['what it was'], ...change } });
}

function slow(step: LatencyStep, ms: number, phase = 'steady'): { latencies: readonly LatencyHistogram[] } {
  const counts = new LatencyCounts();
  counts.observe(ms);
  return {
    latencies: [{ step, phase, kind: 'ConfigMap', change: 'update', group: null, histogram: counts.data }],
  };
}

describe('the conclusion of a load test', () => {
  it('is PASS when everything is right, even with relists and interrupted watches', () => {
    assert.deepEqual(conclusionOf({}), { kind: 'PASS', reasons: [] });
    assert.equal(conclusionOf(watchers({ relists: 3, cutWatches: 7 })).kind, 'PASS');
  });

  for (const fault of ['lost', 'duplicated', 'reordered'] as const) {
    it(`is FAIL for something that was ${fault}`, () => {
      const { kind, reasons } = conclusionOf(faulty({ [fault]: 1 }));
      assert.equal(kind, 'FAIL');
      assert.match(reasons.join(), new RegExp(`informers 1: .*1 ${fault}.*what it was`));
    });
  }

  it('is FAIL for a cache that is not the server’s, whatever else happened', () => {
    const writes = { ...GOOD.writes, unanswered: 1 };
    assert.equal(conclusionOf({ ...watchers({ cacheEqualsList: false }), writes }).kind, 'FAIL');
  });

  it('is INVALID when it is unknown what was written', () => {
    for (const [failed, reason] of [
      [{ refused: 1 }, /1 writes were refused, the first: ERR: because/],
      [{ unanswered: 2 }, /2 writes got no answer/],
    ] as const) {
      const { kind, reasons } = conclusionOf({
        ...faulty({ lost: 1 }),
        writes: { ...GOOD.writes, ...failed },
      });
      assert.equal(kind, 'INVALID');
      assert.match(reasons.join(), reason);
    }
  });

  it('is INVALID when a part is missing, even if the others lost something', () => {
    const missing = ['index 2 is missing: because'];
    assert.deepEqual(conclusionOf(faulty({ lost: 1 }), { ...QUIET, missing }), {
      kind: 'INVALID',
      reasons: missing,
    });
  });

  it('is INVALID for a load below the requested one', () => {
    const phases = GOOD.phases.map((phase) =>
      phase.rateAsked === 500 ? { ...phase, rateAchieved: 474 } : phase,
    );
    const { kind, reasons } = conclusionOf({ phases });
    assert.equal(kind, 'INVALID');
    assert.match(
      reasons.join(),
      /^the rate was 474 writes a second in steady, 500 were requested and 475 are needed/,
    );
  });

  it('is INVALID when generator, server or client were saturated, and names which', () => {
    assert.match(conclusionOf(slow('dueToSent', 101)).reasons.join(), /^the generator was late/);
    assert.match(conclusionOf(slow('sentToAnswered', 1100)).reasons.join(), /^the server was saturated/);
    const [, first] = GOOD.series.processes;
    const busy = {
      ...GOOD.series.processes[1],
      name: first?.name ?? '',
      loopDelayMs: GOOD.series.atMs.map(() => 400),
    };
    const series = { ...GOOD.series, processes: [{ cpu: [], rssBytes: [], ...busy }] };
    assert.match(conclusionOf({ series }).reasons.join(), /^the client was saturated: .*watchers 1/);
  });

  it('ignores late writes of a phase without a rate', () => {
    assert.equal(conclusionOf(slow('dueToSent', 5000, 'create')).kind, 'PASS');
  });

  it('is THRESHOLD only when everything else is right', () => {
    const { thresholds } = exampleResult();
    assert.deepEqual(conclusionOf({ thresholds }), {
      kind: 'THRESHOLD',
      reasons: ['sync p99 < 1s: it was 3.06s'],
    });
    assert.equal(conclusionOf({ thresholds, ...faulty({ lost: 1 }) }).kind, 'FAIL');
  });

  it('is INTERRUPTED when the user ended it', () => {
    assert.equal(conclusionOf(faulty({ lost: 1 }), { ...QUIET, isInterrupted: true }).kind, 'INTERRUPTED');
  });

  it('has an exit code for each kind', () => {
    assert.deepEqual(EXIT_CODES, { PASS: 0, FAIL: 1, INVALID: 2, THRESHOLD: 3, INTERRUPTED: 130 });
  });
});

describe('the figure of a threshold', () => {
  function result(line: string, metrics: Readonly<Record<string, number>> = {}): (number | null | boolean)[] {
    const server = (metric: string): number | null => metrics[metric] ?? null;
    const [first] = thresholdResults([parseThreshold(line)], GOOD, server);
    return [first?.figure ?? null, first?.isMet ?? null];
  }

  it('is a quantile of all phases, or of one', () => {
    const [figure, isMet] = result('answered→handler p50 < 1s');
    assert.ok(typeof figure === 'number' && figure > 0 && isMet === true);
    assert.deepEqual(result('answered→handler p99 < 1s in create'), [null, false]);
  });

  it('is exact for syncs, and missing when one did not end', () => {
    assert.deepEqual(result('sync max < 3s'), [3060, false]);
    const [first] = GOOD.watchers;
    const syncs = (first as WatcherResult).syncs.map((sync) => ({ ...sync, durationMs: null }));
    const measured = { ...GOOD, ...watchers({ syncs }) };
    const [missing] = thresholdResults([parseThreshold('sync max < 3s')], measured, () => null);
    assert.deepEqual([missing?.figure, missing?.isMet], [null, false]);
  });

  it('is a sum over all watchers, or a count of writes', () => {
    assert.deepEqual(result('lost == 0'), [0, true]);
    assert.deepEqual(result('cut watches < 9'), [8, true]);
    assert.deepEqual(result('refused == 0'), [0, true]);
  });

  it('is missing when the metrics of the server could not be read', () => {
    assert.deepEqual(result('terminated watches == 0'), [null, false]);
    assert.deepEqual(result('terminated watches == 0', { apiserver_terminated_watchers_total: 0 }), [
      0,
      true,
    ]);
    assert.deepEqual(result('x_total < 3', { x_total: 2 }), [2, true]);
  });
});
