/** Scans of a cache in a thread, with both ends in this one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settled } from '../../../src/tools/apiserver/testing/index.ts';
import { SharedCache, openCache } from '../../../src/thread/index.ts';
import { Scene, pod } from '../informer/scene.ts';
import type { Pod } from '../informer/scene.ts';

test('C204 a scan in a thread yields the snapshot of its start, even if objects change during the scan', async () => {
  await using scene = new Scene();
  for (let number = 0; number < 50; number++) scene.source.add(pod(`pod-${number}`, { version: 'old' }));
  const informer = scene.informer();
  await scene.started(informer);
  await using cache = new SharedCache({ pods: informer });
  await using opened = await openCache<{ pods: Pod }>(cache.port());
  const pods = opened.informer('pods');
  await pods.waitForSync();
  const versions: string[] = [];
  for await (const { name, object } of pods.lister.scan()) {
    versions.push(object.metadata.labels?.['version'] ?? '');
    if (name !== 'pod-3') continue;
    scene.source.modify(pod('pod-7', { version: 'new' }));
    scene.source.delete(pod('pod-8'));
    await settled(informer);
    await pods.waitForResourceVersion(informer.lastSyncResourceVersion());
  }
  assert.deepEqual(
    versions,
    Array.from({ length: 50 }, () => 'old'),
  );
  assert.equal(pods.getIndexer().getByKey('ns/pod-7')?.labels['version'], 'new');
});
