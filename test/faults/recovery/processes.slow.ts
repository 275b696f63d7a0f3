/** Faults of whole processes: stopped, terminated, out of memory, a blocked main thread. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { startEmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import { InformerProcess } from '../../kit/informer-process.ts';
import { pod, put } from '../../kit/objects.ts';
import { Scene } from '../../kit/scene.ts';
import { MODULE, asking } from './asking.ts';

const PATIENT = { timeout: 120_000 };

function serving(): Promise<EmbeddedApiServer> {
  return startEmbeddedApiServer({ isolation: 'thread' });
}

test(
  "a process that was stopped for longer than the server's history recovers the server's state",
  PATIENT,
  async () => {
    await using server = await serving();
    await server.populate({ count: 500 });
    await using program = await InformerProcess.start(server);
    program.child.kill('SIGSTOP');
    await server.load({ rate: 2000, durationMs: 2000, mix: { update: 0.6, create: 0.2, delete: 0.2 } });
    // Longer than the timeout of a stalled thread.
    await setTimeout(7000);
    await server.compact();
    await server.expireWatches();
    program.child.kill('SIGCONT');
    await server.load({ rate: 500, durationMs: 500 });
    const { regressions, restarts } = await program.converged(server);
    assert.deepEqual([regressions, restarts], [0, 0]);
  },
);

test('a process that is terminated in the middle of a relist ends soon', PATIENT, async () => {
  await using server = await serving();
  await server.populate({ count: 20_000 });
  await using program = await InformerProcess.start(server);
  const ended = once(program.child, 'exit');
  const requests = (await server.requests()).length;
  await server.compact();
  await server.expireWatches();
  while ((await server.requests()).length === requests) await setTimeout(1);
  const terminatedMs = performance.now();
  program.child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
  assert.ok(performance.now() - terminatedMs < 20_000);
});

test(
  'a shard that runs out of memory is replaced, or the process ends with a message',
  PATIENT,
  async (context) => {
    await using server = await serving();
    await server.populate({ count: 100 });
    await using program = await InformerProcess.start(server, { module: MODULE }, 96);
    let said = '';
    program.child.stderr?.on('data', (data: Buffer) => (said += data.toString()));
    const ended = once(program.child, 'exit');
    await server.apply([put(asking('greedy', 'allocate', program.folder.file('once')))]);
    await server.apply([put(pod('after'))]);
    const outcome = await Promise.race([program.converged(server), ended]).catch(() => ended);
    if (Array.isArray(outcome)) {
      assert.match(said, /heap out of memory/);
      context.diagnostic(`the process ended: ${outcome.join(' ')}`);
      return;
    }
    assert.equal(outcome.restarts, 1);
    assert.deepEqual(outcome.errors, ['ERR_KUBELOOM_THREAD_RESTARTED']);
    context.diagnostic('the shard was replaced');
  },
);

for (const [blockedMs, rate] of [
  [8000, 2000],
  [30_000, 1000],
] as const) {
  test(
    `a main thread that is blocked for ${blockedMs} ms loses nothing, and no thread is replaced`,
    { timeout: 240_000 },
    async () => {
      await using scene = await Scene.start({
        server: { isolation: 'process' },
        threads: { logBytes: 32 * 2 ** 20 },
      });
      await scene.populate(500);
      const from = await scene.server.revision();
      const watching = await scene.watching();
      const load = scene.server.load({ rate, durationMs: blockedMs });
      await watching.handler.count(601);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockedMs);
      const { toRevision } = await load;
      await scene.assertHistory(watching, from, toRevision);
      const restarts = scene.threads.stats().map((role) => role.restarts);
      assert.ok(restarts.every((count) => count === 0));
    },
  );
}
