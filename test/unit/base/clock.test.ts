/** The real clock, on several threads. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { FakeClock } from '../../../src/tools/apiserver/testing/index.ts';

import { backgroundClock, realClock, realTimers, scheduleEvery } from '../../../src/base/clock.ts';

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

/** Replaces Node's timers, of which none takes more than 31 bits, by a fake clock. */
function fakeTimers(context: TestContext): FakeClock {
  const fake = new FakeClock();
  const timers = realTimers as { setTimeout: unknown; clearTimeout: unknown };
  const { setTimeout, clearTimeout } = timers;
  context.after(() => Object.assign(timers, { setTimeout, clearTimeout }));
  timers.setTimeout = (callback: () => void, delayMs: number) => {
    const cancel = fake.schedule(delayMs < 2 ** 31 ? delayMs : 1, callback);
    return { cancel, unref: () => undefined };
  };
  timers.clearTimeout = ({ cancel }: { readonly cancel: () => void }) => cancel();
  return fake;
}

const YEAR_MS = 365 * 86_400_000;

for (const [name, clock] of Object.entries({ real: realClock, background: backgroundClock })) {
  test(`C284 a year is a year for the ${name} clock, although no timer of Node takes that long`, (context) => {
    const fake = fakeTimers(context);
    let calls = 0;
    clock.schedule(YEAR_MS, () => calls++);
    const cancel = clock.schedule(YEAR_MS, () => calls++);
    fake.advance(YEAR_MS - 1);
    assert.equal(calls, 0);
    cancel();
    fake.advance(1);
    assert.equal(calls, 1);
    assert.equal(fake.advanceToNext(), false);
  });
}

test('C284 an interval of a year passes as often as years do, until it is ended', () => {
  const fake = new FakeClock();
  let calls = 0;
  const end = scheduleEvery(fake, YEAR_MS, () => calls++);
  fake.advance(3 * YEAR_MS);
  assert.equal(calls, 3);
  end();
  assert.equal(fake.advanceToNext(), false);
});
