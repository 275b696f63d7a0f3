/** Handlers that leave, from outside and from inside their own calls, with and without what is pending. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import type { HandlerRegistration } from '../../../src/index.ts';
import { settled } from '../../../src/tools/apiserver/testing/index.ts';
import { Gate, Lines, Scene, busy, isPending, pod } from './scene.ts';

describe('removing a handler', () => {
  test('C8 ends its calls, and leaves the calls of the other registration', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    const [first, second] = [new Lines(), new Lines()];
    const registrations = [informer.addEventHandler(first), informer.addEventHandler(second)];
    await scene.started(informer);
    for (const [count, registration] of registrations.entries()) {
      informer.removeEventHandler(registration);
      scene.source.add(pod(`p${count}`));
      await settled(informer);
    }
    assert.deepEqual([first.lines, second.lines], [[], ['add p0']]);
  });

  test('C8 of a handler that is registered twice keeps the other registration', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    const handler = new Lines();
    const registration = informer.addEventHandler(handler);
    informer.addEventHandler(handler);
    await scene.started(informer);
    scene.source.add(pod('twice'));
    await settled(informer);
    informer.removeEventHandler(registration);
    scene.source.add(pod('once'));
    await settled(informer);
    assert.deepEqual(handler.lines, ['add twice', 'add twice', 'add once']);
  });

  test('C8 C37 by the registration of another informer has no effect on either informer', async () => {
    await using scene = new Scene();
    const [here, there] = [scene.informer(), scene.informer()];
    const lines = new Lines();
    const registration = there.addEventHandler(lines);
    here.removeEventHandler(registration);
    await here.shutDownEventHandler(registration);
    await scene.started(there);
    scene.source.add(pod('a'));
    await settled(there);
    assert.deepEqual(lines.lines, ['add a']);
  });

  test('C8 C37 a second time, before start, and after the stop is not an error', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    const [early, late] = [
      informer.addEventHandler({ onAdd: () => undefined }),
      informer.addEventHandler({ onAdd: () => undefined }),
    ];
    informer.removeEventHandler(early);
    informer.removeEventHandler(early);
    await scene.started(informer);
    await informer.shutdown();
    informer.removeEventHandler(late);
    await informer.shutDownEventHandler(late);
  });

  test('C37 by a value that is not a registration is a coded error', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    const wrong = { hasSynced: () => true } as HandlerRegistration;
    const code = 'ERR_KUBELOOM_OPTION';
    assert.throws(() => informer.removeEventHandler(wrong), { code });
    await assert.rejects(informer.shutDownEventHandler(wrong), { code });
  });

  test('C8 C137 drops pending notifications, or with `drain` delivers them and nothing after them', async () => {
    for (const drain of [false, true]) {
      await using scene = new Scene();
      const informer = scene.informer();
      using gate = new Gate();
      const slow = new Lines(() => gate.opened);
      const others = new Lines();
      const registration = informer.addEventHandler(slow);
      informer.addEventHandler(others);
      scene.source.add(pod('a'));
      void informer.run();
      await slow.until('add! a');
      scene.source.add(pod('b'));
      await others.until('add b');
      informer.removeEventHandler(registration, { drain });
      scene.source.add(pod('c'));
      await others.until('add c');
      gate.open();
      await settled(informer);
      await informer.shutDownEventHandler(registration, { drain });
      assert.deepEqual(slow.lines, drain ? ['add! a', 'add b'] : ['add! a']);
      assert.deepEqual(registration.backlog, { notifications: 0, bytes: 0, ageMs: 0 });
    }
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
  test('C8 C139 waits for the call in progress, its promise included, and no longer than its signal', async () => {
    await using scene = new Scene();
    const { informer, registration, lines, gate } = await busy(scene);
    const reason = new Error('enough');
    const abort = new AbortController();
    const impatient = informer.shutDownEventHandler(registration, { signal: abort.signal });
    const patient = informer.shutDownEventHandler(registration);
    abort.abort(reason);
    await assert.rejects(impatient, reason);
    await assert.rejects(informer.shutDownEventHandler(registration, { signal: abort.signal }), reason);
    assert.ok(await isPending(patient));
    gate.open();
    await patient;
    assert.deepEqual(lines.lines, ['add! a']);
  });

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

  test('C8 C140 inside its own call is refused where it would wait for itself, and removes the handler', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    const outcomes: Promise<unknown>[] = [];
    const lines = new Lines(() => {
      const shutDown = informer.shutDownEventHandler(registration);
      outcomes.push(assert.rejects(shutDown, { code: 'ERR_KUBELOOM_OWN_CALL' }));
    });
    const registration = informer.addEventHandler(lines);
    scene.source.add(pod('a'));
    scene.source.add(pod('b'));
    await scene.started(informer);
    await Promise.all(outcomes);
    assert.deepEqual([lines.lines, outcomes.length], [['add! a'], 1]);
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
