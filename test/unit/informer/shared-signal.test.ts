/** One signal may end many waits: that is no leak, Node must not warn of one, and nothing may stay behind. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { metaNamespaceKeyFunc } from '../../../src/kube/keys.ts';
import { abortable } from '../../../src/base/on-abort.ts';
import { WaitCondition } from '../../../src/informer/wait-condition.ts';
import { SettableDoneChecker, waitFor } from '../../../src/informer/wait-for.ts';
import { VersionWaiters } from '../../../src/informer/version-waiters.ts';
import { CacheMutationDetector } from '../../../src/informer/mutation/cache-mutation-detector.ts';
import { FIFO } from '../../../src/client-go/queue/fifo.ts';
import { Heap } from '../../../src/client-go/queue/heap.ts';
import { FakeClock } from '../../../src/tools/apiserver/testing/index.ts';
import { WorkQueue } from '../../../src/workqueue/work-queue.ts';

const never = new Promise<void>(() => undefined);
const clock = new FakeClock();

const WAITS: Readonly<Record<string, (signal: AbortSignal) => Promise<unknown>>> = {
  'for an informer to sync': (signal) => new WaitCondition().until(() => false, signal),
  'for a handler to end': (signal) => abortable(never, signal),
  'with waitFor': (signal) => waitFor('all', { signal }, new SettableDoneChecker('one', () => '')),
  'for a version': (signal) => new VersionWaiters('pods').wait('10', '5', signal),
  'of a mutation detector': (signal) => new CacheMutationDetector({ clock }).run({ signal }),
  'for a queue': (signal) => new FIFO().pop(() => undefined, { signal }),
  'for a heap': (signal) => new Heap(metaNamespaceKeyFunc, () => false).pop({ signal }),
  'for work': (signal) => new WorkQueue<string>().get({ signal }),
  'for a work queue to drain': async (signal) => {
    const queue = new WorkQueue<string>();
    queue.add('work');
    await queue.get();
    await queue.shutDownWithDrain({ signal });
  },
};

for (const [what, wait] of Object.entries(WAITS)) {
  test(`Many waits ${what} share one signal without a warning`, async (context) => {
    const warned = context.mock.method(process, 'emitWarning', () => undefined);
    const stop = new AbortController();
    const waits = Array.from({ length: 12 }, () => wait(stop.signal));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(getEventListeners(stop.signal, 'abort').length, 12);
    stop.abort();
    await Promise.allSettled(waits);
    assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
    assert.deepEqual(
      warned.mock.calls.map((call) => call.arguments),
      [],
    );
  });
}
