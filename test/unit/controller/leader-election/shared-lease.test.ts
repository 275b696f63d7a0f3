/** Leases that other programs and processes change, and the figures of an elector. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MemoryLease } from './memory-lock.ts';
import { Scene, turn } from './scene.ts';

describe('a lease that is deleted by hand', () => {
  test('C311 makes no second leader: a candidate waits for the duration of the holder, and the transitions go on', async () => {
    const lease: MemoryLease = new MemoryLease();
    const a = new Scene('a', {}, lease);
    const first = await a.start();
    const b = new Scene('b', {}, lease);
    const second = await b.start();
    lease.stored = undefined;
    await b.advance(14_000);
    assert.equal(b.elector.isLeader(), false);
    await b.advance(8000);
    assert.equal(b.elector.isLeader(), true);
    assert.equal(b.record?.leaseTransitions, 1);
    for (const { stop } of [a, b]) stop.abort();
    await Promise.all([first.run, second.run]);
  });
});

describe('two processes with one identity', () => {
  test('C312 do not both lead: the one that finds a renewal that it has not sent has lost', async ({
    mock,
  }) => {
    mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
    const lease = new MemoryLease();
    const first = new Scene('same', {}, lease);
    const { run } = await first.start();
    mock.timers.tick(7);
    const second = new Scene('same', {}, lease);
    const other = await second.start();
    mock.timers.tick(7);
    await first.advance(4000);
    assert.equal(first.elector.isLeader(), false);
    assert.equal(await run, 'ERR_KUBELOOM_LEADER_LOST');
    assert.match(String(first.leaderSignal?.reason), /an identity of its own/);
    assert.equal(second.elector.isLeader(), true);
    second.stop.abort();
    await other.run;
  });
});

describe('an elector', () => {
  test('says who leads, and whether work goes on after its leadership', async () => {
    const scene = new Scene();
    assert.deepEqual([scene.elector.getLeader(), scene.elector.isHealthy()], ['', true]);
    let end = (): void => undefined;
    const work = new Promise<void>((resolve) => (end = resolve));
    const { run } = await scene.start(() => work);
    await turn();
    assert.deepEqual([scene.elector.getLeader(), scene.elector.isHealthy()], ['me', true]);
    scene.aheadMs = 60_000;
    assert.equal(scene.elector.isHealthy(), false);
    end();
    assert.equal(await run, 'ERR_KUBELOOM_LEADER_LOST');
    assert.equal(scene.elector.isHealthy(), true);
  });
});
