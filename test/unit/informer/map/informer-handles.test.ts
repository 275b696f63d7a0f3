/** Asking for a kind, giving it back, and what can be read in between, before and after. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { InformersMap, NotCachedError } from '../../../../src/controller/index.ts';
import { NotFoundError, NotSyncedError } from '../../../../src/index.ts';
import { collectMetrics } from '../../../../src/metrics/index.ts';
import { MetricsReading } from '../../../../src/tools/cli/top/reading.ts';
import type { InformerHandle } from '../../../../src/controller/index.ts';
import type { KubeObject } from '../../../../src/index.ts';
import { settled } from '../../../../src/tools/apiserver/testing/index.ts';
import { failRequests } from '../../tools/apiserver/fail-requests.ts';
import {
  HeldHandler,
  Lines,
  NODE,
  POD,
  Scene,
  WIDGET,
  isPending,
  object,
  pod,
  rejection,
  soon,
  turns,
} from './scene.ts';

describe('informerFor', () => {
  test('starts a kind when it is asked for, and resolves when it has synced', async () => {
    await using scene = await Scene.withPods(pod('x', 'a'));
    const cache = scene.cache();
    assert.deepEqual(await scene.requests(), []);
    await using pods = await cache.informerFor<{ readonly spec: object }>(POD);
    assert.ok(pods.hasSynced());
    assert.deepEqual(pods.require({ namespace: 'a', name: 'x' }).object.spec, {});
    assert.equal(pods.get('a/nobody'), undefined);
    assert.throws(() => pods.require('a/nobody'), NotFoundError);
  });

  test('requests discovery only for kinds that are not built in, and reads by any name afterwards', async () => {
    await using scene = await Scene.start();
    await scene.create('widgets.example.com', object('w', 'a'));
    const cache = scene.cache();
    assert.throws(() => cache.get(WIDGET, 'a/w'), NotCachedError);
    await using widgets = await cache.informerFor(WIDGET);
    const before = (await scene.requests()).length;
    for (const name of ['widgets', 'widgets.example.com', 'Widget', 'widgets.v1.example.com', WIDGET]) {
      assert.equal(cache.get(name, 'a/w'), widgets.require('a/w'));
    }
    await using again = await cache.informerFor('widget');
    assert.equal(again.resource.kind, 'Widget');
    assert.equal((await scene.requests()).length, before);
  });

  test('rejects for an unknown kind with a code, and starts no informer', async () => {
    await using scene = await Scene.start();
    const cache = scene.cache();
    const unknown = await rejection(cache.informerFor({ kind: 'Gadget', group: 'example.com' }));
    assert.equal(unknown.code, 'ERR_KUBELOOM_UNKNOWN_RESOURCE');
    assert.equal((await rejection(cache.informerFor(''))).code, 'ERR_KUBELOOM_OPTION');
    assert.equal((await rejection(cache.informerFor({} as never))).code, 'ERR_KUBELOOM_OPTION');
    assert.deepEqual(cache.informers, []);
  });

  test('releases the kind when its signal is aborted, and names the missing informers', async () => {
    await using scene = await Scene.start();
    await failRequests(scene.server, 403, 'always', { path: '/pods' });
    const cache = scene.cache({ name: 'mine' });
    const end = new AbortController();
    const waiting = rejection(cache.informerFor(POD, { signal: end.signal }));
    while (scene.errors.length === 0) await turns();
    assert.throws(() => cache.get(POD, 'a/x'), {
      code: 'ERR_KUBELOOM_NOT_CACHED',
      message: /has not synced/,
    });
    const everything = rejection(cache.waitForCacheSync({ signal: end.signal }));
    end.abort(new Error('enough'));
    for (const error of [await waiting, await everything]) {
      assert.ok(error instanceof NotSyncedError);
      assert.match(error.message, /^mine: .*SharedIndexInformer pods: .*403/);
      assert.equal((error.cause as Error).message, 'enough');
    }
    assert.deepEqual(cache.informers, []);
    assert.equal((await rejection(cache.informerFor(POD, { signal: end.signal }))).message, 'enough');
  });

  test('does not wait with `wait: false`: handlers receive everything from the beginning', async () => {
    await using scene = await Scene.withPods(pod('x', 'a'));
    const cache = scene.cache();
    await using pods = await cache.informerFor(POD, { wait: false });
    assert.equal(pods.hasSynced(), false);
    assert.throws(() => pods.get('a/x'), NotCachedError);
    const told = new Lines();
    const registration = pods.addEventHandler(told);
    assert.match(registration.hasSyncedChecker.name, /^InformersMap pods \+ event handler Lines$/);
    await cache.waitForCacheSync({ signal: soon() });
    assert.ok(pods.hasSynced());
    await registration.hasSyncedChecker.done;
    assert.deepEqual(told.lines, ['add a/x initial']);
  });
});

describe('release', () => {
  test('C165 the last one ends the watch; reading is then NotCached, which is not NotFound', async () => {
    await using scene = await Scene.withPods(pod('x', 'a'));
    const cache = scene.cache();
    const one = await cache.informerFor(POD);
    const two = await cache.informerFor('pods', { view: 'metadata' });
    await one.release();
    await one.release();
    assert.throws(() => one.get('a/x'), NotCachedError);
    assert.throws(() => one.addEventHandler({ onAdd: () => undefined }), NotCachedError);
    assert.equal(one.hasSynced(), false);
    assert.ok(cache.get(POD, 'a/x'), 'the other one still has it');
    assert.equal((await scene.server.watches()).length, 1);
    const ending = two[Symbol.asyncDispose]();
    assert.throws(() => cache.get(POD, 'a/x'), NotCachedError, 'at once');
    await ending;
    while ((await scene.server.watches()).length > 0) await turns();
    const requests = (await scene.requests()).length;
    assert.throws(() => cache.list(POD), {
      code: 'ERR_KUBELOOM_NOT_CACHED',
      kind: 'Pod',
      message: /^Pod cannot be read .*informerFor\(\) of the cache.*owns\(\) or watches\(/,
    });
    assert.equal((await scene.requests()).length, requests, 'reading starts nothing');
    await using again = await cache.informerFor(POD);
    assert.equal(again.list().items.length, 1);
  });

  test("ends the calls of the handle's handlers, and of no others", async () => {
    await using scene = await Scene.start();
    const cache = scene.cache();
    const one = await cache.informerFor(POD);
    await using two = await cache.informerFor(POD);
    const [mine, others] = [new Lines(), new Lines()];
    one.addEventHandler(mine);
    two.addEventHandler(others);
    await scene.create('pods', pod('x', 'a'));
    await Promise.all([mine.count(1), others.count(1)]);
    await one.release();
    await scene.create('pods', pod('y', 'a'));
    await others.count(2);
    await settled(cache, { signal: soon() });
    assert.deepEqual(mine.lines, ['add a/x']);
  });

  test('waits for the call in progress; inside a handler that is an error, but the handle is released', async () => {
    await using scene = await Scene.withPods(pod('x', 'a'), pod('y', 'a'));
    const cache = scene.cache();
    const one = await cache.informerFor(POD);
    using held = new HeldHandler();
    one.addEventHandler(held);
    await held.begun;
    const releasing = one.release();
    assert.ok(await isPending(releasing));
    held.gate.open();
    await releasing;
    assert.equal(held.lines.length, 1);

    const two = await cache.informerFor(POD);
    const refused = await new Promise<Error & { readonly code?: string }>((resolve) => {
      two.addEventHandler({ onAdd: () => rejection(two.release()).then(resolve) });
    });
    assert.equal(refused.code, 'ERR_KUBELOOM_OWN_CALL');
    assert.throws(() => cache.get(POD, 'a/x'), NotCachedError);
  });

  test('of a single handler leaves the rest', async () => {
    await using scene = await Scene.start();
    const cache = scene.cache();
    await using pods = await cache.informerFor(POD);
    const [one, two] = [new Lines(), new Lines()];
    const registration = pods.addEventHandler(one, { name: 'one' });
    assert.equal(registration.name, 'one');
    pods.addEventHandler(two);
    await pods.removeEventHandler(registration);
    await pods.removeEventHandler(registration);
    await scene.create('pods', pod('x', 'a'));
    await two.count(1);
    assert.deepEqual(one.lines, []);
    assert.equal((await rejection(pods.removeEventHandler({} as never))).code, 'ERR_KUBELOOM_OPTION');
    assert.throws(() => pods.addEventHandler(7 as never), { code: 'ERR_KUBELOOM_OPTION' });
  });
});

describe('handlers', () => {
  test('that throw, or reject, are reported, and called for the next change', async () => {
    await using scene = await Scene.withPods(pod('x', 'a'), pod('y', 'a'));
    const cache = scene.cache();
    await using pods = await cache.informerFor(POD);
    const seen: string[] = [];
    const registration = pods.addEventHandler({
      onAdd: ({ key }) => {
        seen.push(key);
        if (key === 'a/x') throw new Error(`thrown ${key}`);
        return Promise.reject(new Error(`rejected ${key}`));
      },
    });
    await registration.hasSyncedChecker.done;
    assert.deepEqual(seen, ['a/x', 'a/y']);
    assert.deepEqual(
      scene.errors.map(({ message }) => message),
      [
        'event handler handler threw for a/x: thrown a/x',
        'event handler handler threw for a/y: rejected a/y',
      ],
    );
  });

  test('have separate resync periods', async () => {
    await using scene = await Scene.withPods(pod('x', 'a'));
    const cache = scene.cache();
    await using pods = await cache.informerFor(POD, { view: 'metadata' });
    const same = await new Promise((resolve) => {
      pods.addEventHandler(
        { onUpdate: (previous, current) => resolve(previous === current) },
        { resyncPeriodMs: 1000 },
      );
    });
    assert.equal(same, true);
  });

  test('have the duration of their calls measured on request', async () => {
    await using scene = await Scene.withPods(pod('x', 'a'));
    await using pods = await scene.cache().informerFor(POD, { view: 'metadata' });
    await new Promise((resolve) => {
      pods.addEventHandler({ onAdd: resolve }, { name: 'measured', measureDuration: true });
    });
    const measured = { handler: 'measured' };
    const histogram = new MetricsReading(collectMetrics()).histogram(
      'kubeloom_handler_duration_seconds',
      measured,
    );
    assert.ok(histogram);
  });
});

describe('shutdown', () => {
  test('C165 ends every kind and every wait, and leaves no watch', async () => {
    await using scene = await Scene.start();
    const cache = scene.cache();
    assert.ok(cache instanceof InformersMap);
    const pods = await cache.informerFor(POD);
    const nodes = await cache.informerFor(NODE, { view: 'metadata' });
    await failRequests(scene.server, 'hang', 'always');
    const waiting = rejection(cache.informerFor('secrets'));
    const discovering = rejection(cache.informerFor(WIDGET));
    await turns();
    const ending = cache.shutdown();
    assert.throws(() => pods.get('a/x'), NotCachedError, 'at once');
    await ending;
    await cache.shutdown();
    assert.equal((await waiting).code, 'ERR_KUBELOOM_NOT_SYNCED');
    assert.equal((await discovering).code, 'ERR_KUBELOOM_STOPPED');
    assert.deepEqual(cache.informers, []);
    while ((await scene.server.watches()).length > 0) await turns();
    assert.throws(() => pods.get('a/x'), NotCachedError);
    assert.throws(() => cache.get(NODE, 'n'), NotCachedError);
    assert.equal(nodes.hasSynced(), false);
    await pods.release();
    await nodes.release();
    for (const late of [cache.informerFor(POD), cache.indexField(POD, 'spec.nodeName')]) {
      assert.equal((await rejection(late)).code, 'ERR_KUBELOOM_STOPPED');
    }
    assert.deepEqual(scene.errors, []);
  });

  test('names the kinds that still run when its signal is aborted first', async () => {
    await using scene = await Scene.withPods(pod('x', 'a'));
    const cache = scene.cache();
    const pods: InformerHandle<KubeObject> = await cache.informerFor(POD);
    using held = new HeldHandler();
    pods.addEventHandler(held);
    await held.begun;
    const error = await rejection(cache.shutdown({ signal: AbortSignal.abort(new Error('enough')) }));
    assert.equal(error.code, 'ERR_KUBELOOM_STILL_RUNNING');
    assert.match(error.message, /pods/);
    held.gate.open();
    await cache.shutdown();
  });
});
