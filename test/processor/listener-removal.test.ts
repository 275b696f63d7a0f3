/** A handler that leaves: at any moment, from anywhere, with nothing told after it and nothing held for it. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { Gates, at, isEnded, scene } from './listener-scene.ts';
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
    assert.deepEqual(listener.backlog, { notifications: 0, bytes: 0, ageMs: 0 });
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
    processor.remove(listener);
    replica.put(at('a', 9));
    assert.equal(await isEnded(listener), false);
    gates.open[0]?.resolve();
    await listener.ended;
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
    await listener.ended;
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

describe('a handler that leaves when it has been told', () => {
  test('C8 C137 gets what is pending, nothing that comes later, and has ended then', async () => {
    const { replica, processor, listener, calls } = scene();
    replica.put(at('a', 1), at('b', 2));
    assert.equal(processor.remove(listener, true), true);
    replica.put(at('c', 3));
    replica.relist(at('a', 9));
    listener.push(undefined, replica.get('a'));
    assert.equal(listener.backlog.notifications, 2);
    listener.deliver(1);
    assert.equal(await isEnded(listener), false);
    listener.deliver(Infinity);
    assert.deepEqual(calls, ['add a@1', 'add b@2']);
    assert.equal(await isEnded(listener), true);
    listener.push(undefined, replica.get('a'));
    assert.equal(listener.isReady, false);
    assert.ok(replica.dispose());
  });

  test('C8 C11 gets the rest of its initial list, and has synced with it', async () => {
    const { replica, processor } = scene();
    replica.put(at('a', 1), at('b', 2));
    const calls: string[] = [];
    const { listener, reports } = newListener(recordingHandler(calls));
    processor.add(listener, replica.replica);
    processor.remove(listener, true);
    replica.put(at('a', 3));
    listener.deliver(Infinity);
    assert.deepEqual(calls, ['add! a@1', 'add! b@2'], 'the cut is where it joined');
    assert.equal(reports.synced, 1);
    assert.equal(await isEnded(listener), true);
  });

  test('C8 ends at once without anything to tell, but not before the call in progress has', async () => {
    const gates = new Gates();
    const { replica, processor, listener } = scene(() => gates.next());
    const idle = newListener({}).listener;
    processor.add(idle, replica.replica);
    idle.deliver(Infinity);
    processor.remove(idle, true);
    assert.equal(await isEnded(idle), true);
    replica.put(at('a', 1));
    listener.deliver(Infinity);
    processor.remove(listener, true);
    assert.equal(await isEnded(listener), false);
    gates.open[0]?.resolve();
    assert.equal(await isEnded(listener), true);
  });

  test('C8 has not ended inside its own last call, from which it was removed', async () => {
    const { replica, processor } = scene();
    let wasInside = false;
    const { listener } = newListener({
      onAdd: () => {
        processor.remove(listener);
        wasInside = listener.isInsideCall;
      },
    });
    processor.add(listener, replica.replica);
    replica.put(at('a', 1), at('b', 2));
    assert.equal(listener.isInsideCall, false);
    listener.deliver(Infinity);
    assert.deepEqual([wasInside, listener.isInsideCall], [true, false]);
    assert.equal(await isEnded(listener), true);
  });
});
