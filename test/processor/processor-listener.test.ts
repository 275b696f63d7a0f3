/** One handler and what it has not been told: order, one call at a time, failures, leaving, being counted. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import type { ProcessorListener } from '../../src/processor/processor-listener.ts';
import { SharedProcessor } from '../../src/processor/shared-processor.ts';
import { SnapshotCursor } from '../../src/store/deliveries.ts';
import type { Borrowed } from '../../src/store/entry.ts';
import { ScriptedReplica } from '../store/scripted-replica.ts';
import type { ObjectSpec } from '../store/objects.ts';
import { newListener, recordingHandler } from './recording-handler.ts';
import type { Reaction, Reports } from './recording-handler.ts';

function at(name: string, version: number): ObjectSpec {
  return { name, version };
}

interface Scene {
  readonly replica: ScriptedReplica;
  readonly processor: SharedProcessor;
  readonly calls: string[];
  readonly listener: ProcessorListener;
  readonly reports: Reports;
}

/** A synced, empty informer with one handler that was told of nothing yet. */
function scene(react?: Reaction): Scene {
  const processor = new SharedProcessor();
  const replica = new ScriptedReplica({ listener: processor });
  replica.relist();
  const calls: string[] = [];
  const { listener, reports } = newListener(recordingHandler(calls, react));
  processor.add(listener, replica.replica);
  listener.deliver(Infinity);
  return { replica, processor, calls, listener, reports };
}

/** Promises that a test settles, in the order in which a handler returned them. */
class Gates {
  readonly open: { resolve: () => void; reject: (error: Error) => void }[] = [];

  next(): Promise<void> {
    return new Promise((resolve, reject) => this.open.push({ resolve, reject }));
  }
}

