/** Notifications: every invariant accepts a correct run, and finds what is spoiled in it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChangeRecord, Histories } from './histories.ts';
import { judge } from './judge.ts';
import type { JudgeOptions } from './judge.ts';
import { FIRST_HANDLER, JOINED_AT, LATE_HANDLER, INFORMER, delivered, smallRun } from './small-run.ts';

/** The small run with other lines for one handler. */
function spoiled(handler: 'first' | 'late', spoil: (lines: string[]) => unknown): Histories {
  const run = smallRun();
  const others = run.delivered.filter((record) => record.handler !== handler);
  const lines = [...(handler === 'first' ? FIRST_HANDLER : LATE_HANDLER)];
  spoil(lines);
  const revision = handler === 'first' ? 0 : JOINED_AT;
  others.push({ kind: 'registered', handler, informer: INFORMER, at: revision * 10, revision });
  others.push(...lines.map((line) => delivered(handler, line)));
  return { ...run, delivered: others };
}

/** The small run with one changed notification of the first handler. */
function rewritten(line: string, to: Partial<ChangeRecord>): Histories {
  const run = smallRun();
  const index = 1 + FIRST_HANDLER.indexOf(line);
  const record = run.delivered[index];
  assert.ok(record && 'key' in record);
  run.delivered[index] = { ...record, ...to };
  return run;
}

function invariants(run: Histories, options?: JudgeOptions): string[] {
  return [...new Set(judge(run, options).map(({ invariant }) => invariant))];
}

/** Asserts that the oracle finds what is spoiled in one handler's notifications. */
function finds(invariant: string, handler: 'first' | 'late', spoil: (lines: string[]) => unknown): void {
  assertFinds(invariant, spoiled(handler, spoil));
}

function assertFinds(invariant: string, run: Histories, options?: JudgeOptions): void {
  const found = invariants(run, options);
  assert.ok(found.includes(invariant), `${invariant} is among ${found.join(', ')}`);
}

test('a correct run has no violations', () => {
  assert.deepEqual(judge(smallRun(), { convergenceMs: 30, progressMs: 60 }), []);
});

test('I3: the oracle finds a state that the server never had, and another body', () => {
  finds('I3', 'first', (lines) => (lines[4] = 'update a 1 40'));
  finds('I3', 'first', (lines) => (lines[4] = 'update b 2 4'));
  assertFinds('I3', rewritten('add d 5', { hash: 'other', objectHash: 'other' }));
  assertFinds('I3', rewritten('add d 5', { objectHash: 'other' }));
});

test('I3: the oracle finds a key that goes back to an older version', () => {
  finds('I3', 'first', (lines) => lines.splice(5, 0, 'update a 4 1'));
  finds('I3', 'first', (lines) => lines.splice(5, 0, 'update a 1 4'));
});

test('I4b: the oracle finds a missing version or deletion that no relist covers', () => {
  finds('I4b', 'first', (lines) => lines.splice(4, 1));
  finds('I4b', 'first', (lines) => lines.splice(5, 2));
  const run = smallRun();
  const wire = run.wire.filter((record) => record.what !== 'listed' || record.connection === 1);
  assertFinds('I4b', { ...run, wire });
});

test('I4b: the oracle finds a difference of a relist that is not complete', () => {
  finds('I4b', 'first', (lines) => lines.splice(9, 1));
  assert.notDeepEqual(judge(spoiled('first', (lines) => lines.splice(7, 1))), []);
});

test('I5: the oracle finds changes of different keys out of the order of the server or of the list', () => {
  const swap = (lines: string[], at: number): unknown =>
    lines.splice(at, 2, ...lines.slice(at, at + 2).reverse());
  assert.deepEqual(invariants(spoiled('first', (lines) => swap(lines, 4))), ['I4b']);
  assert.notDeepEqual(judge(spoiled('first', (lines) => swap(lines, 7))), []);
  assert.notDeepEqual(judge(spoiled('first', (lines) => swap(lines, 8))), []);
});

