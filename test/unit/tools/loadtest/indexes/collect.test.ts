/** The parts of indexes as one measurement. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { collectedResult, merge } from '../../../../../src/tools/loadtest/indexes/collect.ts';
import { coordinatorFactsOf } from '../../../../../src/tools/loadtest/indexes/index-messages.ts';
import type { IndexPart, CoordinatorPart } from '../../../../../src/tools/loadtest/indexes/index-messages.ts';
import { parseResult } from '../../../../../src/tools/loadtest/report/read-result.ts';
import { reportPage } from '../../../../../src/tools/loadtest/report/report-page.ts';
import type { LoadTestResult } from '../../../../../src/tools/loadtest/result.ts';
import { assemble } from '../../../../../src/tools/loadtest/run/assemble.ts';
import { placeWatchers } from '../../../../../src/tools/loadtest/watch/placement.ts';
import type { Judged } from '../../../../../src/tools/loadtest/watch/watcher-process.ts';
import { readWorkload } from '../../../../../src/tools/loadtest/workload/read-workload.ts';
import { resultText } from '../../../../../src/tools/cli/loadtest/loadtest-text.ts';
import { exampleResult } from '../example-result.ts';

const INDEXES = 3;
const FILE = `objects: [{ kind: ConfigMap, count: 5 }]
watchers: [{ name: watchers, count: 3 }, { name: more, count: 2 }]
phases: [create: {}, sync: {}]
`;
const { workload } = readWorkload(FILE, 'w.yaml', {}, 1);
const RUN = { ...exampleResult().run, workload, namespaces: ['a'] };
const PLACE = { run: '0123abcd', namespaces: ['a'], nodes: [] };
const FACTS = { run: RUN, indexes: INDEXES };

function judged(change: Partial<Judged['judgement']['verdict']> = {}): Judged {
  const counts = { initial: 5, delivered: 9, covered: 0, lost: 0, duplicated: 0, reordered: 0, findings: [] };
  return {
    judgement: {
      syncs: [],
      events: { added: 0, modified: 9, deleted: 0 },
      verdict: { ...counts, ...change },
      cacheEqualsList: true,
      latencies: [],
      seconds: [],
      marks: [],
    },
    activity: { changes: 9, relists: 0, cutWatches: 0, receivedBytes: null },
  };
}

function partOf(index: number): IndexPart {
  const tasks = placeWatchers(workload, PLACE, { index, indexes: INDEXES });
  const cost = { atMs: 0, value: { cpu: 1, rssBytes: 1, loopDelayMs: 0 } };
  return {
    host: `host-${index}`,
    machine: RUN.machine,
    judged: new Map(tasks.map(({ task }) => [task.name, judged()])),
    costs: new Map(tasks.map(({ process }) => [`watchers ${process}`, [cost]])),
  };
}

function leadPart(lost: CoordinatorPart['lost'] = new Map()): CoordinatorPart {
  return {
    ...partOf(0),
    run: RUN,
    phases: { results: [], writes: [], marks: [], firstFailure: undefined },
    startedUs: 0,
    serverSeries: new Map(),
    server: undefined,
    serverStages: { stages: [], absent: [], unread: null },
    isInterrupted: false,
    lost,
  };
}

type Parts = Parameters<typeof merge>[1];
type Read = Parts extends ReadonlyMap<number, infer Each> ? Each : never;

function resultOf(parts: readonly Read[], failure?: string): LoadTestResult {
  const facts = { ...FACTS, ...(failure === undefined ? {} : { failure }) };
  const result = assemble({ ...merge(facts, new Map(parts.entries()), PLACE), leftovers: [] });
  // Every report can be made of it.
  parseResult(JSON.stringify(result), 'merged');
  reportPage(result);
  resultText(result);
  return result;
}

describe('the parts of a run', () => {
  const [second, third] = [{ part: partOf(1) }, { part: partOf(2) }];

  it('become one result, with the watchers in the order of the workload', () => {
    const result = resultOf([{ part: leadPart() }, second, third]);
    assert.deepEqual(result.conclusion, { kind: 'PASS', reasons: [] });
    const placed = result.watchers.map(({ name, process }) => `${name}: ${process}`);
    assert.deepEqual(placed, ['watchers 1: 1', 'watchers 2: 3', 'watchers 3: 5', 'more 1: 2', 'more 2: 4']);
    const processes = result.run.indexes?.map(({ host, processes }) => [host, processes]);
    assert.deepEqual(processes, [
      ['host-0', [1, 2]],
      ['host-1', [3, 4]],
      ['host-2', [5]],
    ]);
    assert.equal(result.series.processes.length, 5);
    assert.match(resultText(result), /^indexes +0 on host-0, 1 on host-1, 2 on host-2; answered to handler/m);
  });

  it('are a FAIL when one index lost an event', () => {
    const faulty = { ...partOf(1), judged: new Map([['watchers 2', judged({ lost: 1 })]]) };
    const { conclusion } = resultOf([{ part: leadPart() }, { part: faulty }, third]);
    assert.equal(conclusion.kind, 'FAIL');
    assert.match(conclusion.reasons.join(), /^watchers 2: 9 delivered, 1 lost/);
  });

  it('are INVALID without one of them, which the reason names', () => {
    const coordinator = leadPart(new Map([[2, 'it does not\nreport']]));
    const missing = { why: 'it ended before its verdict' };
    const result = resultOf([{ part: coordinator }, missing, missing]);
    assert.deepEqual(result.conclusion, {
      kind: 'INVALID',
      reasons: [
        'index 1 is missing: it ended before its verdict',
        'index 2 is missing: it does not\\nreport',
      ],
    });
    const names = result.watchers.map(({ name }) => name);
    assert.deepEqual(names, ['watchers 1', 'more 1']);
  });

  it('are INVALID without that of index 0, with the reason that it gave', () => {
    const missing = { why: 'it ended before its verdict' };
    const { conclusion } = resultOf([missing, second, third], 'a write was refused');
    assert.deepEqual(conclusion, { kind: 'INVALID', reasons: ['index 0 is missing: a write was refused'] });
  });
});

describe('a run whose ConfigMaps others have changed', () => {
  const script = '<img src=x onerror="alert(1)">';
  const ended = new Map([[0, { why: 'it ended before its verdict' }]]);
  const facts = { run: { ...RUN, workload: { ...workload, watchers: [] } }, indexes: 1 };

  it('is refused when a text is not a text', () => {
    assert.equal(collectedResult(facts, ended, PLACE).conclusion.kind, 'INVALID');
    const changes: object[] = [
      { workloadYaml: { html: script } },
      { target: { ...RUN.target, context: { html: script } } },
      { workload: { ...workload, watchers: [], name: { html: script } } },
      { workload: null },
    ];
    for (const change of changes) {
      const damaged = { ...facts, run: { ...facts.run, ...change } };
      assert.throws(() => collectedResult(damaged, ended, PLACE), {
        code: 'ERR_KUBELOOM_LOADTEST',
        message: /^the parts of the run 0123abcd are damaged: /,
      });
    }
  });

  it('has no HTML in its report', () => {
    const run = { ...facts.run, workloadYaml: { html: script } as unknown as string };
    const result = assemble({ ...merge({ ...facts, run }, ended, PLACE), leftovers: [] });
    assert.equal(reportPage(result).includes(script), false);
  });

  it('is refused without facts', () => {
    for (const text of [
      '',
      'null',
      '{}',
      '{"indexes":1e9,"run":{"versions":{},"workload":{}}}',
      '{"indexes":1,"run":{}}',
    ])
      assert.throws(() => coordinatorFactsOf(text), { code: 'ERR_KUBELOOM_LOADTEST' }, text);
    assert.deepEqual(coordinatorFactsOf(JSON.stringify(FACTS)), JSON.parse(JSON.stringify(FACTS)));
  });
});
