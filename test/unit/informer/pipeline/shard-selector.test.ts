/** Tests of informers with a shard selector, on servers that filter and say so, that filter only, and that ignore it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import type { ApiServerOptions } from '../../../../src/apiserver/testing/index.ts';
import { MetricsReading } from '../../../../src/base/metrics/reading.ts';
import { ShardFilter } from '../../../../src/kube/shard-filter.ts';
import {
  InformerThreads,
  SharedIndexInformer,
  collectMetrics,
  parseShardSelector,
  shardSelectorText,
  shardSlots,
} from '../../../../src/index.ts';
import type { InformerOptions, ListOptions, ShardFiltering, ShardSelector } from '../../../../src/index.ts';
import { InProcessBackend } from '../../../../src/informer/threads/in-process-backend.ts';
import { PODS, WIDGETS, annotated, pod } from '../../../kit/objects.ts';
import { RecordingHandler } from '../../../kit/recording-handler.ts';
import { Scene, kubeConfigOf } from '../../../kit/scene.ts';
import { list, wirePod } from '../../../kit/scripted-server.ts';

const LOWER = shardSlots('uid', [0], 2);
const UPPER = shardSlots('uid', [1], 2);
/** FNV-1a of the first text is in the upper half of all hashes, that of the second in the lower one. */
const UPPER_UID = 'a';
const LOWER_UID = 'pod-1';
const PAGES = { watchList: 'off' } as const;

type Sharding = NonNullable<ApiServerOptions['sharding']>;

const scene = (sharding: Sharding, shards = 0): Promise<Scene> =>
  Scene.start({ server: { sharding, resources: [WIDGETS] }, threads: { shards } });

/** Pods whose uids differ in their first digits, as those of servers do. */
function podsOf(count: number): V1Pod[] {
  return Array.from({ length: count }, (_, index) => withUid(pod(`pod-${index}`), `${index}-0000-4000`));
}

function withUid(object: V1Pod, uid: string): V1Pod {
  return { ...object, metadata: { ...object.metadata, uid } };
}

/** Names of the pods that belong to a selector. */
function namesOf(objects: readonly V1Pod[], selector: ShardSelector): string[] {
  const filter = new ShardFilter(selector);
  return objects.flatMap(({ metadata }) =>
    metadata?.name !== undefined && filter.matchesText(metadata[filter.key] ?? '') ? [metadata.name] : [],
  );
}

function cached(informer: SharedIndexInformer<V1Pod>): string[] {
  return informer
    .getStore()
    .list()
    .map(({ name }) => name)
    .sort();
}

function foreign(): number {
  return new MetricsReading(collectMetrics()).sum('kubeloom_ignored_events_total', { reason: 'shard' }) ?? 0;
}

const SERVERS: readonly (readonly [sharding: Sharding, pages: ShardFiltering, streamed: ShardFiltering])[] = [
  ['echoes', 'filtered', 'filtered-without-echo'],
  ['filters', 'filtered-without-echo', 'filtered-without-echo'],
  ['ignores', 'ignored', 'ignored'],
];

