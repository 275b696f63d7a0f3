/** Tests of changes that a controller could not process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeltaFIFO } from '../../../../src/client-go/queue/delta-fifo.ts';
import { FIFO } from '../../../../src/client-go/queue/fifo.ts';
import type { Queue } from '../../../../src/client-go/queue/queue.ts';
import { RealFIFO } from '../../../../src/client-go/queue/real-fifo.ts';
import { ControllerScene } from './scene.ts';
import { added, pod, podList } from './scripted-lister-watcher.ts';
import type { Pod } from './scripted-lister-watcher.ts';

const fail = (): never => {
  throw new Error('no');
};

for (const queue of [new FIFO<Pod>(), new DeltaFIFO<Pod>()] as Queue<Pod, unknown>[]) {
  test(`With retryOnError a ${queue.hasSyncedChecker.name} gets a failed change back and retries it after longer and longer delays`, async () => {
    let calls = 0;
    const process = (): void => void (++calls < 5 && fail());
    const scene = new ControllerScene({ queue, retryOnError: true, process });
    await scene.run(podList(1, [pod('foo')]));
    assert.equal(calls, 1);
    assert.deepEqual(await scene.delaysWhile(() => !scene.controller.hasSynced()), [5, 10, 20, 40]);
    assert.equal(calls, 5);
    assert.deepEqual(scene.errors, Array(4).fill('process ERR_KUBELOOM_PROCESS'));
    await scene.stop();
  });
}

test('Without retryOnError a failed change is dropped and reported', async () => {
  await using scene = await new ControllerScene({ queue: new FIFO<Pod>(), process: fail }).run(
    podList(1, [pod('foo'), pod('bar')]),
  );
  assert.deepEqual(scene.errors, ['process ERR_KUBELOOM_PROCESS', 'process ERR_KUBELOOM_PROCESS']);
  assert.equal(scene.controller.hasSynced(), true);
});

test('retryOnError with a queue that keeps the order of all changes is a coded error', () => {
  const queue = new RealFIFO<Pod>({ atomicEvents: true });
  const create = (): unknown => new ControllerScene({ queue, retryOnError: true, process: fail });
  assert.throws(create, { code: 'ERR_KUBELOOM_OPTION' });
});

test('After a success the delay begins with its first value again', async () => {
  let isBad = true;
  const process = (): void => void (isBad && fail());
  await using scene = await new ControllerScene({ queue: new FIFO<Pod>(), retryOnError: true, process }).run(
    podList(1, [pod('foo')]),
  );
  await scene.advance(5);
  assert.equal(scene.clock.nextDelayMs, 10);
  isBad = false;
  await scene.advance(10);
  isBad = true;
  scene.source.watching.send(added('bar', 2));
  await scene.advance(0);
  assert.equal(scene.clock.nextDelayMs, 5);
});

test('A long queue lets timers and sockets have their turn', async () => {
  let now = 0;
  await using scene = new ControllerScene({
    queue: new FIFO<Pod>(),
    clock: { now: () => now, schedule: () => () => undefined },
    process: () => void now++,
  });
  const names = Array.from({ length: 100 }, (_, index) => pod(`pod-${index}`));
  scene.source.listAnswers.push(podList(1, names));
  const running = scene.run();
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(now < 20, `${now} in one turn`);
  while (!scene.controller.hasSynced()) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(now, 100);
  await running;
});
