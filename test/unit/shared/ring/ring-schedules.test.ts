/** Tests the ring and its bells in every interleaving with few preemptions, on two real threads with the real code. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exploreRing } from './lockstep.ts';
import type { LockstepOptions } from './lockstep.ts';

/** The ring holds about half of the records, so both ends park. */
const SMALL: LockstepOptions = {
  records: 12,
  payloadBytesMax: 120,
  capacity: 1024,
  // The first lap crosses the wrap of u32.
  startPosition: 2 ** 32 - 512,
  preemptionsMax: 2,
};

describe('every interleaving of both ends of a ring', () => {
  test('delivers every record complete, and loses no wake-up', async () => {
    const result = await exploreRing(SMALL);
    assert.equal(result.failure, undefined);
    assert.ok(result.isExhausted);
    assert.ok(result.schedules > 300, `${result.schedules} schedules: the test is too weak`);
  });

  // 'release before read' takes ten seconds to be found: ring-schedules.slow.ts.
  for (const mutant of ['publish before payload', 'no notify'] as const) {
    test(`finds a broken ring: ${mutant}`, async () => {
      const { failure } = await exploreRing({
        ...SMALL,
        mutant,
        records: 40,
        preemptionsMax: 2,
        schedulesMax: 2000,
      });
      assert.ok(failure, 'not found');
    });
  }
});
