/** The options that all factories have: they reach every request and every informer. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FactoryOptions, ListOptions } from '../../../../src/index.ts';
import { FakeClock, settled } from '../../../../src/tools/apiserver/testing/index.ts';
import type { RequestRecord } from '../../../../src/tools/apiserver/testing/index.ts';
import { failRequests } from '../../tools/apiserver/fail-requests.ts';
import { POD, Scene, THREADS, WIDGET, keys, object, rejection, synced } from './scene.ts';

const PODS_PATH = '/api/v1/pods';

function selecting(options: ListOptions): ListOptions {
  return { ...options, labelSelector: 'app=web' };
}

const web = { labels: { app: 'web' } };

describe('tweakListOptions', () => {
  for (const threads of THREADS) {
    test(`C160 changes the options of every page of a list, and of the watch after it (threads ${threads})`, async () => {
      await using scene = await Scene.start(threads);
      const names = ['a', 'b', 'c', 'd', 'e'];
      await scene.create('pods', ...names.map((name) => object(name, 'default', web)), object('other'));
      const factory = scene.typed({
        list: { watchList: 'off', pageSize: 4 },
        tweakListOptions: (options) => ({ ...selecting(options), limit: 2, timeoutSeconds: 400 }),
      });
      const { informer } = factory.core.v1.pods;
      // "0" is answered whole; the newest state, from etcd, in pages.
      await failRequests(scene.server, 410, 1, { path: 'pods' });
      await synced(factory);
      await scene.server.waitForWatches(1);
      assert.deepEqual(
        keys(informer.getStore().list()),
        names.map((name) => `default/${name}`),
      );
      const requests = await scene.requests(PODS_PATH);
      const lists = requests.filter(({ watch }) => !watch);
      assert.deepEqual(
        lists.map(({ query }) => [query['resourceVersion'], query['limit'], query['continue'] !== undefined]),
        [
          ['0', '2', false],
          [undefined, '2', false],
          [undefined, '2', true],
          [undefined, '2', true],
        ],
      );
      assert.ok(requests.some(({ watch }) => watch));
      for (const { query } of requests) {
        assert.equal(query['labelSelector'], 'app=web');
        assert.equal(query['timeoutSeconds'], '400');
      }
    });

    test(`C160 changes the options of the streaming list and of the watch after it (threads ${threads})`, async () => {
      await using scene = await Scene.start(threads);
      await scene.create('pods', object('a', 'default', web), object('b'));
      const factory = scene.typed({ tweakListOptions: selecting });
      const { informer } = factory.core.v1.pods;
      await synced(factory);
      await scene.server.dropWatches({ how: 'close' });
      await scene.create('pods', object('c', 'default', web), object('d'));
      await scene.server.waitForWatches(1);
      await settled(informer);
      assert.deepEqual(keys(informer.getStore().list()), ['default/a', 'default/c']);
      const requests = await scene.requests(PODS_PATH);
      assert.deepEqual(
        requests.map(({ query }) => [query['sendInitialEvents'], query['labelSelector']]),
        [
          ['true', 'app=web'],
          [undefined, 'app=web'],
        ],
      );
    });
  }

  test('C160 does not change options that list-and-watch sets, and the attempt is reported once', async () => {
    await using scene = await Scene.withPods(object('a'));
    const factory = scene.typed({
      tweakListOptions: () => ({
        resourceVersion: '7',
        continue: 'x',
        shardSelector: 'x',
        labelSelector: '!nothing',
      }),
    });
    const { informer } = factory.core.v1.pods;
    await synced(factory);
    await scene.server.dropWatches({ how: 'close' });
    await scene.create('pods', object('b'));
    await scene.server.waitForWatches(1);
    await settled(informer);
    assert.deepEqual(keys(informer.getStore().list()), ['default/a', 'default/b']);
    const requests = await scene.requests(PODS_PATH);
    const own = (query: RequestRecord['query']): unknown[] => [
      query['sendInitialEvents'],
      query['allowWatchBookmarks'],
      query['resourceVersionMatch'],
      query['continue'],
      query['shardSelector'],
      query['labelSelector'],
    ];
    assert.deepEqual(
      requests.map(({ query }) => own(query)),
      [
        ['true', 'true', 'NotOlderThan', undefined, undefined, '!nothing'],
        [undefined, 'true', undefined, undefined, undefined, '!nothing'],
      ],
    );
    assert.notEqual(requests[1]?.query['resourceVersion'], '7');
    assert.ok(requests.every(({ watch, query }) => watch && query['timeoutSeconds'] !== undefined));
    assert.deepEqual(scene.codes, ['ERR_KUBELOOM_OPTION']);
    assert.match(
      scene.errors[0]?.message ?? '',
      /resourceVersion, resourceVersionMatch, continue, allowWatch/,
    );
  });

  test('fails a request when it throws or returns nothing, and the request is repeated', async () => {
    await using scene = await Scene.start(0);
    let calls = 0;
    const factory = scene.typed({
      tweakListOptions: (options) => {
        calls++;
        if (calls === 1) throw new Error('not yet');
        return calls === 2 ? (undefined as unknown as ListOptions) : options;
      },
    });
    assert.ok(factory.core.v1.pods.informer);
    await synced(factory);
    assert.deepEqual(scene.codes, ['ERR_KUBELOOM_OPTION', 'ERR_KUBELOOM_OPTION']);
    assert.match(scene.errors[0]?.message ?? '', /tweakListOptions threw: not yet/);
    assert.match(scene.errors[1]?.message ?? '', /must return an options object, got undefined/);
  });
});

describe('a namespaced factory', () => {
  for (const kind of ['typed', 'dynamic', 'metadata'] as const) {
    for (const threads of THREADS) {
      test(`has only objects of its namespace, and whole cluster-scoped resources (${kind}, threads ${threads})`, async () => {
        await using scene = await Scene.start(threads);
        await scene.create('pods', object('a', 'web'), object('b', 'other'));
        await scene.create('widgets.example.com', object('a', 'web'), object('b', 'other'));
        await scene.create('nodes', { metadata: { name: 'n1' } });
        const factory = scene[kind]({ namespace: 'web' });
        const wish = kind === 'typed' ? { ...WIDGET, kind: 'Widget', isNamespaced: true } : WIDGET;
        const pods = factory.forResource<unknown>(POD);
        const widgets = factory.forResource<unknown>(wish);
        const nodes = factory.forResource<unknown>({ group: '', version: 'v1', resource: 'nodes' });
        const seen: string[] = [];
        pods.informer.addEventHandler({
          onAdd: ({ key }) => seen.push(`add ${key}`),
          onUpdate: (_before, { key }) => seen.push(`update ${key}`),
          onDelete: ({ key }) => seen.push(`delete ${key}`),
        });
        await synced(factory);
        assert.deepEqual(keys(pods.lister.list()), ['web/a']);
        assert.deepEqual(keys(widgets.lister.list()), ['web/a']);
        assert.deepEqual(keys(nodes.lister.list()), ['n1']);
        await scene.server.apply([
          { type: 'create', resource: 'pods', object: object('c', 'other') },
          { type: 'create', resource: 'pods', object: object('d', 'web') },
          { type: 'update', resource: 'pods', object: object('d', 'web', { labels: { x: 'y' } }) },
          { type: 'delete', resource: 'pods', name: 'd', namespace: 'web' },
        ]);
        await settled(factory);
        assert.deepEqual(seen, ['add web/a', 'add web/d', 'update web/d', 'delete web/d']);
        assert.equal((await scene.requests('/api/v1/namespaces/web/pods')).length, 1);
        assert.equal((await scene.requests(PODS_PATH)).length, 0);
      });
    }
  }
});

/** No more than one resync of any period. */
const STEP_MS = 10_000;

