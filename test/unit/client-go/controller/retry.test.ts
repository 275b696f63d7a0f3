/** Tests of changes that a controller could not process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newController } from '../../../../src/client-go/controller/controller.ts';
import { DeltaFIFO } from '../../../../src/client-go/queue/delta-fifo.ts';
import type { Deltas } from '../../../../src/client-go/queue/delta.ts';
import { FIFO } from '../../../../src/client-go/queue/fifo.ts';
import { RealFIFO } from '../../../../src/client-go/queue/real-fifo.ts';
import { FakeClock } from '../../reflector/fake-clock.ts';
import { settle } from './reflector-scene.ts';
import { ScriptedListerWatcher, pod, podList } from './scripted-lister-watcher.ts';
import type { Pod } from './scripted-lister-watcher.ts';

test('With retryOnError a failed change is put back and retried after a delay, longer each time', async () => {
  const clock = new FakeClock();
  for (const queue of [new FIFO<Pod>(), new DeltaFIFO<Pod>()] as const) {
    const source = new ScriptedListerWatcher();
    const seen: string[] = [];
    const errors: string[] = [];
    const stop = new AbortController();
    const process = (popped: unknown): void => {
      seen.push(JSON.stringify(popped).includes('"bad"') ? 'bad' : 'good');
      if (seen.at(-1) === 'bad' && seen.length < 5) throw new Error('no');
    };
    const config = {
      listerWatcher: source,
      clock,
      retryOnError: true,
      process,
      watchErrorHandler: (error: Error): unknown => errors.push(error.message),
    };
    const controller =
      queue instanceof FIFO ? newController({ ...config, queue }) : newController({ ...config, queue });
    source.listAnswers.push(podList(1, [pod('bad')]));
    const running = controller.run(stop.signal);
    await settle();
    assert.deepEqual(seen, ['bad']);
    assert.equal(controller.hasSynced(), false);
    const delays: (number | undefined)[] = [];
    while (!controller.hasSynced()) {
      delays.push(clock.nextDelayMs);
      clock.advance(clock.nextDelayMs ?? 0);
      await settle();
    }
    assert.deepEqual(delays, [5, 10, 20, 40]);
    assert.deepEqual(seen, ['bad', 'bad', 'bad', 'bad', 'bad']);
    assert.deepEqual(
      errors,
      Array.from({ length: 4 }, () => 'processing failed: no'),
    );
    stop.abort();
    await running;
  }
});

test('Without retryOnError a failed change is dropped and reported', async () => {
  const source = new ScriptedListerWatcher();
  const errors: string[] = [];
  const stop = new AbortController();
  let calls = 0;
  const running = newController<Pod, Pod>({
    queue: new FIFO<Pod>(),
    listerWatcher: source,
    process: () => {
      calls++;
      throw new Error('no');
    },
    watchErrorHandler: (error, during) => errors.push(`${during} ${error.code}`),
  }).run(stop.signal);
  source.listAnswers.push(podList(1, [pod('foo'), pod('bar')]));
  await settle();
  await settle();
  assert.equal(calls, 0);
  stop.abort();
  await running;
  const second = new ScriptedListerWatcher();
  const again = new AbortController();
  second.listAnswers.push(podList(1, [pod('foo'), pod('bar')]));
  const controller = newController<Pod, Pod>({
    queue: new FIFO<Pod>(),
    listerWatcher: second,
    process: () => {
      calls++;
      throw new Error('no');
    },
    watchErrorHandler: (error, during) => errors.push(`${during} ${error.code}`),
  });
  const secondRun = controller.run(again.signal);
  await settle();
  assert.equal(calls, 2);
  assert.deepEqual(errors, ['process ERR_KUBELOOM_PROCESS', 'process ERR_KUBELOOM_PROCESS']);
  assert.equal(controller.hasSynced(), true);
  again.abort();
  await secondRun;
});

test('retryOnError with a queue that keeps the order of all changes is a coded error', () => {
  const listerWatcher = new ScriptedListerWatcher();
  const queue = new RealFIFO<Pod>({ atomicEvents: true });
  const config = { queue, listerWatcher, retryOnError: true, process: () => undefined };
  assert.throws(() => newController<Pod, Deltas<Pod>>(config), { code: 'ERR_KUBELOOM_OPTION' });
});

test('After a success the delay begins with its first value again', async () => {
  const clock = new FakeClock();
  const source = new ScriptedListerWatcher();
  const stop = new AbortController();
  let isBad = true;
  const controller = newController<Pod, Pod>({
    queue: new FIFO<Pod>(),
    listerWatcher: source,
    clock,
    retryOnError: true,
    watchErrorHandler: () => undefined,
    process: () => {
      if (isBad) throw new Error('no');
    },
  });
  source.listAnswers.push(podList(1, [pod('foo')]));
  const running = controller.run(stop.signal);
  await settle();
  clock.advance(5);
  await settle();
  assert.equal(clock.nextDelayMs, 10);
  isBad = false;
  clock.advance(10);
  await settle();
  isBad = true;
  source.watching.send({ type: 'ADDED', object: pod('bar', 2) });
  await settle();
  assert.equal(clock.nextDelayMs, 5);
  stop.abort();
  await running;
});

test('A long queue lets timers and sockets have their turn', async () => {
  let now = 0;
  const source = new ScriptedListerWatcher();
  const stop = new AbortController();
  const names = Array.from({ length: 100 }, (_, index) => pod(`pod-${index}`));
  let processed = 0;
  const controller = newController<Pod, Pod>({
    queue: new FIFO<Pod>(),
    listerWatcher: source,
    clock: { now: () => now, schedule: () => () => undefined },
    process: () => {
      processed++;
      now++;
    },
  });
  source.listAnswers.push(podList(1, names));
  const running = controller.run(stop.signal);
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(processed < 20, `${processed} in one turn`);
  while (!controller.hasSynced()) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(processed, 100);
  stop.abort();
  await running;
});
