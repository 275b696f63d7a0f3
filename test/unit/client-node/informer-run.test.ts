/** Errors of an informer that a ListWatch does not pass on as they are. The informer is a stand-in. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { Callbacks } from '../../../src/client-node/callbacks.ts';
import { DeliveredObjects } from '../../../src/client-node/delivered-objects.ts';
import { InformerRun } from '../../../src/client-node/informer-run.ts';
import { KubeloomError } from '../../../src/index.ts';
import type { ErrorCode, ErrorListener, SharedIndexInformer } from '../../../src/index.ts';

/** Starts a run with callbacks that record errors. */
function running() {
  const seen: string[] = [];
  const errors: { onError?: ErrorListener } = {};
  const callbacks = new Callbacks<object>();
  const informer = {
    addEventHandler: () => ({}),
    run: () => Promise.resolve(),
    waitForSync: () => Promise.resolve(),
    isStopped: () => false,
    shutdown: () => Promise.resolve(seen.push('shutdown')),
  };
  const run = new InformerRun<object>({
    newInformer: ({ onError }) => {
      if (onError) errors.onError = onError;
      return informer as unknown as SharedIndexInformer<object>;
    },
    objects: new DeliveredObjects(),
    callbacks,
    convert: (json) => json as object,
  });
  callbacks.on('error', ({ code }: KubeloomError) => seen.push(`${code} ${run.isStopped}`));
  const fail = (code: ErrorCode): unknown =>
    errors.onError?.(new KubeloomError(code, 'it failed'), { informer: 'pods' });
  return { seen, fail };
}

test('an object that cannot be read is an error, and calls no other callback', () => {
  const callbacks = new Callbacks<object>();
  const seen: unknown[] = [];
  const unreadable = new KubeloomError('ERR_KUBELOOM_MALFORMED_OBJECT', 'it is damaged');
  const deliver = (): never => {
    throw unreadable;
  };
  assert.ok(callbacks.deliver('add', { deliver }));
  callbacks.on('add', (object) => seen.push(object));
  callbacks.on('error', (error) => seen.push(error));
  assert.ok(!callbacks.deliver('add', { deliver }));
  assert.deepEqual(seen, [unreadable]);
});

describe('an error of the informer', () => {
  test('goes to the callbacks, and the informer continues', () => {
    const { seen, fail } = running();
    fail('ERR_KUBELOOM_CONNECTION_RESET');
    assert.deepEqual(seen, ['ERR_KUBELOOM_CONNECTION_RESET false']);
  });

  test('is not reported when it only leads to a list', () => {
    const { seen, fail } = running();
    fail('ERR_KUBELOOM_GONE');
    assert.deepEqual(seen, []);
  });

  test('is a warning when it is advice about slow callbacks', async () => {
    const { seen, fail } = running();
    const warning = once(process, 'warning');
    fail('ERR_KUBELOOM_SLOW_HANDLER');
    const [{ code }] = (await warning) as [KubeloomError];
    assert.equal(code, 'ERR_KUBELOOM_SLOW_HANDLER');
    assert.deepEqual(seen, []);
  });
});

test('a callback that rejects is reported as one that throws, and a callback for errors that rejects is a warning', async () => {
  const callbacks = new Callbacks<object>();
  const seen: unknown[] = [];
  callbacks.on('add', () => Promise.reject(new Error('of the callback')));
  callbacks.on('error', (error: KubeloomError) => {
    seen.push([error.code, error.message]);
    return Promise.reject(new Error('of the listener'));
  });
  const warning = once(process, 'warning');
  callbacks.deliver('add', { deliver: () => ({}) });
  const [{ message }] = (await warning) as [Error];
  assert.deepEqual(seen, [['ERR_KUBELOOM_HANDLER', "a callback for 'add' threw: of the callback"]]);
  assert.equal(message, 'of the listener');
});
