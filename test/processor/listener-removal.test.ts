/** A handler that leaves: at any moment, from anywhere, with nothing told after it and nothing held for it. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { Gates, at, scene } from './listener-scene.ts';
import { newListener, recordingHandler } from './recording-handler.ts';

describe('a handler that is removed', () => {
  test('C8 is told nothing of what was pending, and nothing is held for it', () => {
    const { replica, processor, listener, calls } = scene();
    replica.put(at('a', 1), at('a', 2), at('b', 3));
    listener.deliver(1);
    assert.equal(processor.remove(listener), true);
    assert.equal(processor.remove(listener), false);
    replica.put(at('c', 4));
    assert.equal(listener.deliver(Infinity), 0);
    assert.deepEqual(calls, ['add a@1']);
    assert.deepEqual(listener.backlog, { notifications: 0, bytes: 0 });
    assert.ok(replica.dispose());
  });

  test('C8 and was the only one: a relist that nobody hears of holds nothing', () => {
    const { replica, processor, listener } = scene();
    replica.put(at('a', 1), at('b', 2));
    processor.remove(listener);
    replica.relist(at('a', 3), at('c', 4));
    assert.ok(replica.dispose());
    replica.relist();
    replica.dispose();
    assert.equal(replica.owner.slabs.liveBytes, 0);
  });

  test('C8 from inside its own call, in the middle of its initial list', () => {
    const { replica, processor } = scene();
    replica.put(at('a', 1), at('b', 2), at('c', 3));
    const calls: string[] = [];
    const { listener, reports } = newListener(
      recordingHandler(calls, (text) => {
        if (text.includes('b@')) processor.remove(listener);
      }),
    );
    processor.add(listener, replica.replica);
    replica.put(at('a', 4));
    assert.equal(listener.deliver(Infinity), 2);
    assert.deepEqual(calls, ['add! a@1', 'add! b@2']);
    assert.equal(reports.synced, 0);
    assert.equal(listener.hasSynced, false);
    assert.equal(replica.replica.live.cursors.size, 0);
  });

  test('C8 while its async call runs: the call finishes with its objects, and then nothing more', async () => {
    const gates = new Gates();
    const { replica, processor, listener: other } = scene();
    let read = 0;
    const { listener } = newListener({
      onUpdate: async (previous, current) => {
        await gates.next();
        assert.ok(previous.object && current.object);
        read++;
      },
    });
    replica.put(at('a', 1));
    processor.add(listener, replica.replica);
    replica.put(at('a', 2), at('b', 3));
    listener.deliver(Infinity);
    const { running } = listener;
    processor.remove(listener);
    replica.put(at('a', 9));
    gates.open[0]?.resolve();
    await running;
    assert.equal(read, 1);
    assert.equal(listener.isReady, false);
    listener.push(undefined, replica.get('a'));
    assert.equal(listener.backlog.notifications, 0);
    assert.equal(listener.deliver(Infinity), 0, 'its promise did not bring it back');
    other.deliver(Infinity);
    assert.ok(replica.dispose());
  });

  test('C8 by itself before it returns its promise stays removed', async () => {
    const { replica, processor, listener: other } = scene();
    const calls: string[] = [];
    const { listener } = newListener(
      recordingHandler(calls, () => {
        processor.remove(listener);
        return Promise.resolve();
      }),
    );
    processor.add(listener, replica.replica);
    replica.put(at('a', 1), at('b', 2));
    listener.deliver(Infinity);
    assert.ok(listener.running, 'whoever stops the informer can wait for the call');
    await listener.running;
    listener.push(undefined, replica.get('b'));
    assert.equal(listener.isReady, false);
    assert.deepEqual(calls, ['add a@1']);
    processor.remove(listener);
    replica.relist();
    other.deliver(Infinity);
    assert.ok(replica.dispose());
  });

  test('C8 drops a difference it has begun', () => {
    const { replica, processor, listener, calls } = scene();
    replica.put(at('a', 1), at('b', 2), at('c', 3));
    listener.deliver(Infinity);
    replica.relist(at('c', 9));
    listener.deliver(1);
    processor.remove(listener);
    assert.match(calls[3] ?? '', /^lost/);
    assert.equal(calls.length, 4);
    assert.ok(replica.dispose());
  });
});
