/** Every gate of a soak fails when it must. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gatesOf, median, quantile, trendOf } from '../../../../bench/soak/gates.ts';
import type { WindowResult, Sample } from '../../../../bench/soak/gates.ts';
import { seededRandom } from '../../../../src/tools/apiserver/testing/index.ts';

const WINDOWS = 40;

function windows(change: (index: number) => Partial<WindowResult> = () => ({})): WindowResult[] {
  return Array.from({ length: WINDOWS }, (_, index) => ({
    index,
    atHours: index / 60,
    changes: 100,
    faults: ['end'],
    missed: [],
    violations: [],
    gauges: {
      heapBytes: 5e7,
      externalBytes: 1e7,
      rssBytes: 2e8,
      descriptors: 30,
      threads: 14,
      timers: 2,
      ...change(index).gauges,
    },
    latencies: [1, 2, 3],
    loopDelayP99Ms: 2,
    loopDelayMaxMs: 10,
    ...change(index),
  })) as WindowResult[];
}

function failed(all: readonly WindowResult[]): string[] {
  return gatesOf(all)
    .filter(({ isMet }) => !isMet)
    .map(({ name }) => name);
}

function growing(name: keyof WindowResult['gauges'], perWindow: number): WindowResult[] {
  return windows().map((window, index) => {
    const gauges = { ...window.gauges, [name]: window.gauges[name] + index * perWindow };
    return { ...window, gauges };
  });
}

test('a run without a fault passes every gate', () => {
  assert.deepEqual(failed(windows()), []);
});

test('one violation, or one fault that did not strike, fails the run', () => {
  const at = (index: number, change: Partial<WindowResult>): WindowResult[] =>
    windows((window) => (window === index ? change : {}));
  assert.deepEqual(failed(at(3, { violations: ['I4: lost'] })), ['no violation']);
  assert.deepEqual(failed(at(3, { missed: ['end'] })), ['every fault landed']);
});

test('growth fails the run, of memory from a MiB an hour on', () => {
  for (const name of ['heapBytes', 'externalBytes', 'rssBytes'] as const) {
    assert.deepEqual(failed(growing(name, 40_000)), [`no growth of ${name}`]);
    assert.deepEqual(failed(growing(name, 10_000)), []);
  }
  for (const name of ['descriptors', 'threads', 'timers'] as const) {
    assert.deepEqual(failed(growing(name, 1)), [`no growth of ${name}`]);
  }
});

test('growth in the first quarter is warming up', () => {
  const warming = windows().map((window, index) => {
    const gauges = { ...window.gauges, heapBytes: Math.min(index, WINDOWS / 4) * 1e6 };
    return { ...window, gauges };
  });
  assert.deepEqual(failed(warming), []);
});

test('latency that has grown, or was not measured, fails the run', () => {
  const slower = windows((index) => (index >= 30 ? { latencies: [1, 2, 3.7] } : {}));
  assert.deepEqual(failed(slower), ['last p99 at most 1.2x the first']);
  assert.deepEqual(failed(windows(() => ({ latencies: [] }))), ['last p99 at most 1.2x the first']);
});

test('a blocked event loop fails the run', () => {
  assert.deepEqual(failed(windows((index) => (index === 5 ? { loopDelayP99Ms: 60 } : {}))), [
    'event loop delay p99 below 50 ms',
  ]);
});

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
