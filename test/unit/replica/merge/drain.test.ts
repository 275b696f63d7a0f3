/** The drain: merging, handlers and maintenance share one budget, on a clock that only handlers move. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { BacklogBudget } from '../../../../src/replica/deliver/backlog-budget.ts';
import { BLOCKED_MS } from '../../../../src/replica/deliver/handler-calls.ts';
import { Drain } from '../../../../src/replica/merge/drain.ts';
import { InformerMerge } from '../../../../src/replica/merge/informer-merge.ts';
import type { ProcessorListener } from '../../../../src/replica/deliver/processor-listener.ts';
import { SharedProcessor } from '../../../../src/replica/deliver/processor-listener.ts';
import { IndexSet } from '../../../../src/replica/store/replica-state.ts';
import type { EntryOwner } from '../../../../src/replica/store/entry-owner.ts';
import { Replica } from '../../../../src/replica/store/replica.ts';
import { FakeClock } from '../../reflector/fake-clock.ts';
import { newOwner } from '../store/objects.ts';
import { FakeShards } from './fake-shards.ts';
import { settled } from '../deliver/listener-scene.ts';
import { newListener } from '../deliver/recording-handler.ts';

const BUDGET_MS = 2;

class Scene {
  readonly clock: FakeClock = new FakeClock();
  readonly shards: FakeShards = new FakeShards({ ringBytes: 2 ** 22, logBytes: 2 ** 20 });
  readonly drain: Drain;
  readonly processor: SharedProcessor = new SharedProcessor();
  readonly owner: EntryOwner = newOwner({ retainChecks: 'off' });
  readonly replica: Replica;
  #version = 0;

  constructor({ backlogBytesMax = 2 ** 30, budgetMs = BUDGET_MS } = {}) {
    const { table } = this.owner;
    this.replica = new Replica(table, 1, new IndexSet(table, {}, 0, () => {}), this.processor);
    this.drain = new Drain(
      this.shards.merger,
      this.clock,
      budgetMs,
      new BacklogBudget(backlogBytesMax, this.clock),
    );
    this.shards.merger.attach(
      1,
      new InformerMerge({
        replica: this.replica,
        owner: this.owner,
        transform: undefined,
        latency: this.processor.latency,
        onError: assert.fail,
        onControl: () => {},
      }),
    );
  }

  /** Adds a handler whose every call takes `callMs` and runs `react`. */
  handler(
    callMs: number,
    react: () => unknown = () => undefined,
  ): { listener: ProcessorListener; calls: number[]; slow: readonly (number | undefined)[] } {
    const calls: number[] = [];
    const called = (): unknown => {
      this.clock.advance(callMs);
      calls.push(this.clock.now());
      return react();
    };
    const onReady = (): void => this.drain.resume(listener);
    const handler = { onAdd: called, onUpdate: called };
    const { listener, reports } = newListener(handler, { table: this.owner.table, onReady });
    this.processor.add(listener, this.replica);
    this.drain.add(listener);
    return { listener, calls, slow: reports.slow };
  }

  /** Sends `count` changes. */
  send(count: number): void {
    for (let sent = 0; sent < count; sent++) {
      this.shards.sendObject({ name: `n${this.#version % 20}`, version: ++this.#version });
    }
  }

  /** Runs one turn; returns its duration. */
  turn(): number {
    const startMs = this.clock.now();
    this.drain.runOnce();
    return this.clock.now() - startMs;
  }
}

describe('a turn', () => {
  test('merges and delivers everything, and returns that nothing is left', () => {
    const scene = new Scene();
    const { calls } = scene.handler(0);
    scene.send(1000);
    assert.equal(scene.drain.hasWork(), true);
    assert.equal(scene.drain.runOnce(), false);
    assert.equal(calls.length, 1000);
    assert.equal(scene.drain.lastMerged, 1000);
    assert.equal(scene.shards.merged.load(), scene.shards.sequence, 'the reflector can read the position');
    assert.equal(scene.drain.hasWork(), false);
    assert.equal(scene.drain.runOnce(), false);
    assert.equal(scene.drain.lastMerged, 0);
  });

  test('ends with the call in which its budget ends, and returns that there is more', () => {
    const scene = new Scene();
    const { calls } = scene.handler(0.5);
    scene.send(100);
    for (const expected of [4, 8, 12]) {
      assert.equal(scene.turn(), BUDGET_MS);
      assert.equal(calls.length, expected);
    }
    assert.equal(scene.drain.hasWork(), true);
    assert.equal(scene.drain.runOnce(), true);
  });

  for (const [title, callMs, expected] of [
    [
      'for more than five seconds is reported once a minute, without a backlog',
      BLOCKED_MS + 1,
      [BLOCKED_MS + 1],
    ],
    ['for five seconds is not', BLOCKED_MS, []],
  ] as const)
    test(`C416 a handler that keeps its thread ${title}`, () => {
      const scene = new Scene();
      const { slow } = scene.handler(callMs);
      for (let turn = 0; turn < 3; turn++) {
        scene.send(1);
        scene.turn();
      }
      assert.deepEqual(slow, expected);
    });

  for (const kind of ['plain', 'async'] as const) {
    test(`calls a handler that takes longer than the budget only once (${kind})`, async () => {
      const scene = new Scene();
      const { calls } = scene.handler(50, () => (kind === 'async' ? Promise.resolve() : undefined));
      scene.send(10);
      const startMs = scene.clock.now();
      for (let turn = 1; turn <= 10; turn++) {
        scene.drain.runOnce();
        await settled();
        assert.deepEqual([calls.length, scene.clock.now() - startMs], [turn, 50 * turn]);
      }
    });
  }

  test('is followed by the calls of an async handler in sequence, up to its share', async () => {
    const scene = new Scene();
    const trivial = scene.handler(0.125, () => Promise.resolve());
    const heavy = scene.handler(5);
    const plain = scene.handler(0.125);
    const share = BUDGET_MS / 3;
    scene.send(10_000);
    // The heavy handler ends each turn, so the next turn begins after it.
    while (heavy.calls.length === 0) scene.drain.runOnce();
    await settled();
    for (let turn = 1; turn <= 20; turn++) {
      const before = trivial.calls.length;
      scene.drain.runOnce();
      assert.ok(trivial.calls.length <= before + 1, 'one call at a time');
      await settled();
      const received = trivial.calls.length - before;
      assert.equal(received, Math.ceil(share / 0.125));
    }
    assert.equal(heavy.calls.length, 21);
    assert.ok(plain.calls.length > 20);
  });

  test('is shorter by the time that handlers have used since the previous turn', async () => {
    const scene = new Scene();
    const slow = scene.handler(0.25, () => Promise.resolve());
    const plain = scene.handler(0.25);
    scene.send(1000);
    scene.drain.runOnce();
    await settled();
    for (let turn = 0; turn < 10; turn++) {
      const startMs = scene.clock.now();
      const before = [slow.calls.length, plain.calls.length];
      scene.drain.runOnce();
      await settled();
      assert.ok(scene.clock.now() - startMs <= BUDGET_MS);
      const received = [slow.calls.length - (before[0] ?? 0), plain.calls.length - (before[1] ?? 0)];
      assert.deepEqual(received, [4, 4], 'each has half of it');
    }
  });

  test('releases a part of the pending entries of a removed handler, and returns that there is more', () => {
    const scene = new Scene();
    const { listener } = scene.handler(1, () => new Promise(() => undefined));
    scene.send(5000);
    while (scene.drain.hasWork()) scene.drain.runOnce();
    assert.equal(listener.pendingNotifications, 4999);
    scene.processor.remove(listener);
    let turns = 1;
    while (scene.drain.runOnce()) turns++;
    assert.equal(turns, 4);
    assert.equal(listener.release(), false);
  });

  for (const budgetMs of [1, 2, 100]) {
    test(`C21 of ${budgetMs} ms merges 32 records a millisecond while a handler is far behind, and one batch at most`, () => {
      const scene = new Scene({ budgetMs });
      const { calls } = scene.handler(budgetMs);
      for (let turn = 0; turn < 30; turn++) {
        scene.send(256);
        scene.drain.runOnce();
      }
      scene.send(256);
      scene.drain.runOnce();
      assert.equal(scene.drain.lastMerged, Math.min(256, 32 * budgetMs));
      while (scene.drain.runOnce());
      assert.equal(calls.length, 31 * 256, 'the rest waited in the log');
    });
  }

  test('runs maintenance between two merges, until there is none', () => {
    const scene = new Scene();
    let left = 3;
    const maintenance = (): boolean => {
      left--;
      return left > 0;
    };
    scene.drain.addMaintenance(maintenance);
    scene.drain.addMaintenance(() => false);
    assert.equal(scene.drain.runOnce(), true);
    assert.equal(scene.drain.runOnce(), true);
    assert.equal(scene.drain.runOnce(), false);
    left = 100;
    scene.send(1000);
    scene.drain.runOnce();
    assert.ok(left <= 96, `once for every batch of a long turn: ${100 - left}`);
    scene.drain.removeMaintenance(maintenance);
    scene.drain.runOnce();
    assert.ok(left > 90);
  });
});

describe('backlogs at their budget', () => {
  test('C179 merge on for a handler that never returns, and hold one change of each object', () => {
    const bytesMax = 2 ** 14;
    const scene = new Scene({ backlogBytesMax: bytesMax });
    let received = 0;
    const { listener } = scene.handler(0, () => (++received > 20 ? new Promise(() => {}) : undefined));
    for (let sent = 0; sent < 50; sent++) {
      scene.send(200);
      while (scene.drain.runOnce());
      assert.ok(listener.heldBytes <= bytesMax, `${listener.heldBytes} bytes`);
    }
    assert.equal(scene.shards.merged.load(), scene.shards.sequence);
    assert.ok(listener.coalesced > 9000, `${listener.coalesced} merged`);
    assert.deepEqual([scene.drain.hasWork(), scene.drain.runOnce()], [false, false]);
    while (listener.coalesce(1024));
    assert.equal(listener.pendingNotifications, 20);
  });
});

describe('handlers of one drain', () => {
  test('C7 a light handler gets its time although heavy ones were registered first', () => {
    const scene = new Scene();
    const heavy = [scene.handler(1), scene.handler(1), scene.handler(1)];
    const light = scene.handler(0.001);
    for (let turn = 0; turn < 200; turn++) {
      scene.send(20);
      assert.ok(scene.turn() < BUDGET_MS + 1);
      assert.ok(light.listener.pendingNotifications <= 20, `behind by more than a turn: ${turn}`);
    }
    assert.ok(light.calls.length >= 3980);
    for (const { calls } of heavy) assert.ok(calls.length >= 120, `they have their share: ${calls.length}`);
  });

  test('C7 many handlers are all served, whichever ends the budget', () => {
    const scene = new Scene();
    const handlers = Array.from({ length: 7 }, () => scene.handler(3));
    scene.send(50);
    for (let turn = 0; turn < 70; turn++) scene.turn();
    for (const { calls } of handlers) assert.equal(calls.length, 10);
  });

  test('C7 a handler that awaits a promise that never settles costs the others nothing', () => {
    const scene = new Scene();
    const stuck = scene.handler(0, () => new Promise(() => {}));
    const other = scene.handler(0);
    scene.send(6000);
    while (scene.drain.runOnce());
    assert.equal(stuck.calls.length, 1);
    assert.equal(other.calls.length, 6000);
    assert.equal(scene.drain.hasWork(), false);
    scene.send(300);
    scene.drain.runOnce();
    assert.equal(scene.drain.lastMerged, 300, 'it does not slow the merge either');
  });

  test('C8 handlers may remove themselves and each other during a round', () => {
    const scene = new Scene();
    const remove = (one: { readonly listener: ProcessorListener }): void => {
      scene.drain.remove(one.listener);
      scene.processor.remove(one.listener);
    };
    const all = Array.from({ length: 4 }, (_, index) =>
      scene.handler(0, () => {
        if (index === 1) for (const one of all) remove(one);
      }),
    );
    scene.send(10);
    assert.equal(scene.drain.runOnce(), false);
    assert.ok(all.every(({ calls }) => calls.length <= 10));
    assert.equal(all[1]?.calls.length, 1);
    const late = scene.handler(0);
    scene.send(3);
    scene.drain.runOnce();
    assert.equal(late.calls.length, 3, 'the drain continues');
  });
});
