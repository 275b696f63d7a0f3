/** Tests of the verdict on the contract, and of the parts that a run chooses: it fails whenever it should. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chosenParts } from './chosen-parts.ts';
import { EVIDENCE_TITLE, RUNS } from './configuration-names.ts';
import type { TestLine } from './reporter.ts';
import { LAYERS, judge, table } from './verdict.ts';
import type { Part, Results } from './verdict.ts';

const CLAUSES = [
  { number: 'C1', title: 'Identity', isOfLayer: false },
  { number: 'C2', title: 'Convergence', isOfLayer: false },
];

function line(title: string, isPassed: boolean = true): TestLine {
  return { title, isPassed, isTimedOut: false, isStill: false, error: '' };
}

/** Returns results in which every run contains a single file with these tests. */
function results(...titles: readonly string[]): Map<Part, TestLine[]> {
  return new Map(RUNS.map((run) => [run, [...titles, `${EVIDENCE_TITLE} it`].map((title) => line(title))]));
}

/** Returns the results with other lines for a part. */
function withPart(all: Results, part: Part, ...lines: readonly TestLine[]): Results {
  return new Map(all).set(part, lines);
}

test('a fully tested contract without failures passes', () => {
  const { summary, isGreen, complaints } = judge(CLAUSES, results('C1 C2 both'), 1);
  assert.deepEqual([isGreen, complaints], [true, []]);
  assert.deepEqual(summary, {
    clauses: 2,
    untested: [],
    configurations: RUNS,
    passed: 2 * RUNS.length,
    failed: 0,
  });
});

test('a clause without a test, or untested in one run, fails', () => {
  const all = judge(CLAUSES, results('C1 one'), 1);
  assert.deepEqual([all.isGreen, all.summary.untested], [false, ['C2']]);
  const withoutOne = withPart(
    results('C1 one', 'C2 two'),
    'threads-1:json',
    line('C2 two'),
    line(EVIDENCE_TITLE),
  );
  const one = judge(CLAUSES, withoutOne, 1);
  assert.deepEqual([one.isGreen, one.summary.untested], [false, ['C1']]);
});

test('a clause of a layer needs a test of the layer, and any other clause needs a test in every configuration', () => {
  const clauses = CLAUSES.map((clause) => ({ ...clause, isOfLayer: clause.number === 'C2' }));
  const both = results('C1 C2 both');
  const runs = withPart(results('C1 one'), LAYERS, line('C2 two'));
  assert.deepEqual(judge(clauses, runs, 1).summary.untested, []);
  assert.deepEqual(judge(CLAUSES, runs, 1).summary.untested, ['C2']);
  assert.deepEqual(judge(clauses, withPart(both, LAYERS), 1).summary.untested, ['C2']);
  assert.equal(judge(clauses, withPart(both, LAYERS, line('C2 two', false)), 1).isGreen, false);
  assert.deepEqual(judge(clauses, withPart(both, LAYERS, line('C2 two'), line('C9 nine')), 1).complaints, [
    'a test cites C9, which is not in docs/contract.md',
  ]);
});

test('only the parts that were run are judged', () => {
  const clauses = CLAUSES.map((clause) => ({ ...clause, isOfLayer: clause.number === 'C2' }));
  const one: Results = new Map([['twin:json', [line('C1 one'), line(EVIDENCE_TITLE)]]]);
  assert.equal(judge(clauses, one, 1).isGreen, true);
  assert.equal(judge(CLAUSES, one, 1).isGreen, false);
  assert.equal(judge(CLAUSES, new Map(), 1).isGreen, false, 'no test at all is no proof');
});

test('a failed test fails the contract, and so does a title that cites an unknown clause', () => {
  const all = results('C1 C2 both');
  const failing = judge(
    CLAUSES,
    withPart(all, 'twin:msgpack', line('C1 C2 both', false), line(EVIDENCE_TITLE)),
    1,
  );
  assert.deepEqual([failing.isGreen, failing.summary.failed], [false, 1]);
  const unknown = judge(CLAUSES, results('C1 C2 C3 three'), 1);
  assert.deepEqual(unknown.complaints, ['a test cites C3, which is not in docs/contract.md']);
  assert.equal(unknown.isGreen, false);
});

test('a configuration that one file has not shown does not count', () => {
  const all = results('C1 C2 both');
  const { summary, isGreen } = judge(CLAUSES, withPart(all, 'threads-3:msgpack', line('C1 C2 both')), 1);
  assert.deepEqual([isGreen, summary.configurations], [false, RUNS.slice(0, -1)]);
  assert.equal(judge(CLAUSES, all, 2).isGreen, false);
});

test('the table has a row for each clause, with the number of passed tests in each part that was run', () => {
  const some: Results = new Map<Part, TestLine[]>([
    ['twin:json', [line('C1 one', false), line('C1 C2 two')]],
    [LAYERS, [line('C2 three')]],
  ]);
  assert.deepEqual(
    table(CLAUSES, some)
      .split('\n')
      .map((row) => row.split(/ {2,}/)),
    [
      ['', 'tests passed', 'twin:json', 'layers'],
      ['C1', 'Identity', '1/2', '-'],
      ['C2', 'Convergence', '1', '1'],
    ],
  );
});

test('a run has all parts, those that are named, or two configurations and a third by the commit', () => {
  assert.deepEqual(chosenParts({}, 'abc'), [...RUNS, LAYERS]);
  assert.deepEqual(chosenParts({ configurations: 'threads-1:json,layers' }, 'abc'), [
    'threads-1:json',
    LAYERS,
  ]);
  assert.throws(
    () => chosenParts({ configurations: 'threads-2:json' }, 'abc'),
    /no configuration threads-2:json/,
  );
  const quick = ['twin:json', 'threads-3:msgpack'];
  assert.deepEqual(chosenParts({ quick: true }, 'abc'), quick);
  const turns = ['0', '1', '2', '3', '4', '5'].map((commit) => chosenParts({ turn: true }, commit));
  assert.deepEqual(new Set(turns.flat()), new Set(RUNS));
  assert.ok(turns.every((parts) => parts.length === 3));
});
