/** The choice between the calling thread and worker threads, by reads and modules. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  READ_BYTES,
  WORK_MAX,
  WORK_PER_S,
  firstBackend,
  stepBackend,
} from '../../../../src/informer/threads/backend-step.ts';
import type { BackendState } from '../../../../src/informer/threads/backend-step.ts';

const CALLING: BackendState = { kind: 'calling-thread', work: 0, atMs: 0 };
const EVENT_BYTES = 5000;
const MANY_CHANGES = { type: 'read', bytes: WORK_MAX * READ_BYTES, isListing: false, nowMs: 0 } as const;

/** Seconds of that rate after which worker threads start; undefined if they do not within a minute. */
function secondsUntilStart(eventsPerS: number, eventBytes: number = EVENT_BYTES): number | undefined {
  let state = CALLING;
  for (let event = 0; event < 60 * eventsPerS; event++) {
    const nowMs = (event / eventsPerS) * 1000;
    const step = stepBackend(state, { type: 'read', bytes: eventBytes, isListing: false, nowMs });
    if (step.effect === 'start') return Math.round(nowMs / 1000);
    ({ state } = step);
  }
  return undefined;
}

describe('C425 informers begin', () => {
  const first = { needsThreads: false, mayPay: true };

  test('C425 on the calling thread, unless they need worker threads', () => {
    assert.equal(firstBackend('auto', first).kind, 'calling-thread');
    assert.equal(firstBackend('auto', { ...first, needsThreads: true }).kind, 'worker-threads');
  });

  test('C425 on the calling thread of a single core, where only a need starts worker threads', () => {
    const state = firstBackend('auto', { ...first, mayPay: false });
    const read = stepBackend(state, MANY_CHANGES);
    assert.deepEqual(read, { state });
    assert.equal(stepBackend(state, { type: 'need' }).effect, 'start');
  });

  test('C425 where the option pins them, whatever they need', () => {
    assert.equal(firstBackend(0, { ...first, needsThreads: true }).kind, 'pinned');
    assert.equal(firstBackend(1, { ...first, mayPay: false }).kind, 'worker-threads');
    const pinned: BackendState = { kind: 'pinned' };
    assert.deepEqual(stepBackend(pinned, { type: 'need' }), { state: pinned });
  });
});

describe('C425 worker threads start', () => {
  test('C425 for many changes, and not for a list, however long', () => {
    assert.equal(stepBackend(CALLING, MANY_CHANGES).effect, 'start');
    assert.deepEqual(stepBackend(CALLING, { ...MANY_CHANGES, isListing: true }), { state: CALLING });
  });

  test('C425 after seconds of many reads, and never at the rate that the calling thread does by itself', () => {
    assert.deepEqual(
      [100, 450, 600, 1000, 2000].map((rate) => secondsUntilStart(rate)),
      [undefined, undefined, 24, 5, 2],
    );
    assert.equal(secondsUntilStart(WORK_PER_S - 1, 0), undefined);
  });

  test('C425 once: a second reason, and the end of threads that started late, change nothing', () => {
    const starting = stepBackend(CALLING, { type: 'need' });
    assert.deepEqual(starting, { state: { kind: 'starting' }, effect: 'start' });
    const { state } = starting;
    assert.deepEqual(stepBackend(state, { type: 'need' }), { state });
    const changed = stepBackend(state, { type: 'ready' });
    assert.deepEqual(changed, { state: { kind: 'worker-threads' }, effect: 'change' });
    for (const type of ['ready', 'failed', 'need'] as const)
      assert.deepEqual(stepBackend(changed.state, { type }), { state: changed.state });
  });

  test('C425 for a need only, after they could not be started', () => {
    const { state } = stepBackend({ kind: 'starting' }, { type: 'failed' });
    assert.deepEqual(state, { kind: 'on-need' });
    assert.deepEqual(stepBackend(state, { type: 'ready' }), { state });
  });
});
