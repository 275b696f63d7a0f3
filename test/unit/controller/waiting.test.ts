/** Controllers whose kinds, caches or functions are not as they should be: they wait, report, and go on. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeClock, startEmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import type { KindLike } from '../../../src/kube/rest-mapper.ts';
import type { ErrorCode } from '../../../src/base/error-codes/error-table.ts';
import { KubeloomError } from '../../../src/base/errors.ts';
import { awaitedResource } from '../../../src/controller/awaited-resource.ts';
import { resources } from '../../../src/index.ts';
import type { InformersMap } from '../../../src/controller/index.ts';
import { Manager } from '../../../src/controller/index.ts';
import { processWarnings } from '../../kit/warnings.ts';
import { Gate, Reconciliations, Scene, managerOf, managerWith, object, rejection, turns } from './scene.ts';

const { configMaps } = resources.core.v1;

const DEFINITION = {
  metadata: { name: 'foos.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'foos', kind: 'Foo' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};
/** An informer of a kind that is named in full waits by itself. */
const NAMES: Readonly<Record<string, KindLike>> = {
  'by its kind': { group: 'example.com', kind: 'Foo' },
  'by its resource': { resource: 'foos' },
  'as text': 'foos.example.com',
};
const YEAR_MS = 365 * 86_400_000;

describe('a kind that comes later', () => {
  for (const [how, kind] of Object.entries(NAMES)) {
    it(`C286 is waited for when it is named ${how}`, async () => {
      await using server = await startEmbeddedApiServer({ tls: false });
      const clock = new FakeClock();
      using missed = new Gate();
      const cache = { threads: { indexerThreads: 0 }, clock, onError: missed.open };
      const manager = new Manager(server.connection, { cache, clock, cacheSyncTimeoutMs: YEAR_MS });
      const done = new Reconciliations();
      manager.controllerFor(kind).reconcile(done.reconcile);
      const stop = new AbortController();
      const running = manager.run({ signal: stop.signal });
      await missed.opened;
      await server.apply([
        { type: 'create', resource: 'customresourcedefinitions.apiextensions.k8s.io', object: DEFINITION },
      ]);
      await server.apply([{ type: 'create', resource: 'foos.example.com', object: object('a') }]);
      while (done.keys.length === 0) {
        await turns();
        clock.advance(100);
      }
      assert.deepEqual(done.keys, ['default/a']);
      stop.abort();
      await running;
    });
  }

  it('C286 is given up with its name and the reason when the time is over', async () => {
    const clock = new FakeClock();
    await using running = await managerWith([], { clock, cacheSyncTimeoutMs: 5000 });
    const { scene } = running;
    running.manager.controllerFor('foos.example.com').reconcile(() => undefined);
    const failed = rejection(running.run());
    while (scene.errors.length === 0) await turns();
    assert.equal(scene.errors[0]?.code, 'ERR_KUBELOOM_UNKNOWN_RESOURCE');
    clock.advance(5000);
    const { code, message } = await failed;
    assert.equal(code, 'ERR_KUBELOOM_NOT_SYNCED');
    assert.match(message, /foos\.example\.com.*the server has no resource/);
    assert.equal(scene.errors.length, 1);
  });

  it('C286 does not wait when the name fits several kinds, or is invalid', async () => {
    await using running = await managerWith([]);
    running.manager.controllerFor('').reconcile(() => undefined);
    assert.equal((await rejection(running.run())).code, 'ERR_KUBELOOM_OPTION');
  });
});

describe('a server that does not answer yet', () => {
  it('C286 is asked again, and each kind of error is reported once', async () => {
    const clock = new FakeClock();
    const errors = ['UNREACHABLE', 'UNREACHABLE', 'UNKNOWN_RESOURCE'].map(
      (code) => new KubeloomError(`ERR_KUBELOOM_${code}` as ErrorCode, 'not yet'),
    );
    const reported: unknown[] = [];
    const restMapper = {
      refresh: () => Promise.resolve(),
      resourceFor: async () => {
        const error = errors.shift();
        if (error) throw error;
        return configMaps;
      },
    };
    const cache = { restMapper, report: ({ code }: KubeloomError) => reported.push(code) };
    const { signal } = new AbortController();
    const found = awaitedResource('configmaps', cache as unknown as InformersMap, signal, clock);
    for (const pauseMs of [500, 1000, 2000]) {
      await clock.waitForTimers(1);
      clock.advance(pauseMs - 1);
      await turns();
      clock.advance(1);
      await turns();
    }
    assert.equal(await found, configMaps);
    assert.deepEqual(reported, ['ERR_KUBELOOM_UNREACHABLE', 'ERR_KUBELOOM_UNKNOWN_RESOURCE']);
  });
});

describe('a write that the cache does not have', () => {
  it('C287 lets other keys be reconciled, and its own key after 10 s', async () => {
    const clock = new FakeClock();
    await using scene = await Scene.start();
    await scene.create(
      'configmaps',
      ...['a', 'b'].map((name) => object(name, 'default', { labels: { in: 'yes' } })),
    );
    await using running = managerOf(scene, { clock, cache: { labelSelector: 'in=yes' } });
    const done = running.reconciles({ kind: configMaps }, async (key, { client }) => {
      if (done.keys.length > 2) return undefined;
      await client.create(configMaps, {
        metadata: { namespace: 'default', name: `out-of-${key.slice(-1)}` },
      });
      return { requeueAfterMs: 1 };
    });
    void running.run();
    await done.count(2);
    await turns();
    clock.advance(1);
    await turns();
    assert.deepEqual(done.keys.toSorted(), ['default/a', 'default/b']);
    while (done.keys.length < 4) {
      await turns();
      clock.advance(1000);
    }
    assert.ok(clock.now() >= 10_000);
  });
});

describe('functions of the program', () => {
  it('C281 that throw are reported, and the controller reconciles the other keys', async (context) => {
    const warned = processWarnings(context);
    const wrong = (): never => {
      throw new TypeError('wrong');
    };
    await using scene = await Scene.start();
    await scene.create('configmaps', object('bad'), object('good'));
    await using running = managerOf(scene, { onReady: wrong });
    const done = new Reconciliations((key) => {
      if (key === 'default/bad') throw new Error('no');
    });
    const rateLimiter = { when: wrong, forget: wrong, numRequeues: wrong };
    running.manager
      .controllerFor(configMaps, { onError: wrong, predicate: wrong, rateLimiter })
      .watches(resources.core.v1.pods, wrong)
      .reconcile(done.reconcile);
    void running.run();
    await done.count(2);
    await scene.create('pods', object('p'));
    await scene.create('configmaps', object('late'));
    while (!done.keys.includes('default/late')) await turns();
    assert.ok(done.keys.includes('default/good'));
    assert.deepEqual(new Set(warned.map(({ code }) => code)), new Set(['ERR_KUBELOOM_ERROR_LISTENER']));
    assert.ok(scene.errors.every(({ code }) => code === 'ERR_KUBELOOM_HANDLER'));
    assert.ok(scene.errors.length > 0);
  });
});
