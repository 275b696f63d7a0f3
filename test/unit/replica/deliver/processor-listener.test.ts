/** One handler and its pending notifications: order, one call at a time, failures, references, synced. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { SharedProcessor } from '../../../../src/replica/deliver/processor-listener.ts';
import type { Entry } from '../../../../src/replica/store/entry.ts';
import { ScriptedReplica } from '../store/scripted-replica.ts';
import { Gates, scene, settled } from './listener-scene.ts';
import type { Scene } from './listener-scene.ts';
import { at } from '../store/objects.ts';
import { newListener, recordingHandler } from './recording-handler.ts';
import type { Reaction } from './recording-handler.ts';

describe('delivery', () => {
  test('C7 is in order, and makes no more calls than requested', () => {
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

  test('C7 C14 skips the callbacks that a handler does not have', () => {
    const { replica, join } = scene();
    const { listener } = join({});
    replica.put(at('a', 1), at('a', 2));
    replica.remove(at('a', 3));
    replica.remove(at('never-seen', 4));
    listener.deliver(Infinity);
    assert.equal(listener.isReady, false);
  });

  test('C14 of a loss that a relist found has key, namespace, name and the last state', () => {
    const { replica, join } = scene();
    const seen: unknown[] = [];
    const { listener } = join({
      onDelete: (deleted) => {
        assert.ok(deleted.finalStateUnknown);
        const { key, namespace, name, last } = deleted;
        seen.push(key, namespace, name, last.resourceVersion, (deleted.object as { kind: string }).kind);
      },
    });
    replica.put({ namespace: 'ns', name: 'a', version: 7 });
    replica.relist();
    listener.deliver(Infinity);
    assert.deepEqual(seen, ['ns/a', 'ns', 'a', '7', 'Pod']);
  });

  test('C6 C15 gives a call the entry in the store, which has the change already', () => {
    const seen: boolean[] = [];
    const { replica, listener } = scene((_text, { newEntry }) =>
      seen.push(newEntry === replica.indexer.getByKey('a')),
    );
    for (const version of [1, 2]) {
      replica.put(at('a', version));
      listener.deliver(1);
    }
    assert.deepEqual(seen, [true, true]);
  });
});

describe('an async handler', () => {
  test('C7 is called once at a time: the next call waits for the promise of the previous one', async () => {
    const gates = new Gates();
    const { replica, listener, calls, reports } = scene(() => gates.next());
    replica.put(at('a', 1), at('b', 2));
    assert.equal(listener.deliver(Infinity), 1);
    assert.equal(listener.isReady, false);
    assert.equal(listener.deliver(Infinity), 0);
    gates.open[0]?.resolve();
    await settled();
    assert.equal(reports.ready, 1);
    assert.equal(listener.deliver(Infinity), 1);
    assert.deepEqual(calls, ['add a@1', 'add b@2']);
  });

  test('C20 may read its objects until its promise has settled, and not after', async () => {
    const gates = new Gates();
    const stash: Entry[] = [];
    const { replica, listener, reports } = scene(async (_text, { newEntry }) => {
      if (newEntry) stash.push(newEntry);
      await gates.next();
      assert.ok(newEntry?.object);
    });
    replica.put(at('a', 1));
    listener.deliver(1);
    replica.put(at('a', 2));
    assert.ok(stash[0]?.object, 'superseded, but its call has not ended');
    gates.open[0]?.resolve();
    await settled();
    assert.deepEqual(reports.errors, []);
    const expired = { code: 'ERR_KUBELOOM_BORROW_EXPIRED', message: /registered\.js:1:1/ };
    assert.throws(() => stash[0]?.object, expired);
  });

  test('C7 that returns a thenable of another library is also awaited', async () => {
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
    const described = reports.errors.map(
      ({ error, key, registeredAt }) => `${key}: ${String(error)} ${registeredAt.trim()}`,
    );
    assert.deepEqual(described, [
      'a: Error: sync at registered.js:1:1',
      'b: Error: async at registered.js:1:1',
    ]);
    replica.relist();
    listener.deliver(Infinity);
    await settled();
    listener.deliver(Infinity);
    assert.ok(replica.dispose(), 'a failed call keeps no entry');
  });
});

describe('the backlog of a handler', () => {
  test('C21 counts notifications and the bytes of their objects', () => {
    const { replica, listener } = scene();
    replica.put(at('a', 1), at('a', 2), at('b', 3));
    const length = replica.get('b')?.length ?? 0;
    assert.deepEqual(listener.backlog, { notifications: 3, bytes: 3 * length, ageMs: 0 });
    listener.deliver(1);
    assert.deepEqual(listener.backlog, { notifications: 2, bytes: 2 * length, ageMs: 0 });
    replica.remove(at('b', 4));
    assert.deepEqual(listener.backlog, { notifications: 3, bytes: 3 * length, ageMs: 0 });
    listener.deliver(Infinity);
    assert.deepEqual(listener.backlog, { notifications: 0, bytes: 0, ageMs: 0 });
  });

  test('C21 counts the notifications that joins, resyncs and relists have yet to deliver', () => {
    const { replica, processor, join } = scene();
    replica.put(at('a', 1), at('b', 2), at('c', 3));
    const length = replica.get('a')?.length ?? 0;
    const { listener } = join({});
    assert.deepEqual(listener.backlog, { notifications: 3, bytes: 0, ageMs: 0 });
    processor.resync(replica.replica, [listener]);
    replica.put(at('d', 4));
    assert.deepEqual(listener.backlog, { notifications: 7, bytes: length, ageMs: 0 });
    replica.relist(at('a', 9), at('b', 2), at('c', 3));
    assert.deepEqual(listener.backlog, { notifications: 11, bytes: 3 * length, ageMs: 0 });
    listener.deliver(3);
    assert.equal(listener.backlog.notifications, 8);
    listener.deliver(Infinity);
    assert.deepEqual(listener.backlog, { notifications: 0, bytes: 0, ageMs: 0 });
  });
});

describe('a registration has synced', () => {
  /** Returns an informer that has not synced, with one handler. */
  function unsynced(react?: Reaction): Pick<Scene, 'replica' | 'listener' | 'reports' | 'calls'> {
    const processor = new SharedProcessor();
    const replica = new ScriptedReplica({ listener: processor });
    const calls: string[] = [];
    const { listener, reports } = newListener(recordingHandler(calls, react), { table: replica.owner.table });
    processor.add(listener, replica.replica);
    return { replica, listener, reports, calls };
  }

  test('C11 at once when there was nothing, but not before the informer has, and not by a resync', () => {
    const { replica, listener, reports, calls } = unsynced();
    assert.equal(listener.deliver(Infinity), 0);
    replica.put(at('a', 1));
    listener.pushResync(replica.replica);
    listener.deliver(Infinity);
    assert.deepEqual([calls, listener.hasSynced], [['add a@1', 'update a@1>1'], false]);
    replica.relist();
    listener.deliver(Infinity);
    assert.deepEqual([listener.hasSynced, reports.synced], [true, 1]);
  });

  test('C11 after the last call of its initial list has returned, and reports it once', async () => {
    const gates = new Gates();
    const { replica, listener, reports, calls } = unsynced(() => gates.next());
    replica.relist(at('a', 1), at('b', 2));
    replica.put(at('a', 3));
    for (const [count, expected] of ['add! a@1', 'add! b@2'].entries()) {
      listener.deliver(Infinity);
      assert.deepEqual([calls.at(-1), listener.hasSynced], [expected, false]);
      gates.open[count]?.resolve();
      await settled();
    }
    listener.deliver(Infinity);
    assert.equal(listener.hasSynced, true);
    replica.relist(at('a', 9));
    listener.deliver(Infinity);
    assert.deepEqual([listener.hasSynced, reports.synced], [true, 1], 'never false again');
  });
});
