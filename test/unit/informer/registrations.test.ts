/** A registration: its name, whether its initial list is delivered, and its backlog. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { settled } from '../../../src/tools/apiserver/testing/index.ts';
import { Gate, Lines, Scene, isPending, pod } from './scene.ts';

describe('a registration', () => {
  test('never syncs after it was removed, and its checker gives the reason', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    const registration = informer.addEventHandler({ onAdd: () => undefined });
    informer.removeEventHandler(registration);
    assert.deepEqual(
      [registration.hasSyncedChecker.isDone, registration.hasSyncedChecker.reason],
      [false, 'the handler was removed'],
    );
  });

  test('C11 has synced when the calls of its initial list have returned; its checker says so and why not yet', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    using gate = new Gate();
    const lines = new Lines(() => gate.opened);
    const { hasSyncedChecker: checker, ...registration } = informer.addEventHandler(lines, { name: 'mine' });
    assert.equal(registration.name, 'mine');
    assert.equal(checker.name, 'SharedIndexInformer pods + event handler mine');
    assert.equal(checker.reason, 'the informer has not synced');
    scene.source.add(pod('a'));
    scene.source.add(pod('b'));
    void informer.run();
    await lines.until('add! a');
    await informer.hasSyncedChecker.done;
    assert.deepEqual([informer.hasSyncedChecker.isDone, informer.hasSynced()], [true, true]);
    assert.deepEqual([checker.isDone, checker.reason], [false, '1 notifications are pending']);
    assert.ok(await isPending(checker.done));
    gate.open();
    await checker.done;
    assert.deepEqual([checker.isDone, checker.reason], [true, '']);
    assert.deepEqual(lines.lines, ['add! a', 'add! b']);
  });

  test('C11 of an informer whose list fails has not synced, and neither has the informer', async () => {
    await using scene = new Scene();
    scene.source.listError = new Error('Access Denied');
    const informer = scene.informer();
    const { hasSyncedChecker } = informer.addEventHandler({ onAdd: () => undefined });
    const reported = new Promise<void>((resolve) => informer.setWatchErrorHandler(() => resolve()));
    void informer.run();
    await reported;
    assert.deepEqual([hasSyncedChecker.isDone, informer.hasSyncedChecker.isDone], [false, false]);
    assert.equal(informer.hasSyncedChecker.name, 'SharedIndexInformer pods');
    assert.match(informer.hasSyncedChecker.reason ?? '', /Access Denied/);
  });

  test('C21 C141 that is far behind and slow is reported, once a minute', async () => {
    await using scene = new Scene();
    const informer = scene.informer({ slowHandler: { ageMs: 0 } });
    using gate = new Gate();
    const lines = new Lines(() => {
      scene.clock.advance(101);
      return gate.opened;
    });
    informer.addEventHandler(lines, { name: 'snail' });
    for (let count = 0; count < 1800; count++) scene.source.add(pod(`p${count}`));
    void informer.run();
    await lines.until('add! p0');
    gate.open();
    await settled(informer);
    // 1800 - 1025 calls are made with more than 1024 behind them: 78 s.
    assert.deepEqual(scene.codes, ['ERR_KUBELOOM_SLOW_HANDLER', 'ERR_KUBELOOM_SLOW_HANDLER']);
    assert.match(scene.reported[0]?.message ?? '', /snail took 101 ms .* 1799 notifications/);
  });

  test('C141 whose call does not end is reported when something has waited for it for long', async () => {
    await using scene = new Scene();
    const informer = scene.informer({ slowHandler: { ageMs: 5000 } });
    using gate = new Gate();
    const stuck = new Lines(() => gate.opened);
    const registration = informer.addEventHandler(stuck, { name: 'stuck' });
    for (const name of ['a', 'b', 'c']) scene.source.add(pod(name));
    void informer.run();
    await stuck.until('add! a');
    scene.clock.advance(4999);
    assert.deepEqual(scene.codes, []);
    scene.clock.advance(1);
    assert.deepEqual(scene.codes, ['ERR_KUBELOOM_SLOW_HANDLER']);
    assert.match(
      scene.reported[0]?.message ?? '',
      /^2 notifications .* 5000 ms\) wait for event handler stuck/,
    );
    assert.deepEqual([registration.backlog.notifications, registration.backlog.ageMs], [2, 5000]);
    gate.open();
    await settled(informer);
    scene.clock.advance(600_000);
    assert.equal(scene.codes.length, 1);
  });
});
