/**
 * A whole informer whose credentials are refused: its plugin runs again, and the informer reports no error.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InformerThreads, SharedIndexInformer } from '../../../src/index.ts';
import { startEmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import { PODS } from '../../kit/objects.ts';
import { kubeConfigFor } from '../../security/bare-server.ts';
import { plugin } from './credentials-scene.ts';

for (const threadsCount of [0, 1]) {
  test(`a refused token is renewed once without an error, a second refusal is reported (threads: ${threadsCount})`, async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    await server.populate({ count: 3, namespaces: 1 });
    await using threads = new InformerThreads({ indexerThreads: threadsCount });
    for (const [stale, errors] of [
      [['stale'], []],
      [['stale', 'stale too'], ['ERR_KUBELOOM_UNAUTHORIZED']],
    ] as const) {
      const tokens = JSON.stringify([...stale, server.token]);
      const { exec, runs } = plugin(`{ token: ${tokens}[n - 1] }`);
      const caData = Buffer.from(server.ca ?? '').toString('base64');
      const kubeConfig = kubeConfigFor(server.url, { exec }, { caData });
      const seen: string[] = [];
      await using informer = new SharedIndexInformer(kubeConfig, PODS, {
        threads,
        backoff: { initialMs: 1, maxMs: 10 },
        onError: (error) => seen.push((error as { code?: string }).code ?? ''),
      });
      void informer.run();
      await informer.waitForSync();
      assert.equal(informer.getStore().list().length, 3);
      assert.deepEqual(seen, errors);
      assert.equal(runs(), stale.length + 1);
    }
  });
}
