/** The age of a backlog from marks after each merge, compared with a model that keeps every arrival time. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { BacklogAge } from '../../../../src/replica/deliver/pending.ts';
import { seededRandom, wholeNumber } from '../../shared/ring/random.ts';

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
