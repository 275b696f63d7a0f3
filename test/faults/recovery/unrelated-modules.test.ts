/** Modules that fail to load or never load, beside informers that do not use them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedIndexInformer, transformModule } from '../../../src/index.ts';
import type { InformerOptions } from '../../../src/index.ts';
import { FakeControllerSource, settled } from '../../../src/tools/apiserver/testing/index.ts';
import type { FakeObject } from '../../../src/tools/apiserver/testing/index.ts';
import { InformerThreads } from '../../../src/informer/threads/informer-threads.ts';
import { allocatePipeline } from '../../../src/shared/pipeline-layout.ts';
import { InProcessBackend } from '../../../src/informer/threads/in-process-backend.ts';
import { PODS, pod } from '../../kit/objects.ts';

const MIB = 2 ** 20;
const MODULES = {
  'is missing': new URL('./does-not-exist.js', import.meta.url).href,
  'never loads': new URL('../../unit/indexer/modules/never.js', import.meta.url).href,
};

function informerOf(
  threads: InformerThreads,
  source: FakeControllerSource,
  options: InformerOptions<FakeObject> = {},
): SharedIndexInformer<FakeObject> {
  return new SharedIndexInformer(source, PODS, { threads, onError: () => undefined, ...options });
}

for (const [what, url] of Object.entries(MODULES)) {
  const transform = transformModule(url, 'found');

  test(`C173 new threads begin while an informer starts whose module ${what}`, async () => {
    let backend: InProcessBackend | undefined;
    await using threads = new InformerThreads(
      { indexerThreads: 0, logBytes: 16 * MIB },
      {
        memory: allocatePipeline(2, 16 * MIB, 64 * 1024),
        backend: (...args) => (backend = new InProcessBackend(...args)),
      },
    );
    const source = new FakeControllerSource();
    source.add({ ...pod('before') });
    const informer = informerOf(threads, source);
    const running = informer.run();
    await informer.waitForSync();
    for (const shard of [0, 1]) backend?.kill(shard);
    const other = informerOf(threads, source, { transform });
    const ended = other.run().catch(() => undefined);
    for (const name of ['a', 'b', 'c', 'd']) source.add({ ...pod(name) });
    await settled(informer);
    assert.equal(informer.getStore().list().length, 5);
    await other.shutdown();
    await ended;
    await informer.shutdown();
    await running;
  });

  for (const count of [0, 2]) {
    test(`informers continue beside an informer whose module ${what}, and it can be stopped (threads: ${count})`, async () => {
      await using threads = new InformerThreads({ indexerThreads: count });
      const source = new FakeControllerSource();
      const other = informerOf(threads, source, { transform });
      const codeOf = (error: unknown): string => (error as { readonly code: string }).code;
      const ended = other.run().then(() => 'stopped', codeOf);
      const informer = informerOf(threads, source);
      const running = informer.run();
      await informer.waitForSync();
      source.add({ ...pod('a') });
      await settled(informer);
      assert.equal(informer.getStore().list().length, 1);
      await other.shutdown();
      assert.equal(await ended, what === 'is missing' ? 'ERR_KUBELOOM_MODULE' : 'stopped');
      await informer.shutdown();
      await running;
    });
  }

  test(`threads can be closed while an informer runs whose module ${what}`, async () => {
    const threads = new InformerThreads({ indexerThreads: 1 });
    const other = informerOf(threads, new FakeControllerSource(), { transform });
    const ended = assert.rejects(other.run(), /ERR|threads were closed|cannot load/);
    await threads.close();
    await ended;
  });
}
