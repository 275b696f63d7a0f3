/** Threads of the pipeline that end while another thread of the program has the cache. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { SharedIndexInformer } from '../../../src/index.ts';
import { FakeControllerSource, settled } from '../../../src/tools/apiserver/testing/index.ts';
import type { Role } from '../../../src/informer/threads/backend.ts';
import { InProcessBackend } from '../../../src/informer/threads/in-process-backend.ts';
import { InformerThreads } from '../../../src/informer/threads/informer-threads.ts';
import { SharedCache, openCache } from '../../../src/thread/index.ts';
import { PODS, pod, pods } from '../../kit/objects.ts';
import { RecordingHandler } from '../../kit/recording-handler.ts';
import { turns } from '../../kit/scene.ts';

const ROUNDS = 3;

for (const codec of ['json', 'msgpack'] as const) {
  for (const role of [0, 'reflector'] satisfies Role[]) {
    const name = role === 0 ? 'a shard' : 'the reflector';
    test(`C216 the cache of another thread converges when ${name} ends, with ${codec}`, async () => {
      const source = new FakeControllerSource<V1Pod>();
      let backend: InProcessBackend | undefined;
      await using threads = new InformerThreads(
        { indexerThreads: 0 },
        { backend: (...args) => (backend = new InProcessBackend(...args)) },
      );
      const errors: Error[] = [];
      await using informer = new SharedIndexInformer<V1Pod>(source, PODS, {
        threads,
        codec,
        onError: (error) => errors.push(error),
      });
      const all = pods(50);
      for (const one of all) source.add(one);
      void informer.run();
      await informer.waitForSync();
      await using shared = new SharedCache({ pods: informer });
      await using cache = await openCache<{ readonly pods: V1Pod }>(shared.port());
      const there = cache.informer('pods');
      const handler = new RecordingHandler();
      there.addEventHandler(handler);
      await there.waitForSync();
      for (let round = 0; round < ROUNDS; round++) {
        for (const one of all) source.modify({ ...one, spec: { containers: [], nodeName: `node-${round}` } });
        await turns(round);
        backend?.kill(role);
        while (errors.length <= round) await turns(1);
        source.delete(pod(`pod-${round}`));
        all.shift();
      }
      await settled(informer);
      // A new shape, which the table of the last shard does not have yet.
      for (const one of all)
        source.modify({ ...one, spec: { containers: [], nodeName: 'last', hostname: 'host' } });
      await settled(informer);
      await there.waitForResourceVersion(informer.lastSyncResourceVersion());
      const objects = (of: Pick<typeof there, 'lister'>): unknown[] =>
        of.lister.list().map((entry) => entry.object);
      assert.deepEqual(
        objects(there),
        informer
          .getIndexer()
          .list()
          .map((entry) => entry.object),
      );
      const cached = new Map(there.lister.list().map(({ key, resourceVersion }) => [key, resourceVersion]));
      await handler.until(() => isDeepStrictEqual(handler.held(), cached));
      handler.assertOnlyForward();
      assert.equal(errors.length, ROUNDS);
    });
  }
}
