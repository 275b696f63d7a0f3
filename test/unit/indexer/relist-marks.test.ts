/** Mark and sweep alone: which ids are swept, which are freed without a record, and which stay. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { PASS_DONE, PASS_PAUSED, RelistMarks } from '../../../src/indexer/relist-marks.ts';

function twin() {
  const freed: number[] = [];
  const marks = new RelistMarks((id) => freed.push(id));
  const pass = (idsMax = 1000): number[] => {
    const swept: number[] = [];
    for (;;) {
      const id = marks.next(idsMax);
      if (id === PASS_DONE) return swept;
      if (id !== PASS_PAUSED) swept.push(id);
    }
  };
  /** Begins a relist of these ids; returns what the pass sweeps. */
  const list = (epoch: number, ...ids: readonly number[]): number[] => {
    marks.begin(epoch);
    const swept = pass();
    for (const id of ids) marks.mark(id);
    return swept;
  };
  return { marks, freed, pass, list };
}

test('ids that a relist did not list are swept and freed, and the rest stays', () => {
  const { marks, freed, pass, list } = twin();
  for (const id of [0, 1, 2, 3]) marks.mark(id);
  assert.deepEqual(list(1, 1, 3, 4), []);
  marks.end(1);
  assert.deepEqual(pass(), [0, 2]);
  assert.deepEqual(freed, [0, 2]);
  // All remaining ids are live: the next empty relist sweeps exactly those.
  list(2);
  marks.end(2);
  assert.deepEqual(pass(), [1, 3, 4]);
});

test('an aborted epoch frees its new ids without a record, and keeps the live ones', () => {
  const { marks, freed, pass, list } = twin();
  marks.mark(0);
  list(1, 0, 1);
  marks.abort(1);
  assert.deepEqual(pass(), []);
  assert.deepEqual(freed, [1]);
  list(2);
  marks.end(2);
  assert.deepEqual(pass(), [0]);
});

test('a newer Begin undoes the older epoch first', () => {
  const { marks, freed, pass, list } = twin();
  marks.mark(0);
  list(1, 0, 1);
  assert.deepEqual(list(2, 2), []);
  assert.deepEqual(freed, [1]);
  marks.end(2);
  assert.deepEqual(pass(), [0]);
  assert.deepEqual(freed, [1, 0]);
});

test('an object deleted inside an epoch keeps its id while the live replica has it', () => {
  const { marks, pass, list } = twin();
  marks.mark(0);
  list(1, 0);
  assert.equal(marks.unmark(0), false);
  marks.mark(1);
  assert.equal(marks.unmark(1), true, 'only the shadow had it');
  marks.end(1);
  assert.deepEqual(pass(), [0]);
});

test('a deleted object is free at once when no epoch is open', () => {
  const { marks, pass, list } = twin();
  marks.mark(0);
  assert.equal(marks.unmark(0), true);
  assert.equal(marks.unmark(5), true, 'a key that never existed');
  list(1);
  marks.end(1);
  assert.deepEqual(pass(), []);
});

test('a pass can be interrupted after any number of ids', () => {
  const { marks, freed, pass } = twin();
  for (let id = 0; id < 1000; id++) marks.mark(id);
  marks.begin(1);
  assert.equal(marks.next(10), PASS_DONE);
  for (let id = 0; id < 1000; id += 3) marks.mark(id);
  marks.end(1);
  assert.deepEqual(
    pass(1),
    Array.from({ length: 1000 }, (_, id) => id).filter((id) => id % 3 !== 0),
  );
  assert.equal(freed.length, 666);
});

test('End and Abort without an open epoch change nothing, and those of another epoch throw', () => {
  const { marks, pass } = twin();
  marks.mark(0);
  marks.end(7);
  assert.deepEqual(pass(), []);
  marks.abort(7);
  assert.deepEqual(pass(), []);
  marks.begin(8);
  assert.throws(() => marks.end(7), { code: 'ERR_KUBELOOM_ASSERTION' });
});
