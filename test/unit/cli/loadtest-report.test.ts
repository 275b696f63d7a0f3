/** The verdict of a load test: PASS, FAIL or INVALID. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PASSED, conclude, reportOf, reportText } from '../../../src/cli/loadtest-report.ts';
import type { InformerResult, LoadTestReport } from '../../../src/cli/loadtest-report.ts';
import { conclusionText } from '../../../src/cli/report.ts';
import type { Conclusion } from '../../../src/cli/report.ts';

const GOOD: InformerResult = {
  name: 'informer 1',
  verdict: { delivered: 3, initial: 2, lost: 0, duplicated: 0, reordered: 0, findings: [] },
  differences: [],
  listMode: 'WatchList',
  relists: 0,
  watchesCut: 0,
};
const PLAN = {
  objects: 2,
  objectBytes: 7,
  rate: 100,
  durationSeconds: 1,
  informers: 1,
  threads: 3,
  seed: 42,
};
const OUTCOME = { writes: [], refused: 0, unanswered: 0, rateAchieved: 100 };
const TARGET = { context: 'kind-x', server: 'https://127.0.0.1:1' };
const VERSIONS = { client: '1.2.3', server: 'v1.36.0' };
const LATENCY = { p50: 1, p99: 2, max: 3 };
const LATENCIES = { dueToSent: LATENCY, sentToAnswered: LATENCY, answeredToHandler: LATENCY };

function reportFor(
  results: readonly InformerResult[],
  outcome: Partial<typeof OUTCOME> = {},
  dueToSentP99 = 2,
): LoadTestReport {
  const latencyMs = { ...LATENCIES, dueToSent: { ...LATENCY, p99: dueToSentP99 } };
  return reportOf(TARGET, VERSIONS, PLAN, { ...OUTCOME, ...outcome }, results, latencyMs);
}

function conclusionOf(
  result: Partial<InformerResult>,
  outcome: Partial<typeof OUTCOME> = {},
  dueToSentP99 = 2,
): Conclusion {
  const results = [{ ...GOOD, ...result }];
  return conclude(reportFor(results, outcome, dueToSentP99), results, 'ERR: because');
}

function faulty(fault: 'lost' | 'duplicated' | 'reordered' | 'delivered'): InformerResult['verdict'] {
  return { ...GOOD.verdict, [fault]: fault === 'delivered' ? 0 : 1, findings: ['what it was'] };
}

describe('the conclusion of a load test', () => {
  it('is PASS when everything is right, even when watches were interrupted', () => {
    assert.equal(conclusionOf({}).kind, 'PASS');
    assert.equal(conclusionOf({ watchesCut: 3 }).kind, 'PASS');
    assert.match(conclusionText(conclusionOf({}), PASSED), /^PASS/);
  });

  for (const fault of ['lost', 'duplicated', 'reordered', 'delivered'] as const) {
    it(`is FAIL for a wrong number of ${fault}`, () => {
      const { kind, reasons } = conclusionOf({ verdict: faulty(fault) });
      assert.equal(kind, 'FAIL');
      assert.match(reasons.join(), /informer 1: .*what it was/);
    });
  }

  it('is FAIL for a cache that is not the server’s, whatever else happened', () => {
    assert.equal(conclusionOf({ differences: ['x'], relists: 1 }, { unanswered: 1 }).kind, 'FAIL');
  });

  it('is INVALID when the expected notifications are unknown', () => {
    for (const [result, outcome, reason] of [
      [{ relists: 1, verdict: faulty('lost') }, {}, /list again/],
      [{}, { refused: 1 }, /refused, the first: ERR: because/],
      [{ verdict: faulty('duplicated') }, { unanswered: 2 }, /2 writes got no answer/],
    ] as const) {
      const { kind, reasons } = conclusionOf(result, outcome);
      assert.equal(kind, 'INVALID');
      assert.match(reasons.join(), reason);
    }
  });

  it('is INVALID when less than 95 % of the rate was achieved, or the generator was late', () => {
    assert.equal(conclusionOf({}, { rateAchieved: 95 }, 100).kind, 'PASS');
    for (const [rateAchieved, dueToSentP99, reason] of [
      [94.9, 100, /^the rate was 94\.9 writes a second, 100 were requested and 95 are needed/],
      [95, 100.1, /^the generator was late: p99 of due to sent was 100\.1 ms, at most 100 ms/],
    ] as const) {
      const { kind, reasons } = conclusionOf({}, { rateAchieved }, dueToSentP99);
      assert.equal(kind, 'INVALID');
      assert.equal(reasons.length, 1);
      assert.match(reasons.join(), reason);
    }
    assert.equal(conclusionOf({}, { rateAchieved: 1 }, 1000).reasons.length, 2);
  });

  it('is FAIL for a change that was lost, however little was written', () => {
    assert.equal(conclusionOf({ verdict: faulty('lost') }, { rateAchieved: 1 }, 1000).kind, 'FAIL');
  });

  it('sums up over informers', () => {
    const results = [GOOD, { ...GOOD, verdict: faulty('lost'), watchesCut: 2, differences: ['x'] }];
    const report = reportFor(results);
    assert.deepEqual(
      [report.delivered, report.lost, report.watchesCut, report.storeEqualsList],
      [6, 1, 2, false],
    );
  });
});

describe('the report of a load test', () => {
  const FACTS = {
    seed: 42,
    objectBytes: 7,
    rateAsked: 100,
    rateAchieved: 99.5,
    threads: 3,
    informers: 1,
    clientVersion: '1.2.3',
    serverVersion: 'v1.36.0',
    listMode: 'WatchList',
    deletions: 0,
    latencyMs: LATENCIES,
  };

  it('has the parameters in its JSON', () => {
    const report = JSON.parse(JSON.stringify(reportFor([GOOD], { rateAchieved: 99.5 }))) as object;
    assert.deepEqual({ ...report, ...FACTS }, report);
    const mixed = reportFor([GOOD, GOOD, { ...GOOD, listMode: 'LIST' }]);
    assert.equal(mixed.listMode, 'WatchList, LIST');
  });

  it('has the same content as text', () => {
    const text = reportText(reportFor([GOOD], { rateAchieved: 99.5 }), [GOOD]);
    for (const line of [
      /^versions +kubeloom 1\.2\.3, server v1\.36\.0$/m,
      /^informers +1 over 3 threads, first state by WatchList$/m,
      /^objects +2 with 7 bytes each, seed 42$/m,
      /^rate +100 writes a second requested, 99\.5 achieved$/m,
      /^writes confirmed +0, 0 of them deletions$/m,
      /^due to sent +p50 1 ms, p99 2 ms, max 3 ms$/m,
      /^sent to answered +p50 1 ms, p99 2 ms, max 3 ms$/m,
      /^answered to handler +p50 1 ms, p99 2 ms, max 3 ms/m,
    ]) {
      assert.match(text, line);
    }
  });
});
