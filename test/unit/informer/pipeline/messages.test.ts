/** After start no event crosses threads by message: the ports are silent while 100,000 events flow. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessagePort, Worker } from 'node:worker_threads';
import { Scene } from '../../../kit/scene.ts';

test('100,000 events flow through two shard threads without a message on any port', async () => {
  await using scene = await Scene.start({ threads: { indexerThreads: 2 } });
  await scene.server.populate({ count: 1000 });
  const { handler } = await scene.watching();
  await scene.server.waitForWatches(1);
  await handler.count(1000);

  const counted = countMessages();
  const { toRevision, issued } = await scene.server.load({
    rate: 'max',
    durationMs: 60_000,
    eventsMax: 100_000,
  });
  await handler.reached(toRevision);
  const messages = counted.stop();
  assert.equal(issued, 100_000);
  assert.equal(handler.calls.length, 101_000);
  // The embedded apiserver runs in a thread of its own and answers control calls by message: a few, more where the load lasts longer.
  assert.ok(messages < 200, `${messages} messages were received or posted on this thread`);
  for (const { role, deltas, lostWakeups } of scene.threads.stats()) {
    assert.ok(deltas > 40_000, `${role}: ${deltas}`);
    assert.equal(lostWakeups, 0, role);
  }
});

/** Counts what this thread posts and receives on any port, Workers' included. */
function countMessages(): { stop(): number } {
  let count = 0;
  const restores: (() => void)[] = [];
  for (const prototype of [MessagePort.prototype, Worker.prototype]) {
    const { postMessage, emit } = prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
    const own = Object.getOwnPropertyDescriptors(prototype);
    Object.assign(prototype, {
      postMessage(this: unknown, ...args: unknown[]) {
        count++;
        return postMessage?.apply(this, args);
      },
      emit(this: unknown, ...args: unknown[]) {
        if (args[0] === 'message') count++;
        return emit?.apply(this, args);
      },
    });
    restores.push(() => {
      for (const name of ['postMessage', 'emit']) {
        const descriptor = own[name];
        if (descriptor) Object.defineProperty(prototype, name, descriptor);
        else Reflect.deleteProperty(prototype, name);
      }
    });
  }
  return {
    stop: () => {
      for (const restore of restores) restore();
      return count;
    },
  };
}
