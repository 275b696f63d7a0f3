/** The stages of a backlog budget as a table: state, bytes and time, and the next state. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stepBacklog } from '../../../../src/replica/deliver/backlog-step.ts';
import type { BacklogState } from '../../../../src/replica/deliver/backlog-step.ts';

const LIMITS = { backlogBytesMax: 1000, backlogTimeoutMs: 60 };
const NOW_MS = 500;

const normal: BacklogState = { kind: 'normal' };
const coalescing: BacklogState = { kind: 'coalescing' };
const overflow: BacklogState = { kind: 'overflow' };
const full = (sinceMs: number): BacklogState => ({ kind: 'full', sinceMs });
const paused = (sinceMs: number): BacklogState => ({ kind: 'paused', sinceMs });

const rows: readonly (readonly [string, BacklogState, number, BacklogState])[] = [
  ['nothing is held', normal, 0, normal],
  ['half of the budget is still normal', normal, 500, normal],
  ['above half of the budget', normal, 501, coalescing],
  ['any excess coalesces first', normal, 5000, coalescing],
  ['between the limits the state stays', coalescing, 250, coalescing],
  ['below a quarter coalescing ends', coalescing, 249, normal],
  ['below the budget coalescing continues', coalescing, 999, coalescing],
  ['at the budget merging stops', coalescing, 1000, full(NOW_MS)],
  ['a burst is not reported', full(NOW_MS - 999), 1000, full(NOW_MS - 999)],
  ['merging continues after a burst', full(NOW_MS - 999), 749, coalescing],
  ['longer than a burst', full(NOW_MS - 1000), 1000, paused(NOW_MS - 1000)],
  ['paused down to three quarters', paused(NOW_MS - 10), 750, paused(NOW_MS - 10)],
  ['below three quarters merging continues', paused(NOW_MS - 10), 749, coalescing],
  ['the pause is too short for more', paused(NOW_MS - 59), 1000, paused(NOW_MS - 59)],
  ['too long', paused(NOW_MS - 60), 1000, overflow],
  ['the pause is too long, although the backlog shrank a little', paused(NOW_MS - 60), 750, overflow],
  ['the pause was long, and the backlog has just shrunk enough', paused(NOW_MS - 60), 749, coalescing],
  ['the removal of one handler was enough', overflow, 749, coalescing],
  ['the removal was not enough: the next handler has the same time', overflow, 750, paused(NOW_MS)],
];

describe('backlogs and their budget', () => {
  for (const [title, state, bytes, expected] of rows) {
    test(`${title}: ${state.kind} at ${bytes} of 1000 is ${expected.kind}`, () => {
      assert.deepEqual(stepBacklog(state, { bytes, isCoalesced: true }, NOW_MS, LIMITS), expected);
    });
  }

  test('nothing is paused while pending notifications can be merged', () => {
    for (const state of [coalescing, full(NOW_MS - 1000)]) {
      const next = stepBacklog(state, { bytes: 5000, isCoalesced: false }, NOW_MS, LIMITS);
      assert.deepEqual(next, state);
    }
  });
});
