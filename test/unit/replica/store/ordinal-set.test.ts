/** The set of ordinals against a `Set`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OrdinalSet } from '../../../../src/replica/store/ordinal-set.ts';
import { seededRandom, wholeNumber } from '../../shared/ring/random.ts';

test('a set of ordinals says what was added, and finds the next number that was not', () => {
  const random = seededRandom(3);
  for (const end of [0, 1, 31, 32, 33, 64, 1000]) {
    const set = new OrdinalSet(end);
    const model = new Set<number>();
    for (let step = 0; step < 3 * end; step++) {
      const ordinal = wholeNumber(random, 0, end - 1);
      assert.equal(set.add(ordinal), !model.has(ordinal));
      model.add(ordinal);
      const start = wholeNumber(random, 0, end);
      let absent = start;
      while (model.has(absent)) absent++;
      assert.equal(set.absentFrom(start), absent, `from ${start} of ${end}`);
    }
    assert.ok(set.absentFrom(end) >= end);
  }
});
