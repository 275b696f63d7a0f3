/** The caches with which a new owner begins: none is older than the hand-over. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { InformersMap, shardSlots } from '../../../../src/index.ts';
import { SlotCaches } from '../../../../src/controller/slots/slot-caches.ts';
import { GroupScene, SLOTS, pods, turn } from './scene.ts';

const { signal } = new AbortController();

function cachesOf({ server, threads, clock }: GroupScene): SlotCaches {
  const options = { threads, firstList: 'mostRecent', watchList: 'off' } as const;
  return new SlotCaches(server.connection, options, 'default', clock);
}

describe('the caches of slots', () => {
  test('C229 begin with the most recent list, where each slot has its own', async () => {
    await using scene = await GroupScene.start('echoes');
    const caches = cachesOf(scene);
    await using own = await caches.open(shardSlots([0], SLOTS), signal);
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

  test('C229 reach the version that the server had after the hand-over, where all slots have common ones', async () => {
    await using scene = await GroupScene.start('ignores');
    const caches = cachesOf(scene);
    const opening = caches.open(shardSlots([0], SLOTS), signal);
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
    await using two = await caches.open(shardSlots([1], SLOTS), signal);
    assert.equal(two.cache, one.cache);
    const again = await two.cache.informerFor(pods);
    const version = (): number => Number(two.cache.informers[0]?.lastSyncResourceVersion());
    const seen: number[] = [];
    void two.current([again]).then(() => seen.push(version()));
    for (; seen.length === 0; await turn()) await scene.server.sendBookmarks();
    const [atEnd] = seen;
    assert.ok(atEnd !== undefined && atEnd >= revision, `${atEnd} is older than ${revision}`);
    await caches.close();
  });

  test('are not waited for when the slot is lost meanwhile', async () => {
    await using scene = await GroupScene.start('echoes');
    const caches = cachesOf(scene);
    await scene.server.setFaults({
      rules: [
        { faultId: 'silent', match: { resource: 'leases' }, times: 'always', action: { type: 'hold' } },
      ],
    });
    const lost = new AbortController();
    const opening = caches.open(shardSlots([0], SLOTS), lost.signal);
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
    const selector = shardSlots([0], SLOTS);
    await assert.rejects(caches.open(selector, signal));
    await using own = await caches.open(selector, signal);
    assert.ok(own.cache instanceof InformersMap);
    await caches.close();
  });
});
