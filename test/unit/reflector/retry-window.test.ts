/** The time in which internal errors are retried: client-go's RetryWithDeadline. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INTERNAL_ERRORS_APART_MS, retriedAt } from '../../../src/reflector/rules/backoff.ts';
import type { RetryWindow } from '../../../src/reflector/rules/backoff.ts';

/** Returns for each error whether it is retried at once. */
function retried(maxMs: number, times: readonly number[]): boolean[] {
  let window: RetryWindow | undefined;
  return times.map((now) => {
    const result = retriedAt(window, maxMs, now);
    window = result.window;
    return result.isOpen;
  });
}

test('no error is retried without a duration', () => {
  assert.deepEqual(retried(0, [0, 0, 1]), [false, false, false]);
});

test('C112 every error within the duration since the first is retried, then one is not, and a new duration begins', () => {
  assert.deepEqual(retried(1000, [0, 500, 1000, 1001, 1002, 2002, 2003]), [
    true,
    true,
    true,
    false,
    true,
    true,
    false,
  ]);
});

test('a new duration begins when the last error was long ago, whatever the first', () => {
  const apart = INTERNAL_ERRORS_APART_MS;
  assert.deepEqual(retried(1000, [0, apart - 1]), [true, false]);
  assert.deepEqual(retried(1000, [0, apart, apart + 1000]), [true, true, true]);
});
