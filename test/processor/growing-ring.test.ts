/** The growing ring beside an array: order, growth, and giving memory back. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { GrowingRing } from '../../src/processor/growing-ring.ts';
import { seededRandom } from '../ring/random.ts';

const CAPACITY_MIN = 64;
const CAPACITY_KEPT = 1024;

describe('the growing ring', () => {
  for (const seed of [1, 2, 3]) {
    test(`gives everything back in order through bursts and lulls (seed ${seed})`, () => {
      const random = seededRandom(seed);
      const ring = new GrowingRing<number, string>();
      const model: [number | undefined, string | undefined][] = [];
      let peak = 0;
      for (let step = 0; step < 60_000; step++) {
        const isBurst = Math.floor(step / 6000) % 2 === 0;
        if (random() < (isBurst ? 0.75 : 0.25)) {
          const pair: [number | undefined, string | undefined] = [
            random() < 0.1 ? undefined : step,
            random() < 0.1 ? undefined : `s${step}`,
          ];
          ring.push(...pair);
          model.push(pair);
        } else if (model.length > 0) {
          assert.deepEqual([ring.first, ring.second], model.shift());
          ring.shift();
        }
        assert.equal(ring.length, model.length);
        assert.ok(ring.capacity >= model.length);
        assert.ok(Number.isInteger(Math.log2(ring.capacity)));
        peak = Math.max(peak, ring.capacity);
      }
      assert.ok(peak >= 2048, `the bursts were too small: ${peak}`);
      for (const [first, second] of model) {
        assert.deepEqual([ring.first, ring.second], [first, second]);
        ring.shift();
      }
      assert.equal(ring.length, 0);
      assert.equal(ring.capacity, CAPACITY_KEPT, 'memory of a burst is given back');
    });
  }

  test('does not flap between two sizes when it is pushed and shifted at an edge', () => {
    const ring = new GrowingRing<number, number>();
    for (let value = 0; value <= CAPACITY_MIN; value++) ring.push(value, value);
    const { capacity } = ring;
    for (let round = 0; round < 100; round++) {
      ring.shift();
      ring.push(round, round);
      assert.equal(ring.capacity, capacity);
    }
  });

  test('does not grow and shrink with every batch of the merge', () => {
    const ring = new GrowingRing<number, number>();
    assert.equal(ring.capacity, CAPACITY_MIN);
    const capacities = new Set<number>();
    for (let round = 0; round < 10; round++) {
      for (let value = 0; value < 256; value++) ring.push(value, value);
      capacities.add(ring.capacity);
      while (ring.length > 0) ring.shift();
      capacities.add(ring.capacity);
    }
    assert.deepEqual([...capacities], [256]);
  });

  test('is empty: no first, no second', () => {
    const ring = new GrowingRing<number, number>();
    assert.equal(ring.first, undefined);
    assert.equal(ring.second, undefined);
  });
});
