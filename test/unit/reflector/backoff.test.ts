/** The delays after failures. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  NO_FAILURES,
  RETRY_AFTER_MAX_MS,
  failed,
  healthy,
  jittered,
} from '../../../src/reflector/rules/backoff.ts';
import type { Backoff } from '../../../src/reflector/rules/backoff.ts';

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
