/** The judge of the differential table, on hand-written histories. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JournalEntry } from '../../../../src/apiserver/journal.ts';
import type { Line } from '../../../../bench/differential/clients/lines.ts';
import { judge } from '../../../../bench/differential/judge.ts';
import type { Judgement } from '../../../../bench/differential/judge.ts';
import { describeMachine } from '../../../../bench/document.ts';
import type { CaseRun } from '../../../../bench/differential/run-case.ts';
import { differentialSection } from '../../../../bench/differential/section.ts';

type Kind = 'add' | 'update' | 'delete';

function line(t: number, kind: Kind, key: string, rv: number, uid: string = key): Line {
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
  line(0, 'add', 'a', 1),
  line(0, 'add', 'b', 2),
  line(10, 'update', 'a', 3),
  line(120, 'delete', 'b', 4),
  line(130, 'add', 'marker', 5),
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
  it('finds no fault when the client received every change, and returns the time of its recovery', () => {
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

  it('counts objects that a store lacks, has in excess, or has in another version', () => {
    const store = new Map([
      ['a', '1'],
      ['b', '2'],
    ]);
    assert.deepEqual(judged(WHOLE, store).store, { missing: 1, ghosts: 1, stale: 1 });
  });

  it('does not count a client as recovered that has the marker but not an earlier change', () => {
    const withoutDeletion = WHOLE.filter(({ kind }) => kind !== 'delete');
    const { recoveryMs, handler, skipped } = judged(withoutDeletion);
    assert.equal(recoveryMs, undefined);
    assert.deepEqual(handler, { missing: 0, ghosts: 1, stale: 0 });
    assert.equal(skipped, 1);
  });

  it('counts notifications that repeat, go back, or contradict those before', () => {
    const { notifications } = judged([
      ...WHOLE,
      line(140, 'update', 'a', 3),
      line(150, 'update', 'a', 1),
      line(160, 'add', 'a', 3),
      line(170, 'delete', 'b', 4),
      line(180, 'update', 'marker', 6, 'another'),
    ]);
    assert.deepEqual(notifications, { repeated: 1, reordered: 1, illogical: 2, uidChanges: 1 });
  });

  it('accepts the old version of a deletion that only a list showed', () => {
    const unseen = WHOLE.map((line) => (line.kind === 'delete' ? { ...line, rv: '2', unknown: true } : line));
    const { notifications, recoveryMs, skipped } = judged(unseen);
    assert.equal(notifications.reordered, 0);
    assert.equal(recoveryMs, 30);
    assert.equal(skipped, 1, 'the deletion itself was not seen');
  });
});

const NONE = { missing: 0, ghosts: 0, stale: 0 };
const QUIET = { repeated: 0, reordered: 0, illogical: 0, uidChanges: 0 };

function run(
  client: string,
  seed: number,
  more: Omit<Partial<CaseRun>, 'judgement'> & { judgement?: Partial<Judgement> },
): CaseRun {
  const { judgement, ...rest } = more;
  const whole = { store: NONE, handler: NONE, notifications: QUIET, skipped: 0, recoveryMs: 0, errors: 0 };
  return {
    case: 'restart',
    client,
    seed,
    ...rest,
    judgement: { ...whole, firstError: undefined, ...judgement },
  };
}

function rowOf(...runs: CaseRun[]): string {
  const section = differentialSection({
    machine: describeMachine(),
    versions: { one: 'v1', other: 'v2' },
    seeds: [1, 2],
    loadRate: 150,
    recoveryMsMax: 30_000,
    startedAt: '',
    elapsedMs: 0,
    runs,
  });
  return section.split('\n').find((line) => line.startsWith('| the server restarts')) ?? '';
}

describe('the section of the differential table', () => {
  it('shows the median and the range of recoveries', () => {
    const row = rowOf(
      run('one', 1, { judgement: { recoveryMs: 120 } }),
      run('one', 2, { judgement: { recoveryMs: 2_340 } }),
    );
    assert.equal(row, '| the server restarts in half a second | 0.12 s (0.12 to 2.3) | not measured |');
  });

  it('shows the worst loss, and the number of runs without one', () => {
    const row = rowOf(
      run('one', 1, { judgement: { recoveryMs: 100 } }),
      run('one', 2, { isStopped: true, judgement: { store: { missing: 2, ghosts: 1, stale: 0 } } }),
      run('other', 1, { judgement: { handler: { ...NONE, stale: 4 }, recoveryMs: undefined } }),
    );
    assert.equal(
      row,
      '| the server restarts in half a second | 1 of 2 in 0.10 s; **stopped: 2 missing, 1 ghost** | **differs: 4 stale** |',
    );
  });

  it('does not count an invalid run', () => {
    const row = rowOf(run('one', 1, { invalid: 'the fault did not land' }));
    assert.equal(row, '| the server restarts in half a second | INVALID | not measured |');
  });
});
