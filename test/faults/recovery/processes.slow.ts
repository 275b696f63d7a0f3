/** Faults of whole processes: stopped, terminated, out of memory, a blocked main thread. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { startEmbeddedApiServer } from '../../../src/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../src/apiserver/testing/index.ts';
import { pod, put } from '../../kit/objects.ts';
import { Scene } from '../../kit/scene.ts';
import { TemporaryFolder } from '../../kit/temporary-folder.ts';
import { MODULE, asking } from './asking.ts';
import type { Knowledge } from './informer-child.ts';

const CHILD = new URL('./informer-child.js', import.meta.url);

/** A server, and an informer in a process of its own. */
class ProcessScene implements AsyncDisposable {
  readonly server: EmbeddedApiServer;
  readonly folder: TemporaryFolder = new TemporaryFolder();
  #child: ChildProcess | undefined;

  constructor(server: EmbeddedApiServer) {
    this.server = server;
  }

  static async start(): Promise<ProcessScene> {
    return new ProcessScene(await startEmbeddedApiServer({ isolation: 'thread' }));
  }

  async child(module = '', execArgv: readonly string[] = []): Promise<ChildProcess> {
    const kubeconfig = this.folder.write('kubeconfig', this.server.kubeConfigYaml);
    const child = fork(CHILD, [kubeconfig, module], {
      execArgv: [...execArgv],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child = child;
    await once(child, 'message');
    return child;
  }

  async knowledge(): Promise<Knowledge> {
    assert.ok(this.#child);
    this.#child.send('?');
    const [answer] = (await once(this.#child, 'message')) as [Knowledge];
    return answer;
  }

  /** Waits until the child's cache has the server's state. */
  async converged(): Promise<Knowledge> {
    for (;;) {
      const knowledge = await this.knowledge();
      const state = await this.server.state('pods');
      const expected = Array.from(state, ([key, version]) => `${key}@${version}`);
      const isSame = knowledge.cache.toSorted().join() === expected.toSorted().join();
      if (isSame || knowledge.errors.some((code) => code.startsWith('ended'))) {
        assert.ok(isSame, knowledge.errors.join());
        return knowledge;
      }
      await setTimeout(50);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child?.kill('SIGKILL');
    await this.server.close();
    await this.folder[Symbol.asyncDispose]();
  }
}

test(
  "a process that was stopped for longer than the server's history recovers the server's state",
  { timeout: 120_000 },
  async () => {
    await using scene = await ProcessScene.start();
    const { server } = scene;
    await server.populate({ count: 500 });
    const child = await scene.child();
    child.kill('SIGSTOP');
    await server.load({ rate: 2000, durationMs: 2000, mix: { update: 0.6, create: 0.2, delete: 0.2 } });
    // Longer than the timeout of a stalled thread.
    await setTimeout(7000);
    await server.compact();
    await server.expireWatches();
    child.kill('SIGCONT');
    await server.load({ rate: 500, durationMs: 500 });
    const knowledge = await scene.converged();
    assert.equal(knowledge.regressions, 0);
    assert.equal(knowledge.restarts, 0, 'no thread was replaced');
  },
);

test('a process that is terminated in the middle of a relist ends soon', { timeout: 120_000 }, async () => {
  await using scene = await ProcessScene.start();
  const { server } = scene;
  await server.populate({ count: 20_000 });
  const child = await scene.child();
  const ended = once(child, 'exit');
  const requests = (await server.requests()).length;
  await server.compact();
  await server.expireWatches();
  while ((await server.requests()).length === requests) await setTimeout(1);
  const toldMs = performance.now();
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
  assert.ok(performance.now() - toldMs < 20_000);
});

test(
  'a shard that runs out of memory is replaced, or the process ends with a message',
  { timeout: 120_000 },
  async (context) => {
    await using scene = await ProcessScene.start();
    const { server } = scene;
    await server.populate({ count: 100 });
    const child = await scene.child(MODULE, ['--max-old-space-size=96']);
    let said = '';
    child.stderr?.on('data', (data: Buffer) => (said += data.toString()));
    const greedy = asking('greedy', 'allocate', scene.folder.file('once'));
    const ended = once(child, 'exit');
    await server.apply([put(greedy)]);
    await server.apply([put(pod('after'))]);
    const outcome = await Promise.race([scene.converged(), ended]);
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
      const restarts = (await scene.threads.stats()).map((role) => role.restarts);
      assert.ok(restarts.every((count) => count === 0));
    },
  );
}