for (const [sharding, ofPages, ofStream] of SERVERS) {
  describe(`an informer with a shard selector, on a server that ${sharding} it`, () => {
    for (const [how, options, filtering] of [
      ['in pages', { ...PAGES, pageSize: 3 }, ofPages],
      ['in a most recent list', { ...PAGES, firstList: 'mostRecent' }, ofPages],
      ['in a streaming list', {}, ofStream],
    ] as const satisfies readonly (readonly [string, InformerOptions<V1Pod>, ShardFiltering])[]) {
      test(`has its part of the objects ${how}, and says what the server does`, async () => {
        await using own = await scene(sharding);
        const objects = podsOf(20);
        await own.put(...objects);
        const lower = own.informer({ ...options, shardSelector: LOWER });
        const upper = own.informer({ ...options, shardSelector: UPPER });
        await own.synced(lower);
        await own.synced(upper);
        assert.deepEqual(cached(lower), namesOf(objects, LOWER).sort());
        assert.deepEqual(cached(upper), namesOf(objects, UPPER).sort());
        assert.ok(cached(lower).length > 0 && cached(upper).length > 0);
        await own.until(() => lower.stats().shardFiltering !== undefined);
        assert.equal(lower.stats().shardFiltering, filtering);
        assert.equal(
          foreign(),
          sharding === 'ignores' ? objects.length : 0,
          'objects that the informers dropped',
        );
        await own.reported();
      });
    }

    test('receives the changes of its part, and has one watch', async () => {
      await using own = await scene(sharding, 2);
      const [mine, other] = [withUid(pod('mine'), UPPER_UID), withUid(pod('other'), LOWER_UID)];
      const slots = Array.from({ length: 8 }, (_, index) => 8 + index);
      const shardSelector = shardSlots('uid', slots);
      const handler = new RecordingHandler();
      const informer = own.informer({ shardSelector });
      await own.watched(informer, handler);
      await own.put(other, mine);
      await own.put(...[other, mine].map((object) => annotated(object, { changed: 'yes' })));
      await own.remove('other', 'mine');
      await own.put(withUid(pod('mine'), LOWER_UID), withUid(pod('other'), UPPER_UID));
      await handler.until(() => handler.calls.length === 4);
      assert.deepEqual(handler.names, ['add mine', 'update mine', 'delete mine', 'add other']);
      assert.deepEqual(cached(informer), ['other']);
      const watches = await own.server.watches();
      assert.equal(watches.length, 1);
      const query = new URLSearchParams(watches[0]?.query);
      assert.deepEqual(parseShardSelector(query.get('shardSelector') ?? ''), shardSelector);
      await own.reported();
    });

    test('deletes what was made again in another part while no watch was open', async () => {
      await using own = await scene(sharding);
      const handler = new RecordingHandler();
      const informer = own.informer({ shardSelector: UPPER });
      await own.put(withUid(pod('again'), UPPER_UID));
      await own.watched(informer, handler);
      await own.relisted(
        informer,
        { type: 'delete', resource: 'pods', namespace: 'default', name: 'again' },
        { type: 'put', resource: 'pods', object: withUid(pod('again'), LOWER_UID) },
      );
      await handler.until(() => handler.calls.length === 2);
      assert.deepEqual(handler.names, ['add again', 'delete again']);
      assert.deepEqual(cached(informer), []);
    });

    test('keeps namespaces together when their hash decides', async () => {
      await using own = await scene(sharding);
      const objects = ['default', 'foo', 'pod-1', 'x'].flatMap((namespace) =>
        ['a', 'b'].map((name) => pod(`${namespace}-${name}`, {}, namespace)),
      );
      await own.put(...objects);
      const shardSelector = shardSlots('namespace', [0], 2);
      const informer = own.informer({ shardSelector });
      await own.synced(informer);
      assert.deepEqual(cached(informer), ['pod-1-a', 'pod-1-b']);
    });
  });
}

describe('a server that filters confirms it', () => {
  test('neither for custom resources nor for metadata', async () => {
    await using own = await scene('echoes');
    await own.put(withUid(pod('mine'), UPPER_UID));
    const widget = { metadata: { name: 'mine', namespace: 'default', uid: UPPER_UID } };
    await own.server.apply([{ type: 'put', resource: 'widgets.example.com', object: widget }]);
    const options = { ...PAGES, shardSelector: UPPER, threads: own.threads };
    const { namespaced: isNamespaced, ...ref } = WIDGETS;
    const widgets = new SharedIndexInformer(kubeConfigOf(own.server), { ...ref, isNamespaced }, options);
    await using _widgets = widgets;
    const metadata = own.informer({ ...options, view: 'metadata' });
    const running = widgets.run();
    await widgets.waitForSync();
    await own.synced(metadata);
    await own.until(() => metadata.stats().shardFiltering !== undefined);
    await own.until(() => widgets.stats().shardFiltering !== undefined);
    assert.equal(metadata.stats().shardFiltering, 'filtered-without-echo');
    assert.equal(widgets.stats().shardFiltering, 'filtered-without-echo');
    await widgets.shutdown();
    await running;
  });
});

