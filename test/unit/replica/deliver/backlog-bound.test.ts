/**
 * The bound of a backlog beyond its budget, whatever the server does: one pending change of each key. A handler that
 * applies its notifications ends with the cache.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../../src/tools/apiserver/testing/fake-clock.ts';
import { BacklogBudget } from '../../../../src/replica/deliver/backlog-budget.ts';
import { SharedProcessor } from '../../../../src/replica/deliver/processor-listener.ts';
import { seededRandom, wholeNumber } from '../../shared/ring/random.ts';
import { Mirror } from '../store/mirror.ts';
import { at } from '../store/objects.ts';
import { ReplicaTwin } from '../store/replica-twin.ts';
import { ScriptedReplica } from '../store/scripted-replica.ts';
import { settled } from './listener-scene.ts';
import { handlerOf, newListener } from './recording-handler.ts';

const STEPS = 3000;
const BUDGET_BYTES = 4096;

describe('a backlog beyond its budget', () => {
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    test(`C179 is one change a key through random histories, and leads to the cache (seed ${seed})`, async () => {
      const random = seededRandom(seed);
      const processor = new SharedProcessor();
      const twin = new ReplicaTwin(random, processor, 2);
      const mirror = new Mirror();
      let calls: (readonly [key: string, type: string])[] = [];
      let settle = (): void => undefined;
      const handler = handlerOf(({ oldEntry, newEntry }) => {
        mirror.change(oldEntry, newEntry);
        const type = newEntry ? (oldEntry ? 'update' : 'add') : 'delete';
        calls.push([(newEntry ?? oldEntry)?.key ?? '', type]);
        return random() < 0.2 ? new Promise<void>((resolve) => (settle = resolve)) : undefined;
      });
      const { listener, reports } = newListener(handler, { table: twin.owner.table });
      processor.add(listener, twin.replica);
      const budget = new BacklogBudget(BUDGET_BYTES, new FakeClock());
      const coalesce = (): void => {
        while (listener.heldBytes > BUDGET_BYTES && budget.runOnce([listener], listener.heldBytes));
      };
      const deliver = async (count: number): Promise<void> => {
        settle();
        await settled();
        listener.deliver(count);
      };
      twin.begin();
      twin.end();
      let bounded = 0;
      for (let step = 0; step < STEPS; step++) {
        const chance = random();
        if (chance < 0.6) twin.event(twin.write(), false);
        else if (chance < 0.85) {
          const deleted = twin.delete(random() < 0.1);
          if (deleted) twin.event(deleted, true);
        } else if (chance < 0.86) twin.begin();
        else if (chance < 0.94) twin.item();
        else if (chance < 0.95) twin.abort();
        else if (chance < 0.97) twin.end();
        else if (chance < 0.98) processor.resync(twin.replica, [listener]);
        else twin.dispose();
        coalesce();
        if (listener.heldBytes > BUDGET_BYTES) {
          bounded++;
          const most = mirror.objects.size + twin.cachedSize + 1;
          assert.ok(listener.pendingNotifications <= most, `${listener.pendingNotifications} of ${most}`);
        }
        if (random() < 0.02) await deliver(wholeNumber(random, 0, 30));
      }
      assert.ok(bounded > STEPS / 2, `${bounded} steps beyond the budget`);
      twin.end();
      for (let turn = 0; turn < 100; turn++) await deliver(10);
      twin.event(twin.write(), false);
      for (let count = 0; count < 500; count++) twin.event(twin.write(), false);
      while (listener.coalesce(100));
      calls = [];
      while (!listener.isIdle) await deliver(Infinity);
      const byKey = new Map<string, string>();
      for (const [key, type] of calls) byKey.set(key, `${byKey.get(key) ?? ''}${type} `);
      for (const [key, types] of byKey)
        assert.match(types, /^(?:add |update |delete |delete add )$/, `the calls of ${key}`);
      for (const { error } of reports.errors) throw error;
      mirror.checkEqual(twin.cachedEntries);
      assert.equal(listener.heldBytes, 0);
      twin.clear();
      while (!listener.isIdle) await deliver(Infinity);
      twin.dispose();
      assert.equal(twin.owner.slabs.liveBytes, 0);
    });
  }

  test('C179 does not grow with objects, relists, resyncs or deletions that come and go while a call never ends', () => {
    const processor = new SharedProcessor();
    const replica = new ScriptedReplica({ listener: processor });
    replica.relist(at('kept', 1));
    const never = handlerOf(() => new Promise(() => undefined));
    const { listener } = newListener(never, { table: replica.owner.table });
    processor.add(listener, replica.replica);
    listener.deliver(Infinity);
    const budget = new BacklogBudget(BUDGET_BYTES, new FakeClock());
    const { slabs } = replica.owner;
    let mostBytes = 0;
    for (let version = 2; version < 2000; version += 6) {
      replica.put(at('kept', version));
      replica.put(at(`new-${version}`, version + 1));
      replica.remove(at(`new-${version}`, version + 2));
      replica.remove(at(`never-seen-${version}`, version + 3));
      replica.put(at('again', version + 4));
      replica.remove(at('again', version + 5));
      if (version % 5 === 0) replica.relist(at('kept', version));
      if (version % 7 === 0) processor.resync(replica.replica, [listener]);
      while (listener.heldBytes > BUDGET_BYTES && budget.runOnce([listener], listener.heldBytes));
      while (replica.dispose());
      mostBytes = Math.max(mostBytes, listener.heldBytes);
    }
    assert.ok(mostBytes < 2 * BUDGET_BYTES, `${mostBytes} bytes are held`);
    assert.ok(slabs.liveBytes < 2 * BUDGET_BYTES, `${slabs.liveBytes} bytes are stored`);
    while (listener.coalesce(100));
    // The end of the initial list, and an update.
    assert.equal(listener.pendingNotifications, 2);
  });
});