describe('resync periods', () => {
  const DEPLOYMENT = { group: 'apps', version: 'v1', resource: 'deployments' };

  async function resyncs(options: FactoryOptions, advanceMs: number): Promise<Record<string, number>> {
    const clock = new FakeClock();
    await using scene = await Scene.withPods(object('p'));
    await scene.create('deployments.apps', object('d'));
    await scene.create('configmaps', object('c'));
    const factory = scene.typed({ clock, ...options });
    const counts: Record<string, number> = {};
    for (const generic of [factory.core.v1.pods, factory.apps.v1.deployments, factory.core.v1.configMaps]) {
      const { resource } = generic.informer.resource;
      counts[resource] = 0;
      generic.informer.addEventHandler({
        onUpdate: (before: unknown, after: unknown) => {
          if (before === after) counts[resource] = (counts[resource] ?? 0) + 1;
        },
      });
    }
    await synced(factory);
    await settled(factory);
    // Bit by bit: a resync that a handler has not finished is not delivered again.
    for (let leftMs = advanceMs; leftMs > 0; leftMs -= STEP_MS) {
      clock.advance(Math.min(leftMs, STEP_MS));
      await settled(factory);
    }
    return counts;
  }

  const CASES: readonly (readonly [string, FactoryOptions, number, Record<string, number>])[] = [
    ['are never by default', {}, 1_000_000, { pods: 0, deployments: 0, configmaps: 0 }],
    [
      'are the default, or the resource’s own',
      { defaultResyncMs: 60_000, customResync: { 'deployments.apps': 30_000, pods: 0 } },
      61_000,
      { pods: 0, deployments: 2, configmaps: 1 },
    ],
    [
      'of one version of a resource take precedence over those of all versions',
      {
        customResync: new Map<string | typeof DEPLOYMENT, number>([
          [DEPLOYMENT, 60_000],
          ['deployments.apps', 0],
          ['configmaps', 60_000],
        ]),
      },
      61_000,
      { pods: 0, deployments: 1, configmaps: 1 },
    ],
  ];
  for (const [title, options, advanceMs, expected] of CASES) {
    test(title, async () => assert.deepEqual(await resyncs(options, advanceMs), expected));
  }
});

