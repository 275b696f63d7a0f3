/**
 * Coalescing: a handler that is far behind receives fewer notifications, each of which follows from the previous one.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SharedProcessor } from '../../../../src/replica/deliver/processor-listener.ts';
import type { ProcessorListener } from '../../../../src/replica/deliver/processor-listener.ts';
import type { Entry } from '../../../../src/replica/store/entry.ts';
import { seededRandom, wholeNumber } from '../../shared/ring/random.ts';
import { Mirror } from '../store/mirror.ts';
import { ReplicaTwin } from '../store/replica-twin.ts';
import { scene } from './listener-scene.ts';
import { at } from '../store/objects.ts';
import { handlerOf, newListener, recordingHandler } from './recording-handler.ts';

describe('coalesced notifications', () => {
  const histories: readonly (readonly [
    string,
    (replica: ReturnType<typeof scene>['replica']) => void,
    string[],
  ])[] = [
    [
      'an add and its updates become the newest add',
      (r) => r.put(at('b', 1), at('b', 2), at('b', 3)),
      ['add b@3'],
    ],
    [
      'updates become one, from the first state to the newest',
      (r) => r.put(at('a', 11), at('a', 12), at('a', 13)),
      ['update a@10>13'],
    ],
    [
      'a merged notification takes the place of the newest',
      (r) => r.put(at('a', 11), at('b', 12), at('a', 13), at('c', 14)),
      ['add b@12', 'update a@10>13', 'add c@14'],
    ],
    [
      'an add and its deletion cancel each other',
      (r) => {
        r.put(at('b', 1), at('b', 2));
        r.remove(at('b', 3));
        r.put(at('c', 4));
      },
      ['add c@4'],
    ],
    [
      'an update and a deletion become the deletion',
      (r) => {
        r.put(at('a', 11), at('a', 12));
        r.remove(at('a', 13));
      },
      ['delete a@13'],
    ],
    [
      'a deletion and a new object of its name stay two, and a third object of that name leaves none',
      (r) => {
        r.remove(at('a', 11));
        r.put(at('a', 12), at('a', 13));
        r.remove(at('a', 14));
        r.put(at('a', 15), at('a', 16));
      },
      ['delete a@11', 'add a@16'],
    ],
    [
      'changes before, in and after relists become one',
      (r) => {
        r.put(at('a', 11), at('b', 12));
        r.relist(at('a', 13), at('c', 14));
        r.put(at('a', 15));
        r.relist(at('a', 15), at('c', 14), at('d', 16));
      },
      ['add c@14', 'update a@10>15', 'add d@16'],
    ],
    [
      'a deletion that a relist found has no known final state',
      (r) => {
        r.put(at('a', 11));
        r.relist(at('b', 12));
      },
      ['lost a@11', 'add b@12'],
    ],
    [
      'relists without a change, and the deletion of an object that was never in the cache, leave none',
      (r) => {
        r.relist(at('a', 10));
        r.relist(at('a', 10));
        r.remove(at('b', 11));
      },
      [],
    ],
  ];
  for (const [title, change, expected] of histories) {
    test(`C179 ${title}`, () => {
      const { replica, listener, calls } = scene();
      replica.put(at('a', 10));
      listener.deliver(Infinity);
      calls.length = 0;
      change(replica);
      const before = listener.backlog.notifications;
      assert.equal(listener.coalesce(Infinity), false);
      assert.equal(listener.backlog.notifications, before - listener.coalesced);
      listener.deliver(Infinity);
      assert.deepEqual(calls, expected);
      assert.deepEqual(
        [listener.backlog.notifications, listener.backlog.bytes, listener.heldBytes],
        [0, 0, 0],
      );
      replica.relist();
      listener.deliver(Infinity);
      replica.dispose();
      assert.equal(replica.owner.slabs.liveBytes, 0);
    });
  }

  test('C179 hold one state of each object, however often it changes', () => {
    const { replica, listener } = scene();
    const names = Array.from({ length: 300 }, (_, index) => `${'n'.repeat(index % 40)}-${index}`);
    names.push('a', '\u{1F9F5}');
    let mostBytes = 0;
    for (let version = 1; version < 100; version++) {
      for (const name of names) replica.put(at(name, version));
      if (version === 1) listener.deliver(Infinity);
      listener.coalesce(Infinity);
      mostBytes = Math.max(mostBytes, listener.heldBytes);
    }
    const lengths = names.map((name) => (replica.get(name) as Entry).length + 512);
    const bytesMax = lengths.reduce((sum, length) => sum + length);
    assert.ok(mostBytes <= bytesMax, `${mostBytes} bytes`);
    assert.equal(listener.backlog.notifications, names.length);
  });

  test('C179 hold nothing after their handler was removed', () => {
    const { replica, processor, listener } = scene();
    replica.put(at('a', 1), at('b', 2), at('a', 3));
    listener.coalesce(2);
    processor.remove(listener);
    replica.relist();
    replica.dispose();
    assert.equal(replica.owner.slabs.liveBytes, 0);
  });
});

describe('coalescing handlers, during a random history', () => {
  for (const seed of [21, 22, 23, 24]) {
    test(`C179 receive states that follow from each other, and the final state of every object (seed ${seed})`, () => {
      const random = seededRandom(seed);
      const processor = new SharedProcessor();
      const twin = new ReplicaTwin(random, processor, 2);
      const mirrors = [new Mirror(), new Mirror()];
      const listeners = mirrors.map((mirror) => {
        const handler = handlerOf(({ oldEntry, newEntry }) => mirror.change(oldEntry, newEntry));
        const { listener, reports } = newListener(handler, { table: twin.owner.table });
        processor.add(listener, twin.replica);
        return { listener, reports };
      });
      twin.begin();
      twin.end();
      const [slow, prompt] = listeners;
      assert.ok(slow && prompt);
      const log: string[] = [];
      const { listener: witness } = newListener(recordingHandler(log), { table: twin.owner.table });
      processor.add(witness, twin.replica);
      // It is removed again and again with whatever is pending, and another one joins.
      const join = (): ProcessorListener => {
        const { listener } = newListener(recordingHandler([]), { table: twin.owner.table });
        processor.add(listener, twin.replica);
        return listener;
      };
      let leaver = join();
      for (let step = 0; step < 2000; step++) {
        const chance = random();
        if (chance < 0.7) twin.event(twin.write(), false);
        else if (chance < 0.85) {
          const deleted = twin.delete(random() < 0.1);
          if (deleted) twin.event(deleted, true);
        } else if (chance < 0.86) twin.begin();
        else if (chance < 0.95) twin.item();
        else if (chance < 0.97) twin.end();
        else if (chance < 0.98) processor.resync(twin.replica, [slow.listener, prompt.listener]);
        else twin.dispose();
        prompt.listener.deliver(Infinity);
        witness.deliver(Infinity);
        if (random() < 0.3) slow.listener.coalesce(wholeNumber(random, 1, 50));
        if (random() < 0.1) slow.listener.deliver(wholeNumber(random, 0, 12));
        if (random() < 0.2) leaver.coalesce(wholeNumber(random, 1, 50));
        if (random() < 0.02) {
          processor.remove(leaver);
          while (leaver.release());
          leaver = join();
        }
      }
      assert.ok(slow.listener.coalesced > 50, `${slow.listener.coalesced} merged`);
      assert.equal(prompt.listener.coalesced, 0);
      const all = [slow.listener, prompt.listener, witness, leaver];
      for (const listener of all) listener.deliver(Infinity);
      for (const { reports } of listeners) for (const { error } of reports.errors) throw error;
      const entries = twin.cachedEntries;
      for (const mirror of mirrors) mirror.checkEqual(entries);
      assert.ok((mirrors[0]?.received ?? 0) + slow.listener.coalesced <= (mirrors[1]?.received ?? 0) + 2000);
      for (const listener of all) assert.equal(listener.heldBytes, 0);
      twin.clear();
      for (const listener of all) listener.deliver(Infinity);
      twin.dispose();
      assert.equal(twin.owner.slabs.liveBytes, 0);
    });
  }
});
