/** Tests of what FIFO and DeltaFIFO show of their content. What they pop is in pops.test.ts and histories.test.ts. */
import { test } from 'node:test';
import assert from 'node:assert/strict';

import { tombstone } from '../../../../src/kube/tombstone.ts';
import { newestDelta, oldestDelta } from '../../../../src/client-go/queue/delta.ts';
import { FIFO } from '../../../../src/client-go/queue/fifo.ts';
import { deltasText, object, textOf } from './notation.ts';
import type { TestObject } from './notation.ts';
import { deltaFifo, perform } from './scene.ts';

test('a DeltaFIFO shows the queued keys, newest objects and copies of deltas', () => {
  const queue = deltaFifo();
  perform(queue, 'add foo@10, update foo@12, add bar@1');
  assert.equal(queue.size, 2);
  assert.deepEqual(queue.listKeys(), ['foo', 'bar']);
  assert.deepEqual(queue.list().map(textOf), ['foo@12', 'bar@1']);
  const copy = queue.get(object('foo@0'))!;
  queue.delete(object('foo@13'));
  assert.equal(deltasText(copy), 'Added foo@10, Updated foo@12');
  const deltas = queue.getByKey('foo')!;
  assert.equal(deltasText(deltas), 'Added foo@10, Updated foo@12, Deleted foo@13');
  assert.equal(textOf(oldestDelta(deltas)!.object), 'foo@10');
  assert.equal(textOf(newestDelta(deltas)!.object), 'foo@13');
  assert.deepEqual(
    [newestDelta([]), oldestDelta([]), queue.getByKey('baz')],
    [undefined, undefined, undefined],
  );
});

test('a FIFO shows the queued keys and the newest objects, until they are deleted', () => {
  const queue = new FIFO<TestObject>({ name: 'mine' });
  perform(queue, 'add foo@10, add bar@1, update foo@11');
  assert.equal(queue.name, 'mine');
  assert.equal(queue.size, 2);
  assert.deepEqual(queue.listKeys(), ['foo', 'bar']);
  assert.deepEqual(queue.list().map(textOf), ['foo@11', 'bar@1']);
  assert.equal(textOf(queue.get(object('foo@0'))!), 'foo@11');
  assert.equal(queue.getByKey('baz'), undefined);
  queue.delete(tombstone<TestObject>('foo', undefined));
  assert.equal(queue.getByKey('foo'), undefined);
});

test('C108 a DeltaFIFO queues no second deletion for a list that comes while the first is processed', async () => {
  const queue = deltaFifo({ known: 'a@1' });
  queue.delete(object('a@2'));
  await queue.pop(() => queue.replace([], '3'));
  assert.equal(queue.size, 0);
});
