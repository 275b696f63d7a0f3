/** The dynamic factory: any resource, with or without its kind. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { DynamicSharedInformerFactory } from '../../../../src/client-go/index.ts';
import type { ListerWatcher } from '../../../../src/index.ts';
import { settled } from '../../../../src/tools/apiserver/testing/index.ts';
import { POD, Scene, THREADS, WIDGET, keys, object, synced } from './scene.ts';

/** Resource of an aggregated server: neither in the table, nor with kinds in its lists. */
const METRICS = {
  group: 'metrics.k8s.io',
  version: 'v1beta1',
  resource: 'podmetrics',
  kind: 'PodMetrics',
  namespaced: true,
};
const METRIC = { group: 'metrics.k8s.io', version: 'v1beta1', resource: 'podmetrics' };

describe('the dynamic factory', () => {
  for (const threads of THREADS) {
    for (const watchList of ['auto', 'off'] as const) {
      const title = `(threads ${threads}, watchList ${watchList})`;

      test(`follows a custom resource of which it knows only the name ${title}`, async () => {
        await using scene = await Scene.start(threads);
        await scene.create('widgets.example.com', object('a'), object('b', 'other'));
        const factory = scene.dynamic({ list: { watchList } });
        const { informer, lister } = factory.forResource(WIDGET);
        assert.equal(factory.forResource({ ...WIDGET, kind: 'Widget' }).informer, informer);
        await synced(factory);
        assert.deepEqual(keys(lister.list()), ['default/a', 'other/b']);
        await scene.server.apply([
          {
            type: 'update',
            resource: 'widgets.example.com',
            object: object('a', 'default', { labels: { x: 'y' } }),
          },
          { type: 'delete', resource: 'widgets.example.com', name: 'b', namespace: 'other' },
          { type: 'create', resource: 'widgets.example.com', object: object('c') },
        ]);
        await settled(factory);
        assert.deepEqual(keys(lister.list()), ['default/a', 'default/c']);
        assert.deepEqual(keys(lister.list('x=y')), ['default/a']);
        for (const entry of lister.list()) {
          assert.equal(entry.object.kind, 'Widget');
          assert.equal(entry.object.apiVersion, 'example.com/v1');
          assert.deepEqual(entry.object['spec'], { size: 1 });
        }
        assert.match(inspect(lister.get('default/a')), /^widgets default\/a@\d+$/);
        const requests = await scene.requests('/apis/example.com/v1/widgets');
        assert.equal(requests.length, watchList === 'auto' ? 1 : 2);
        assert.deepEqual(scene.errors, []);
      });

      test(`fills in the kind of built-in resources, and what else their lists say ${title}`, async () => {
        await using scene = await Scene.start(threads);
        await scene.server.registerResource(METRICS);
        await scene.create('pods', object('p'));
        await scene.create('podmetrics.metrics.k8s.io', object('m'));
        const factory = scene.dynamic({ list: { watchList } });
        const pods = factory.forResource(POD);
        const metrics = factory.forResource(METRIC);
        await synced(factory);
        await scene.create('podmetrics.metrics.k8s.io', object('n'));
        await settled(factory);
        const said = ({ lister }: typeof pods): unknown[] =>
          lister.list().map(({ object: { kind, apiVersion } }) => [kind, apiVersion]);
        assert.deepEqual(said(pods), [['Pod', 'v1']]);
        assert.deepEqual(said(metrics), [
          ['PodMetrics', 'metrics.k8s.io/v1beta1'],
          ['PodMetrics', 'metrics.k8s.io/v1beta1'],
        ]);
      });
    }
  }

  test('stores objects without a kind unchanged when the kind is unknown; else they get it', async () => {
    await using scene = await Scene.start(0);
    const source: ListerWatcher<unknown> = {
      isWatchListUnsupported: true,
      list: () =>
        Promise.resolve({
          kind: 'List',
          metadata: { resourceVersion: '5' },
          items: [{ metadata: { name: 'a', namespace: 'default', resourceVersion: '4' } }],
        }),
      watch: (_options, signal) =>
        Promise.resolve({
          async *[Symbol.asyncIterator]() {
            if (!signal.aborted) await once(signal, 'abort');
          },
          stop: () => {},
        }),
    };
    const factory = new DynamicSharedInformerFactory(() => source, scene.options());
    const widgets = factory.forResource(WIDGET);
    const pods = factory.forResource(POD);
    await synced(factory);
    assert.deepEqual(Object.keys(widgets.lister.get('default/a')?.object ?? {}), ['metadata']);
    assert.equal(pods.lister.get('default/a')?.object.kind, 'Pod');
    await factory.shutdown();
  });
});
