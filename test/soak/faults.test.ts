/** The plan of a soak: from its seed alone, every fault before one comes again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAULTS, STRIKES, WINDOWS_MIN, windowsOf } from './faults.ts';
import type { PlannedWindow } from './faults.ts';

const WINDOWS = 30;

function planned(seed: number): PlannedWindow[] {
  const windows: PlannedWindow[] = [];
  for (const window of windowsOf(seed)) if (windows.push(window) === WINDOWS) break;
  return windows;
}

test('a seed gives the same faults at the same places, and another seed gives others', () => {
  assert.deepEqual(planned(7), planned(7));
  assert.notDeepEqual(planned(7), planned(8));
});

test('every fault strikes before one strikes again, and the fewest windows contain each', () => {
  const windows = planned(1);
  const faults = windows.flatMap(({ strikes }) => strikes.map(({ fault }) => fault));
  const names = FAULTS.map(({ name }) => name).toSorted();
  for (let from = 0; from + names.length <= faults.length; from += names.length)
    assert.deepEqual(faults.slice(from, from + names.length).toSorted(), names);
  assert.ok(faults.length >= 4 * names.length);
  assert.ok((WINDOWS_MIN - 1) * STRIKES >= names.length);
});

test('one window in six is calm', () => {
  const calm = planned(1).filter(({ strikes }) => strikes.length === 0);
  assert.deepEqual(
    calm.map(({ index }) => index),
    [5, 11, 17, 23, 29],
  );
});
