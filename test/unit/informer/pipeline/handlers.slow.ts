/** Handlers of a running pipeline: late ones, slow ones, throwing ones, removed ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeldHandler } from '../scene.ts';
import { Harness, Recorder, VARIANTS, pod } from './harness.ts';

for (const variant of VARIANTS) {
  const title = `(threads ${variant.threads}, ${variant.codec})`;

  test(`C9 a handler that joins during changes sees each object once, and then every change ${title}`, async () => {
    await using harness = await Harness.start(variant);
    await harness.server.populate({ count: 500 });
    const informer = harness.informer();
    const first = new Recorder();
    informer.addEventHandler(first);
    await harness.synced(informer);
    const load = harness.server.load({ rate: 5000, durationMs: 400 });
    await first.until(() => first.seen.length > 900);
    const late = new Recorder();
    const registration = informer.addEventHandler(late);
    const { toRevision } = await load;
    await late.until(() => Number(late.latest?.resourceVersion) >= toRevision);
    await first.until(() => Number(first.latest?.resourceVersion) >= toRevision);
    // Where the load was over before it joined, the last change is in its initial list, anywhere.
    await informer.waitForSync({ registration });
    const initial = late.seen.filter(({ isInInitialList }) => isInInitialList);
    assert.equal(new Set(initial.map(({ key }) => key)).size, 500);
    assert.equal(initial.length, 500);
    const changes = late.seen.slice(500).map(({ resourceVersion }) => resourceVersion);
    const cut = Math.max(...initial.map(({ resourceVersion }) => Number(resourceVersion)));
    const expected = first.seen
      .map(({ resourceVersion }) => resourceVersion)
      .filter((version) => Number(version) > cut);
    assert.deepEqual(changes, expected);
  });

  test(`C7 C11 a handler that throws or never returns does not hold up the others ${title}`, async () => {
    await using harness = await Harness.start(variant);
    await harness.server.populate({ count: 50 });
    const informer = harness.informer();
    const steady = new Recorder();
    using held = new HeldHandler();
    const throwing = informer.addEventHandler({
      onAdd: () => {
        throw new Error('thrown by the handler');
      },
    });
    const waiting = informer.addEventHandler(held);
    const synced = informer.addEventHandler(steady);
    await harness.synced(informer);
    await informer.waitForSync({ registration: synced });
    await informer.waitForSync({ registration: throwing });
    await held.begun;
    assert.equal(steady.seen.length, 50);
    assert.equal(held.lines.length, 1);
    assert.equal(waiting.hasSynced(), false);
    assert.equal(
      harness.errors.filter(({ message }) => message.endsWith(': thrown by the handler')).length,
      50,
    );
    held.gate.open();
    await informer.waitForSync({ registration: waiting });
    assert.equal(held.lines.length, 50);
  });

  test(`C8 a removed handler receives nothing more, and stop waits for the call in progress ${title}`, async () => {
    await using harness = await Harness.start(variant);
    const informer = harness.informer();
    const removed = new Recorder();
    const steady = new Recorder();
    const registration = informer.addEventHandler(removed);
    informer.addEventHandler(steady);
    await harness.synced(informer);
    await harness.server.apply([{ type: 'create', resource: 'pods', object: pod('one') }]);
    await steady.until(() => steady.seen.length === 1);
    await removed.until(() => removed.seen.length === 1);
    informer.removeEventHandler(registration);
    let finished = false;
    let isCalled: () => void = () => undefined;
    const called = new Promise<void>((resolve) => (isCalled = resolve));
    informer.addEventHandler({
      onAdd: async () => {
        isCalled();
        await new Promise(setImmediate);
        finished = true;
      },
    });
    await called;
    await informer[Symbol.asyncDispose]();
    assert.ok(finished);
    assert.equal(removed.seen.length, 1);
    assert.throws(() => informer.addEventHandler(steady), { code: 'ERR_KUBELOOM_STOPPED' });
  });

  test(`C20 a borrowed entry is refused after its call unless it was retained ${title}`, async () => {
    await using harness = await Harness.start(variant);
    await harness.server.apply([{ type: 'create', resource: 'pods', object: pod('kept', { app: 'web' }) }]);
    const informer = harness.informer({ debug: { retainChecks: 'strict' } });
    const lent: { readonly key: string; readonly object: unknown; readonly labels: unknown }[] = [];
    const kept: { readonly object: { readonly metadata?: { readonly name?: string } } }[] = [];
    const recorder = new Recorder();
    const registration = informer.addEventHandler({
      onAdd: (added, isInInitialList) => {
        lent.push(added);
        recorder.onAdd(added, isInInitialList);
      },
      onUpdate: (previous, current) => {
        kept.push(current.retain());
        recorder.onUpdate(previous, current);
      },
    });
    await harness.synced(informer);
    await informer.waitForSync({ registration });
    assert.throws(() => lent[0]?.object, { code: 'ERR_KUBELOOM_BORROW_EXPIRED' });
    assert.deepEqual(lent[0]?.labels, { app: 'web' });
    assert.equal(lent[0]?.key, 'default/kept');
    const update = pod('kept', { app: 'api' });
    await harness.server.apply([{ type: 'put', resource: 'pods', object: update }]);
    await harness.server.apply([{ type: 'put', resource: 'pods', object: pod('kept', { app: 'db' }) }]);
    await recorder.until(() => recorder.seen.length === 3);
    assert.equal(kept[0]?.object.metadata?.name, 'kept');
  });
}
