/** Tests of seeded interleavings of both ends of a ring, checked against a plain array of records after every step. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { seededRandom } from './random.ts';
import { RingTwin } from './ring-twin.ts';

const STEPS = 4_000;
const STARTS: readonly [string, number][] = [
  ['at 0', 0],
  ['just before 2^31', 2 ** 31 - 64],
  ['half a lap before 2^31', 2 ** 31 - 512],
  ['just before 2^32', 2 ** 32 - 8],
  ['a lap before 2^32', 2 ** 32 - 1024],
];

describe('a ring under seeded interleavings delivers exactly what was published, byte by byte', () => {
  for (const [name, start] of STARTS) {
    test(`with positions that start ${name}`, () => {
      for (let seed = 1; seed <= 12; seed++) {
        const capacity = seed % 3 === 0 ? 4096 : 1024;
        const twin = new RingTwin(capacity, start);
        const random = seededRandom(seed);
        try {
          for (let step = 0; step < STEPS; step++) twin.step(random);
          twin.drain();
        } catch (error) {
          throw new Error(`seed ${seed}`, { cause: error });
        }
        assert.ok(twin.refusedCount > 0, 'the ring was never full: the test is too weak');
        assert.ok(twin.paddedCount > 10, 'the ring never wrapped: the test is too weak');
        assert.ok(twin.readTotal > STEPS / 10);
      }
    });
  }

  test('with a consumer that lags a whole ring behind, so that every claim meets the limit', () => {
    const random = seededRandom(99);
    const twin = new RingTwin(1024, 2 ** 32 - 2048);
    for (let round = 0; round < 300; round++) {
      while (twin.write(1 + (round % 7), Math.floor(random() * 121)));
      twin.publish();
      const reads = 1 + Math.floor(random() * 3);
      for (let read = 0; read < reads; read++) twin.read();
      twin.release();
    }
    twin.drain();
    assert.ok(twin.refusedCount >= 300);
  });
});
