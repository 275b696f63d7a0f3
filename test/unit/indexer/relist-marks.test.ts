/** Mark and sweep alone: which ids are swept, which are freed without a record, and which stay. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyStates, PASS_DONE, PASS_PAUSED } from '../../../src/indexer/key-states.ts';

function twin() {
  const freed: number[] = [];
  const states = new KeyStates((id) => freed.push(id));
  const pass = (idsMax = 1000): number[] => {
    const swept: number[] = [];
    for (;;) {
      const id = states.next(idsMax);
      if (id === PASS_DONE) return swept;
      if (id !== PASS_PAUSED) swept.push(id);
    }
  };
  /** Begins a relist of these ids; returns what the pass sweeps. */
  const list = (epoch: number, ...ids: readonly number[]): number[] => {
    states.begin(epoch);
    const swept = pass();
    for (const id of ids) states.put(id, 1);
    return swept;
  };
  return { states, freed, pass, list };
}

test('ids that a relist did not list are swept and freed, and the rest stays', () => {
  const { states, freed, pass, list } = twin();
  for (const id of [0, 1, 2, 3]) states.put(id, 1);
  assert.deepEqual(list(1, 1, 3, 4), []);
  states.end(1);
  assert.deepEqual(pass(), [0, 2]);
  assert.deepEqual(freed, [0, 2]);
  // All remaining ids are live: the next empty relist sweeps exactly those.
  list(2);
  states.end(2);
  assert.deepEqual(pass(), [1, 3, 4]);
});

test('an aborted epoch frees its new ids without a record, and keeps the live ones', () => {
  const { states, freed, pass, list } = twin();
  states.put(0, 1);
  list(1, 0, 1);
  states.abort(1);
  assert.deepEqual(pass(), []);
  assert.deepEqual(freed, [1]);
  list(2);
  states.end(2);
  assert.deepEqual(pass(), [0]);
});

test('a newer Begin undoes the older epoch first', () => {
  const { states, freed, pass, list } = twin();
  states.put(0, 1);
  list(1, 0, 1);
  assert.deepEqual(list(2, 2), []);
  assert.deepEqual(freed, [1]);
  states.end(2);
  assert.deepEqual(pass(), [0]);
  assert.deepEqual(freed, [1, 0]);
});

test('an object deleted inside an epoch keeps its id while the live replica has it', () => {
  const { states, pass, list } = twin();
  states.put(0, 1);
  list(1, 0);
  assert.equal(states.delete(0, 2), false);
  states.put(1, 1);
  assert.equal(states.delete(1, 2), true, 'only the shadow had it');
  states.end(1);
  assert.deepEqual(pass(), [0]);
});

test('a deleted object is free at once when no epoch is open', () => {
  const { states, pass, list } = twin();
  states.put(0, 1);
  assert.equal(states.delete(0, 2), true);
  assert.equal(states.delete(5, 2), true, 'a key that never existed');
  list(1);
  states.end(1);
  assert.deepEqual(pass(), []);
});

test('a pass can be interrupted after any number of ids', () => {
  const { states, freed, pass } = twin();
  for (let id = 0; id < 1000; id++) states.put(id, 1);
  states.begin(1);
  assert.equal(states.next(10), PASS_DONE);
  for (let id = 0; id < 1000; id += 3) states.put(id, 1);
  states.end(1);
  assert.deepEqual(
    pass(1),
    Array.from({ length: 1000 }, (_, id) => id).filter((id) => id % 3 !== 0),
  );
  assert.equal(freed.length, 666);
});

test('End and Abort without an open epoch have no effect, and throw for another epoch', () => {
  const { states, pass } = twin();
  states.put(0, 1);
  states.end(7);
  assert.deepEqual(pass(), []);
  states.abort(7);
  assert.deepEqual(pass(), []);
  states.begin(8);
  assert.throws(() => states.end(7), { code: 'ERR_KUBELOOM_ASSERTION' });
});
