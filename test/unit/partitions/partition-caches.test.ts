/** The caches with which a new owner begins: none is older than the hand-over. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { InformersMap } from '../../../src/controller/index.ts';
import { partitionRanges } from '../../../src/index.ts';
import { PartitionCaches } from '../../../src/partitions/partition-caches.ts';
import type { CachesOfPartition } from '../../../src/partitions/partition-caches.ts';
import { PARTITIONS, GroupScene, pods, turn, uidOf } from './scene.ts';

const { signal } = new AbortController();

function cachesOf({ server, threads, clock }: GroupScene): PartitionCaches {
  const options = { threads, list: { initialList: 'latest', watchList: 'off' } } as const;
  return new PartitionCaches(server.connection, options, 'default', clock);
}

const ofAnotherKind = {
  type: 'create',
  resource: 'configmaps',
  object: { metadata: { name: 'a', namespace: 'default' } },
} as const;

/** Opens the common caches of partition 0 and fills them; `second` opens those of partition 1. */
async function opened(scene: GroupScene, caches: PartitionCaches) {
  let first: CachesOfPartition | undefined;
  void caches.open(partitionRanges([0], PARTITIONS), signal).then((it) => (first = it));
  await scene.until(() => first !== undefined);
  assert.ok(first);
  const handle = await first.cache.informerFor(pods);
  return {
    handle,
    second: (): Promise<CachesOfPartition> => caches.open(partitionRanges([1], PARTITIONS), signal),
  };
}

describe('the caches of partitions', () => {
  test('C229 begin with the most recent list, where each partition has its own', async () => {
    await using scene = await GroupScene.start('echoes');
    const caches = cachesOf(scene);
    await using own = await caches.open(partitionRanges([0], PARTITIONS), signal);
    await own.cache.informerFor(pods);
    const lists = (await scene.server.requests()).filter(
      ({ path, watch }) => path.endsWith('/pods') && !watch,
    );
    assert.deepEqual(
      lists.map(({ query }) => query['resourceVersion'] ?? ''),
      [''],
    );
    await caches.close();
  });

  test('C229 reach the version that the server had after the hand-over, where all partitions have common ones', async () => {
    await using scene = await GroupScene.start('ignores');
    const caches = cachesOf(scene);
    const opening = caches.open(partitionRanges([0], PARTITIONS), signal);
    let first: InformersMap | undefined;
    void opening.then(({ cache }) => (first = cache));
    await scene.until(() => first !== undefined);
    await using one = await opening;
    const handle = await one.cache.informerFor(pods);
    await one.current([handle]);
    // The watch carries nothing of this change, so only a bookmark shows its version.
    await scene.server.apply([
      { type: 'create', resource: 'configmaps', object: { metadata: { name: 'a', namespace: 'default' } } },
    ]);
    const revision = await scene.server.revision();
    await using two = await caches.open(partitionRanges([1], PARTITIONS), signal);
    const again = await two.cache.informerFor(pods);
    assert.equal(two.cache.informers[0], one.cache.informers[0]);
    const version = (): number => Number(two.cache.informers[0]?.lastSyncResourceVersion());
    const seen: number[] = [];
    void two.current([again]).then(() => seen.push(version()));
    for (; seen.length === 0; await turn()) await scene.server.sendBookmarks();
    const [atEnd] = seen;
    assert.ok(atEnd !== undefined && atEnd >= revision, `${atEnd} is older than ${revision}`);
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
      const mute = {
        faultId: 'mute',
        match: { verb: 'watch', resource: 'pods' },
        action: { type: 'mute' },
      } as const;
      await scene.server.setFaults({ rules: [mute] });
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
    await scene.server.setFaults({
      rules: [
        { faultId: 'silent', match: { resource: 'leases' }, times: 'always', action: { type: 'hold' } },
      ],
    });
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
    const rule = {
      faultId: 'probe',
      match: { resource: 'leases' },
      times: 1,
      action: { type: 'answer', status: 503 },
    };
    await scene.server.setFaults({ rules: [rule as never] });
    const selector = partitionRanges([0], PARTITIONS);
    await assert.rejects(caches.open(selector, signal));
    await using own = await caches.open(selector, signal);
    assert.ok(own.cache instanceof InformersMap);
    await caches.close();
  });
});
