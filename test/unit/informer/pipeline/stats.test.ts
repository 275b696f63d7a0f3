/** Asking threads that are ending what they have done. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedIndexInformer } from '../../../../src/index.ts';
import { FakeControllerSource, settled } from '../../../../src/apiserver/testing/index.ts';
import { InformerThreads } from '../../../../src/informer/threads/informer-threads.ts';
import { PODS } from '../../../kit/objects.ts';

for (const count of [0, 2]) {
  test(
    `Threads that are closing answer, or say that they are closed (threads ${count})`,
    { timeout: 20_000 },
    async () => {
      const threads = new InformerThreads({ shards: count });
      assert.deepEqual(await threads.stats(), []);
      const informer = new SharedIndexInformer(new FakeControllerSource(), PODS, { threads });
      const running = informer.run();
      await settled(informer);
      assert.equal((await threads.stats()).at(-1)?.role, 'main');
      await informer.shutdown();
      await running;
      const closing = threads.close();
      const asked = [threads.stats(), threads.stats()];
      await closing;
      for (const answer of await Promise.allSettled([...asked, threads.stats()])) {
        if (answer.status === 'rejected')
          assert.equal((answer.reason as { code: string }).code, 'ERR_KUBELOOM_STOPPED');
        else assert.equal(answer.value.at(-1)?.role, 'main');
      }
    },
  );
}
