/** Faults of whole processes: stopped, terminated, out of memory. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { startEmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import { InformerProcess } from '../../kit/informer-process.ts';
import { pod, put } from '../../kit/objects.ts';
import { MODULE, asking } from './asking.ts';
import { HANG_MS } from '../../kit/hang.ts';

function serving(): Promise<EmbeddedApiServer> {
  return startEmbeddedApiServer({ isolation: 'thread' });
}

test("a process that was stopped for longer than the server's history recovers the server's state", async () => {
  await using server = await serving();
  await server.populate({ count: 500 });
  await using program = await InformerProcess.start(server);
  program.child.kill('SIGSTOP');
  await server.load({
    rate: 2000,
    durationMs: HANG_MS,
    eventsMax: 4000,
    mix: { update: 0.6, create: 0.2, delete: 0.2 },
  });
  await server.compact();
  await server.expireWatches();
  program.child.kill('SIGCONT');
  await server.load({ rate: 500, durationMs: HANG_MS, eventsMax: 250 });
  const { regressions, restarts } = await program.converged(server);
  assert.deepEqual([regressions, restarts], [0, 0]);
});

test('a process that is terminated in the middle of a relist ends by itself', async () => {
  await using server = await serving();
  await server.populate({ count: 20_000 });
  await using program = await InformerProcess.start(server);
  const ended = once(program.child, 'exit');
  const requests = (await server.requests()).length;
  await server.compact();
  await server.expireWatches();
  while ((await server.requests()).length === requests);
  program.child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
});

test('a shard that runs out of memory is replaced, or the process ends with a message', async (context) => {
  await using server = await serving();
  await server.populate({ count: 100 });
  await using program = await InformerProcess.start(server, { module: MODULE }, { heapMiB: 96 });
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
});