test('I5: the oracle finds a change that comes late', () => {
  const late = spoiled('first', (lines) => {
    lines.splice(4, 1);
    lines.splice(6, 0, 'update a 1 4');
  });
  assert.notDeepEqual(judge(late), []);
});

test('I6: the oracle finds an update, an addition or a deletion that does not follow from the one before', () => {
  finds('I6', 'first', (lines) => (lines[4] = 'update a 2 4'));
  finds('I6', 'first', (lines) => (lines[4] = 'add a 4'));
  finds('I6', 'first', (lines) => lines.splice(6, 0, 'delete d 6'));
  finds('I6', 'first', (lines) => (lines[5] = 'update d 0 5'));
});

test('I7: the oracle finds an initial list that is not the state at which a handler joined', () => {
  finds('I7', 'late', (lines) => lines.splice(1, 1));
  finds('I7', 'late', (lines) => (lines[0] = 'add! a 1'));
  finds('I4b', 'late', (lines) => lines.splice(6, 1));
});

test('I8: the oracle finds a call for a change that the cache or an index does not have', () => {
  assertFinds('I8', rewritten('update a 1 4', { cached: 1 }));
  assertFinds('I8', rewritten('add d 5', { cached: null, revision: 12, key: 'c' }));
  assertFinds('I8', rewritten('delete d 6', { cached: 5 }));
  assertFinds('I8', rewritten('add d 5', { isIndexed: false }));
  assert.deepEqual(judge(rewritten('update a 1 4', { cached: 11 })), []);
  assert.deepEqual(judge(rewritten('add d 5', { cached: null })), [], 'it was deleted meanwhile');
});

test('I10: the oracle finds an object with another uid', () => {
  assertFinds('I10', rewritten('add d 5', { uid: 'another' }));
  assertFinds('I10', rewritten('add d 5', { uid: '', hash: 'readable' }));
});

test('I11: the oracle finds a deletion that is marked wrongly or has another last state', () => {
  assertFinds('I11', rewritten('lost b 2', { finalStateUnknown: false }));
  assertFinds('I11', rewritten('delete d 6', { finalStateUnknown: true }));
  assertFinds('I11', rewritten('lost b 2', { hash: 'other', objectHash: 'other' }));
});

test('I12: the oracle finds a handler that has synced before the end of its initial list', () => {
  const swap = (lines: string[]): unknown => lines.splice(2, 2, 'synced', 'add! c 3');
  assertFinds('I12', spoiled('first', swap));
  assertFinds('I12', rewritten('add d 5', { isInInitialList: true }));
});

test('I2: the oracle finds a change that a handler received late or never', () => {
  finds('I2', 'first', (lines) => lines.pop());
  const late = rewritten('update c 3 12', { at: 500 });
  assertFinds('I2', late, { convergenceMs: 300 });
  assert.deepEqual(judge(late, { convergenceMs: 400 }), []);
});

test('L2: the oracle finds a handler that receives nothing for too long while there are changes', () => {
  assertFinds('L2', smallRun(), { progressMs: 20 });
});

test('a removed handler need not receive more, but what it received must be right', () => {
  const removed = spoiled('first', (lines) => lines.splice(8, 9, 'removed'));
  assert.deepEqual(judge(removed), [], 'cut off within a difference');
  finds('I4b', 'first', (lines) => lines.splice(4, 9, 'add d 5', 'removed'));
  const joining = spoiled('late', (lines) => lines.splice(1, 99, 'removed'));
  assert.deepEqual(judge(joining), [], 'cut off within its initial list');
});

test('updates without a change are accepted of cached objects only', () => {
  const resynced = spoiled('first', (lines) => lines.splice(7, 0, 'update a 4 4', 'update c 3 3'));
  assert.deepEqual(judge(resynced), []);
  finds('I6', 'first', (lines) => lines.splice(7, 0, 'update d 5 5'));
});
