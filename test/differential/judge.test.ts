/** The judge of the differential table, on histories made by hand. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JournalEntry } from '../../src/embedded/journal.ts';
import type { Line } from './clients/lines.ts';
import { judge } from './judge.ts';
import type { Judgement } from './judge.ts';

type Kind = 'add' | 'update' | 'delete';

function told(t: number, kind: Kind, key: string, rv: number, uid: string = key): Line {
  return { t, kind, key, rv: String(rv), uid };
}

const JOURNAL: readonly JournalEntry[] = [
  [1, 'ADDED', 'a'],
  [2, 'ADDED', 'b'],
  [3, 'MODIFIED', 'a'],
  [4, 'DELETED', 'b'],
  [5, 'ADDED', 'marker'],
];
const SERVER = new Map([
  ['a', '3'],
  ['marker', '5'],
]);
const WHOLE: readonly Line[] = [
  told(0, 'add', 'a', 1),
  told(0, 'add', 'b', 2),
  told(10, 'update', 'a', 3),
  told(120, 'delete', 'b', 4),
  told(130, 'add', 'marker', 5),
];

function judged(lines: readonly Line[], store: ReadonlyMap<string, string> = SERVER): Judgement {
  return judge({
    lines,
    store,
    server: SERVER,
    journal: JOURNAL,
    loadFromRevision: 2,
    markerRevision: 5,
    healedAt: 100,
  });
}

describe('the judge of the differential table', () => {
  it('finds nothing wrong with a client that was told everything, and says when it had caught up', () => {
    const none = { missing: 0, ghosts: 0, stale: 0 };
    assert.deepEqual(judged(WHOLE), {
      store: none,
      handler: none,
      notifications: { repeated: 0, reordered: 0, illogical: 0, uidChanges: 0 },
      skipped: 0,
      recoveryMs: 30,
      errors: 0,
      firstError: undefined,
    });
  });

  it('counts what a store lacks, has too much, and has in another version', () => {
    const store = new Map([
      ['a', '1'],
      ['b', '2'],
    ]);
    assert.deepEqual(judged(WHOLE, store).store, { missing: 1, ghosts: 1, stale: 1 });
  });

  it('never calls a client recovered that knows the marker and not what was before it', () => {
    const withoutDeletion = WHOLE.filter(({ kind }) => kind !== 'delete');
    const { recoveryMs, handler, skipped } = judged(withoutDeletion);
    assert.equal(recoveryMs, undefined);
    assert.deepEqual(handler, { missing: 0, ghosts: 1, stale: 0 });
    assert.equal(skipped, 1);
  });

  it('counts notifications that repeat, go back, or do not follow from those before', () => {
    const { notifications } = judged([
      ...WHOLE,
      told(140, 'update', 'a', 3),
      told(150, 'update', 'a', 1),
      told(160, 'add', 'a', 3),
      told(170, 'delete', 'b', 4),
      told(180, 'update', 'marker', 6, 'another'),
    ]);
    assert.deepEqual(notifications, { repeated: 1, reordered: 1, illogical: 2, uidChanges: 1 });
  });

  it('does not hold the old version of a deletion that only a list showed against a client', () => {
    const unseen = WHOLE.map((line) => (line.kind === 'delete' ? { ...line, rv: '2', unknown: true } : line));
    const { notifications, recoveryMs, skipped } = judged(unseen);
    assert.equal(notifications.reordered, 0);
    assert.equal(recoveryMs, 30);
    assert.equal(skipped, 1, 'the deletion itself was not seen');
  });
});
