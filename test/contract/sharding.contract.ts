/** Informers with a shard selector, on servers that filter and say so, that filter only, and that ignore it. */
import assert from 'node:assert/strict';
import type { V1Pod } from '@kubernetes/client-node';
import { MetricsReading } from '../../src/tools/cli/top/reading.ts';
import { ShardFilter } from '../../src/kube/shard-filter.ts';
import { collectMetrics } from '../../src/metrics/index.ts';
import { parseShardSelector, partitionRanges } from '../../src/index.ts';
import type { ShardFilterSupport, ShardSelector, SharedIndexInformer } from '../../src/index.ts';
import { bookmark, list, wirePod } from '../kit/scripted-server.ts';
import { annotated, configurationWasUsed, pod, start, test } from './scene.ts';

const LOWER = partitionRanges([0, 1, 2, 3, 4, 5, 6, 7]);
const UPPER = partitionRanges([8, 9, 10, 11, 12, 13, 14, 15]);
/** FNV-1a of the first text is in the upper half of all hashes, FNV-1a of the second in the lower half. */
const UPPER_UID = 'a';
const LOWER_UID = 'pod-1';

function withUid(object: V1Pod, uid: string): V1Pod {
  return { ...object, metadata: { ...object.metadata, uid } };
}

/** Pods whose uids differ in their first digits, as those of servers do. */
const PODS: readonly V1Pod[] = Array.from({ length: 50 }, (_, index) =>
  withUid(pod(`pod-${index}`), `${index}-0000-4000`),
);

/** Names of the pods of a shard, sorted. */
function namesOf(selector: ShardSelector): string[] {
  const filter = new ShardFilter(selector);
  const own = PODS.filter(({ metadata }) => filter.matchesText(metadata?.[filter.key] ?? ''));
  return own.map(({ metadata }) => metadata?.name ?? '').toSorted();
}

function cached(informer: SharedIndexInformer<V1Pod>): string[] {
  const entries = informer.getStore().list();
  return entries.map(({ name }) => name).toSorted();
}

function dropped(): number {
  return new MetricsReading(collectMetrics()).sum('kubeloom_ignored_events_total', { reason: 'shard' }) ?? 0;
}

const SERVERS: readonly (readonly [
  sharding: 'echoes' | 'filters' | 'ignores',
  pages: ShardFilterSupport,
  stream: ShardFilterSupport,
])[] = [
  ['echoes', 'filtered', 'filtered-without-echo'],
  ['filters', 'filtered-without-echo', 'filtered-without-echo'],
  ['ignores', 'ignored', 'ignored'],
];

for (const [sharding, ofPages, ofStream] of SERVERS) {
  test(`C223 C224 two shards have each object once, with one watch each, on a server that ${sharding} the selector`, async () => {
    await using scene = await start({ server: { sharding } });
    await scene.put(...PODS);
    const paged = { list: { watchList: 'off', pageSize: 7 } } as const;
    const lower = await scene.watching({ ...paged, shardSelector: LOWER });
    const upper = await scene.watching({ shardSelector: UPPER });
    await scene.put(...PODS.map((object) => annotated(object, { changed: 'yes' })));
    for (const [{ informer, handler }, selector] of [
      [lower, LOWER],
      [upper, UPPER],
    ] as const) {
      const names = namesOf(selector);
      assert.ok(names.length > 10);
      await handler.until(() => handler.calls.length >= 2 * names.length);
      assert.deepEqual(cached(informer), names);
      assert.deepEqual(
        handler.names.toSorted(),
        ['add', 'update'].flatMap((type) => names.map((name) => `${type} ${name}`)),
      );
    }
    await scene.until(() => lower.informer.stats().shardFilterSupport === ofPages);
    await scene.until(() => upper.informer.stats().shardFilterSupport === ofStream);
    // The last object of a shard may be dropped after the other shard's last call.
    await scene.until(() => sharding !== 'ignores' || dropped() >= 2 * PODS.length);
    assert.equal(dropped(), sharding === 'ignores' ? 2 * PODS.length : 0);
    const watches = await scene.server.watches();
    const selectors = watches.map(({ query }) => new URLSearchParams(query).get('shardSelector') ?? '');
    assert.deepEqual(selectors.map(parseShardSelector), [LOWER, UPPER]);
    await scene.reported();
  });
}

test('C225 an object that is made again in another shard is deleted here, also while no watch is open', async (scene) => {
  const { informer, handler } = await scene.watching({ shardSelector: UPPER });
  const [mine, strange] = [withUid(pod('again'), UPPER_UID), withUid(pod('again'), LOWER_UID)];
  await scene.put(mine);
  await scene.remove('again');
  await scene.put(strange);
  await scene.remove('again');
  await scene.put(mine);
  await handler.count(3);
  await scene.relisted(
    informer,
    { type: 'delete', resource: 'pods', namespace: 'default', name: 'again' },
    { type: 'put', resource: 'pods', object: strange },
  );
  await handler.count(4);
  assert.deepEqual(handler.names, ['add again', 'delete again', 'add again', 'delete again']);
  assert.deepEqual(cached(informer), []);
});

test('C226 a watch resumes behind the objects of other shards that came last', async (scene) => {
  const shown = (name: string, version: string, uid: string): object =>
    Object.assign(wirePod(name, version), { metadata: { name, resourceVersion: version, uid } });
  const { server, informer } = await scene.followed(
    (request, number) => {
      if (number === 0) request.answer(200, list('5', [shown('mine', '5', UPPER_UID)]));
      if (number !== 1) return;
      request.send({ type: 'MODIFIED', object: shown('mine', '6', UPPER_UID) });
      request.send({ type: 'ADDED', object: shown('other', '9', LOWER_UID) }).end();
    },
    { list: { watchList: 'off' }, shardSelector: UPPER },
  );
  await server.request(2);
  assert.deepEqual(server.asked, ['list 0', 'watch 5', 'watch 9']);
  // A request shows the position of the reflector; earlier changes may still be on the way to the cache.
  await informer.waitForSync();
  assert.deepEqual(cached(informer), ['mine']);
});

test('C435 bookmarks end the first list of a shard without objects, and move its position', async (scene) => {
  const strange = Object.assign(wirePod('other', '7'), {
    metadata: { name: 'other', resourceVersion: '7', uid: LOWER_UID },
  });
  const { server, informer, handler } = await scene.followed(
    (request, number) => {
      if (number === 0) request.send({ type: 'ADDED', object: strange }, bookmark('9', true), bookmark('20'));
      if (number === 0) request.end();
    },
    { shardSelector: UPPER },
  );
  await informer.waitForSync();
  await server.request(1);
  assert.deepEqual(server.asked, ['stream', 'watch 20']);
  assert.deepEqual(cached(informer), []);
  assert.deepEqual(handler.names, []);
});

configurationWasUsed();
