/** Resync and updates without a change: periods of an informer, and the handlers that are called. The test owns the clock. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { settled } from '../../../src/tools/apiserver/testing/index.ts';
import { Gate, Lines, Scene, pod } from './scene.ts';

describe('resync', () => {
  test('C12 is decided when the relist is distributed, not when the handler comes to it', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    using gate = new Gate();
    const [slow, other] = [new Lines((line) => (line === 'add x' ? gate.opened : undefined)), new Lines()];
    informer.addEventHandler(slow);
    informer.addEventHandler(other, { resyncPeriodMs: 5000 });
    scene.source.add(pod('a'));
    await scene.started(informer);
    scene.source.add(pod('x'));
    await slow.until('add x');
    // Nothing is decided yet: every handler receives what is distributed now.
    scene.source.addDropWatch(pod('y'));
    scene.source.resetWatch();
    await other.until('add y');
    // Now it is decided that the slow one is not due, before it has come to what was distributed.
    scene.clock.advance(5000);
    gate.open();
    await settled(informer);
    assert.deepEqual(slow.take(), ['add! a', 'add x', 'sync a', 'sync x', 'add y']);
  });

  test('C13 is not queued again for a handler that is not through with the last one', async () => {
    await using scene = new Scene();
    const informer = scene.informer({ resyncPeriodMs: 5000, slowHandler: { ageMs: 0 } });
    using gate = new Gate();
    const lines = new Lines((line) => (line === 'sync a' ? gate.opened : undefined));
    const registration = informer.addEventHandler(lines);
    for (const name of ['a', 'b']) scene.source.add(pod(name));
    await scene.started(informer);
    scene.clock.advance(5000);
    await lines.until('sync a');
    assert.equal(registration.backlog.notifications, 1);
    scene.clock.advance(500_000);
    assert.equal(registration.backlog.notifications, 1);
    gate.open();
    await settled(informer);
    assert.deepEqual(lines.take(), ['add! a', 'add! b', 'sync a', 'sync b']);
    scene.clock.advance(5000);
    await settled(informer);
    assert.deepEqual(lines.take(), ['sync a', 'sync b']);
  });

  test('periods that are raised are reported: below a second, or below the rhythm once it goes', async () => {
    await using scene = new Scene();
    const informer = scene.informer({ resyncPeriodMs: 10_000 });
    informer.addEventHandler({ onAdd: () => undefined }, { resyncPeriodMs: 20_000 });
    assert.deepEqual(scene.codes, []);
    informer.addEventHandler({ onAdd: () => undefined }, { resyncPeriodMs: 5 });
    await scene.started(informer);
    informer.addEventHandler({ onAdd: () => undefined }, { resyncPeriodMs: 500 });
    assert.deepEqual(
      scene.codes,
      Array.from({ length: 2 }, () => 'ERR_KUBELOOM_RESYNC_PERIOD'),
    );
    assert.match(scene.reported[0]?.message ?? '', /of 5 ms is raised to the minimum of 1000 ms/);
    const other = scene.informer({ resyncPeriodMs: 10_000 });
    await scene.started(other);
    other.addEventHandler({ onAdd: () => undefined }, { resyncPeriodMs: 2000 });
    assert.match(
      scene.reported.at(-1)?.message ?? '',
      /2000 ms is raised to 10000 ms, the informer's rhythm/,
    );
  });
});
