/** After start no event crosses threads by message: the ports are silent while 100,000 events flow. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessagePort, Worker } from 'node:worker_threads';
import { Harness, Recorder } from './harness.ts';

test('100,000 events flow through two shard threads without a message on any port', async () => {
  await using harness = await Harness.start({ threads: 2, codec: 'json' });
  await harness.server.populate({ count: 1000 });
  const informer = harness.informer();
  const recorder = new Recorder();
  informer.addEventHandler(recorder);
  await harness.synced(informer);
  await harness.server.waitForWatches(1);
  await recorder.until(() => recorder.seen.length === 1000);

  const counted = countMessages();
  const { toRevision, issued } = await harness.server.load({
    rate: 'max',
    durationMs: 60_000,
    eventsMax: 100_000,
  });
  await recorder.until(() => Number(recorder.latest?.resourceVersion) >= toRevision);
  const messages = counted.stop();
  assert.equal(issued, 100_000);
  assert.equal(recorder.seen.length, 101_000);
  // The embedded apiserver runs in a thread of its own and answers control calls by message: a few.
  assert.ok(messages < 20, `${messages} messages were received or posted on this thread`);
  for (const { role, deltas, lostWakeups } of harness.threads.stats()) {
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
