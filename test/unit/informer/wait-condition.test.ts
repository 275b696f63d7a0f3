/** Waiting for a condition: settled by a change or by an abort, once, and nothing is left behind. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { WaitCondition } from '../../../src/informer/wait-condition.ts';
import { outcome, turns } from './scene.ts';

describe('a condition', () => {
  test('that holds already resolves, even with an aborted signal', async () => {
    await new WaitCondition().until(() => true, AbortSignal.abort());
  });

  test('is checked after a change, and not in between', async () => {
    const condition = new WaitCondition();
    let isTrue = false;
    let looks = 0;
    const waiting = outcome(
      condition.until(() => {
        looks++;
        return isTrue;
      }),
    );
    condition.changed();
    await turns(1);
    assert.equal(waiting.state, 'pending');
    isTrue = true;
    await turns(1);
    assert.equal(waiting.state, 'pending');
    const other = outcome(condition.until(() => false));
    condition.changed();
    await turns(1);
    assert.deepEqual([waiting.state, other.state], ['resolved', 'pending']);
    const before = looks;
    condition.changed();
    assert.equal(looks, before, 'who was answered is not asked again');
  });

  test('rejects with the reason of its signal, before or while it waits', async () => {
    const condition = new WaitCondition();
    const reason = new Error('enough');
    await assert.rejects(async () => condition.until(() => false, AbortSignal.abort(reason)), reason);
    const controller = new AbortController();
    let looks = 0;
    const waiting = outcome(condition.until(() => looks++ > 0, controller.signal));
    controller.abort(reason);
    condition.changed();
    await turns(1);
    assert.deepEqual([waiting.state, looks], ['enough', 1], 'a condition is not checked after an abort');
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
