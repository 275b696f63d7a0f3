/** Tests of the verdict on the contract: it fails whenever it should. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVIDENCE_TITLE } from './configuration-names.ts';
import { CODECS, CONFIGURATIONS, ONCE, judge, table } from './verdict.ts';
import type { Result } from './verdict.ts';

const CLAUSES = [
  { number: 'C1', title: 'Identity', isOfLayer: false },
  { number: 'C2', title: 'Convergence', isOfLayer: false },
];

/** Returns results in which every run contains a single file with these tests. */
function results(...titles: readonly string[]): Result[] {
  return CONFIGURATIONS.flatMap((configuration) =>
    CODECS.flatMap((codec) =>
      [...titles, `${EVIDENCE_TITLE} it`].map((title) => ({
        configuration,
        codec,
        title,
        isPassed: true,
        error: '',
      })),
    ),
  );
}

/** Returns a result of the layers' single run. */
function ofLayer(title: string): Result {
  return { configuration: ONCE, codec: 'json', title, isPassed: true, error: '' };
}

test('a fully tested contract without failures passes', () => {
  const { summary, isGreen, complaints } = judge(CLAUSES, results('C1 C2 both'), 1);
  assert.deepEqual([isGreen, complaints], [true, []]);
  assert.deepEqual(summary, {
    clauses: 2,
    untested: [],
    configurations: ['twin', 'threads-1', 'threads-3'],
    passed: 12,
    failed: 0,
  });
});

test('a clause without a test, or untested in one run, fails', () => {
  const all = judge(CLAUSES, results('C1 one'), 1);
  assert.deepEqual([all.isGreen, all.summary.untested], [false, ['C2']]);
  const [first, ...rest] = results('C1 one', 'C2 two');
  assert.equal(first?.title, 'C1 one');
  const one = judge(CLAUSES, rest, 1);
  assert.deepEqual([one.isGreen, one.summary.untested], [false, ['C1']]);
});

test('a clause of a layer needs a test of the layer, and any other clause needs a test in every configuration', () => {
  const clauses = CLAUSES.map((clause) => ({ ...clause, isOfLayer: clause.number === 'C2' }));
  const runs = [...results('C1 one'), ofLayer('C2 two')];
  assert.deepEqual(judge(clauses, runs, 1).summary.untested, []);
  assert.deepEqual(judge(CLAUSES, runs, 1).summary.untested, ['C2']);
  assert.deepEqual(judge(clauses, results('C1 C2 both'), 1).summary.untested, ['C2']);
  const failing = [...results('C1 one'), { ...ofLayer('C2 two'), isPassed: false }];
  assert.equal(judge(clauses, failing, 1).isGreen, false);
  const unknown = [...runs, ofLayer('C9 nine')];
  assert.deepEqual(judge(clauses, unknown, 1).complaints, [
    'a test cites C9, which is not in docs/contract.md',
  ]);
});

test('a failed test fails the contract, and so does a title that cites an unknown clause', () => {
  const failing = results('C1 C2 both').map((result, at) => ({ ...result, isPassed: at !== 2 }));
  assert.deepEqual(
    [judge(CLAUSES, failing, 1).isGreen, judge(CLAUSES, failing, 1).summary.failed],
    [false, 1],
  );
  const unknown = judge(CLAUSES, results('C1 C2 C3 three'), 1);
  assert.deepEqual(unknown.complaints, ['a test cites C3, which is not in docs/contract.md']);
  assert.equal(unknown.isGreen, false);
});

test('a configuration that one file has not shown does not count', () => {
  const all = results('C1 C2 both');
  const { summary, isGreen } = judge(CLAUSES, all.slice(0, -1), 1);
  assert.deepEqual([isGreen, summary.configurations], [false, ['twin', 'threads-1']]);
  assert.equal(judge(CLAUSES, all, 2).isGreen, false);
});

test('the table has a row for each clause with the number of its passed tests', () => {
  const failing = results('C1 one', 'C1 C2 two').map((result, at) => ({ ...result, isPassed: at !== 0 }));
  failing.push({ ...ofLayer('C2 three'), isPassed: true });
  assert.deepEqual(
    table(CLAUSES, failing)
      .split('\n')
      .map((row) => row.split(/ {2,}/)),
    [
      ['', 'tests passed, json + msgpack', 'twin', 'threads-1', 'threads-3', 'once'],
      ['C1', 'Identity', '1/2 + 2', '2 + 2', '2 + 2', '-'],
      ['C2', 'Convergence', '1 + 1', '1 + 1', '1 + 1', '1'],
    ],
  );
});
