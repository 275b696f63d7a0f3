/** Controllers whose module reconciles in threads, on an embedded apiserver. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setEnvironmentData } from 'node:worker_threads';
import { LeaderElector } from '../../../src/controller/index.ts';
import { MemoryLease, MemoryLock } from './leader-election/memory-lock.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { InformerThreads, resources } from '../../../src/index.ts';
import { FakeClock } from '../../../src/tools/apiserver/testing/index.ts';
import { RecordingLogger } from '../../kit/recording-logger.ts';
import { Gate, Scene, managerOf, managerWith, object } from './scene.ts';

const { deployments, replicaSets } = resources.apps.v1;
const { configMaps } = resources.core.v1;
const MODULE = new URL('./reconciling-module.js', import.meta.url);

it('a controller with a module reconciles in threads, which read the caches of all its kinds', async () => {
  await using scene = await Scene.start();
  await scene.create('deployments.apps', object('a'), object('b'));
  await scene.create('replicasets.apps', object('r'));
  await using running = managerOf(scene);
  using reconciled = new Gate();
  const read: string[] = [];
  const onError = (error: unknown): void => {
    read.push((error as Error).message);
    if (read.length === 2) reconciled.open();
  };
  running.manager
    .controllerFor(deployments, { concurrency: 2, onError })
    .owns(replicaSets)
    .watches(replicaSets, () => [])
    .reconcile(MODULE);
  const run = running.run();
  await Promise.race([reconciled.opened, run]);
  assert.deepEqual(read.toSorted(), ['a of 2, with 1 replica sets', 'b of 2, with 1 replica sets']);
  await assert.rejects(running.manager.cache.addNamespaces(deployments, ['other']), {
    code: 'ERR_KUBELOOM_OPTION',
  });
  running.stop.abort();
  await run;
});

it('a thread has the id of its reconciliation, as the lines of the manager about it', async () => {
  const log = new RecordingLogger();
  await using running = await managerWith(['id'], { log });
  using reconciled = new Gate();
  running.manager
    .controllerFor(deployments, { concurrency: 1, onError: reconciled.open })
    .owns(replicaSets)
    .reconcile(MODULE);
  const run = running.run();
  await Promise.race([reconciled.opened, run]);
  const { reconcileID, err } = log.fields[log.lines.findIndex((line) => line.startsWith('error '))] ?? {};
  assert.equal((err as Error).message, reconcileID);
  assert.match(String(reconcileID), /^[\da-f-]{36}$/);
  running.stop.abort();
  await run;
});

it('the stop of a manager aborts the reconciliations in threads, and ends the threads', async () => {
  await using running = await managerWith(['wait', 'another']);
  const words = new Int32Array(new SharedArrayBuffer(4));
  setEnvironmentData('waiting', words);
  const failures: unknown[] = [];
  running.manager
    .controllerFor(deployments, { concurrency: 1, onError: (error) => failures.push(error) })
    .owns(replicaSets)
    .reconcile(MODULE);
  void running.run();
  while (Atomics.load(words, 0) === 0) await new Promise((resolve) => setImmediate(resolve));
  await running.end();
  assert.deepEqual(
    failures.filter((error) => !(error as Error).message.startsWith('another')),
    [],
  );
});

it('C310 the signal of a former leader is aborted in threads while its main thread is blocked', async () => {
  const lock = new MemoryLock(new MemoryLease(), 'first');
  const times = { leaseDurationMs: 7_200_000, renewDeadlineMs: 3_600_000, retryPeriodMs: 100 };
  // The answer to a renewal comes at the last moment of the lease before it, so the renewal is good for 101 ms.
  const timers = new FakeClock(0);
  let lateMs = 0;
  lock.before = async (operation) => {
    await Promise.resolve();
    if (operation === 'update') lateMs = times.renewDeadlineMs - times.retryPeriodMs - 1;
  };
  const clock: Clock = {
    now: () => timers.now() + lateMs,
    schedule: (delayMs, callback) => timers.schedule(delayMs, callback),
  };
  await using running = await managerWith(['asks'], {
    leaderElector: new LeaderElector({ lock, clock, ...times }),
  });
  const words = new Int32Array(new SharedArrayBuffer(8));
  setEnvironmentData('asking', words);
  running.manager
    .controllerFor(deployments, { concurrency: 1, onError: () => undefined })
    .owns(replicaSets)
    .reconcile(MODULE);
  const lost = assert.rejects(running.run(), { code: 'ERR_KUBELOOM_LEADER_LOST' });
  while (Atomics.load(words, 0) === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(Atomics.load(words, 1), 0);
  timers.advance(times.retryPeriodMs);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(lock.calls.at(-1), 'update');
  // The limit of a failure: the thread ends the wait when it sees its signal, and no time passes for the main thread.
  assert.notEqual(Atomics.wait(words, 1, 0, 30_000), 'timed-out');
  timers.advance(times.leaseDurationMs);
  await lost;
});

it('C297 a thread that blocks, and is far behind, does not delay the end of a manager after shutdownTimeoutMs', async () => {
  // The thread may hold 8 KiB of old states.
  await using threads = new InformerThreads({ indexerThreads: 0, backlogBytesMax: 2 ** 16 });
  const clock = new FakeClock();
  await using running = await managerWith(['block', 'a'], {
    clock,
    shutdownTimeoutMs: 1000,
    cache: { threads },
  });
  const words = new Int32Array(new SharedArrayBuffer(8));
  setEnvironmentData('waiting', words);
  running.manager.controllerFor(deployments, { concurrency: 1 }).owns(replicaSets).reconcile(MODULE);
  const ended = assert.rejects(running.run(), { code: 'ERR_KUBELOOM_STILL_RUNNING', message: /block/ });
  while (Atomics.load(words, 0) === 0) await new Promise((resolve) => setImmediate(resolve));
  const labelled = (version: string): ReturnType<typeof object> => {
    const { metadata, ...rest } = object('a');
    return { ...rest, metadata: Object.assign({ labels: { version } }, metadata) };
  };
  const [informer] = running.manager.informers;
  const isBehind = (): boolean =>
    (informer?.stats().handlers ?? []).some(
      ({ name, notifications }) => name === `a thread's cache` && notifications > 0,
    );
  for (let version = 0; !isBehind(); version++) {
    await running.scene.put('deployments.apps', labelled(`${version}`));
    await new Promise((resolve) => setImmediate(resolve));
  }
  running.stop.abort();
  clock.advance(1000);
  await ended;
  Atomics.store(words, 1, 1);
  Atomics.notify(words, 1);
});

it('kinds with several namespaces, and kinds with the same name, end the manager with a code', async () => {
  await using scene = await Scene.start();
  await using namespaced = managerOf(scene, { cache: { namespaces: ['one', 'two'] } });
  namespaced.manager.controllerFor(configMaps).reconcile(MODULE);
  const code = 'ERR_KUBELOOM_OPTION';
  await assert.rejects(namespaced.run(), { code, message: /one namespace or all/ });
  await using named = managerOf(scene);
  named.manager
    .controllerFor(configMaps)
    .owns(resources.core.v1.events)
    .owns(resources.events.v1.events)
    .reconcile(MODULE);
  await assert.rejects(named.run(), { code, message: /with different names/ });
});
