/** Pools whose threads fall behind, do not start, or have nothing that can cross: each key fails with the reason. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setEnvironmentData } from 'node:worker_threads';
import { ReconcilerPool, SharedCache, TerminalError } from '../../../../src/thread/index.ts';
import { FakeClock } from '../../../../src/tools/apiserver/testing/index.ts';
import { errorOf, failureOf } from '../../../../src/thread/pool/messages.ts';
import type { ReconcilerThread, ThreadSettings } from '../../../../src/thread/pool/reconciler-thread.ts';
import { SMALL_BACKLOGS, Scene, pod, turns } from '../../informer/scene.ts';
import { FakeThread, KeyLedger, fakeCache } from './fake-threads.ts';
import { BEGUN, FIRST_OWNER, RELEASED } from './reconciling.ts';

const MODULE = new URL('./reconciling.js', import.meta.url);

function thrower(): never {
  throw new Error('inner');
}

function errorWith(property: PropertyDescriptor & { readonly name: string }): Error {
  return Object.defineProperty(new Error('outer'), property.name, { enumerable: true, ...property });
}

test('C299 any thrown value crosses as a message, and cannot end the thread', () => {
  const values: readonly unknown[] = [
    undefined,
    null,
    10n,
    Symbol('reason'),
    () => 1,
    {},
    Object.create(null),
    { toString: thrower },
    { [Symbol.toPrimitive]: thrower },
    new Proxy({}, { get: thrower, getPrototypeOf: thrower, ownKeys: thrower }),
    new Proxy(new Error('x'), { get: thrower, ownKeys: thrower }),
    errorWith({ name: 'boom', get: thrower }),
    errorWith({ name: 'message', value: Symbol('m') }),
    errorWith({ name: 'message', get: thrower }),
    errorWith({ name: 'stack', value: [() => 1] }),
    errorWith({ name: 'stack', get: thrower }),
    errorWith({ name: 'nested', value: { deep: () => 1 } }),
    errorWith({ name: 'big', value: 10n }),
    errorWith({ name: '__proto__', value: 'text' }),
  ];
  for (const value of values) {
    const crossed = errorOf(structuredClone(failureOf(value)));
    assert.ok(crossed instanceof Error);
    assert.equal(typeof crossed.message, 'string');
  }
  const scalars = Object.assign(new Error('kept'), { code: 'E_OWN', status: 409, isFatal: true, cause: {} });
  assert.deepEqual(
    { ...errorOf(structuredClone(failureOf(scalars))) },
    { code: 'E_OWN', status: 409, isFatal: true },
  );
});

test('C219 C473 an error whose cause is a TerminalError crosses as a TerminalError with its own message', () => {
  const outer = Object.assign(new Error('outer'), { code: 'E_OWN' });
  const wrapped = Object.assign(outer, { cause: new TerminalError('hopeless') });
  const crossed = errorOf(structuredClone(failureOf(wrapped)));
  assert.ok(crossed instanceof TerminalError);
  assert.equal(crossed.message, 'outer');
});

test('C299 a thread that does not load its module in time is terminated, and its key fails with the reason', async () => {
  const clock = new FakeClock();
  const threads: FakeThread[] = [];
  const ledger = new KeyLedger();
  const startThread = (): FakeThread => {
    const thread = new FakeThread(ledger);
    threads.push(thread);
    return thread;
  };
  const pool = new ReconcilerPool(
    'file:///hangs.js',
    { cache: fakeCache(ledger), threads: 1 },
    { clock, startThread },
  );
  const failed = assert.rejects(pool.reconcile('a'), {
    code: 'ERR_KUBELOOM_MODULE',
    message: /hangs\.js was not loaded within 30000 ms/,
  });
  while (threads.length === 0) await turns(1);
  clock.advance(29_999);
  await turns(1);
  assert.equal(threads[0]?.state.kind, 'opening');
  clock.advance(1);
  await failed;
  assert.equal(threads[0]?.state.kind, 'exited');
  // Only the opening has a limit.
  ledger.added('b');
  const done = pool.reconcile('b');
  while (threads.length === 1) {
    clock.advance(100);
    await turns(1);
  }
  threads[1]?.answer({ outcome: 'done', requeueAfterMs: undefined });
  while (threads[1]?.state.kind !== 'busy') await turns(1);
  clock.advance(100_000);
  await turns(1);
  threads[1].answer({ outcome: 'done', requeueAfterMs: undefined });
  await done;
  await pool.close();
});

test('C213 a thread that cannot be started leaves no port behind', async () => {
  await using scene = new Scene();
  const informer = scene.informer();
  await scene.started(informer);
  await using cache = new SharedCache({ pods: informer });
  const startThread = (): ReconcilerThread => {
    throw new Error('no file of the worker');
  };
  const pool = new ReconcilerPool(MODULE, { cache, threads: 1 }, { clock: new FakeClock(), startThread });
  await assert.rejects(pool.reconcile('a'), /no file of the worker/);
  while (cache.ports > 0) await turns(1);
  await pool.close();
});

test('C218 a pool refuses keys while one of its informers has stopped, and starts no thread for them', async () => {
  await using scene = new Scene();
  const informer = scene.informer();
  await scene.started(informer);
  await using cache = new SharedCache({ pods: informer });
  const started: ThreadSettings[] = [];
  const startThread = (settings: ThreadSettings): ReconcilerThread => {
    started.push(settings);
    throw new Error('not now');
  };
  const pool = new ReconcilerPool(MODULE, { cache, threads: 1 }, { clock: new FakeClock(), startThread });
  await informer.shutdown();
  await assert.rejects(pool.reconcile('a'), { code: 'ERR_KUBELOOM_STOPPED', message: /has stopped/ });
  assert.equal(started.length, 0);
  await pool.close();
});

test("C211 C212 C218 C220 a thread that was far behind while a call held it reads the main thread's state for its next key", async () => {
  const words = new Int32Array(new SharedArrayBuffer(4 * (FIRST_OWNER + 64)));
  setEnvironmentData('reconciling', words);
  await using scene = new Scene(SMALL_BACKLOGS);
  const { source } = scene;
  for (let number = 0; number < 200; number++) source.add(pod(`pod-${number}`));
  source.add(pod('read'));
  const informer = scene.informer();
  await scene.started(informer);
  await using cache = new SharedCache({ pods: informer });
  await using pool = new ReconcilerPool(MODULE, { cache, threads: 1 });
  for (const [round, action] of (['hold', 'hold', 'fall'] as const).entries()) {
    Atomics.store(words, RELEASED, 0);
    Atomics.store(words, BEGUN, 0);
    const held = Promise.allSettled([pool.reconcile(`ns/${action}`)]);
    while (Atomics.load(words, BEGUN) === 0) await turns(1);
    for (let number = 0; number < 200; number++)
      source.modify(pod(`pod-${number}`, { round: `${round}`, text: 'x'.repeat(500) }));
    source.modify(pod('read', { version: `${round}` }));
    while (informer.lastSyncResourceVersion() !== source.resourceVersion) await turns(1);
    Atomics.store(words, RELEASED, 1);
    Atomics.notify(words, RELEASED);
    const [outcome] = await held;
    assert.equal(outcome.status, action === 'hold' ? 'fulfilled' : 'rejected');
    await assert.rejects(pool.reconcile('ns/read'), { message: `${round}` });
    assert.equal(cache.threads, 1);
  }
});
