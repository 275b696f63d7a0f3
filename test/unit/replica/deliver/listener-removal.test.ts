/** Removal of a handler, at any moment and from any caller: it receives nothing more, and no entry is kept for it. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { ProcessorListener } from '../../../../src/replica/deliver/processor-listener.ts';
import { NO_ROW } from '../../../../src/replica/store/columns.ts';
import type { Slabs } from '../../../../src/replica/store/slabs.ts';
import { Gates, isEnded, scene } from './listener-scene.ts';
import { at, jsonOf } from '../store/objects.ts';
import { recordingHandler } from './recording-handler.ts';

/** Releases a removed listener with at most `bytesMax` in one call; returns the calls after which there was more. */
async function callsOfRelease(listener: ProcessorListener, slabs: Slabs, bytesMax: number): Promise<number> {
  let calls = 0;
  for (let before = slabs.liveBytes; listener.release(); before = slabs.liveBytes) {
    assert.equal(await isEnded(listener), false);
    assert.ok(before - slabs.liveBytes <= bytesMax, `${before - slabs.liveBytes} bytes in one call`);
    calls++;
  }
  assert.equal(await isEnded(listener), true);
  return calls;
}

describe('a handler that is removed', () => {
  test('C8 receives none of its pending notifications, and no entry is kept for it', () => {
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

  test('C8 with a large backlog releases it step by step, and has ended after the last step', async () => {
    const { replica, processor, listener } = scene();
    for (let version = 1; version <= 5000; version++) replica.put(at('a', version));
    const { slabs } = replica.owner;
    const one = slabs.liveBytes / 5000;
    processor.remove(listener);
    assert.deepEqual(listener.backlog, { notifications: 0, bytes: 0, ageMs: 0 });
    assert.deepEqual([listener.heldBytes, listener.isIdle], [0, true]);
    assert.ok((await callsOfRelease(listener, slabs, 1100 * one)) >= 3);
    assert.ok(slabs.liveBytes < 2 * one);
  });

  test('C8 with a coalesced backlog releases it, also what only the backlog still kept', async () => {
    const { replica, processor, listener } = scene();
    replica.put(at('a', 1), at('b', 2));
    assert.equal(listener.coalesce(Infinity), false);
    replica.remove(at('a', 3));
    processor.remove(listener);
    assert.equal(await callsOfRelease(listener, replica.owner.slabs, Infinity), 0);
    assert.ok(replica.dispose());
  });

  test('C8 also releases the entries of a cursor step by step', async () => {
    const { replica, processor, listener: other, join } = scene();
    processor.remove(other);
    const names = Array.from({ length: 3000 }, (_, index) => `n${index}`);
    names.forEach((name, index) => replica.put(at(name, index + 1)));
    const { listener } = join(recordingHandler([]));
    // Before the cursor reaches them, the first half changes and the second is removed.
    names.forEach((name, index) => {
      if (index < 1500) replica.put(at(name, 10_000 + index));
      else replica.remove(at(name, 10_000 + index));
    });
    processor.remove(listener);
    assert.equal(replica.replica.live.cursors.size, 0);
    const { slabs } = replica.owner;
    const one = jsonOf(at('n2999', 12_999)).length;
    assert.ok((await callsOfRelease(listener, slabs, 2500 * one)) >= 2);
    assert.ok(slabs.liveBytes <= 1500 * one, 'only the cached entries');
  });

  test('C8 from inside its own call, during its initial list', () => {
    const { replica, processor, join } = scene();
    replica.put(at('a', 1), at('b', 2), at('c', 3));
    const calls: string[] = [];
    const { listener, reports } = join(
      recordingHandler(calls, (text) => {
        if (text.includes('b@')) processor.remove(listener);
      }),
    );
    replica.put(at('a', 4));
    assert.equal(listener.deliver(Infinity), 2);
    assert.deepEqual(calls, ['add! a@1', 'add! b@2']);
    assert.equal(reports.synced, 0);
    assert.equal(listener.hasSynced, false);
    assert.equal(replica.replica.live.cursors.size, 0);
  });

  test('C8 while its async call runs may finish the call with its objects, and receives nothing more', async () => {
    const gates = new Gates();
    const { replica, processor, listener: other, join } = scene();
    let read = 0;
    const { listener } = join({
      onUpdate: async (previous, current) => {
        await gates.next();
        assert.ok(previous.object && current.object);
        read++;
      },
    });
    replica.put(at('a', 1));
    replica.put(at('a', 2), at('b', 3));
    listener.deliver(Infinity);
    processor.remove(listener);
    replica.put(at('a', 9));
    assert.equal(await isEnded(listener), false);
    gates.open[0]?.resolve();
    await listener.ended;
    assert.equal(read, 1);
    assert.equal(listener.isReady, false);
    listener.push(NO_ROW, replica.replica.rowByKey('a'));
    assert.equal(listener.backlog.notifications, 0);
    assert.equal(listener.deliver(Infinity), 0, 'its promise does not bring it back');
    other.deliver(Infinity);
    assert.ok(replica.dispose());
  });

  test('C8 by itself before it returns its promise stays removed', async () => {
    const { replica, processor, listener: other, join } = scene();
    const calls: string[] = [];
    const { listener } = join(
      recordingHandler(calls, () => {
        processor.remove(listener);
        return Promise.resolve();
      }),
    );
    replica.put(at('a', 1), at('b', 2));
    listener.deliver(Infinity);
    await listener.ended;
    listener.push(NO_ROW, replica.replica.rowByKey('b'));
    assert.equal(listener.isReady, false);
    assert.deepEqual(calls, ['add a@1']);
    processor.remove(listener);
    replica.relist();
    other.deliver(Infinity);
    assert.ok(replica.dispose());
  });

  test('C8 drops a difference that it has begun', () => {
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

describe('a handler that leaves after its pending notifications', () => {
  test('C8 C137 receives the pending notifications and no later ones, and ends after them', async () => {
    const { replica, processor, listener, calls } = scene();
    replica.put(at('a', 1), at('b', 2));
    assert.equal(processor.remove(listener, true), true);
    replica.put(at('c', 3));
    replica.relist(at('a', 9));
    listener.push(NO_ROW, replica.replica.rowByKey('a'));
    assert.equal(listener.backlog.notifications, 2);
    listener.deliver(1);
    assert.equal(await isEnded(listener), false);
    listener.deliver(Infinity);
    assert.deepEqual(calls, ['add a@1', 'add b@2']);
    assert.equal(await isEnded(listener), true);
    listener.push(NO_ROW, replica.replica.rowByKey('a'));
    assert.equal(listener.isReady, false);
    assert.ok(replica.dispose());
  });

  test('C8 C11 receives the rest of its initial list, and has synced with it', async () => {
    const { replica, processor, join } = scene();
    replica.put(at('a', 1), at('b', 2));
    const calls: string[] = [];
    const { listener, reports } = join(recordingHandler(calls));
    processor.remove(listener, true);
    replica.put(at('a', 3));
    listener.deliver(Infinity);
    assert.deepEqual(calls, ['add! a@1', 'add! b@2'], 'the list is that of its join');
    assert.equal(reports.synced, 1);
    assert.equal(await isEnded(listener), true);
  });

  test('C8 ends at once without pending notifications, but not before the call in progress has', async () => {
    const gates = new Gates();
    const { replica, processor, listener, join } = scene(() => gates.next());
    const idle = join({}).listener;
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

  test('C8 that was removed in its own last call has not ended inside that call', async () => {
    const { replica, processor, join } = scene();
    let wasInside = false;
    const { listener } = join({
      onAdd: () => {
        processor.remove(listener);
        wasInside = listener.isInsideCall;
      },
    });
    replica.put(at('a', 1), at('b', 2));
    assert.equal(listener.isInsideCall, false);
    listener.deliver(Infinity);
    assert.deepEqual([wasInside, listener.isInsideCall], [true, false]);
    assert.equal(await isEnded(listener), true);
  });
});
