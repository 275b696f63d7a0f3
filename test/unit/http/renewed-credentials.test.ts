/**
 * A whole informer whose credentials are refused: its plugin runs again, and the informer reports no error.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { InformerThreads, SharedIndexInformer } from '../../../src/index.ts';
import { startEmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import { PODS } from '../../kit/objects.ts';
import { kubeConfigFor } from '../../security/bare-server.ts';
import { file, program } from './credentials-scene.ts';

/** Returns a plugin with these outputs for its first runs, and the last one afterwards. */
function plugin(first: readonly string[], then: string): { exec: object; runs: () => number } {
  const log = file('');
  const script = program(
    `const fs = require('node:fs');
     fs.appendFileSync(${JSON.stringify(log)}, 'x');
     const token = ${JSON.stringify(first)}[fs.readFileSync(${JSON.stringify(log)}).length - 1] ?? ${JSON.stringify(then)};
     console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token } }));`,
  );
  return {
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      interactiveMode: 'Never',
      command: process.execPath,
      args: [script],
    },
    runs: () => readFileSync(log).length,
  };
}

for (const threadsCount of [0, 1]) {
  test(`a refused token is renewed once without an error, a second refusal is reported (threads: ${threadsCount})`, async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    await server.populate({ count: 3, namespaces: 1 });
    await using threads = new InformerThreads({ indexerThreads: threadsCount });
    for (const [stale, errors] of [
      [['stale'], []],
      [['stale', 'stale too'], ['ERR_KUBELOOM_UNAUTHORIZED']],
    ] as const) {
      const { exec, runs } = plugin(stale, server.token);
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
