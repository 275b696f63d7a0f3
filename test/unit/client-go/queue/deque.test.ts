/** Tests of the deque against an array: order, and released memory while it is never empty. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { Deque } from '../../../../src/base/deque.ts';
import { seededRandom } from '../../shared/ring/random.ts';

describe('the deque', () => {
  test('returns everything in order', () => {
    const random = seededRandom(3);
    const deque = new Deque<number>();
    const model: number[] = [];
    for (let step = 0; step < 20_000; step++) {
      const isBurst = Math.floor(step / 4000) % 2 === 0;
      if (random() < (isBurst ? 0.8 : 0.4)) {
        deque.push(step);
        model.push(step);
      } else {
        const count = 1 + Math.floor(random() * 3);
        assert.deepEqual(deque.take(count), model.splice(0, count));
      }
      assert.equal(deque.length, model.length);
      assert.equal(deque.at(0), model[0]);
      assert.equal(deque.at(model.length), undefined);
    }
    assert.deepEqual(deque.toArray(), model);
  });

  test('does not grow with the number of removed values', () => {
    const deque = new Deque<number>();
    deque.push(0);
    for (let value = 1; value < 100_000; value++) {
      deque.push(value);
      deque.take(1);
    }
    assert.equal(deque.length, 1);
    assert.ok(deque.capacity <= 2048, `${deque.capacity} places for one value`);
  });
});