describe('an informer with a shard selector', () => {
  test('resumes its watch behind objects of other shards, which came last', async () => {
    await using own = await Scene.start({ threads: { shards: 0 } });
    const shown = (name: string, version: string, uid: string): object =>
      Object.assign(wirePod(name, version), { metadata: { name, resourceVersion: version, uid } });
    const { server, informer } = await own.followed(
      (request, number) => {
        if (number === 0) request.answer(200, list('5', [shown('mine', '5', UPPER_UID)]));
        if (number !== 1) return;
        request.send(
          { type: 'MODIFIED', object: shown('mine', '6', UPPER_UID) },
          { type: 'ADDED', object: shown('other', '9', LOWER_UID) },
        );
        request.end();
      },
      { ...PAGES, shardSelector: UPPER },
    );
    await own.until(() => server.requests.length === 3);
    assert.equal(server.requests[2]?.query['resourceVersion'], '9');
    await own.until(() => informer.stats().shardFiltering === 'ignored');
    assert.deepEqual(cached(informer), ['mine']);
    for (const { query } of server.requests) {
      assert.equal(query['shardSelector'], shardSelectorText(UPPER));
    }
  });

  test('drops objects of other shards that are too large, too, and keeps the identity of its own', async () => {
    await using own = await Scene.start({ threads: { shards: 0, objectBytesMax: 10_000 } });
    const large = { text: 'x'.repeat(1_200_000) };
    const both = [withUid(pod('mine'), UPPER_UID), withUid(pod('other'), LOWER_UID)];
    await own.put(...both.map((object) => annotated(object, large)));
    const handler = new RecordingHandler();
    const listing = own.informer({ ...PAGES, shardSelector: UPPER });
    await own.watched(listing, handler);
    assert.deepEqual(handler.names, ['add mine']);
    await own.put(...both.map((object) => annotated(object, { ...large, changed: 'yes' })));
    await handler.until(() => handler.calls.length === 2);
    assert.deepEqual(handler.names, ['add mine', 'update mine']);
    assert.deepEqual(cached(listing), ['mine']);
    await own.until(() => foreign() === 2);
    await own.reported();
  });

  test('filters on after its reflector was replaced', async () => {
    let backend: InProcessBackend | undefined;
    const threads = new InformerThreads(
      { shards: 0 },
      { backend: (...given) => (backend = new InProcessBackend(...given)) },
    );
    await using own = await Scene.start({ threads });
    own.ends(threads);
    const objects = podsOf(20);
    const { informer, handler } = await own.watching({ shardSelector: UPPER });
    await own.put(...objects.slice(0, 10));
    await handler.until(() => handler.calls.length === namesOf(objects.slice(0, 10), UPPER).length);
    backend?.kill('reflector');
    await own.put(...objects.slice(10));
    await handler.until(() => handler.calls.length === namesOf(objects, UPPER).length);
    assert.deepEqual(cached(informer), namesOf(objects, UPPER).sort());
    await own.until(() => informer.stats().shardFiltering === 'ignored');
  });

  test('keeps its selector when tweakListOptions changes it, and reports the change once', async () => {
    await using own = await scene('filters');
    await own.put(...podsOf(20));
    const tweakListOptions = (options: ListOptions): ListOptions => ({ ...options, shardSelector: '' });
    const informer = own.informer({ ...PAGES, shardSelector: UPPER, tweakListOptions });
    await own.synced(informer);
    await own.until(() => informer.phase === 'watching');
    await own.reported('ERR_KUBELOOM_OPTION');
    assert.equal(informer.stats().shardFiltering, 'filtered-without-echo');
  });

  test('is refused when the selector is malformed', async () => {
    await using threads = new InformerThreads({ shards: 0 });
    const none = { key: 'uid', ranges: [] } as const;
    const source = { server: 'http://127.0.0.1:1' };
    assert.throws(() => new SharedIndexInformer(source, PODS, { threads, shardSelector: none }), {
      code: 'ERR_KUBELOOM_SELECTOR',
      message: /^a shard selector must have at least one range/,
    });
  });
});
