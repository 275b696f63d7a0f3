/** Seeded random numbers are repeatable. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seededRandom } from '../../../../../src/tools/apiserver/testing/index.ts';

describe('seeded chance', () => {
  it('is the same for the same seed, on every machine, and in [0, 1)', () => {
    const random = seededRandom(42);
    // The known values of mulberry32(42).
    const first = [random(), random(), random()].map((value) => value.toFixed(8));
    assert.deepEqual(first, ['0.60110375', '0.44829056', '0.85246579']);
    const values = Array.from({ length: 10_000 }, random);
    assert.ok(values.every((value) => value >= 0 && value < 1));
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    assert.ok(Math.abs(mean - 0.5) < 0.02, `mean ${mean}`);
  });

  it('differs from seed to seed', () => {
    assert.notEqual(seededRandom(1)(), seededRandom(2)());
  });
});
