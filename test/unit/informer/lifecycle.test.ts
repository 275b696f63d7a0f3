/** Created, running, stopped: what is possible when, and in which order an informer ends. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { label } from '../../../src/index.ts';
import type { SharedIndexInformer } from '../../../src/index.ts';
import { settled } from '../../../src/tools/apiserver/testing/index.ts';
import { Gate, Lines, Scene, busy, isPending, pod, turns } from './scene.ts';
import type { Pod } from './scene.ts';

function life(informer: SharedIndexInformer<Pod>): boolean[] {
  return [informer.hasStarted(), informer.isStopped()];
}

describe('the lifecycle of an informer', () => {
  test('C19 is created, running, stopped, and visible as such', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    assert.deepEqual(life(informer), [false, false]);
    const run = informer.run();
    assert.deepEqual(life(informer), [true, false]);
    await informer.shutdown();
    await run;
    assert.deepEqual([...life(informer), informer.phase], [true, true, 'stopped']);
  });

  test('C19 happens once: a second run is refused, at the same time, after the stop, and after a stop before start', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    const runs = [informer.run(), informer.run()];
    await assert.rejects(runs[1] as Promise<void>, { code: 'ERR_KUBELOOM_STARTED' });
    await settled(informer);
    await informer.shutdown();
    await runs[0];
    await assert.rejects(informer.run(), { code: 'ERR_KUBELOOM_STARTED' });
    const never = scene.informer();
    await Promise.all([never.shutdown(), assert.rejects(never.run(), { code: 'ERR_KUBELOOM_STARTED' })]);
    assert.deepEqual(life(never), [false, true]);
    assert.deepEqual(
      scene.source.requests.map(({ verb }) => verb),
      ['list', 'watch'],
    );
  });

  test('C19 allows transform and watch error handler before start only, and the last one counts', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    const told: string[] = [];
    const named = (name: string) => (object: Pod) => ({
      ...object,
      metadata: { ...object.metadata, labels: { transform: name } },
    });
    informer.setTransform(named('first'));
    informer.setTransform(named('last'));
    informer.setWatchErrorHandler(() => told.push('first'));
    informer.setWatchErrorHandler(({ message }) => {
      told.push(message);
      scene.source.listError = undefined;
    });
    scene.source.add(pod('a'));
    scene.source.listError = new Error('Access Denied');
    await scene.started(informer);
    assert.equal(told.length, 1);
    assert.match(told[0] ?? '', /Access Denied/);
    assert.deepEqual(informer.getStore().getByKey('ns/a')?.labels, { transform: 'last' });
    for (const isStopped of [false, true]) {
      if (isStopped) await informer.shutdown();
      const refused = { code: 'ERR_KUBELOOM_STARTED', message: /already started/ };
      assert.throws(() => informer.setTransform(named('late')), refused);
      assert.throws(() => informer.setWatchErrorHandler(() => undefined), refused);
    }
  });

  test('C19 takes indexers before start and while it runs, not after the stop; a new index covers the cached objects', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    informer.addIndexers({ early: label('app') });
    scene.source.add(pod('a', { app: 'web' }));
    await scene.started(informer);
    scene.source.add(pod('b', { app: 'db' }));
    await settled(informer);
    informer.addIndexers({ late: (object: Pod) => [`${object.metadata.name}-late`] });
    const indexer = informer.getIndexer();
    assert.deepEqual(indexer.indexKeys('early', 'db'), ['ns/b']);
    assert.deepEqual(indexer.indexKeys('late', 'a-late'), ['ns/a']);
    assert.deepEqual(indexer.listIndexFuncValues('early').sort(), ['db', 'web']);
    assert.deepEqual(indexer.listIndexFuncValues('late').sort(), ['a-late', 'b-late']);
    await informer.shutdown();
    assert.throws(() => informer.addIndexers({ more: label('x') }), { code: 'ERR_KUBELOOM_STOPPED' });
    assert.deepEqual(indexer.indexKeys('early', 'db'), ['ns/b'], 'the cache stays readable');
  });

  test('C19 takes handlers until the stop', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    informer.addEventHandler({ onAdd: () => undefined });
    await scene.started(informer);
    informer.addEventHandler({ onAdd: () => undefined });
    await informer.shutdown();
    assert.throws(() => informer.addEventHandler({ onAdd: () => undefined }), {
      code: 'ERR_KUBELOOM_STOPPED',
      message: /was not added to shared informer because it has stopped already/,
    });
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

  test('C8 C138 with `drain` comes after everything that was received has been delivered', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    using gate = new Gate();
    const slow = new Lines(() => gate.opened);
    const others = new Lines();
    informer.addEventHandler(slow);
    informer.addEventHandler(others);
    scene.source.add(pod('a'));
    const run = informer.run();
    await slow.until('add! a');
    for (let count = 0; count < 50; count++) scene.source.add(pod(`b${count}`));
    await others.until('add b49');
    const shutdown = informer.shutdown({ drain: true });
    assert.ok(await isPending(shutdown));
    gate.open();
    await shutdown;
    await run;
    assert.equal(slow.lines.length, 51);
    assert.equal(slow.lines.at(-1), 'add b49');
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
