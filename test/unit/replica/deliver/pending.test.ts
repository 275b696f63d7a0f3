/** The chunked queue compared with an array: its order, and the memory it keeps. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { ChunkedQueue } from '../../../../src/replica/deliver/pending.ts';
import { seededRandom } from '../../shared/ring/random.ts';

describe('the chunked queue', () => {
  for (const seed of [1, 2, 3]) {
    test(`returns everything in order through bursts and lulls (seed ${seed})`, () => {
      const random = seededRandom(seed);
      const queue = new ChunkedQueue<number, string>();
      const model: [number | undefined, string | undefined][] = [];
      let peak = 0;
      for (let step = 0; step < 60_000; step++) {
        const isBurst = Math.floor(step / 6000) % 2 === 0;
        if (random() < (isBurst ? 0.8 : 0.15)) {
          const pair: [number | undefined, string | undefined] = [
            random() < 0.1 ? undefined : step,
            random() < 0.1 ? undefined : `s${step}`,
          ];
          queue.push(...pair);
          model.push(pair);
        } else if (model.length > 0) {
          assert.deepEqual([queue.first, queue.second], model.shift());
          queue.shift();
        }
        assert.equal(queue.length, model.length);
        peak = Math.max(peak, model.length);
      }
      assert.ok(peak >= 3000, `the bursts were too small: ${peak}`);
      for (const [first, second] of model) {
        assert.deepEqual([queue.first, queue.second], [first, second]);
        queue.shift();
      }
      assert.equal(queue.length, 0);
    });
  }

  for (const length of [1, 1023, 1024, 1025, 2048, 2049]) {
    test(`keeps the order while it holds ${length} pairs`, () => {
      const queue = new ChunkedQueue<number, number>();
      for (let value = 0; value < length; value++) queue.push(value, -value);
      for (let value = 0; value < 5000; value++) {
        assert.deepEqual([queue.first, queue.second], [value, -value]);
        queue.shift();
        queue.push(value + length, -value - length);
      }
      assert.equal(queue.length, length);
    });
  }

  test('restarts after it was emptied, at any place in a chunk', () => {
    const queue = new ChunkedQueue<number, number>();
    for (const count of [1, 1024, 3, 1025, 2048, 5]) {
      for (let value = 0; value < count; value++) queue.push(value, value);
      for (let value = 0; value < count; value++) {
        assert.equal(queue.first, value);
        queue.shift();
      }
      assert.equal(queue.length, 0);
      assert.equal(queue.first, undefined);
      assert.equal(queue.second, undefined);
    }
  });
});
