/** The verdict must catch every single fault, whatever it is and wherever it happens. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HandlerHistory } from '../../../../src/tools/loadtest/watch/recording-handler.ts';
import type { Notification } from '../../../../src/tools/loadtest/watch/recording-handler.ts';
import { expectationOf, judge } from '../../../../src/tools/loadtest/verdict/verdict.ts';
import type { JournalEntry } from '../../../../src/tools/apiserver/testing/index.ts';

/** Two objects at the list (c/gone was deleted before), then every kind of change. */
const JOURNAL: readonly JournalEntry[] = [
  [1, 'ADDED', 'a/x'],
  [2, 'ADDED', 'b/y'],
  [3, 'ADDED', 'c/gone'],
  [4, 'MODIFIED', 'a/x'],
  [5, 'DELETED', 'c/gone'],
  [6, 'MODIFIED', 'a/x'],
  [7, 'MODIFIED', 'b/y'],
  [8, 'ADDED', 'd/z'],
  [9, 'MODIFIED', 'a/x'],
  [10, 'DELETED', 'b/y'],
  [11, 'ADDED', 'b/y'],
  [12, 'MODIFIED', 'd/z'],
];
const LISTED_AT = 5;
const EVENTS = 7;

const FAITHFUL: readonly Notification[] = (
  [
    ['INITIAL', 'a/x', 4, 0],
    ['INITIAL', 'b/y', 2, 0],
    ['MODIFIED', 'a/x', 6, 4],
    ['MODIFIED', 'b/y', 7, 2],
    ['ADDED', 'd/z', 8, 0],
    ['MODIFIED', 'a/x', 9, 6],
    ['DELETED', 'b/y', 10, 0],
    ['ADDED', 'b/y', 11, 0],
    ['MODIFIED', 'd/z', 12, 8],
  ] as const
).map(([kind, key, revision, previousRevision]) => ({ kind, key, revision, previousRevision, calledUs: 0 }));

/** Returns the numbers delivered, lost, duplicated and reordered. */
function countsOf(history: readonly Notification[]): readonly number[] {
  const { delivered, lost, duplicated, reordered } = judge(expectationOf(JOURNAL, LISTED_AT), history);
  return [delivered, lost, duplicated, reordered];
}

function at(index: number): Notification {
  const notification = FAITHFUL[index];
  assert.ok(notification);
  return notification;
}

function replaced(index: number, change: Partial<Notification>): Notification[] {
  return FAITHFUL.map((notification, at) => (at === index ? { ...notification, ...change } : notification));
}

describe('the verdict', () => {
  it('finds nothing wrong with a faithful history', () => {
    assert.deepEqual(countsOf(FAITHFUL), [EVENTS, 0, 0, 0]);
    const verdict = judge(expectationOf(JOURNAL, LISTED_AT), FAITHFUL);
    assert.equal(verdict.initial, 2);
    assert.deepEqual(verdict.findings, []);
  });

  it('takes the initial list in any order: the log does not say which it was', () => {
    const history = [at(1), at(0), ...FAITHFUL.slice(2)];
    assert.deepEqual(countsOf(history), [EVENTS, 0, 0, 0]);
  });

  for (const [index, { kind, key, revision }] of FAITHFUL.entries()) {
    const delivered = EVENTS - (kind === 'INITIAL' ? 0 : 1);

    it(`catches the loss of ${kind} ${key}@${revision}`, () => {
      const history = FAITHFUL.filter((_, at) => at !== index);
      assert.deepEqual(countsOf(history), [delivered, 1, 0, 0]);
    });

    it(`catches ${kind} ${key}@${revision} delivered twice, at once or at the end`, () => {
      const once = [EVENTS, 0, 1, 0];
      assert.deepEqual(countsOf(FAITHFUL.toSpliced(index, 0, at(index))), once);
      assert.deepEqual(countsOf([...FAITHFUL, at(index)]), once);
    });

    it(`catches a wrong key, version or kind of ${kind} ${key}@${revision}`, () => {
      const corrupt = [delivered, 1, 1, 0];
      assert.deepEqual(countsOf(replaced(index, { key: 'e/other' })), corrupt);
      assert.deepEqual(countsOf(replaced(index, { key: key === 'a/x' ? 'b/y' : 'a/x' })), corrupt);
      assert.deepEqual(countsOf(replaced(index, { revision: 99 })), corrupt);
      assert.deepEqual(countsOf(replaced(index, { revision: Number.NaN })), corrupt);
      for (const wrong of ['INITIAL', 'ADDED', 'MODIFIED', 'DELETED', 'FINAL_STATE_UNKNOWN'] as const) {
        if (wrong !== kind) assert.deepEqual(countsOf(replaced(index, { kind: wrong })), corrupt, wrong);
      }
    });
  }

  it('catches any two neighbouring changes that were swapped', () => {
    for (let index = 2; index < FAITHFUL.length - 1; index++) {
      const history = [...FAITHFUL];
      history.splice(index, 2, at(index + 1), at(index));
      assert.deepEqual(countsOf(history), [EVENTS, 0, 0, 1], `at ${index}`);
    }
  });

  it('catches a change that came before the initial list was complete', () => {
    const history = [at(0), at(2), at(1), ...FAITHFUL.slice(3)];
    assert.deepEqual(countsOf(history), [EVENTS, 0, 0, 1]);
  });

  it('catches an update whose old object is not the one before', () => {
    const history = replaced(5, { previousRevision: 4 });
    assert.deepEqual(countsOf(history), [EVENTS - 1, 1, 1, 0]);
  });

  it('counts a lost update once: the next update of the object names the one before the loss', () => {
    const history = replaced(5, { previousRevision: 4 }).filter(({ revision }) => revision !== 6);
    assert.deepEqual(countsOf(history), [EVENTS - 1, 1, 0, 0]);
  });

  it('catches a missing deletion although the object was created again', () => {
    const history = FAITHFUL.filter(({ kind }) => kind !== 'DELETED');
    assert.deepEqual(countsOf(history), [EVENTS - 1, 1, 0, 0]);
  });

  it('catches an object of the initial list that was deleted before it', () => {
    const ghost: Notification = { ...at(0), key: 'c/gone', revision: 3 };
    assert.deepEqual(countsOf([ghost, ...FAITHFUL]), [EVENTS, 0, 1, 0]);
  });

  it('counts everything as lost for a handler that was never called', () => {
    assert.deepEqual(countsOf([]), [0, EVENTS + 2, 0, 0]);
  });

  it('says in words what it found, and not more than a few lines', () => {
    const { findings } = judge(
      expectationOf(JOURNAL, LISTED_AT),
      FAITHFUL.filter(({ revision }) => revision !== 10),
    );
    assert.deepEqual(findings, ['lost: DELETED b/y@10']);
    assert.equal(judge(expectationOf(JOURNAL, LISTED_AT), []).findings.length, 5);
  });
});

describe('a handler history', () => {
  it('returns the recorded notifications', () => {
    const history = new HandlerHistory();
    history.record('INITIAL', 'a/x', '4');
    history.record('MODIFIED', 'a/2', '6', '5');
    history.record('DELETED', 'a/x', 'not a number');
    assert.equal(history.length, 3);
    assert.equal(history.changes, 2);
    assert.deepEqual(
      Array.from(history, ({ kind, key, revision, previousRevision }) => [
        kind,
        key,
        revision,
        previousRevision,
      ]),
      [
        ['INITIAL', 'a/x', 4, 0],
        ['MODIFIED', 'a/2', 6, 5],
        ['DELETED', 'a/x', Number.NaN, 0],
      ],
    );
  });
});
