/** Every gate of a soak fails when it must. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HALVES_MIN, gatesOf } from './gates.ts';
import type { WindowResult } from './gates.ts';
import type { Rest } from './window-record.ts';

const WINDOWS = 24;
const REST: Rest = {
  rssBytes: 2e8,
  heapBytes: 5e7,
  descriptors: 40,
  threads: 5,
  listeners: 12,
  handlersHeld: 0,
};

function windows(
  change: (index: number) => Partial<WindowResult> = () => ({}),
  count: number = WINDOWS,
): WindowResult[] {
  return Array.from({ length: count }, (_, index) => ({
    violations: [],
    faults: 5,
    changes: 1000,
    rest: REST,
    ...change(index),
  }));
}

function withRest(rest: (index: number) => Partial<Rest>, count?: number): WindowResult[] {
  return windows((index) => ({ rest: { ...REST, ...rest(index) } }), count);
}

function failed(all: readonly WindowResult[]): string[] {
  return gatesOf(all)
    .filter(({ isMet }) => !isMet)
    .map(({ name }) => name);
}

test('a run without a fault of the product passes every gate', () => {
  assert.deepEqual(failed(windows()), []);
});

const BROKEN: readonly (readonly [violation: string, gate: string])[] = [
  ['history of prompt, pods: 1 lost, 0 doubled, 0 reordered', 'nothing lost, doubled or reordered'],
  ['stale cache of thread 0, pods: a is at 1', 'no stale cache'],
  ['group: b acts before the last act of a', 'one owner, and every change worked'],
  ['pool: two works at one time on a', 'one thread a key, and every change worked'],
  ['no rest: pool: default/a is not reconciled', 'everything comes to rest'],
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

for (const what of ['threads', 'listeners'] as const)
  test(`another number of ${what} after one window fails its gate, and so does a number that could not be read`, () => {
    const gate = [`as many ${what} after each window`];
    assert.deepEqual(failed(withRest((index) => (index === 9 ? { [what]: REST[what] + 1 } : {}))), gate);
    assert.deepEqual(failed(withRest(() => ({ [what]: Number.NaN }))), gate);
  });

test('a handler that is held after its window fails its gate', () => {
  assert.deepEqual(failed(withRest((index) => (index === 9 ? { handlersHeld: 1 } : {}))), [
    'handlers that were removed are garbage',
  ]);
});

test('descriptors that leak fail their gate, and others come and go', () => {
  const leaking = (count: number): WindowResult[] =>
    withRest((index) => ({ descriptors: 40 + index }), count);
  assert.deepEqual(failed(leaking(HALVES_MIN)), ['descriptors do not leak']);
  assert.deepEqual(failed(leaking(HALVES_MIN - 1)), []);
  assert.deepEqual(failed(withRest((index) => ({ descriptors: 40 + (index % 5) }))), []);
  assert.deepEqual(failed(withRest(() => ({ descriptors: Number.NaN }))), ['descriptors do not leak']);
});

test('memory is a figure that no gate judges', () => {
  assert.deepEqual(failed(withRest((index) => ({ rssBytes: index * 1e9, heapBytes: index * 1e9 }))), []);
});

test('a run without load, without faults or without windows fails', () => {
  assert.deepEqual(failed(windows((index) => (index === 9 ? { changes: 3 } : {}))), ['load and faults']);
  assert.deepEqual(failed(windows(() => ({ faults: 0 }))), ['load and faults']);
  assert.deepEqual(failed([]), ['load and faults']);
});
