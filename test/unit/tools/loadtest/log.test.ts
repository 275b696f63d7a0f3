/** The log that is reconstructed from the answers to writes and from the reference informer, and the faults that it reveals. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { logOf } from '../../../../src/tools/loadtest/verdict/log.ts';
import type { PhasedWrite } from '../../../../src/tools/loadtest/verdict/log.ts';
import { expectationOf, judge } from '../../../../src/tools/loadtest/verdict/verdict.ts';
import type { Notification } from '../../../../src/tools/loadtest/watch/recording-handler.ts';
import type { LoggedWrite } from '../../../../src/tools/loadtest/watch/watcher.ts';

const WRITES: readonly PhasedWrite[] = (
  [
    [1, 'create', 1],
    [2, 'create', 2],
    [5, 'status', 2],
    [3, 'update', 1],
    [0, 'delete', 1],
    [7, 'create', 1],
    [0, 'delete', 1],
  ] as const
).map(([revision, change, n], at) => ({
  revision,
  change,
  n,
  group: 0,
  phase: at,
  dueUs: at,
  sentUs: at,
  answeredUs: at,
}));
const LISTED_AT = 2;

function notified(kind: Notification['kind'], key: string, revision: number, previous = 0): Notification {
  return { kind, key, revision, previousRevision: previous, calledUs: 0 };
}

const FAITHFUL: readonly Notification[] = [
  notified('INITIAL', 'n/1', 1),
  notified('INITIAL', 'n/2', 2),
  notified('MODIFIED', 'n/1', 3, 1),
  notified('DELETED', 'n/1', 4),
  notified('MODIFIED', 'n/2', 5, 2),
  notified('ADDED', 'n/1', 7),
  notified('DELETED', 'n/1', 9),
];

function log(referenced: readonly Notification[]): LoggedWrite[] {
  return logOf(WRITES, (n) => `n/${n}`, referenced);
}

function texts(referenced: readonly Notification[]): string[] {
  return log(referenced).map(({ type, key, revision }) => `${type} ${key}@${revision}`);
}

const FULL = [
  'ADDED n/1@1',
  'ADDED n/2@2',
  'MODIFIED n/1@3',
  'DELETED n/1@4',
  'MODIFIED n/2@5',
  'ADDED n/1@7',
  'DELETED n/1@9',
];

describe('the log of a load test', () => {
  it('is in the order of revisions, with deletions where the reference informer received them', () => {
    assert.deepEqual(texts(FAITHFUL), FULL);
    const journal = log(FAITHFUL).map(({ revision, type, key }) => [revision, type, key] as const);
    assert.equal(judge(expectationOf(journal, LISTED_AT), FAITHFUL).lost, 0);
  });

  it('keeps the phase and the time of the answer of each write, including deletions', () => {
    assert.deepEqual(
      log(FAITHFUL).map(({ revision, own }) => [revision, own?.phase, own?.answeredUs]),
      [1, 2, 3, 4, 5, 7, 9].map((revision, index) => {
        const at = [0, 1, 3, 4, 2, 5, 6][index];
        return [revision, at, at];
      }),
    );
  });

  it('keeps a place for a deletion that the reference informer did not receive where it must be', () => {
    assert.deepEqual(texts([]).slice(2, 4), ['MODIFIED n/1@3', 'DELETED n/1@3.5']);
    assert.equal(texts(FAITHFUL.with(3, notified('DELETED', 'n/1', 2.5))).includes('DELETED n/1@3.5'), true);
  });

  it('has the changes of other writers, without a time', () => {
    const foreign = notified('MODIFIED', 'n/2', 8, 5);
    const found = log([...FAITHFUL, foreign]).find(({ revision }) => revision === 8);
    assert.deepEqual(found, { revision: 8, type: 'MODIFIED', key: 'n/2', own: undefined });
  });
});
