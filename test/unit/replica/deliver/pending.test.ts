/** Pending notifications: their order, compared with an array, and their age, compared with every arrival time. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { BacklogAge, ChunkedQueue } from '../../../../src/replica/deliver/pending.ts';
import { seededRandom, wholeNumber } from '../../shared/ring/random.ts';

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

describe('the age of a backlog', () => {
  test('C21 C142 is the age of the oldest pending notification, and 0 without any', () => {
    const age = new BacklogAge();
    assert.equal(age.ageMs(0, 1000), 0);
    age.mark(0, 3, 1000);
    age.mark(0, 5, 2000);
    assert.equal(age.ageMs(0, 2500), 1500);
    assert.equal(age.ageMs(2, 2500), 1500);
    assert.equal(age.ageMs(3, 2500), 500);
    assert.equal(age.ageMs(5, 9000), 0);
    age.mark(5, 6, 9000);
    assert.equal(age.ageMs(5, 9001), 1);
  });

  test('C21 C142 is 0 for a new notification without a mark', () => {
    const age = new BacklogAge();
    age.mark(0, 1, 1000);
    assert.equal(age.ageMs(1, 5000), 0);
  });

  for (const seed of [1, 2, 3]) {
    test(`C21 C142 is never too small, and at most 100 ms too large (seed ${seed})`, () => {
      const random = seededRandom(seed);
      const age = new BacklogAge();
      const times: number[] = [];
      let nowMs = 1000;
      let oldest = 0;
      for (let step = 0; step < 5000; step++) {
        nowMs += random() < 0.1 ? 500 * random() : 10 * random();
        const pushed = wholeNumber(random, 0, 3);
        for (let count = 0; count < pushed; count++) times.push(nowMs);
        age.mark(oldest, times.length, nowMs);
        const exact = oldest < times.length ? nowMs - (times[oldest] ?? 0) : 0;
        const ageMs = age.ageMs(oldest, nowMs);
        assert.ok(ageMs >= exact && ageMs - exact < 100, `${ageMs} for ${exact}`);
        oldest = Math.min(times.length, oldest + wholeNumber(random, 0, random() < 0.01 ? 500 : 2));
      }
    });
  }
});
