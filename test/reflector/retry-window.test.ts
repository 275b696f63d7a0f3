/** How long internal errors are retried: client-go's RetryWithDeadline. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INTERNAL_ERRORS_APART_MS, retriedAt } from '../../src/reflector/retry-window.ts';
import type { RetryWindow } from '../../src/reflector/retry-window.ts';

/** Which of the errors at these times are answered at once. */
function retried(maxMs: number, times: readonly number[]): boolean[] {
  let window: RetryWindow | undefined;
  return times.map((now) => {
    const result = retriedAt(window, maxMs, now);
    window = result.window;
    return result.isOpen;
  });
}

test('without a duration nothing is retried', () => {
  assert.deepEqual(retried(0, [0, 0, 1]), [false, false, false]);
});

test('C112 within the duration since the first error everything is retried, then one is not, and it begins anew', () => {
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

test('the duration begins anew when the last error was long ago, whatever the first', () => {
  const apart = INTERNAL_ERRORS_APART_MS;
  assert.deepEqual(retried(1000, [0, apart - 1]), [true, false]);
  assert.deepEqual(retried(1000, [0, apart, apart + 1000]), [true, true, true]);
});
