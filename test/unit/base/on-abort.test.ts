/** Listening to a signal, and recognising the errors that it causes. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { abortable, isAbortOf, onAbort } from '../../../src/base/on-abort.ts';

describe('a listener of a signal', () => {
  it('is called once when the signal is aborted, and at once when that has happened before', () => {
    const controller = new AbortController();
    let calls = 0;
    onAbort(controller.signal, () => calls++);
    assert.equal(calls, 0);
    controller.abort();
    assert.equal(calls, 1);
    onAbort(controller.signal, () => calls++)();
    assert.equal(calls, 2);
  });

  it('is not called after its removal', () => {
    const controller = new AbortController();
    onAbort(controller.signal, () => assert.fail('the listener was removed'))();
    controller.abort();
  });
});

describe('an abortable wait', () => {
  it('rejects with the reason of a signal that was aborted before', async () => {
    const reason = new Error('too late');
    await assert.rejects(abortable(new Promise(() => {}), AbortSignal.abort(reason)), reason);
  });
});

describe('the end of a call by a signal', () => {
  const controller = new AbortController();
  const { signal } = controller;
  const calls: Record<string, Promise<unknown>> = {
    'a timer': delay(60_000, undefined, { signal }),
    'an event': once(new EventTarget(), 'never', { signal }),
    'a signal of several': delay(60_000, undefined, { signal: AbortSignal.any([signal]) }),
    'the reason itself': new Promise((_, reject) => onAbort(signal, () => reject(signal.reason as Error))),
    'an AbortError of a library': new Promise((_, reject) =>
      onAbort(signal, () => reject(Object.assign(new Error('canceled'), { name: 'AbortError' }))),
    ),
  };

  for (const [what, call] of Object.entries(calls)) {
    it(`is recognised by the error of ${what}`, async () => {
      const settled = call.catch((error: unknown) => error);
      controller.abort();
      assert.equal(isAbortOf(await settled, signal), true);
      assert.equal(isAbortOf(await settled, new AbortController().signal), false);
    });
  }

  it('is no other failure at that time, and no abort of another signal', async () => {
    const other = AbortSignal.abort(new Error('the limit of this request'));
    const error = await delay(60_000, undefined, { signal: other }).catch((thrown: unknown) => thrown);
    for (const each of [error, other.reason, new Error('broken'), 'text', undefined])
      assert.equal(isAbortOf(each, AbortSignal.abort()), false);
    assert.equal(isAbortOf(other.reason, undefined), false);
  });
});
