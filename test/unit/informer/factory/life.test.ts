/** Start, wait, shut down: for all informers of a factory together. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { InformerThreads, NotSyncedError, builtInResources, transformModule } from '../../../../src/index.ts';
import type { KubeloomError, WaitProgress } from '../../../../src/index.ts';
import { Gate, turns } from '../scene.ts';
import { failRequests } from '../../apiserver/fail-requests.ts';
import { POD, Scene, THREADS, keys, object, rejection, soon, synced } from './scene.ts';

describe('start', () => {
  for (const threads of THREADS) {
    test(`C157 starts what was asked for; what is asked for later needs another start (threads ${threads})`, async () => {
      await using scene = await Scene.start(threads);
      await scene.create('configmaps', object('c'));
      const factory = scene.typed();
      const pods = factory.core.v1.pods.informer;
      await synced(factory);
      const configMaps = factory.core.v1.configMaps;
      assert.equal(configMaps.informer.hasStarted(), false);
      await factory.waitForCacheSync(soon());
      assert.equal(configMaps.informer.hasSynced(), false, 'nobody waits for what was not started');
      await synced(factory);
      assert.deepEqual(keys(configMaps.lister.list()), ['default/c']);
      assert.ok(pods.hasSynced());
      assert.equal((await scene.requests('/api/v1/pods')).length, 1);
    });
  }

  test('ends what it started with its signal, and that only', async () => {
    await using scene = await Scene.start(0);
    const factory = scene.typed();
    const pods = factory.core.v1.pods.informer;
    const end = new AbortController();
    factory.start(end.signal);
    const configMaps = factory.core.v1.configMaps.informer;
    factory.start();
    await factory.waitForCacheSync(soon());
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

  test('C157 does nothing after shutdown, and nothing new can be asked for', async () => {
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

  test('C158 names what is missing, and why, when its signal is aborted', async () => {
    await using scene = await Scene.start(0);
    const factory = scene.typed();
    const pods = factory.core.v1.pods.informer;
    const configMaps = factory.core.v1.configMaps.informer;
    await failRequests(scene.server, 503, 'always', { path: '/pods' });
    const failed = new Promise((resolve) => pods.setWatchErrorHandler(resolve));
    factory.start();
    await failed;
    await configMaps.waitForSync(soon());
    const end = new AbortController();
    const waiting = rejection(factory.waitForCacheSync(end.signal));
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

  test('tells how far it is', async () => {
    await using scene = await Scene.start(0);
    const factory = scene.typed();
    assert.ok(factory.core.v1.pods.informer);
    assert.ok(factory.core.v1.nodes.informer);
    factory.start();
    const seen: WaitProgress[] = [];
    await factory.waitForCacheSync(soon(), { onProgress: (progress) => void seen.push(progress) });
    assert.deepEqual([...new Set(seen.map(({ what }) => what))], ['SharedInformerFactory']);
    const names = ['SharedIndexInformer nodes', 'SharedIndexInformer pods'];
    assert.deepEqual(seen.at(-1)?.done, names);
    assert.deepEqual(seen.at(-1)?.missing, []);
  });

  for (const threads of THREADS) {
    test(`C158 rejects when a module cannot be loaded, which onError hears of too (threads ${threads})`, async () => {
      await using scene = await Scene.start(threads);
      const url = new URL('./there-is-none.js', import.meta.url).href;
      const factory = scene.typed({ transform: transformModule(url) });
      const { informer } = factory.core.v1.pods;
      factory.start();
      const error = await rejection(factory.waitForCacheSync(soon()));
      assert.ok(error instanceof NotSyncedError);
      assert.deepEqual(
        error.missing.map(({ name }) => name),
        ['SharedIndexInformer pods'],
      );
      assert.equal(scene.errors.length, 1);
      assert.equal((error.cause as KubeloomError).code, scene.codes[0]);
      assert.match(scene.errors[0]?.message ?? '', /there-is-none/);
      assert.ok(informer.isStopped());
      await rejection(factory.waitForCacheSync(soon()));
    });

    test(`rejects when the threads end, which onError hears of once (threads ${threads})`, async () => {
      await using scene = await Scene.start(threads);
      await using doomed = new InformerThreads({ shards: threads });
      const factory = scene.typed({ threads: doomed });
      assert.ok(factory.core.v1.pods.informer);
      await failRequests(scene.server, 'hang', 'always');
      factory.start();
      const waiting = rejection(factory.waitForCacheSync(soon()));
      await turns();
      await doomed.close();
      const error = await waiting;
      assert.equal((error.cause as KubeloomError).code, 'ERR_KUBELOOM_STOPPED');
      await factory.shutdown();
      assert.deepEqual(scene.codes, ['ERR_KUBELOOM_STOPPED']);
    });
  }

  test('rejects when the factory is shut down meanwhile', async () => {
    await using scene = await Scene.start(0);
    await failRequests(scene.server, 'hang', 'always');
    const factory = scene.typed();
    assert.ok(factory.core.v1.pods.informer);
    factory.start();
    const waiting = rejection(factory.waitForCacheSync(soon()));
    await factory.shutdown();
    const error = await waiting;
    assert.equal(error.code, 'ERR_KUBELOOM_NOT_SYNCED');
    assert.equal((error.cause as KubeloomError).code, 'ERR_KUBELOOM_STOPPED');
  });
});

describe('shutdown', () => {
  for (const threads of THREADS) {
    test(`C159 waits for calls in progress, of all informers (threads ${threads})`, async () => {
      await using scene = await Scene.start(threads);
      await scene.create('pods', object('p'));
      await scene.create('services', object('s'));
      const factory = scene.typed();
      const gate = new Gate();
      const done: string[] = [];
      const begun = Promise.all(
        [factory.core.v1.pods, factory.core.v1.services].map(
          ({ informer }) =>
            new Promise<void>((resolve) => {
              informer.addEventHandler({
                onAdd: async ({ key }: { key: string }) => {
                  resolve();
                  await gate.opened;
                  done.push(key);
                },
              });
            }),
        ),
      );
      await synced(factory);
      await begun;
      let isOver = false;
      const ending = factory.shutdown().then(() => (isOver = true));
      const again = factory.shutdown();
      await turns();
      assert.equal(isOver, false);
      gate.open();
      await ending;
      assert.deepEqual(done.toSorted(), ['default/p', 'default/s']);
      await again;
      await factory.shutdown();
      assert.deepEqual(scene.errors, []);
    });
  }

  test('C159 names the handlers that still run when its signal is aborted, and can be asked again', async () => {
    await using scene = await Scene.start(0);
    await scene.create('pods', object('p'));
    const factory = scene.typed();
    const gate = new Gate();
    await using _opened = { [Symbol.asyncDispose]: () => Promise.resolve(gate.open()) };
    const begun = new Promise<void>((resolve) => {
      factory.core.v1.pods.informer.addEventHandler(
        {
          onAdd: () => {
            resolve();
            return gate.opened;
          },
        },
        { name: 'stubborn' },
      );
    });
    factory.core.v1.services.informer.addEventHandler({ onAdd: () => undefined }, { name: 'obedient' });
    await synced(factory);
    await begun;
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
    gate.open();
    await factory.shutdown();
  });

  test('drops pending notifications, or drains them', async () => {
    for (const drain of [false, true]) {
      await using scene = await Scene.start(0);
      await scene.create('pods', object('a'), object('b'), object('c'));
      const factory = scene.typed();
      const gate = new Gate();
      const told: string[] = [];
      const begun = new Promise<void>((resolve) => {
        factory.core.v1.pods.informer.addEventHandler({
          onAdd: ({ name }) => {
            told.push(name);
            resolve();
            return gate.opened;
          },
        });
      });
      await synced(factory);
      await begun;
      const ending = factory.shutdown({ drain });
      await turns();
      gate.open();
      await ending;
      assert.equal(told.length, drain ? 3 : 1);
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
    factory.start(signal);
    await rejection(factory.waitForCacheSync(AbortSignal.timeout(1)));
    await factory.shutdown({ signal });
    await turns();
    process.off('warning', warned);
    assert.deepEqual(warnings, []);
  });

  test('ends informers that were never started, and needs no start', async () => {
    await using scene = await Scene.start(0);
    const factory = scene.typed();
    const { informer } = factory.forResource(POD);
    await factory[Symbol.asyncDispose]();
    assert.ok(informer.isStopped());
  });

  test('leaves no watch open', async () => {
    await using scene = await Scene.start(2);
    const factory = scene.typed();
    assert.ok(factory.core.v1.pods.informer);
    assert.ok(factory.core.v1.nodes.informer);
    await synced(factory);
    assert.equal((await scene.server.watches()).length, 2);
    await factory.shutdown();
    while ((await scene.server.watches()).length > 0) await turns(1);
  });
});
