/** The caches with which a new owner begins: none is older than the hand-over. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { InformersMap } from '../../../src/controller/index.ts';
import { partitionRanges } from '../../../src/index.ts';
import { PartitionCaches } from '../../../src/partitions/partition-caches.ts';
import type { CachesOfPartition } from '../../../src/partitions/partition-caches.ts';
import { failRequests } from '../tools/apiserver/fail-requests.ts';
import { PARTITIONS, GroupScene, pods, turn, uidOf } from './scene.ts';

const { signal } = new AbortController();

function cachesOf({ server, threads, clock }: GroupScene): PartitionCaches {
  const options = { threads, list: { initialList: 'latest', watchList: 'off' } } as const;
  return new PartitionCaches(server.connection, options, 'default', clock);
}

const object = { metadata: { name: 'a', namespace: 'default' } };
const ofAnotherKind = { type: 'create', resource: 'configmaps', object } as const;

/** Opens the common caches of partition 0 and fills them; `second` opens those of partition 1. */
async function opened(scene: GroupScene, caches: PartitionCaches) {
  let first: CachesOfPartition | undefined;
  void caches.open(partitionRanges([0], PARTITIONS), signal).then((it) => (first = it));
  await scene.until(() => first !== undefined);
  assert.ok(first);
  const handle = await first.cache.informerFor(pods);
  const second = (): Promise<CachesOfPartition> => caches.open(partitionRanges([1], PARTITIONS), signal);
  return { handle, second };
}

describe('the caches of partitions', () => {
  test('C229 begin with the most recent list, where each partition has its own', async () => {
    await using scene = await GroupScene.start('echoes');
    const caches = cachesOf(scene);
    await using own = await caches.open(partitionRanges([0], PARTITIONS), signal);
    await own.cache.informerFor(pods);
    const requests = await scene.server.requests();
    const lists = requests.filter(({ path, watch }) => path.endsWith('/pods') && !watch);
    assert.deepEqual([lists.length, lists[0]?.query['resourceVersion'] ?? ''], [1, '']);
    await caches.close();
  });

  describe('of a quiet kind, which all partitions have in common', () => {
    test('C229 are no older than the hand-over when a second watch shows that nothing has changed', async () => {
      await using scene = await GroupScene.start('ignores');
      const caches = cachesOf(scene);
      const { handle, second } = await opened(scene, caches);
      const before = handle.versionOf('');
      await scene.server.apply([ofAnotherKind]);
      // The server sends its next ordinary bookmark in a minute.
      await (await second()).current([handle]);
      assert.equal(handle.versionOf(''), before);
      await caches.close();
    });

    test('C229 are waited for when a second watch shows a change that their own watch has not brought', async () => {
      await using scene = await GroupScene.start('ignores');
      const caches = cachesOf(scene);
      const match = { verb: 'watch', resource: 'pods' } as const;
      await scene.server.setFaults({ rules: [{ faultId: 'mute', match, action: { type: 'mute' } }] });
      const { handle, second } = await opened(scene, caches);
      await scene.server.waitForWatches(1);
      const created = { metadata: { name: 'late', namespace: 'default', uid: uidOf(0) } };
      await scene.server.apply([{ type: 'create', resource: 'pods', object: created }, ofAnotherKind]);
      const seen: number[] = [];
      const current = (await second()).current([handle]).then(() => seen.push(handle.list().items.length));
      await scene.server.waitForWatches(2);
      while ((await scene.server.watches()).length > 1) await turn();
      for (let turns = 0; turns < 20; turns++) await turn();
      assert.deepEqual(seen, []);
      await scene.server.healFaults();
      await current;
      assert.deepEqual(seen, [1]);
      await caches.close();
    });
  });

  test('do not delay a partition that is lost', async () => {
    await using scene = await GroupScene.start('echoes');
    const caches = cachesOf(scene);
    await failRequests(scene.server, 'hang', 'always', { resource: 'leases' });
    const lost = new AbortController();
    const opening = caches.open(partitionRanges([0], PARTITIONS), lost.signal);
    const reason = new Error('lost');
    lost.abort(reason);
    await assert.rejects(opening, reason);
    await caches.close();
  });

  test('ask the server again after a failed probe', async () => {
    await using scene = await GroupScene.start('echoes');
    const caches = cachesOf(scene);
    await failRequests(scene.server, 503, 1, { resource: 'leases' });
    const selector = partitionRanges([0], PARTITIONS);
    await assert.rejects(caches.open(selector, signal));
    await using own = await caches.open(selector, signal);
    assert.ok(own.cache instanceof InformersMap);
    await caches.close();
  });
});
