/** Growth is distinguished from noise. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../../src/apiserver/testing/index.ts';
import { median, quantile, trendOf } from '../../../../bench/soak/gates.ts';
import type { Sample } from '../../../../bench/soak/gates.ts';

function series(perHour: number, noise: number, count = 45): Sample[] {
  const random = seededRandom(7);
  return Array.from({ length: count }, (_, index) => {
    const at = index / 60;
    return { at, value: 100 + perHour * at + noise * (random() - 0.5) };
  });
}

test('a leak is found under noise ten times as large as an hour of it', () => {
  const trend = trendOf(series(10, 5));
  assert.equal(trend?.isGrowing, true);
  assert.ok(Math.abs((trend?.perHour ?? 0) - 10) < 3);
});

test('noise is no growth, nor is something that shrinks', () => {
  assert.equal(trendOf(series(0, 50))?.isGrowing, false);
  assert.equal(trendOf(series(-10, 5))?.isGrowing, false);
  assert.equal(trendOf(series(0, 0))?.isGrowing, false);
});

test('one outlier changes neither the slope nor the answer', () => {
  const samples = series(0, 5).with(44, { at: 44 / 60, value: 1e9 });
  const trend = trendOf(samples);
  assert.equal(trend?.isGrowing, false);
  assert.ok(Math.abs(trend?.perHour ?? 0) < 10);
});

test('a handful of samples is no trend', () => {
  assert.equal(trendOf(series(100, 0, 7)), undefined);
});

test('quantiles are values that were seen', () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(quantile([1, 2, 3, 4], 0.99), 4);
  assert.ok(Number.isNaN(quantile([], 0.5)));
});
