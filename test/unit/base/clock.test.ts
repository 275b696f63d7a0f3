/** The real clock, on several threads. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

import { backgroundClock, realClock } from '../../../src/base/clock.ts';

test('the real clocks of all threads show the same time', async (context) => {
  const worker = new Worker(new URL('clock-thread.js', import.meta.url));
  context.after(() => worker.terminate());
  const beforeMs = realClock.now();
  worker.postMessage('now');
  const [thereMs] = (await once(worker, 'message')) as [number];
  assert.ok(beforeMs <= thereMs && thereMs <= backgroundClock.now());
});
