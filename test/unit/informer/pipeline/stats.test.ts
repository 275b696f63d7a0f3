/** Figures of threads, before, while and after they run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedIndexInformer } from '../../../../src/index.ts';
import { FakeControllerSource, settled } from '../../../../src/tools/apiserver/testing/index.ts';
import { InformerThreads } from '../../../../src/informer/threads/informer-threads.ts';
import { PODS, pod } from '../../../kit/objects.ts';
import { turns } from '../scene.ts';

for (const count of [0, 2]) {
  test(`Threads have figures of each role while they run and after their end (threads ${count})`, async () => {
    await using threads = new InformerThreads({ indexerThreads: count });
    assert.deepEqual(threads.stats(), []);
    const source = new FakeControllerSource();
    for (let index = 0; index < 50; index++) source.add(pod(`p${index}`));
    await using informer = new SharedIndexInformer(source, PODS, { threads });
    const running = informer.run();
    await settled(informer);
    // The first record of the watch comes after the list.
    while (informer.phase !== 'watching' || informer.health.unmerged > 0) await turns(1);
    const stats = threads.stats();
    const shards = Array.from({ length: Math.max(1, count) }, (_, shard) => `shard ${shard}`);
    assert.deepEqual(
      stats.map(({ role }) => role),
      ['reflector', ...shards, 'main'],
    );
    assert.ok(Object.isFrozen(stats) && stats.every((role) => Object.isFrozen(role)));
    for (const { role, deltas, restarts } of stats) assert.deepEqual([deltas > 0, restarts], [true, 0], role);
    // Figures of shards need no wait: a record is counted before its result is visible.
    const [read, merged] = [stats[0]?.deltas ?? 0, stats.at(-1)?.deltas ?? 0];
    assert.ok(read >= merged);
    const ofShards = stats.slice(1, -1).reduce((sum, { deltas }) => sum + deltas, 0);
    assert.ok(ofShards >= merged);
    await informer.shutdown();
    await running;
    await threads.close();
    assert.ok((threads.stats().at(-1)?.deltas ?? 0) >= merged);
  });
}
