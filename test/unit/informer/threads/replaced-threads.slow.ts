/** The threads of replaced shards: Piscina replaces a thread that threw, and the supervisor does as well. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { InformerThreads, SharedIndexInformer, transformModule } from '../../../../src/index.ts';
import { FakeControllerSource } from '../../../../src/tools/apiserver/testing/index.ts';
import { PODS } from '../../../kit/objects.ts';

/** Without the second end of the pool about one in fifteen such shards left a thread. */
const RESTARTS = 20;

test('closed threads leave no thread, also of shards that threw outside of a call and were replaced', async () => {
  const exits: Promise<unknown>[] = [];
  const started = (worker: Worker): void => void exits.push(once(worker, 'exit').catch(() => undefined));
  process.on('worker', started);
  const threads = new InformerThreads({
    indexerThreads: 1,
    restartsMax: RESTARTS,
    restartWindowMs: 3_600_000,
  });
  const module = new URL('./throwing-module.js', import.meta.url).href;
  const informer = new SharedIndexInformer(new FakeControllerSource(), PODS, {
    threads,
    transform: transformModule(module),
    onError: () => undefined,
  });
  await assert.rejects(informer.run(), { code: 'ERR_KUBELOOM_THREAD' });
  await threads.close();
  process.off('worker', started);
  assert.ok(exits.length > RESTARTS);
  // A thread that is left keeps no process alive: the test ends as pending.
  await Promise.all(exits);
});
