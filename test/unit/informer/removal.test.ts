/** Handlers that leave, from outside and from inside their own calls, with and without what is pending. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { HandlerRegistration } from '../../../src/index.ts';
import { settled } from '../../../src/tools/apiserver/testing/index.ts';
import { Gate, Lines, Scene, busy, pod } from './scene.ts';

describe('removing a handler', () => {
  test('C37 by a value that is not a registration is a coded error', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    const wrong = { hasSynced: () => true } as HandlerRegistration;
    const code = 'ERR_KUBELOOM_OPTION';
    assert.throws(() => informer.removeEventHandler(wrong), { code });
    await assert.rejects(informer.shutDownEventHandler(wrong), { code });
  });

  test('C8 again, without `drain`, drops the rest of a draining handler', async () => {
    await using scene = new Scene();
    const { informer, registration, lines, gate } = await busy(scene);
    informer.removeEventHandler(registration, { drain: true });
    assert.equal(registration.backlog.notifications, 1);
    informer.removeEventHandler(registration);
    assert.equal(registration.backlog.notifications, 0);
    gate.open();
    await informer.shutDownEventHandler(registration);
    assert.deepEqual(lines.lines, ['add! a']);
  });
});

describe('shutting a handler down', () => {
  test('C8 returns at every time of life: never started, before start, after start', async () => {
    await using scene = new Scene();
    const never = scene.informer();
    await never.shutDownEventHandler(never.addEventHandler({ onAdd: () => undefined }));
    const informer = scene.informer();
    const early = informer.addEventHandler(new Lines());
    await scene.started(informer);
    const late = informer.addEventHandler(new Lines());
    await informer.shutDownEventHandler(early);
    await informer.shutDownEventHandler(late);
    assert.deepEqual(informer.busyHandlers, []);
  });

  test('C8 of one handler inside the call of another waits for the other', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    using gate = new Gate();
    const slow = new Lines(() => gate.opened);
    const target = informer.addEventHandler(slow);
    const order: string[] = [];
    informer.addEventHandler({
      onAdd: async () => {
        await slow.until('add! a');
        await informer.shutDownEventHandler(target);
        order.push('shut down');
      },
    });
    scene.source.add(pod('a'));
    void informer.run();
    await slow.until('add! a');
    order.push('opened');
    gate.open();
    await settled(informer);
    assert.deepEqual(order, ['opened', 'shut down']);
  });
});

describe('from inside a callback', () => {
  test('C8 C9 a handler removes itself and adds another, which gets the cache as its initial list', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    const added = new Lines();
    const lines = new Lines((line) => {
      if (line !== 'add! b') return;
      informer.removeEventHandler(registration);
      informer.addEventHandler(added);
    });
    const registration = informer.addEventHandler(lines);
    for (const name of ['a', 'b', 'c']) scene.source.add(pod(name));
    await scene.started(informer);
    scene.source.add(pod('d'));
    await settled(informer);
    assert.deepEqual(lines.lines, ['add! a', 'add! b']);
    assert.deepEqual(added.lines, ['add! a', 'add! b', 'add! c', 'add d']);
  });
});
