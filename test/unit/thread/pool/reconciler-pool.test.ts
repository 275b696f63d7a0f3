/** Pools of reconcilers with real threads: what crosses, what they read, and how they end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setEnvironmentData } from 'node:worker_threads';
import type { ResourceLimits } from 'node:worker_threads';
import {
  ItemExponentialFailureRateLimiter,
  RateLimitingQueue,
  TerminalError,
  runWorkers,
} from '../../../../src/workqueue/index.ts';
import { KubeloomError } from '../../../../src/index.ts';
import { ReconcilerPool, SharedCache } from '../../../../src/thread/index.ts';
import type { SharedIndexInformer } from '../../../../src/index.ts';
import { settled } from '../../../../src/tools/apiserver/testing/index.ts';
import { Scene, pod } from '../../informer/scene.ts';
import type { Pod } from '../../informer/scene.ts';
import { BEGUN, FIRST_OWNER, OVERLAPS, THROW } from './reconciling.ts';

const MODULE = new URL('./reconciling.js', import.meta.url);

class Reconciling implements AsyncDisposable {
  readonly scene: Scene = new Scene();
  readonly words: Int32Array = new Int32Array(new SharedArrayBuffer(4 * (FIRST_OWNER + 64)));
  readonly queue: RateLimitingQueue<string> = new RateLimitingQueue({
    rateLimiter: new ItemExponentialFailureRateLimiter(1, 10),
  });
  informer!: SharedIndexInformer<Pod>;
  pool!: ReconcilerPool;
  #cache!: SharedCache;

  static async start(threads: number, resourceLimits: ResourceLimits = {}): Promise<Reconciling> {
    const started = new Reconciling();
    const { scene, words } = started;
    // Threads that start from now on have it.
    setEnvironmentData('reconciling', words);
    started.informer = scene.informer();
    await scene.started(started.informer);
    const cache = (started.#cache = new SharedCache({ pods: started.informer }));
    started.pool = new ReconcilerPool(MODULE, { cache, threads, resourceLimits });
    return started;
  }

  get threads(): number {
    return this.#cache.threads;
  }

  /** Resolves when so many reconciliations have begun. */
  async begun(count: number): Promise<void> {
    while (Atomics.load(this.words, BEGUN) < count) await new Promise((resolve) => setImmediate(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.queue.shutDown();
    await this.pool.close({ signal: AbortSignal.abort() });
    await this.#cache.close();
    await this.scene[Symbol.asyncDispose]();
  }
}

test('C219 results cross the boundary, and errors with message, stack, code and the scalars beside it', async () => {
  await using at = await Reconciling.start(1);
  assert.equal(await at.pool.reconcile('ns/plain'), undefined);
  assert.deepEqual(await at.pool.reconcile('ns/requeue'), { requeueAfterMs: 5 });
  await assert.rejects(at.pool.reconcile('ns/throw'), (error: Error) => {
    assert.equal(error.message, 'a wrong type');
    assert.match(error.stack ?? '', /TypeError: a wrong type\n.*reconciling\./);
    assert.deepEqual({ ...error }, { code: 'ERR_OF_ANOTHER', status: 409 });
    return true;
  });
  await assert.rejects(at.pool.reconcile('ns/terminal'), (error) => error instanceof TerminalError);
  await assert.rejects(
    at.pool.reconcile('ns/coded'),
    (error) => error instanceof KubeloomError && error.code === 'ERR_KUBELOOM_NO_INDEX',
  );
  assert.equal(at.threads, 1);
});

test('C280 a result that is none fails in the thread, which goes on with the next key', async () => {
  await using at = await Reconciling.start(1);
  for (const key of ['ns/result', 'ns/answer'])
    await assert.rejects(at.pool.reconcile(key), { code: 'ERR_KUBELOOM_RESULT' });
  assert.deepEqual(await at.pool.reconcile('ns/requeue'), { requeueAfterMs: 5 });
  assert.equal(at.threads, 1);
});

test("C218 a reconciliation reads at least the main thread's state at the hand-over of its key", async () => {
  await using at = await Reconciling.start(2);
  const { source } = at.scene;
  source.add(pod('read'));
  for (let version = 0; version < 60; version++) {
    source.modify(pod('read', { version: String(version) }));
    await settled(at.informer);
    const keys = version % 2 === 0 ? ['ns/read'] : ['ns/read', 'ns/read'];
    const failures = await Promise.allSettled(keys.map((key) => at.pool.reconcile(key)));
    for (const failure of failures) {
      assert.equal(failure.status === 'rejected' && (failure.reason as Error).message, String(version));
    }
  }
});

test('C217 C220 a key is never in two threads at once, however they end, and every key is finished', async () => {
  await using at = await Reconciling.start(3);
  const failures: unknown[] = [];
  const running = runWorkers(at.queue, at.pool, { onError: (error) => failures.push(error) });
  for (let round = 0; round < 30; round++) {
    for (let number = 0; number < 12; number++) at.queue.add(`ns/plain-${number}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  at.queue.add('ns/exit-20');
  while (failures.length < 2) await new Promise((resolve) => setImmediate(resolve));
  for (const failure of failures) {
    assert.ok(failure instanceof KubeloomError);
    assert.equal(failure.code, 'ERR_KUBELOOM_THREAD_RESTARTED');
    assert.match(failure.message, /while it reconciled ns\/exit-20: exit code 3/);
  }
  at.queue.shutDown();
  await running;
  assert.equal(Atomics.load(at.words, OVERLAPS), 0);
  assert.ok(Atomics.load(at.words, BEGUN) >= 13);
});

for (const action of ['exit', 'heap', 'background'] as const) {
  test(`C220 a thread that ends leaves no memory in use, and another thread takes the next key: ${action}`, async (context) => {
    const warned: unknown[] = [];
    context.mock.method(process, 'emitWarning', (message: string) => warned.push(message));
    await using at = await Reconciling.start(1, { maxOldGenerationSizeMb: 32 });
    const first = at.pool.reconcile(`ns/${action}`);
    if (action === 'background') {
      await first;
      Atomics.store(at.words, THROW, 1);
      while (warned.length === 0) await new Promise((resolve) => setImmediate(resolve));
      assert.match(String(warned[0]), /ended without a key: outside of a reconciliation/);
    } else {
      await assert.rejects(first, { code: 'ERR_KUBELOOM_THREAD_RESTARTED' });
    }
    assert.equal(await at.pool.reconcile('ns/plain'), undefined);
    assert.equal(at.threads, 1);
  });
}

for (const [what, key] of [
  ['the reason', 'ns/wait'],
  ["a timer's AbortError", 'ns/delay'],
] as const)
  test(`C221 C283 an abort of the workers reaches the thread, and is not a failure: ${what}`, async () => {
    await using at = await Reconciling.start(1);
    const stop = new AbortController();
    at.queue.add(key);
    at.queue.add('ns/plain');
    const failures: unknown[] = [];
    const { signal } = stop;
    const running = runWorkers(at.queue, at.pool, { signal, onError: (error) => failures.push(error) });
    await at.begun(1);
    stop.abort();
    await running;
    assert.deepEqual(failures, []);
    assert.equal(at.queue.length, 1);
    await assert.rejects(at.pool.reconcile('ns/plain', { signal }), (error) => error === signal.reason);
  });

test('C222 the pool closes after the reconciliations in progress, and takes no further keys', async () => {
  await using at = await Reconciling.start(2);
  for (let number = 0; number < 6; number++) at.queue.add(`ns/plain-${number}`);
  const running = runWorkers(at.queue, at.pool);
  await at.queue.shutDownWithDrain();
  await running;
  assert.equal(Atomics.load(at.words, BEGUN), 6);
  const last = at.pool.reconcile('ns/plain');
  await at.pool.close();
  assert.equal(await last, undefined);
  await assert.rejects(at.pool.reconcile('ns/plain'), { code: 'ERR_KUBELOOM_STOPPED' });
  while (at.threads > 0) await new Promise((resolve) => setImmediate(resolve));
});

test('C222 the signal of close terminates threads that do not return', async () => {
  await using at = await Reconciling.start(2);
  const blocked = assert.rejects(at.pool.reconcile('ns/block'), { code: 'ERR_KUBELOOM_STOPPED' });
  await at.begun(1);
  const waiting = ['ns/wait', 'ns/wait'].map((key) =>
    assert.rejects(at.pool.reconcile(key), { code: 'ERR_KUBELOOM_STOPPED' }),
  );
  await at.begun(2);
  const giveUp = new AbortController();
  const closed = at.pool.close({ signal: giveUp.signal });
  giveUp.abort();
  await Promise.all([closed, blocked, ...waiting]);
});

test('a module that cannot be loaded, or that has no function, is named by the failure of each key', async () => {
  await using at = await Reconciling.start(1);
  const cache = new SharedCache({ pods: at.informer });
  for (const [file, message] of [
    ['nothing.js', /cannot load .*nothing\.js/],
    ['../../informer/scene.js', /default export/],
  ] as const) {
    await using pool = new ReconcilerPool(new URL(file, import.meta.url), { cache, threads: 1 });
    await assert.rejects(pool.reconcile('ns/plain'), { code: 'ERR_KUBELOOM_MODULE', message });
    await assert.rejects(pool.reconcile('ns/plain'), { code: 'ERR_KUBELOOM_MODULE', message });
  }
  while (cache.threads > 0) await new Promise((resolve) => setImmediate(resolve));
});

test('wrong options are refused, and an informer that does not run is named by the failure of each key', async () => {
  await using scene = new Scene();
  const cache = new SharedCache({ pods: scene.informer() });
  const code = 'ERR_KUBELOOM_OPTION';
  assert.throws(() => new ReconcilerPool('reconcile.js', { cache }), { code, message: /^module must be an/ });
  assert.throws(() => new ReconcilerPool(MODULE, {} as never), {
    code,
    message: /cache must be a SharedCache/,
  });
  assert.throws(() => new ReconcilerPool(MODULE, { cache, threads: 0 }), { code, message: /threads/ });
  await using pool = new ReconcilerPool(MODULE, { cache, threads: 1 });
  await assert.rejects(pool.reconcile('ns/plain'), { code: 'ERR_KUBELOOM_NOT_STARTED' });
});

test('a pool whose shared cache was closed names that, and ends', async () => {
  await using at = await Reconciling.start(1);
  const cache = new SharedCache({ pods: at.informer });
  await using pool = new ReconcilerPool(MODULE, { cache, threads: 1 });
  await pool.reconcile('ns/plain');
  await cache.close();
  at.scene.source.add(pod('later'));
  await settled(at.informer);
  await assert.rejects(pool.reconcile('ns/plain'), { code: 'ERR_KUBELOOM_STOPPED' });
  await assert.rejects(pool.reconcile('ns/plain'), { code: 'ERR_KUBELOOM_STOPPED' });
});
