/** Goals: which figure each is judged on, and when it is met. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BenchCase, Goal } from '../../../bench/case.ts';
import { judge, judgementsText } from '../../../bench/goals.ts';
import type { ClientName, Unit } from '../../../bench/names.ts';
import { rowsOf } from '../../../bench/row.ts';
import type { Row } from '../../../bench/row.ts';
import { SUITE_CASES } from '../../../bench/suites.ts';
import { SUITES } from '../../../bench/names.ts';
import { atMost, each, ratioAtLeast } from '../../../bench/suites/common.ts';

const CLIENTS = ['kubeloom', 'client-node', 'kubeloom-lts', 'client-node-2', 'client-go'] as const;

function caseOf(goals: readonly Goal[], clients: readonly ClientName[] = CLIENTS, name = 'pods'): BenchCase {
  return {
    suite: 'watch',
    name,
    tier: 'default',
    source: { pods: 10, objectBytes: 5120 },
    task: { case: 'watch', handler: 'key' },
    clients: each(clients, 10),
    goals,
  };
}

function rows(
  values: Partial<Record<ClientName, number>>,
  unit: Unit = 'events/s',
  { name = 'pods', suffix = '' } = {},
): Row[] {
  const runs = Object.entries(values).map(([client, value]) => {
    const version = `1.0.0 of ${client}`;
    return [client as ClientName, [{ figures: [{ suffix, unit, value }], shards: null, version }]] as const;
  });
  return rowsOf(caseOf([], CLIENTS, name), new Map(runs));
}

describe('a goal', () => {
  it('for a figure is judged on kubeloom on this Node', () => {
    const goals = [atMost(5, 'cpu-us/event'), atMost(1, 'cpu-us/event', 'main-thread')];
    const measured = [
      ...rows({ kubeloom: 5, 'kubeloom-lts': 9 }, 'cpu-us/event'),
      ...rows({ kubeloom: 1.5 }, 'cpu-us/event', { suffix: 'main-thread' }),
    ];
    const judged = judge([caseOf(goals)], measured);
    assert.deepEqual(
      judged.map(({ verdict }) => verdict),
      ['met', 'missed'],
    );
    assert.deepEqual(judged[1], {
      row: 'watch: pods, 5 KB, key: main-thread',
      goal: 'at most 1 cpu-us/event',
      figure: '1.50 cpu-us/event',
      verdict: 'missed',
    });
  });

  it('for a ratio to JavaScript is judged on each Node, and names clients with versions', () => {
    const verdict = (own: number, lts: number): string | undefined =>
      judge(
        [caseOf([ratioAtLeast(10, 'events/s')])],
        rows({ kubeloom: own, 'client-node': 20, 'kubeloom-lts': lts, 'client-node-2': 30 }),
      ).map(({ verdict: made, figure }) => `${made}: ${figure}`)[0];
    const versions = ['client-node 1.0.0 of client-node', 'client-node-2 1.0.0 of client-node-2'];
    assert.equal(verdict(200, 300), `met: 10.0x ${versions[0]}; 10.0x ${versions[1]}`);
    assert.equal(verdict(200, 299), `missed: 10.0x ${versions[0]}; 9.97x ${versions[1]}`);
    assert.equal(verdict(199, 300), `missed: 9.95x ${versions[0]}; 10.0x ${versions[1]}`);
  });

  it('is not met while a Node of the case was not measured', () => {
    const goal = caseOf([ratioAtLeast(10, 'events/s')]);
    const here = { kubeloom: 200, 'client-node': 20 };
    assert.equal(judge([goal], rows(here))[0]?.verdict, 'not measured');
    assert.equal(judge([goal], rows({ ...here, kubeloom: 2 }))[0]?.verdict, 'missed');
    const onlyHere = caseOf([ratioAtLeast(10, 'events/s')], ['kubeloom', 'client-node']);
    assert.equal(judge([onlyHere], rows(here))[0]?.verdict, 'met');
  });

  it('for a ratio to one client is judged on that client', () => {
    const goal = caseOf([ratioAtLeast(1, 'events/s', 'client-go')]);
    const verdict = (own: number): string | undefined =>
      judge([goal], rows({ kubeloom: own, 'client-go': 50 }))[0]?.verdict;
    assert.deepEqual([verdict(50), verdict(49)], ['met', 'missed']);
    assert.equal(judge([goal], rows({ kubeloom: 50 }))[0]?.verdict, 'not measured');
  });

  it('for a ratio to another case is judged on the same figure there, in rates and in times', () => {
    for (const [unit, small, large] of [
      ['events/s', 100, 70],
      ['cpu-us/event', 7, 10],
    ] as const) {
      const goal = caseOf([ratioAtLeast(0.7, unit, { caseName: 'small' })], ['kubeloom']);
      const judged = (value: number): string | undefined =>
        judge(
          [goal],
          [...rows({ kubeloom: value }, unit), ...rows({ kubeloom: small }, unit, { name: 'small' })],
        )[0]?.verdict;
      assert.equal(judged(large), 'met', unit);
      assert.equal(judged(unit === 'events/s' ? 69 : 10.1), 'missed', unit);
    }
  });

  it('without figures is not measured', () => {
    const goals = [
      atMost(1, 'ms'),
      ratioAtLeast(1, 'ms'),
      ratioAtLeast(1, 'ms', 'client-go'),
      ratioAtLeast(1, 'ms', { caseName: 'small' }),
    ];
    for (const { verdict, row } of judge([caseOf(goals)], [])) assert.equal(verdict, 'not measured', row);
  });

  it('is a line of its own, with the sums below', () => {
    const text = judgementsText(
      judge([caseOf([atMost(5, 'cpu-us/event'), atMost(1, 'ms')])], rows({ kubeloom: 5 }, 'cpu-us/event')),
    );
    assert.match(
      text,
      /^MET {2,}watch: pods, 5 KB, key: cpu-us\/event {2,}at most 5 cpu-us\/event {2,}5\.00/m,
    );
    assert.match(text, /1 met, 0 missed, 1 not measured$/);
  });
});

describe('the suites', () => {
  it('have cases whose names, sizes, handlers and shards distinguish their rows', () => {
    const names = SUITES.flatMap((suite) => SUITE_CASES[suite]).map(({ suite, name, source, task }) =>
      [suite, name, source.objectBytes, task.handler, task.shards].join('/'),
    );
    assert.deepEqual([...new Set(names)], names);
  });
});

describe('the goals of the suites', () => {
  it('are on judged rows, for clients of the case and other cases that exist', () => {
    const all = SUITES.flatMap((suite) => SUITE_CASES[suite]);
    const withGoals = all.filter(({ goals = [] }) => goals.length > 0);
    assert.ok(withGoals.length > 10);
    for (const { name, tier, suite, clients, goals = [] } of withGoals) {
      assert.equal(tier, 'default', name);
      for (const { to } of goals) {
        if (typeof to === 'object') assert.ok(SUITE_CASES[suite].some((other) => other.name === to.caseName));
        else if (to !== undefined && to !== 'javascript') assert.ok(to in clients, `${name}: ${to}`);
        else if (to === 'javascript')
          assert.ok('kubeloom-lts' in clients && 'client-node-2' in clients, name);
      }
    }
  });
});
