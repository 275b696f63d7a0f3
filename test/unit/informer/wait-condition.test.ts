/** Waiting for a condition: settled by a change or by an abort, once, and nothing is left behind. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';

import { WaitCondition } from '../../../src/informer/wait-condition.ts';

/** Until all promise reactions have run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Whether the promise has settled, and how. */
function watch(promise: Promise<void>): { state: 'pending' | 'resolved' | Error } {
  const watched: { state: 'pending' | 'resolved' | Error } = { state: 'pending' };
  promise.then(
    () => (watched.state = 'resolved'),
    (error: Error) => (watched.state = error),
  );
  return watched;
}

describe('a condition', () => {
  test('that holds already resolves, even with an aborted signal', async () => {
    await new WaitCondition().until(() => true, AbortSignal.abort());
  });

  test('is looked at when something changed, and not in between', async () => {
    const condition = new WaitCondition();
    let isTrue = false;
    let looks = 0;
    const waiting = watch(
      condition.until(() => {
        looks++;
        return isTrue;
      }),
    );
    condition.changed();
    await settled();
    assert.equal(waiting.state, 'pending');
    isTrue = true;
    await settled();
    assert.equal(waiting.state, 'pending');
    condition.changed();
    await settled();
    assert.equal(waiting.state, 'resolved');
    const before = looks;
    condition.changed();
    assert.equal(looks, before, 'who was answered is not asked again');
  });

  test('answers each who waits for itself', async () => {
    const condition = new WaitCondition();
    let level = 0;
    const waiting = [1, 2, 3].map((wanted) => watch(condition.until(() => level >= wanted)));
    level = 2;
    condition.changed();
    await settled();
    assert.deepEqual(
      waiting.map(({ state }) => state),
      ['resolved', 'resolved', 'pending'],
    );
  });

  test('rejects with the reason of its signal, before or while it waits', async () => {
    const condition = new WaitCondition();
    const reason = new Error('enough');
    await assert.rejects(async () => condition.until(() => false, AbortSignal.abort(reason)), reason);
    const controller = new AbortController();
    const waiting = watch(condition.until(() => false, controller.signal));
    controller.abort(reason);
    await settled();
    assert.equal(waiting.state, reason);
  });

  test('is settled once: an abort after it held, or the condition after an abort, changes nothing', async () => {
    const condition = new WaitCondition();
    const controller = new AbortController();
    let isTrue = false;
    let looks = 0;
    const aborted = watch(condition.until(() => (looks++, isTrue), controller.signal));
    controller.abort(new Error('first'));
    isTrue = true;
    const before = looks;
    condition.changed();
    await settled();
    assert.equal((aborted.state as Error).message, 'first');
    assert.equal(looks, before);
  });

  test('leaves no listener on a signal that lives on', async () => {
    const condition = new WaitCondition();
    const { signal } = new AbortController();
    let isTrue = false;
    const waiting = condition.until(() => isTrue, signal);
    assert.equal(getEventListeners(signal, 'abort').length, 1);
    isTrue = true;
    condition.changed();
    await waiting;
    await condition.until(() => true, signal);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });
});
