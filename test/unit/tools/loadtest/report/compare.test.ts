/** The comparison of two runs: differences, their direction, and what makes them hard to compare. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { comparisonText } from '../../../../../src/tools/cli/loadtest/loadtest-reports.ts';
import { comparePage } from '../../../../../src/tools/loadtest/report/compare-page.ts';
import { compareResults } from '../../../../../src/tools/loadtest/report/compare.ts';
import type { ComparedFigure } from '../../../../../src/tools/loadtest/report/compare.ts';
import type { LoadTestResult, RunFacts } from '../../../../../src/tools/loadtest/result.ts';
import { exampleResult } from '../example-result.ts';

const before = exampleResult();
const names = ['before.json', 'after.json'] as const;

function withRun(change: (run: RunFacts) => Partial<RunFacts>): LoadTestResult {
  return { ...before, run: { ...before.run, ...change(before.run) } };
}

function warningsFor(change: (run: RunFacts) => Partial<RunFacts>): readonly string[] {
  return compareResults(names, [before, withRun(change)]).warnings;
}

describe('the comparison of two load tests', () => {
  it('finds no difference between a run and itself', () => {
    const { warnings, facts, figures } = compareResults(names, [before, before]);
    assert.deepEqual({ warnings, facts }, { warnings: [], facts: [] });
    assert.ok(figures.length > 20);
    for (const { difference, change } of figures) assert.deepEqual([difference ?? 0, change], [0, 'none']);
  });

  it('says which figures became better and which worse, in percent', () => {
    const watchers = before.watchers.map((watcher, index) => ({
      ...watcher,
      syncs: watcher.syncs.map((sync) => ({ ...sync, durationMs: (sync.durationMs ?? 0) / 2 })),
      verdict: { ...watcher.verdict, lost: index === 0 ? 3 : 0 },
    }));
    const phases = before.phases.map((phase) => ({
      ...phase,
      rateAchieved: phase.rateAchieved && phase.rateAchieved * 1.01,
    }));
    const { figures } = compareResults(names, [before, { ...before, watchers, phases }]);
    const find = (section: string, name: string): ComparedFigure | undefined =>
      figures.find((figure) => figure.section === section && figure.name === name);
    assert.deepEqual(
      [find('first sync', 'max')?.percent, find('first sync', 'max')?.change],
      [-50, 'better'],
    );
    assert.deepEqual(
      [
        find('delivery', 'lost')?.difference,
        find('delivery', 'lost')?.percent,
        find('delivery', 'lost')?.change,
      ],
      [3, null, 'worse'],
    );
    assert.equal(find('rate achieved', 'steady')?.change, 'none', 'two runs differ by 1 % without a reason');
  });

  it('calls no figure better or worse when the workloads differ, and names both workloads', () => {
    const after = withRun(({ workload }) => ({ workload: { ...workload, name: 'other', phases: [] } }));
    const halved = { ...after, watchers: before.watchers.slice(1) };
    const { figures, title } = compareResults(names, [before, halved]);
    assert.deepEqual([...new Set(figures.map(({ change }) => change))], ['none']);
    assert.equal(title, `${before.run.workload.name} and other`);
  });

  it('warns when machines, workloads, seeds or versions differ', () => {
    assert.deepEqual(
      warningsFor(({ machine }) => ({ machine: { ...machine, cpus: 2 } })),
      ['the machines differ: the figures say little about the programs'],
    );
    assert.deepEqual(
      warningsFor(({ workload }) => ({ workload: { ...workload, phases: [] } })),
      ['the workloads differ: the runs did different work'],
    );
    assert.deepEqual(
      warningsFor(({ workload }) => ({ workload: { ...workload, seed: 7 } })),
      ['the seeds differ: the same work in another order'],
    );
    assert.deepEqual(
      warningsFor(({ versions }) => ({ versions: { ...versions, kubeloom: '0.2.0' } })),
      ['the versions of kubeloom differ: 0.1.0 and 0.2.0'],
    );
    assert.deepEqual(
      warningsFor(({ workload }) => ({ workload: { ...workload, name: 'renamed', thresholds: [] } })),
      [],
    );
  });

  it('has the thresholds of both runs', () => {
    const { thresholds } = compareResults(names, [
      before,
      { ...before, thresholds: before.thresholds.slice(1) },
    ]);
    const met = thresholds.map(({ before: a, after: b }) => [a?.isMet, b?.isMet]);
    assert.deepEqual(met, [
      [true, undefined],
      [true, true],
      [false, false],
    ]);
  });

  it('is text with verdicts, warnings, facts, figures and thresholds', () => {
    const after = {
      ...withRun(({ machine }) => ({ machine: { ...machine, cpus: 2 } })),
      thresholds: before.thresholds.map((each) => ({ ...each, figure: 0.5, isMet: true })),
    };
    const text = comparisonText(compareResults(names, [before, after]));
    assert.match(
      text,
      /^A {3}THRESHOLD {2}before\.json\nB {3}THRESHOLD {2}after\.json\n {2}A: sync p99 < 1s/,
    );
    assert.match(text, /\nwarning: the machines differ/);
    assert.match(text, /\nMachine {3}Example CPU 2\.0 GHz, 8 CPUs, 16 GiB +Example CPU 2\.0 GHz, 2 CPUs/);
    assert.match(text, /\nanswered to handler: p99 +263 ms +263 ms +=\n/);
    assert.match(text, /\nsync p99 < 1s +MISSED \(3\.06 s\) +met \(500 µs\)/);
  });

  it('is a page with the plots of both runs', () => {
    const page = comparePage(compareResults(names, [before, before]));
    for (const id of ['a-rates', 'b-rates', 'a-answeredToHandler', 'b-answeredToHandler'])
      assert.ok(page.includes(`id="${id}"`), id);
  });
});
