/** The stages of a short budget as a table: what follows from which bytes, when. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stepBacklog } from '../../src/processor/backlog-step.ts';
import type { BacklogState } from '../../src/processor/backlog-step.ts';

const LIMITS = { backlogBytesMax: 1000, backlogPauseMsMax: 60 };
const NOW_MS = 500;

const normal: BacklogState = { kind: 'normal' };
const coalescing: BacklogState = { kind: 'coalescing' };
const overflow: BacklogState = { kind: 'overflow' };
const full = (sinceMs: number): BacklogState => ({ kind: 'full', sinceMs });
const paused = (sinceMs: number): BacklogState => ({ kind: 'paused', sinceMs });

const rows: readonly (readonly [string, BacklogState, number, BacklogState])[] = [
  ['nothing is held', normal, 0, normal],
  ['half of the budget is normal still', normal, 500, normal],
  ['above half of it', normal, 501, coalescing],
  ['however much it is, merging comes first', normal, 5000, coalescing],
  ['between the edges it stays', coalescing, 250, coalescing],
  ['below a quarter it is over', coalescing, 249, normal],
  ['below the budget it goes on merging', coalescing, 999, coalescing],
  ['at the budget', coalescing, 1000, full(NOW_MS)],
  ['a burst is no news', full(NOW_MS - 999), 1000, full(NOW_MS - 999)],
  ['after a burst it goes on', full(NOW_MS - 999), 749, coalescing],
  ['more than a burst', full(NOW_MS - 1000), 1000, paused(NOW_MS - 1000)],
  ['paused until three quarters', paused(NOW_MS - 10), 750, paused(NOW_MS - 10)],
  ['below three quarters it goes on', paused(NOW_MS - 10), 749, coalescing],
  ['not long enough for more', paused(NOW_MS - 59), 1000, paused(NOW_MS - 59)],
  ['too long', paused(NOW_MS - 60), 1000, overflow],
  ['too long, though it became a little better', paused(NOW_MS - 60), 750, overflow],
  ['long, and just got better', paused(NOW_MS - 60), 749, coalescing],
  ['one was given up and that was enough', overflow, 749, coalescing],
  ['it was not: the next one has the same time', overflow, 750, paused(NOW_MS)],
];

describe('backlogs and their budget', () => {
  for (const [title, state, bytes, expected] of rows) {
    test(`${title}: ${state.kind} at ${bytes} of 1000 is ${expected.kind}`, () => {
      assert.deepEqual(stepBacklog(state, { bytes, isCoalesced: true }, NOW_MS, LIMITS), expected);
    });
  }

  test('nothing is paused while there is something to merge', () => {
    for (const state of [coalescing, full(NOW_MS - 1000)]) {
      const next = stepBacklog(state, { bytes: 5000, isCoalesced: false }, NOW_MS, LIMITS);
      assert.deepEqual(next, state);
    }
  });
});