describe('a factory’s transform', () => {
  for (const kind of ['typed', 'dynamic', 'metadata'] as const) {
    test(`runs for all its informers (${kind})`, async () => {
      await using scene = await Scene.withPods(object('p'));
      await scene.create('configmaps', object('c'));
      const factory = scene[kind]({
        transform: (whole) => ({
          ...whole,
          metadata: { ...whole.metadata, annotations: { seen: whole.kind ?? '' } },
        }),
      });
      const pods = factory.forResource<unknown>(POD);
      const configMaps = factory.forResource<unknown>({ group: '', version: 'v1', resource: 'configmaps' });
      await synced(factory);
      const annotations = (lister: typeof pods.lister): unknown[] =>
        lister.list().map((entry) => entry.metadata.annotations?.['seen']);
      const partial = ['PartialObjectMetadata'];
      assert.deepEqual(annotations(pods.lister), kind === 'metadata' ? partial : ['Pod']);
      assert.deepEqual(
        annotations(configMaps.lister).slice(-1),
        kind === 'metadata' ? partial : ['ConfigMap'],
      );
    });
  }
});

test('a factory’s name is in the errors of waiting', async () => {
  await using scene = await Scene.start(0);
  const factory = scene.typed({ name: 'nightly' });
  assert.ok(factory.core.v1.pods.informer);
  await failRequests(scene.server, 503, 'always');
  factory.start();
  const error = await rejection(factory.waitForCacheSync({ signal: AbortSignal.abort(new Error('enough')) }));
  assert.match(error.message, /^nightly: not synced: .*pods/);
});
