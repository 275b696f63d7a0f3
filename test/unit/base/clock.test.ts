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

test('a deadline that has passed is due at once, and Node does not warn about it', async () => {
  const warnings: Error[] = [];
  const warned = (warning: Error): unknown => warnings.push(warning);
  process.on('warning', warned);
  await new Promise<void>((resolve) => realClock.schedule(-17, resolve));
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', warned);
  assert.deepEqual(warnings, []);
});
