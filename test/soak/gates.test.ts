/** Every gate of a soak fails when it must. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { GROWTH_MAX, WINDOWS_MIN, gatesOf, median, trendOf } from './gates.ts';
import type { Sample, WindowResult } from './gates.ts';
import type { GaugeName } from './window-record.ts';

const WINDOWS = 24;
const GAUGES: readonly GaugeName[] = [
  'rssBytes',
  'heapBytes',
  'descriptors',
  'threads',
  'listeners',
  'leases',
];

function windows(
  change: (index: number) => Partial<WindowResult> = () => ({}),
  count: number = WINDOWS,
): WindowResult[] {
  return Array.from({ length: count }, (_, index) => ({
    violations: [],
    faults: 5,
    changes: 1000,
    atHours: index / 100,
    gauges: { rssBytes: 2e8, heapBytes: 5e7, descriptors: 40, threads: 20, listeners: 12, leases: 20 },
    ...change(index),
  }));
}

function failed(all: readonly WindowResult[]): string[] {
  return gatesOf(all)
    .filter(({ isMet }) => !isMet)
    .map(({ name }) => name);
}

function growing(gauge: GaugeName, perWindow: number, count?: number): WindowResult[] {
  return windows((index) => {
    const { gauges } = windows()[0] as WindowResult;
    return { gauges: { ...gauges, [gauge]: gauges[gauge] + index * perWindow } };
  }, count);
}

test('a run without a fault of the product passes every gate', () => {
  assert.deepEqual(failed(windows()), []);
});

const BROKEN: readonly (readonly [violation: string, gate: string])[] = [
  ['history of prompt, pods: 1 lost, 0 doubled, 0 reordered', 'nothing lost, doubled or reordered'],
  ['stale cache of thread 0, pods: a is at 1', 'no stale cache'],
  ['group: b acts 3 ms before the last act of a', 'one owner, and every change worked'],
  ['pool: two works at one time on a', 'one thread a key, and every change worked'],
  ['late: not reconciled within 60000 ms', 'reconciled within 60 s of the last fault'],
  ['report without a cause: pods: ERR_KUBELOOM_GONE', 'no report without a cause'],
  ['scrape: readyz answered 503', 'every scrape answered, no counter back'],
  ['fault that did not strike: pool thread exits', 'every fault struck'],
  ['ended: the program, with 1', 'every process lives'],
  ['a text of another kind', 'nothing else'],
];

for (const [violation, gate] of BROKEN)
  test(`one violation in one window fails the gate: ${gate}`, () => {
    assert.deepEqual(failed(windows((index) => (index === 3 ? { violations: [violation] } : {}))), [gate]);
  });

for (const gauge of GAUGES)
  test(`growth of ${gauge} over the last half fails its gate`, () => {
    const perWindow = GROWTH_MAX[gauge] / 5 + 1;
    assert.deepEqual(failed(growing(gauge, perWindow)), [`${gauge} flat over the last half`]);
    assert.deepEqual(failed(growing(gauge, perWindow, WINDOWS_MIN - 1)), []);
  });

test('a value that could not be read fails its gate', () => {
  const { gauges } = windows()[0] as WindowResult;
  assert.deepEqual(failed(windows(() => ({ gauges: { ...gauges, threads: Number.NaN } }))), [
    'threads flat over the last half',
  ]);
});

test('noise, and growth in the first half, pass', () => {
  const random = seededRandom(1);
  const noisy = windows((index) => {
    const { gauges } = windows()[0] as WindowResult;
    const warm = Math.min(index, WINDOWS / 2) * 1e7;
    return {
      gauges: {
        ...gauges,
        rssBytes: gauges.rssBytes + warm + random() * 2e7,
        leases: 20 + Math.floor(random() * 8),
      },
    };
  });
  assert.deepEqual(failed(noisy), []);
});

test('a run without load, without faults or without windows fails', () => {
  assert.deepEqual(failed(windows((index) => (index === 9 ? { changes: 3 } : {}))), ['load and faults']);
  assert.deepEqual(failed(windows(() => ({ faults: 0 }))), ['load and faults']);
  assert.deepEqual(failed([]), ['load and faults']);
});

test('outliers change no trend', () => {
  const line = (value: (index: number) => number): Sample[] =>
    Array.from({ length: 30 }, (_, index) => ({ at: index, value: value(index) }));
  assert.equal(trendOf(line(() => 1)).isGrowing, false);
  assert.equal(trendOf(line((index) => (index === 29 ? 1000 : 1))).isGrowing, false);
  const { perHour, isGrowing } = trendOf(line((index) => 2 * index + (index === 5 ? 300 : 0)));
  assert.ok(isGrowing);
  assert.ok(Math.abs(perHour - 2) < 0.1);
  assert.ok(Number.isNaN(median([])));
});