/** Until all promise reactions have run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('delivery', () => {
  test('C7 in order, and no more calls than asked for', () => {
    const { replica, listener, calls } = scene();
    replica.put(at('a', 1), at('b', 2), at('a', 3));
    replica.remove(at('b', 4));
    assert.deepEqual(calls, [], 'the merge runs no handler');
    assert.equal(listener.deliver(2), 2);
    assert.deepEqual(calls, ['add a@1', 'add b@2']);
    assert.equal(listener.deliver(Infinity), 2);
    assert.deepEqual(calls.slice(2), ['update a@1>3', 'delete b@4']);
    assert.equal(listener.isReady, false);
    assert.ok(replica.dispose());
  });

  test('C7 C14 handlers without some of the callbacks skip those', () => {
    const { replica, processor } = scene();
    const { listener } = newListener({});
    processor.add(listener, replica.replica);
    replica.put(at('a', 1), at('a', 2));
    replica.remove(at('a', 3));
    replica.remove(at('never-seen', 4));
    listener.deliver(Infinity);
    assert.equal(listener.isReady, false);
  });

  test('C14 a deletion of an object that was never seen is delivered', () => {
    const { replica, listener, calls } = scene();
    replica.remove(at('stranger', 9));
    listener.deliver(Infinity);
    assert.deepEqual(calls, ['delete stranger@9']);
    assert.ok(replica.dispose());
  });

  test('C14 a loss that a relist found has key, namespace, name and the last state', () => {
    const { replica, processor } = scene();
    const seen: unknown[] = [];
    const { listener } = newListener({
      onDelete: (deleted) => {
        assert.ok(deleted.finalStateUnknown);
        const { key, namespace, name, last } = deleted;
        seen.push(key, namespace, name, last.resourceVersion, (deleted.object as { kind: string }).kind);
      },
    });
    processor.add(listener, replica.replica);
    replica.put({ namespace: 'ns', name: 'a', version: 7 });
    replica.relist();
    listener.deliver(Infinity);
    assert.deepEqual(seen, ['ns/a', 'ns', 'a', '7', 'Pod']);
  });

  test('C6 C15 the entry of a call is the entry in the store, which has the change already', () => {
    const { replica, processor } = scene();
    let seen = 0;
    const { listener } = newListener({
      onAdd: (added) => {
        seen++;
        assert.equal(replica.indexer.getByKey(added.key), added);
      },
      onUpdate: (_previous, current) => {
        seen++;
        assert.equal(replica.indexer.getByKey(current.key), current);
      },
    });
    processor.add(listener, replica.replica);
    replica.put(at('a', 1));
    listener.deliver(1);
    replica.put(at('a', 2));
    listener.deliver(1);
    assert.equal(seen, 2);
  });
});

describe('an async handler', () => {
  test('C7 is called once at a time: the next call waits for the promise of the one before', async () => {
    const gates = new Gates();
    const { replica, listener, calls, reports } = scene(() => gates.next());
    replica.put(at('a', 1), at('b', 2));
    assert.equal(listener.deliver(Infinity), 1);
    assert.equal(listener.isReady, false);
    assert.equal(listener.deliver(Infinity), 0);
    assert.ok(listener.running);
    gates.open[0]?.resolve();
    await settled();
    assert.equal(reports.ready, 1);
    assert.equal(listener.running, undefined);
    assert.equal(listener.deliver(Infinity), 1);
    assert.deepEqual(calls, ['add a@1', 'add b@2']);
  });

  test('C20 may read its objects until its promise is settled, and not after', async () => {
    const gates = new Gates();
    const { replica, processor } = scene();
    const stash: Borrowed<unknown>[] = [];
    const { listener } = newListener({
      onAdd: async (added) => {
        stash.push(added);
        await gates.next();
        assert.ok(added.object);
      },
    });
    processor.add(listener, replica.replica);
    replica.put(at('a', 1));
    listener.deliver(1);
    replica.put(at('a', 2));
    assert.ok(stash[0]?.object, 'superseded, but its call is not done');
    gates.open[0]?.resolve();
    await settled();
    assert.throws(() => stash[0]?.object, {
      code: 'ERR_KUBELOOM_BORROW_EXPIRED',
      message: /registered\.js:1:1/,
    });
  });

  test('C7 that returns a thenable of another library is awaited as well', async () => {
    let finish: ((value?: unknown) => void) | undefined;
    const { replica, listener } = scene(() => ({
      // oxlint-disable-next-line unicorn/no-thenable -- what it is about
      then: (resolve: () => void) => {
        finish = resolve;
      },
    }));
    replica.put(at('a', 1), at('b', 2));
    listener.deliver(Infinity);
    await settled();
    assert.equal(listener.pendingNotifications, 1);
    finish?.();
    await settled();
    assert.ok(listener.isReady);
  });
});

describe('a handler that fails', () => {
  test('C7 C11 by throwing or rejecting is reported with key and registration, and skipped', async () => {
    const { replica, listener, calls, reports } = scene((text) => {
      if (text.includes('a@')) throw new Error('sync');
      return text.includes('b@') ? Promise.reject(new Error('async')) : undefined;
    });
    replica.put(at('a', 1), at('b', 2), at('c', 3));
    listener.deliver(Infinity);
    await settled();
    listener.deliver(Infinity);
    assert.deepEqual(calls, ['add a@1', 'add b@2', 'add c@3']);
    assert.deepEqual(
      reports.errors.map(({ error, key, registeredAt }) => [
        (error as Error).message,
        key,
        registeredAt.trim(),
      ]),
      [
        ['sync', 'a', 'at registered.js:1:1'],
        ['async', 'b', 'at registered.js:1:1'],
      ],
    );
    replica.relist();
    listener.deliver(Infinity);
    await settled();
    listener.deliver(Infinity);
    assert.ok(replica.dispose(), 'a failed call holds nothing');
  });

  test('C7 does not touch the others', () => {
    const { replica, processor, listener } = scene(() => {
      throw new Error('always');
    });
    const others: string[] = [];
    const other = newListener(recordingHandler(others)).listener;
    processor.add(other, replica.replica);
    replica.put(at('a', 1), at('a', 2));
    listener.deliver(Infinity);
    other.deliver(Infinity);
    assert.deepEqual(others, ['add a@1', 'update a@1>2']);
  });
});

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

describe('the backlog of a handler', () => {
  test('C21 counts notifications and the bytes of their objects', () => {
    const { replica, listener } = scene();
    replica.put(at('a', 1), at('a', 2), at('b', 3));
    const length = replica.get('b')?.length ?? 0;
    assert.deepEqual(listener.backlog, { notifications: 3, bytes: 3 * length });
    listener.deliver(1);
    assert.deepEqual(listener.backlog, { notifications: 2, bytes: 2 * length });
    replica.remove(at('b', 4));
    assert.deepEqual(listener.backlog, { notifications: 3, bytes: 3 * length });
    listener.deliver(Infinity);
    assert.deepEqual(listener.backlog, { notifications: 0, bytes: 0 });
  });

  test('C21 counts what joins, resyncs and relists still have to tell', () => {
    const { replica, processor } = scene();
    replica.put(at('a', 1), at('b', 2), at('c', 3));
    const length = replica.get('a')?.length ?? 0;
    const { listener } = newListener({});
    processor.add(listener, replica.replica);
    assert.deepEqual(listener.backlog, { notifications: 3, bytes: 0 });
    processor.resync(replica.replica, [listener]);
    replica.put(at('d', 4));
    assert.deepEqual(listener.backlog, { notifications: 7, bytes: length });
    replica.relist(at('a', 9), at('b', 2), at('c', 3));
    assert.deepEqual(listener.backlog, { notifications: 11, bytes: 3 * length });
    listener.deliver(3);
    assert.equal(listener.backlog.notifications, 8);
    listener.deliver(Infinity);
    assert.deepEqual(listener.backlog, { notifications: 0, bytes: 0 });
  });
});

describe('a registration has synced', () => {
  test('C11 at once when there was nothing, but not before the informer has', () => {
    const processor = new SharedProcessor();
    const replica = new ScriptedReplica({ listener: processor });
    const { listener, reports } = newListener({});
    processor.add(listener, replica.replica);
    assert.equal(listener.deliver(Infinity), 0);
    assert.equal(listener.hasSynced, false);
    replica.relist();
    listener.deliver(Infinity);
    assert.equal(listener.hasSynced, true);
    assert.equal(reports.synced, 1);
  });

  test('C11 after the last call of its initial list has returned, and says so once', async () => {
    const gates = new Gates();
    const processor = new SharedProcessor();
    const replica = new ScriptedReplica({ listener: processor });
    const calls: string[] = [];
    const { listener, reports } = newListener(recordingHandler(calls, () => gates.next()));
    processor.add(listener, replica.replica);
    replica.relist(at('a', 1), at('b', 2));
    replica.put(at('a', 3));
    for (const [count, expected] of ['add! a@1', 'add! b@2'].entries()) {
      listener.deliver(Infinity);
      assert.equal(calls.at(-1), expected);
      assert.equal(listener.hasSynced, false);
      gates.open[count]?.resolve();
      await settled();
    }
    listener.deliver(Infinity);
    assert.equal(listener.hasSynced, true);
    replica.relist(at('a', 9));
    listener.deliver(Infinity);
    assert.equal(listener.hasSynced, true, 'never false again');
    assert.equal(reports.synced, 1);
  });

  test('C11 also when its calls throw', () => {
    const { replica, processor } = scene();
    replica.put(at('a', 1));
    const { listener, reports } = newListener({
      onAdd: () => {
        throw new Error('always');
      },
    });
    processor.add(listener, replica.replica);
    listener.deliver(Infinity);
    assert.equal(listener.hasSynced, true);
    assert.equal(reports.errors.length, 1);
  });

  test('C11 a resync does not count as an initial list', () => {
    const { listener, reports } = newListener({});
    const replica = new ScriptedReplica();
    replica.relist(at('a', 1));
    listener.pushCursor(new SnapshotCursor(replica.replica.live, 'resync'), false);
    listener.deliver(Infinity);
    assert.equal(listener.hasSynced, false);
    assert.equal(reports.synced, 0);
  });
});
