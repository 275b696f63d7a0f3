/** Start, wait, shut down: for all informers of a factory together. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { InformerThreads, NotSyncedError, transformModule } from '../../../../src/index.ts';
import { builtInResources } from '../../../../src/client-go/index.ts';
import type { KubeloomError, WaitProgress } from '../../../../src/index.ts';
import { HeldHandler, turns } from '../scene.ts';
import { failRequests } from '../../tools/apiserver/fail-requests.ts';
import { Scene, THREADS, keys, object, rejection, soon, synced } from './scene.ts';

describe('start', () => {
  for (const threads of THREADS) {
    test(`C157 starts the requested informers; those that are requested later need another start (threads ${threads})`, async () => {
      await using scene = await Scene.start(threads);
      await scene.create('configmaps', object('c'));
      const factory = scene.typed();
      const pods = factory.core.v1.pods.informer;
      await synced(factory);
      const configMaps = factory.core.v1.configMaps;
      assert.equal(configMaps.informer.hasStarted(), false);
      await factory.waitForCacheSync({ signal: soon() });
      assert.equal(
        configMaps.informer.hasSynced(),
        false,
        'the wait leaves out informers that were not started',
      );
      await synced(factory);
      assert.deepEqual(keys(configMaps.lister.list()), ['default/c']);
      assert.ok(pods.hasSynced());
      assert.equal((await scene.requests('/api/v1/pods')).length, 1);
    });
  }

  test('ends only the informers that it started, with its signal', async () => {
    await using scene = await Scene.start(0);
    const factory = scene.typed();
    const pods = factory.core.v1.pods.informer;
    const end = new AbortController();
    factory.start({ signal: end.signal });
    const configMaps = factory.core.v1.configMaps.informer;
    factory.start();
    await factory.waitForCacheSync({ signal: soon() });
    end.abort();
    await pods.shutdown();
    assert.ok(pods.isStopped());
    assert.equal(configMaps.isStopped(), false);
    factory.start();
    assert.ok(pods.isStopped(), 'an informer runs once');
  });

  test('does not start an informer that the caller runs', async () => {
    await using scene = await Scene.start(0);
    const factory = scene.typed();
    const run = factory.core.v1.pods.informer.run();
    await synced(factory);
    assert.ok(factory.core.v1.pods.informer.hasSynced());
    await factory.shutdown();
    await run;
    assert.deepEqual(scene.errors, []);
  });

  test('C157 does nothing after shutdown, when requests of new informers throw', async () => {
    await using scene = await Scene.start(0);
    const factory = scene.typed();
    const { informer } = factory.core.v1.pods;
    await factory.shutdown();
    factory.start();
    assert.equal(informer.hasStarted(), false);
    assert.equal(factory.core.v1.pods.informer, informer);
    const stopped = { code: 'ERR_KUBELOOM_STOPPED' };
    assert.throws(() => informer.addEventHandler({ onAdd: () => undefined }), stopped);
    assert.throws(() => factory.core.v1.configMaps.informer, stopped);
    assert.deepEqual(factory.informers, [informer]);
    await factory.waitForCacheSync();
    assert.deepEqual(await scene.server.requests(), []);
  });
});

describe('waitForCacheSync', () => {
  test('resolves at once when nothing was started', async () => {
    await using scene = await Scene.start(0);
    const factory = scene.typed();
    await factory.waitForCacheSync();
    assert.ok(factory.core.v1.pods.informer);
    await factory.waitForCacheSync();
  });

  test('C158 names the missing informers and the reasons when its signal is aborted', async () => {
    await using scene = await Scene.start(0);
    const factory = scene.typed();
    const pods = factory.core.v1.pods.informer;
    const configMaps = factory.core.v1.configMaps.informer;
    await failRequests(scene.server, 503, 'always', { path: '/pods' });
    const failed = new Promise((resolve) => pods.setWatchErrorHandler(resolve));
    factory.start();
    await failed;
    await configMaps.waitForSync({ signal: soon() });
    const end = new AbortController();
    const waiting = rejection(factory.waitForCacheSync({ signal: end.signal }));
    end.abort(new Error('enough'));
    const error = await waiting;
    assert.ok(error instanceof NotSyncedError);
    assert.equal(error.code, 'ERR_KUBELOOM_NOT_SYNCED');
    assert.equal((error.cause as Error).message, 'enough');
    assert.deepEqual(
      error.missing.map(({ name }) => name),
      ['SharedIndexInformer pods'],
    );
    assert.match(error.missing[0]?.reason ?? '', /503/);
    assert.deepEqual(error.synced, ['SharedIndexInformer configmaps']);
  });

  test('reports the progress of its informers', async () => {
    await using scene = await Scene.start(0);
    const factory = scene.typed();
    assert.ok(factory.core.v1.pods.informer);
    assert.ok(factory.core.v1.nodes.informer);
    factory.start();
    const seen: WaitProgress[] = [];
    await factory.waitForCacheSync({ signal: soon(), onProgress: (progress) => void seen.push(progress) });
    assert.deepEqual([...new Set(seen.map(({ what }) => what))], ['SharedInformerFactory']);
    const names = ['SharedIndexInformer nodes', 'SharedIndexInformer pods'];
    assert.deepEqual(seen.at(-1)?.done, names);
    assert.deepEqual(seen.at(-1)?.missing, []);
  });

  for (const threads of THREADS) {
    test(`C158 rejects when a module cannot be loaded, which is also reported to onError (threads ${threads})`, async () => {
      await using scene = await Scene.start(threads);
      const url = new URL('./there-is-none.js', import.meta.url).href;
      const factory = scene.typed({ transform: transformModule(url) });
      const { informer } = factory.core.v1.pods;
      factory.start();
      const error = await rejection(factory.waitForCacheSync({ signal: soon() }));
      assert.ok(error instanceof NotSyncedError);
      assert.deepEqual(
        error.missing.map(({ name }) => name),
        ['SharedIndexInformer pods'],
      );
      assert.equal(scene.errors.length, 1);
      assert.equal((error.cause as KubeloomError).code, scene.codes[0]);
      assert.match(scene.errors[0]?.message ?? '', /there-is-none/);
      assert.ok(informer.isStopped());
      await rejection(factory.waitForCacheSync({ signal: soon() }));
    });

    for (const ending of ['the threads are closed', 'the factory is shut down']) {
      test(`rejects when ${ending}; only an end of the threads is reported (threads ${threads})`, async () => {
        await using scene = await Scene.start(threads);
        await using doomed = new InformerThreads({ indexerThreads: threads });
        const factory = scene.typed({ threads: doomed });
        assert.ok(factory.core.v1.pods.informer);
        await failRequests(scene.server, 'hang', 'always');
        factory.start();
        const waiting = rejection(factory.waitForCacheSync({ signal: soon() }));
        await turns();
        const isOfThreads = ending === 'the threads are closed';
        await (isOfThreads ? doomed.close() : factory.shutdown());
        const error = await waiting;
        assert.equal(error.code, 'ERR_KUBELOOM_NOT_SYNCED');
        assert.equal((error.cause as KubeloomError).code, 'ERR_KUBELOOM_STOPPED');
        await factory.shutdown();
        assert.deepEqual(scene.codes, isOfThreads ? ['ERR_KUBELOOM_STOPPED'] : []);
      });
    }
  }
});

describe('shutdown', () => {
  for (const threads of THREADS) {
    test(`C159 waits for calls in progress, of all informers (threads ${threads})`, async () => {
      await using scene = await Scene.start(threads);
      await scene.create('pods', object('p'));
      await scene.create('services', object('s'));
      const factory = scene.typed();
      using ofPods = new HeldHandler();
      using ofServices = new HeldHandler();
      factory.core.v1.pods.informer.addEventHandler(ofPods);
      factory.core.v1.services.informer.addEventHandler(ofServices);
      await synced(factory);
      await Promise.all([ofPods.begun, ofServices.begun]);
      let isOver = false;
      const ending = factory.shutdown().then(() => (isOver = true));
      const again = factory.shutdown();
      await turns();
      ofPods.gate.open();
      await turns();
      assert.equal(isOver, false);
      ofServices.gate.open();
      await ending;
      await again;
      await factory.shutdown();
      assert.deepEqual(scene.errors, []);
    });
  }

  test('C159 names the handlers that still run when its signal is aborted, and may be called again', async () => {
    await using scene = await Scene.withPods(object('p'));
    const factory = scene.typed();
    using held = new HeldHandler();
    factory.core.v1.pods.informer.addEventHandler(held, { name: 'stubborn' });
    factory.core.v1.services.informer.addEventHandler({ onAdd: () => undefined }, { name: 'obedient' });
    await synced(factory);
    await held.begun;
    const end = new AbortController();
    const ending = rejection(factory.shutdown({ signal: end.signal }));
    await turns();
    const enough = new Error('enough');
    end.abort(enough);
    const error = await ending;
    assert.equal(error.code, 'ERR_KUBELOOM_STILL_RUNNING');
    assert.match(error.message, /^SharedInformerFactory: .*pods.*stubborn/);
    assert.doesNotMatch(error.message, /obedient/);
    assert.equal(error.cause, enough);
    held.gate.open();
    await factory.shutdown();
  });

  test('drops pending notifications, or drains them', async () => {
    for (const drain of [false, true]) {
      await using scene = await Scene.withPods(object('a'), object('b'), object('c'));
      const factory = scene.typed();
      using held = new HeldHandler();
      factory.core.v1.pods.informer.addEventHandler(held);
      await synced(factory);
      await held.begun;
      const ending = factory.shutdown({ drain });
      await turns();
      held.gate.open();
      await ending;
      assert.equal(held.lines.length, drain ? 3 : 1);
    }
  });

  test('and waiting listen to one signal for any number of informers, without a warning', async () => {
    await using scene = await Scene.start(0);
    const warnings: Error[] = [];
    const warned = (warning: Error): number => warnings.push(warning);
    process.on('warning', warned);
    const factory = scene.typed();
    for (const resource of builtInResources().slice(0, 20)) factory.forResource(resource);
    const { signal } = new AbortController();
    factory.start({ signal });
    const patience = new AbortController();
    const waiting = rejection(factory.waitForCacheSync({ signal: patience.signal }));
    patience.abort();
    await waiting;
    await factory.shutdown({ signal });
    await turns();
    process.off('warning', warned);
    assert.deepEqual(warnings, []);
  });

  test('that waits for informers which were not started reports each, with the call that is missing', async () => {
    await using scene = await Scene.start(0);
    const factory = scene.typed();
    factory.core.v1.pods.informer.addEventHandler({ onAdd: () => {} });
    await factory.waitForCacheSync();
    await factory.waitForCacheSync();
    factory.start();
    assert.ok(factory.core.v1.configMaps.informer);
    await factory.waitForCacheSync();
    const reports = scene.errors.map(({ code, message }) => [code, message.split(':')[0]]);
    assert.deepEqual(reports, [
      ['ERR_KUBELOOM_NOT_STARTED', 'pods (all namespaces) is waited for'],
      ['ERR_KUBELOOM_NOT_STARTED', 'configmaps (all namespaces) is waited for'],
    ]);
    assert.match(scene.errors[0]?.message ?? '', /start\(\) of its factory/);
    await factory.shutdown();
  });

  test('leaves no watch open, and stops informers that were never started', async () => {
    await using scene = await Scene.start(2);
    const factory = scene.typed();
    assert.ok(factory.core.v1.pods.informer);
    assert.ok(factory.core.v1.nodes.informer);
    await synced(factory);
    assert.equal((await scene.server.watches()).length, 2);
    const { informer } = factory.core.v1.secrets;
    await factory[Symbol.asyncDispose]();
    assert.ok(informer.isStopped());
    while ((await scene.server.watches()).length > 0) await turns(1);
  });
});
