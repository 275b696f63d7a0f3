/** Created, running, stopped: what is possible when, and in which order an informer ends. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { Gate, Lines, Scene, busy, isPending, pod, turns } from './scene.ts';

describe('the lifecycle of an informer', () => {
  test('C446 threads that are closed during a drain end it, and what was not delivered is an error', async () => {
    await using scene = new Scene();
    const { informer, lines, gate, run } = await busy(scene);
    const rejected = assert.rejects(run, {
      code: 'ERR_KUBELOOM_STOPPED',
      message: /when shutdown\(\) has resolved/,
    });
    const ended = informer.shutdown({ drain: true });
    await turns();
    await scene.threads.close();
    gate.open();
    await ended;
    await rejected;
    assert.deepEqual(lines.lines, ['add! a']);
    assert.deepEqual(scene.codes, ['ERR_KUBELOOM_STOPPED']);
  });

  test('C446 threads that are closed during the last call of a drain change nothing', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    using gate = new Gate();
    const lines = new Lines(() => gate.opened);
    informer.addEventHandler(lines);
    scene.source.add(pod('a'));
    const run = informer.run();
    await lines.until('add! a');
    const ended = informer.shutdown({ drain: true });
    await turns();
    await scene.threads.close();
    gate.open();
    await Promise.all([ended, run]);
    assert.deepEqual([lines.lines, scene.codes], [['add! a'], []]);
  });
});

describe('the end', () => {
  test('C8 comes after the calls in progress, and no handler is taken while it waits for them', async () => {
    await using scene = new Scene();
    const abort = new AbortController();
    const { informer, lines, gate, run } = await busy(scene, abort.signal);
    abort.abort();
    assert.ok(await isPending(run));
    assert.ok(informer.isStopped());
    assert.equal(scene.source.openWatches, 0, 'the input ends first');
    assert.throws(() => informer.addEventHandler({ onAdd: () => undefined }), {
      code: 'ERR_KUBELOOM_STOPPED',
    });
    gate.open();
    await run;
    assert.deepEqual(lines.lines, ['add! a']);
  });

  test('C8 is not waited for after the signal; the error names the handlers that still run, which can be dropped', async () => {
    await using scene = new Scene();
    const { informer, lines, gate, run } = await busy(scene);
    informer.addEventHandler({ onAdd: () => undefined }, { name: 'quick one' });
    await turns();
    const abort = new AbortController();
    const shutdown = informer.shutdown({ drain: true, signal: abort.signal });
    assert.ok(await isPending(shutdown));
    const reason = new Error('too long');
    abort.abort(reason);
    await assert.rejects(shutdown, {
      code: 'ERR_KUBELOOM_STILL_RUNNING',
      message: /^pods .*: slow one$/,
      cause: reason,
    });
    const dropped = informer.shutdown();
    gate.open();
    await dropped;
    await run;
    assert.deepEqual(lines.lines, ['add! a']);
  });

  test('leaves no threads, timers or requests behind, whether it ran or not', async () => {
    await using scene = new Scene();
    const informer = scene.informer({ resyncPeriodMs: 5000 });
    const registration = informer.addEventHandler({ onAdd: () => undefined });
    await scene.started(informer);
    assert.ok(scene.clock.pending > 0);
    informer.removeEventHandler(registration);
    await informer.shutdown();
    assert.equal(scene.clock.pending, 0);
    assert.equal(scene.source.openWatches, 0);
    const never = scene.informer({ resyncPeriodMs: 5000 });
    never.addEventHandler({ onAdd: () => undefined });
    await never.shutdown();
    assert.equal(scene.clock.pending, 0);
  });
});

describe('the controller of an informer', () => {
  test('shows the sync state, and running it does nothing', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    const controller = informer.getController();
    await controller.run();
    assert.deepEqual([controller.hasSynced(), controller.lastSyncResourceVersion()], [false, '']);
    assert.equal(informer.hasStarted(), false);
    scene.source.add(pod('a'));
    await scene.started(informer);
    await controller.hasSyncedChecker.done;
    assert.deepEqual([controller.hasSynced(), controller.lastSyncResourceVersion()], [true, '1']);
  });
});
