/** The log that is reconstructed from the answers to writes, and the faults that it reveals. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Notification } from '../../../src/cli/recording-handler.ts';
import { journalOf, revisedWrites } from '../../../src/cli/loadtest-journal.ts';
import type { Write } from '../../../src/cli/loadtest-plan.ts';
import { expectationOf, judge } from '../../../src/cli/verdict.ts';

const WRITES: readonly Write[] = (
  [
    [1, 'ADDED', 'a'],
    [2, 'ADDED', 'b'],
    [5, 'MODIFIED', 'b'],
    [3, 'MODIFIED', 'a'],
    [0, 'DELETED', 'a'],
    [7, 'ADDED', 'a'],
    [0, 'DELETED', 'a'],
  ] as const
).map(([revision, type, name], index) => [revision, type, name, [index, index, index]]);
const LISTED_AT = 2;

function told(kind: Notification['kind'], key: string, revision: number, previous = 0): Notification {
  return { kind, key, revision, previousRevision: previous, calledUs: 0 };
}

const FAITHFUL: readonly Notification[] = [
  told('INITIAL', 'n/a', 1),
  told('INITIAL', 'n/b', 2),
  told('MODIFIED', 'n/a', 3, 1),
  told('DELETED', 'n/a', 4),
  told('MODIFIED', 'n/b', 5, 2),
  told('ADDED', 'n/a', 7),
  told('DELETED', 'n/a', 9),
];

function faults(history: readonly Notification[]): readonly number[] {
  const journal = journalOf(revisedWrites(WRITES, 'n', history), 'n');
  const { lost, duplicated, reordered } = judge(expectationOf(journal, LISTED_AT), history);
  return [lost, duplicated, reordered];
}

describe('the journal of a load test', () => {
  it('is in the order of revisions, with deletions where handlers received them', () => {
    assert.deepEqual(
      journalOf(revisedWrites(WRITES, 'n', FAITHFUL), 'n').map(
        ([revision, type, key]) => `${type} ${key}@${revision}`,
      ),
      [
        'ADDED n/a@1',
        'ADDED n/b@2',
        'MODIFIED n/a@3',
        'DELETED n/a@4',
        'MODIFIED n/b@5',
        'ADDED n/a@7',
        'DELETED n/a@9',
      ],
    );
    assert.deepEqual(faults(FAITHFUL), [0, 0, 0]);
  });

  it('keeps the times at which each write was due, sent and answered, for deletions too', () => {
    const revised = revisedWrites(WRITES, 'n', FAITHFUL);
    assert.deepEqual(
      revised.map(([revision, , , [dueUs]]) => [revision, dueUs]),
      [
        [1, 0],
        [2, 1],
        [3, 3],
        [4, 4],
        [5, 2],
        [7, 5],
        [9, 6],
      ],
    );
  });

  for (const [index, { kind, key, revision }] of FAITHFUL.entries()) {
    it(`misses ${kind} ${key}@${revision}`, () => {
      const [lost = 0] = faults(FAITHFUL.filter((_, at) => at !== index));
      assert.ok(lost > 0);
    });
  }

  it('ignores a deletion before the write that it follows, or after the next one', () => {
    const early = FAITHFUL.with(3, told('DELETED', 'n/a', 2.5));
    const late = FAITHFUL.with(3, told('DELETED', 'n/a', 8));
    assert.deepEqual(faults(early).slice(0, 2), [1, 1]);
    assert.deepEqual(faults(late).slice(0, 2), [1, 1]);
  });
});
