/** The delays after failures, and the time in which internal errors are retried: client-go's RetryWithDeadline. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  INTERNAL_ERRORS_APART_MS,
  NO_FAILURES,
  RETRY_AFTER_MAX_MS,
  failed,
  healthy,
  jittered,
  retriedAt,
} from '../../../src/base/backoff.ts';
import type { Backoff, RetryWindow } from '../../../src/base/backoff.ts';

const BOUNDS = { backoffInitialMs: 800, backoffMaxMs: 30_000 };

describe('backoff', () => {
  it('doubles from 800 ms up to 30 s', () => {
    let backoff: Backoff = NO_FAILURES;
    const delays: number[] = [];
    for (let attempt = 0; attempt < 8; attempt++) {
      const next = failed(backoff, BOUNDS, 0);
      backoff = next.backoff;
      delays.push(next.baseMs);
    }
    assert.deepEqual(delays, [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
  });

  it('C119 stays at its maximum during an outage of days', () => {
    let backoff: Backoff = NO_FAILURES;
    for (let attempt = 0; attempt < 5000; attempt++)
      backoff = failed(backoff, BOUNDS, attempt * 60_000).backoff;
    assert.equal(failed(backoff, BOUNDS, 1e9).baseMs, 30_000);
  });

  it('C119 counts healthy time from the first watch after a failure', () => {
    const ill = failed(NO_FAILURES, BOUNDS, 0).backoff;
    const well = healthy(healthy(ill, 1000), 90_000);
    assert.equal(failed(well, BOUNDS, 120_999).baseMs, 1600);
    assert.equal(failed(well, BOUNDS, 121_000).baseMs, 800);
  });

  it('adds jitter of up to the same length', () => {
    assert.equal(jittered({ baseMs: 800, atLeastMs: 0 }, 0), 800);
    assert.equal(jittered({ baseMs: 800, atLeastMs: 0 }, 0.5), 1200);
  });

  it('never ends before Retry-After, and adds jitter to it', () => {
    assert.equal(jittered({ baseMs: 800, atLeastMs: 7000 }, 0), 7000);
    assert.equal(jittered({ baseMs: 800, atLeastMs: 7000 }, 0.5), 7400);
    assert.equal(jittered({ baseMs: 800, atLeastMs: 500 }, 0.5), 1200);
  });

  it('limits the Retry-After of a server', () => {
    assert.equal(jittered({ baseMs: 800, atLeastMs: 1e12 }, 0), RETRY_AFTER_MAX_MS);
  });
});

/** Returns for each error whether it is retried at once. */
function retried(maxMs: number, times: readonly number[]): boolean[] {
  let window: RetryWindow | undefined;
  return times.map((now) => {
    const result = retriedAt(window, maxMs, now);
    window = result.window;
    return result.isOpen;
  });
}

it('no error is retried without a duration', () => {
  assert.deepEqual(retried(0, [0, 0, 1]), [false, false, false]);
});

it('C112 every error within the duration since the first is retried, then one is not, and a new duration begins', () => {
  assert.deepEqual(retried(1000, [0, 500, 1000, 1001]), [true, true, true, false]);
  assert.deepEqual(retried(1000, [0, 1001, 1002, 2002, 2003]), [true, false, true, true, false]);
});

it('a new duration begins when the last error was long ago, whatever the first', () => {
  const apart = INTERNAL_ERRORS_APART_MS;
  assert.deepEqual(retried(1000, [0, apart - 1]), [true, false]);
  assert.deepEqual(retried(1000, [0, apart, apart + 1000]), [true, true, true]);
});
