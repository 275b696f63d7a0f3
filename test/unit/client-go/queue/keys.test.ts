/** Tests of unusual keys in every queue. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyFunction } from '../../../../src/kube/store.ts';
import { DeltaFIFO } from '../../../../src/client-go/queue/delta-fifo.ts';
import { FIFO } from '../../../../src/client-go/queue/fifo.ts';
import { RealFIFO } from '../../../../src/client-go/queue/real-fifo.ts';
import { object, type TestObject } from './notation.ts';

test('A key function that returns no string gives a key error', () => {
  for (const key of [undefined, null, 7, {}]) {
    const keyFunction = (() => key) as unknown as KeyFunction<TestObject>;
    for (const queue of [
      new FIFO<TestObject>({ keyFunction }),
      new DeltaFIFO<TestObject>({ keyFunction }),
      new RealFIFO<TestObject>({ keyFunction, atomicEvents: true }),
    ]) {
      assert.throws(() => queue.add(object('foo@1')), { code: 'ERR_KUBELOOM_KEY' });
      assert.throws(() => queue.replace([object('foo@1')], '1'), { code: 'ERR_KUBELOOM_KEY' });
      assert.equal(queue.size, 0);
      assert.equal(queue.hasSynced(), false);
    }
  }
});

test('Keys with the names of object properties are ordinary keys', async () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
  for (const queue of [
    new FIFO<TestObject>(),
    new DeltaFIFO<TestObject>(),
    new RealFIFO<TestObject>({ atomicEvents: true }),
  ]) {
    for (const name of names) queue.add({ metadata: { name, resourceVersion: '1' } });
    assert.equal(queue.size, names.length);
  }
});
