/** When a load test has passed, failed, or proved nothing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { conclude, reportOf, reportText, verdictText } from '../../src/cli/loadtest-report.ts';
import type { InformerResult } from '../../src/cli/loadtest-report.ts';
import type { Conclusion } from '../../src/cli/demo-report.ts';

const GOOD: InformerResult = {
  name: 'informer 1',
  verdict: { delivered: 3, initial: 2, lost: 0, duplicated: 0, reordered: 0, findings: [] },
  differences: [],
  relists: 0,
  watchesCut: 0,
};
const PLAN = { objects: 2, objectBytes: 1, rate: 3, durationSeconds: 1, informers: 1 };
const OUTCOME = { writes: [], refused: 0, unanswered: 0, elapsedMs: 1000 };
const TARGET = { context: 'kind-x', server: 'https://127.0.0.1:1' };
const LATENCY = { p50: 1, p99: 2, max: 3 };

function conclusionOf(result: Partial<InformerResult>, outcome: Partial<typeof OUTCOME> = {}): Conclusion {
  const results = [{ ...GOOD, ...result }];
  return conclude(
    reportOf(TARGET, PLAN, { ...OUTCOME, ...outcome }, results, LATENCY),
    results,
    'ERR: because',
  );
}

function faulty(fault: 'lost' | 'duplicated' | 'reordered' | 'delivered'): InformerResult['verdict'] {
  return { ...GOOD.verdict, [fault]: fault === 'delivered' ? 0 : 1, findings: ['what it was'] };
}

describe('the conclusion of a load test', () => {
  it('is PASS when everything is right, also when watches were cut', () => {
    assert.equal(conclusionOf({}).kind, 'PASS');
    assert.equal(conclusionOf({ watchesCut: 3 }).kind, 'PASS');
    assert.match(verdictText(conclusionOf({})), /^PASS/);
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

  it('is INVALID when nobody can know what had to be told', () => {
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

  it('sums up over informers', () => {
    const results = [GOOD, { ...GOOD, verdict: faulty('lost'), watchesCut: 2, differences: ['x'] }];
    const report = reportOf(TARGET, PLAN, OUTCOME, results, LATENCY);
    assert.deepEqual(
      [report.delivered, report.lost, report.watchesCut, report.storeEqualsList],
      [6, 1, 2, false],
    );
    assert.match(reportText(report, results), /p50 1 ms, p99 2 ms, max 3 ms/);
  });
});
