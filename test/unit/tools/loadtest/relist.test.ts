/** The changes that a relist may combine, and those that it may not. */
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import type { JournalEntry } from '../../../../src/tools/apiserver/testing/index.ts';
import { judgeRuns } from '../../../../src/tools/loadtest/verdict/judge-runs.ts';
import type { ClientRun } from '../../../../src/tools/loadtest/verdict/judge-runs.ts';
import { listedAtOf } from '../../../../src/tools/loadtest/verdict/relist.ts';
import { expectationOf, judge } from '../../../../src/tools/loadtest/verdict/verdict.ts';
import type { Circumstances, Verdict } from '../../../../src/tools/loadtest/verdict/verdict.ts';
import type { Notification } from '../../../../src/tools/loadtest/watch/recording-handler.ts';

const LOG: readonly JournalEntry[] = [
  [1, 'ADDED', 'a'],
  [2, 'ADDED', 'b'],
  [3, 'ADDED', 'c'],
  [4, 'MODIFIED', 'a'],
  // A relist at 9 combines the next five.
  [5, 'MODIFIED', 'a'],
  [6, 'MODIFIED', 'b'],
  [7, 'DELETED', 'c'],
  [8, 'MODIFIED', 'a'],
  [9, 'ADDED', 'd'],
  [10, 'MODIFIED', 'b'],
  [11, 'DELETED', 'd'],
];

function notified(kind: Notification['kind'], key: string, revision: number, previous = 0): Notification {
  return { kind, key, revision, previousRevision: previous, calledUs: 0 };
}

const BEFORE = [
  notified('INITIAL', 'c', 3),
  notified('INITIAL', 'a', 1),
  notified('INITIAL', 'b', 2),
  notified('MODIFIED', 'a', 4, 1),
];
const DIFFERENCE = [
  notified('FINAL_STATE_UNKNOWN', 'c', 3),
  notified('ADDED', 'd', 9),
  notified('MODIFIED', 'a', 8, 4),
  notified('MODIFIED', 'b', 6, 2),
];
const AFTER = [notified('MODIFIED', 'b', 10, 6), notified('DELETED', 'd', 11)];
const RELISTED = [...BEFORE, ...DIFFERENCE, ...AFTER];

function verdict(
  history: readonly Notification[],
  circumstances: Circumstances = { relistedAfter: BEFORE.length },
): Verdict {
  return judge(expectationOf(LOG, listedAtOf(LOG, history)), history, circumstances);
}

function counts(...args: Parameters<typeof verdict>): readonly number[] {
  const { delivered, covered, lost, duplicated, reordered } = verdict(...args);
  return [delivered, covered, lost, duplicated, reordered];
}

test('the first list of a client that was started again covers the changes since its predecessor ended, and no others', () => {
  const log = [1, 2, 3, 4, 5, 6, 7].map((revision) => ({
    revision,
    type: revision === 1 ? ('ADDED' as const) : ('MODIFIED' as const),
    key: 'a',
    own: undefined,
  }));
  const run = (listed: number, changes: readonly number[], isCutOff: boolean): ClientRun => ({
    notifications: [
      notified('INITIAL', 'a', listed),
      ...changes.map((revision) => notified('MODIFIED', 'a', revision, revision - 1)),
    ],
    syncs: [],
    marks: [],
    relistedAfter: undefined,
    isCutOff,
    state: undefined,
  });
  const runs = [run(1, [2], true), run(4, [], true), run(5, [6, 7], false)];
  const { verdict: counted } = judgeRuns(runs, { log, state: new Map() }, 0);
  assert.deepEqual([counted.delivered, counted.covered, counted.lost], [3, 3, 0]);
  const { verdict: ended } = judgeRuns([run(1, [2], true)], { log, state: new Map() }, 0);
  assert.deepEqual([ended.delivered, ended.covered, ended.lost], [1, 0, 0]);
});

describe('a relist', () => {
  it('combines changes: the notifications are the difference to a state of the log', () => {
    assert.deepEqual(counts(RELISTED), [6, 2, 0, 0, 0]);
    assert.equal(verdict(RELISTED).initial, 3);
  });

  it('may begin before notifications of the watch that it follows', () => {
    assert.deepEqual(counts(RELISTED, { relistedAfter: 2 }), [6, 2, 0, 0, 0]);
  });

  it('may repeat unchanged objects, without any change', () => {
    const repeated = [...BEFORE, notified('MODIFIED', 'b', 2, 2), notified('MODIFIED', 'a', 4, 4)];
    assert.deepEqual(counts([...repeated, ...DIFFERENCE, ...AFTER]), [6, 2, 0, 0, 0]);
  });

  it('explains nothing when there was no relist', () => {
    const [, covered, lost] = counts(RELISTED, {});
    assert.equal(covered, 0);
    assert.ok((lost ?? 0) > 0);
  });

  for (const missing of DIFFERENCE) {
    it(`does not cover the loss of ${missing.kind} ${missing.key}`, () => {
      const [, , lost = 0, duplicated = 0] = counts(RELISTED.filter((each) => each !== missing));
      assert.ok(lost + duplicated > 0);
    });
  }

  for (const missing of AFTER) {
    it(`does not cover the loss of ${missing.kind} ${missing.key} behind it`, () => {
      const [, , lost = 0] = counts(RELISTED.filter((each) => each !== missing));
      assert.ok(lost > 0);
    });
  }

  it('does not cover an update from a version that the handler did not have', () => {
    const index = RELISTED.findIndex(({ revision }) => revision === 8);
    const [, , lost = 0] = counts(RELISTED.with(index, notified('MODIFIED', 'a', 8, 5)));
    assert.ok(lost > 0);
  });
});

describe('the end of a watcher', () => {
  it('neither loses nor covers what comes after it', () => {
    assert.deepEqual(counts(BEFORE, { isCutOff: true }), [1, 0, 0, 0, 0]);
    assert.deepEqual(counts(BEFORE, {}), [1, 0, 7, 0, 0]);
  });
});

describe('the revision of an initial list', () => {
  it('is the revision of the state with exactly its objects', () => {
    assert.equal(listedAtOf(LOG, BEFORE), 3);
    const late = [notified('INITIAL', 'b', 6), notified('INITIAL', 'a', 8)];
    assert.equal(listedAtOf(LOG, late), 8);
  });

  it('is the last of several equal states, when the next change follows it', () => {
    const short: JournalEntry[] = [
      [1, 'ADDED', 'a'],
      [2, 'ADDED', 'b'],
      [3, 'DELETED', 'b'],
      [4, 'MODIFIED', 'a'],
    ];
    const initial = notified('INITIAL', 'a', 1);
    assert.equal(listedAtOf(short, [initial, notified('ADDED', 'b', 2)]), 1);
    assert.equal(listedAtOf(short, [initial, notified('MODIFIED', 'a', 4, 1)]), 3);
  });

  it('is 0 for a list of nothing', () => {
    assert.equal(listedAtOf(LOG, [notified('ADDED', 'a', 1)]), 0);
  });

  it('is the newest revision in a list that matches no state of the log', () => {
    assert.equal(listedAtOf(LOG, [notified('INITIAL', 'a', 4), notified('INITIAL', 'b', 10)]), 10);
  });
});
