/** Latencies in fixed buckets: their quantiles are close, their sums exact. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BOUNDS_MS, LatencyCounts, quantileMs, sumOf } from '../../../../src/tools/loadtest/histogram.ts';
import type { HistogramCounts } from '../../../../src/tools/loadtest/result.ts';
import { exampleResult } from './example-result.ts';

function observed(...durationsMs: readonly number[]): HistogramCounts {
  const counts = new LatencyCounts();
  for (const duration of durationsMs) counts.observe(duration);
  return counts.data;
}

describe('a histogram of latencies', () => {
  it('has ascending bounds on both sides of 0', () => {
    const ascending = BOUNDS_MS.toSorted((a, b) => a - b);
    assert.deepEqual(ascending, BOUNDS_MS);
    assert.ok(BOUNDS_MS.includes(0) && (BOUNDS_MS[0] ?? 0) < -1000 && (BOUNDS_MS.at(-1) ?? 0) >= 600_000);
  });

  it('is off by less than a bucket’s width in every quantile', () => {
    const durations = Array.from({ length: 10_000 }, (_, index) => 0.05 * 1.001 ** index);
    const histogram = observed(...durations);
    for (const share of [0.01, 0.5, 0.9, 0.99, 0.999]) {
      const exact = durations[Math.ceil(share * durations.length) - 1] ?? 0;
      const found = quantileMs(histogram, share) ?? 0;
      assert.ok(Math.abs(found / exact - 1) < 0.04, `${share}: ${found} instead of ${exact}`);
    }
    assert.equal(quantileMs(histogram, 1), histogram.maxMs);
  });

  it('keeps latencies below 0', () => {
    const histogram = observed(-5, -5, -5, 20);
    assert.equal(histogram.minMs, -5);
    const median = quantileMs(histogram, 0.5) ?? 0;
    assert.ok(median >= -5 && median < -4, String(median));
    assert.equal(quantileMs(histogram, 1), 20);
  });

  it('adds up to the histogram of all observations', () => {
    assert.deepEqual(sumOf([observed(1, 2), observed(), observed(300, -1)]), observed(1, 2, 300, -1));
  });

  it('has no quantile without an observation', () => {
    assert.equal(quantileMs(observed(), 0.5), null);
  });
});

it('the example is data that JSON keeps', () => {
  const result = exampleResult();
  assert.deepEqual(JSON.parse(JSON.stringify(result)), result);
});
