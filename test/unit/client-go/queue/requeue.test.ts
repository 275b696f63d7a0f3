/** Tests of putting back: `addIfNotPresent` and ErrRequeue, as client-go had them until v0.25. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { DeltaFIFO } from '../../../../src/client-go/queue/delta-fifo.ts';
import { FIFO } from '../../../../src/client-go/queue/fifo.ts';
import { ErrRequeue } from '../../../../src/client-go/queue/queue.ts';
import { RealFIFO } from '../../../../src/client-go/queue/real-fifo.ts';
import { object, objects } from './notation.ts';
import type { TestObject } from './notation.ts';
import { ignore, perform, popAll } from './scene.ts';

const failure = new Error('later');
const requeue = (): never => {
  throw new ErrRequeue(failure);
};

function fifoOf(steps: string): FIFO<TestObject> {
  const queue = new FIFO<TestObject>();
  perform(queue, steps);
  return queue;
}

describe('putting back into a FIFO', () => {
  test('addIfNotPresent adds an object at the end of a FIFO, and never over a newer object', async () => {
    const queue = new FIFO<TestObject>();
    queue.addIfNotPresent(object('a@1'));
    assert.equal(queue.hasSynced(), true);
    queue.add(object('b@2'));
    queue.addIfNotPresent(object('b@1'));
    queue.addIfNotPresent(object('c@1'));
    assert.equal(await popAll(queue), 'a@1 | b@2 | c@1');
  });

  test('a FIFO puts an item back at the end when its process throws ErrRequeue, and throws its cause', async () => {
    const queue = fifoOf('add a@1, add b@1');
    await assert.rejects(queue.pop(requeue), failure);
    assert.equal(await popAll(queue), 'b@1 | a@1');
  });

  test('a FIFO puts an item back without an error when ErrRequeue has no cause', async () => {
    const queue = fifoOf('add a@1');
    await queue.pop(() => Promise.reject(new ErrRequeue()));
    assert.deepEqual(queue.listKeys(), ['a']);
    assert.equal(new ErrRequeue().message, 'the popped item should be requeued without returning an error');
    assert.equal(new ErrRequeue(failure).message, 'later');
  });

  test('a FIFO does not put an item back over a change that came during its processing', async () => {
    const queue = fifoOf('add a@1');
    await queue.pop(() => {
      queue.add(object('a@2'));
      throw new ErrRequeue();
    });
    assert.equal(await popAll(queue), 'a@2');
  });

  test('a FIFO does not put an item back that was deleted, or replaced, while it was processed', async () => {
    const queue = new FIFO<TestObject>();
    for (const away of [() => queue.delete(object('a@2')), () => queue.replace(objects('b@1'), '3')]) {
      queue.add(object('a@1'));
      await queue.pop(() => {
        away();
        throw new ErrRequeue();
      });
      assert.equal(queue.getByKey('a'), undefined);
    }
  });

  test('C105 a FIFO has not synced while an item of the first list is put back', async () => {
    const queue = fifoOf('replace 1 [a@1]');
    await assert.rejects(queue.pop(requeue), failure);
    queue.add(object('b@2'));
    assert.equal(queue.hasSynced(), false);
    await queue.pop(ignore);
    assert.equal(queue.hasSynced(), true);
  });

  test('a FIFO drops an item whose process throws any other error', async () => {
    const queue = fifoOf('add a@1');
    const popped = queue.pop(() => Promise.reject(failure));
    await assert.rejects(popped, failure);
    assert.equal(queue.size, 0);
  });
});

describe('putting back into a DeltaFIFO', () => {
  test('addIfNotPresent adds the deltas of a pop to a DeltaFIFO if their key is not queued again', async () => {
    const queue = new DeltaFIFO<TestObject>();
    queue.add(object('a@1'));
    const deltas = await queue.pop(ignore);
    queue.add(object('b@1'));
    queue.addIfNotPresent(deltas);
    queue.addIfNotPresent([{ type: 'Updated', object: object('b@0') }]);
    assert.equal(await popAll(queue), 'Added b@1 | Added a@1');
  });

  test('addIfNotPresent of a DeltaFIFO rejects an empty array, and a value that is not an array', () => {
    const queue = new DeltaFIFO<TestObject>();
    assert.throws(() => queue.addIfNotPresent(object('a@1') as never), {
      code: 'ERR_KUBELOOM_OPTION',
    });
    assert.throws(() => queue.addIfNotPresent([]), { code: 'ERR_KUBELOOM_KEY' });
    assert.equal(queue.hasSynced(), false);
  });

  test('a DeltaFIFO puts deltas back before those that came during their processing', async () => {
    const queue = new DeltaFIFO<TestObject>();
    perform(queue, 'add a@1, add b@1');
    const popped = queue.pop(() => {
      perform(queue, 'update a@2, delete a@3');
      requeue();
    });
    await assert.rejects(popped, failure);
    assert.equal(await popAll(queue), 'Added b@1 | Added a@1, Updated a@2, Deleted a@3');
  });

  test('popped deltas do not change when they are put back and grow', async () => {
    const queue = new DeltaFIFO<TestObject>();
    queue.add(object('a@1'));
    const deltas = await queue.pop(() => {
      throw new ErrRequeue();
    });
    queue.update(object('a@2'));
    assert.equal(deltas.length, 1);
    const again = await queue.pop(ignore);
    queue.addIfNotPresent(again);
    queue.update(object('a@3'));
    assert.equal(again.length, 2);
    assert.equal(await popAll(queue), 'Added a@1, Updated a@2, Updated a@3');
  });
});

test('a RealFIFO throws an ErrRequeue like any other error, because putting back would break its order', async () => {
  const queue = new RealFIFO<TestObject>({ atomicEvents: true });
  queue.add(object('a@1'));
  await assert.rejects(queue.pop(requeue), { code: 'ERR_KUBELOOM_REQUEUE' });
  assert.equal(queue.size, 0);
});

test('C282 a loop that pops and puts back for ever lets the event loop have its turns', async () => {
  const queue = fifoOf('add a@1');
  const over = new AbortController();
  setImmediate(() => over.abort());
  let pops = 0;
  while (!over.signal.aborted && pops++ < 100_000) await queue.pop(requeue).catch(() => undefined);
  assert.ok(pops < 1000, String(pops));
});
