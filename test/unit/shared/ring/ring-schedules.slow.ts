/** Extends ring-schedules.test.ts to more preemptions and start positions: some ten thousand schedules each. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exploreRing } from './lockstep.ts';

const RUNS = [
  { records: 12, payloadBytesMax: 120, startPosition: 0, preemptionsMax: 3 },
  { records: 12, payloadBytesMax: 120, startPosition: 2 ** 31 - 256, preemptionsMax: 3 },
  { records: 6, payloadBytesMax: 120, startPosition: 2 ** 32 - 256, preemptionsMax: 4 },
] as const;

describe('every interleaving of both ends of a ring', () => {
  for (const run of RUNS) {
    const { records, startPosition, preemptionsMax } = run;
    test(`delivers ${records} records from ${startPosition} on, with up to ${preemptionsMax} preemptions`, async (t) => {
      const result = await exploreRing({ ...run, capacity: 1024 });
      assert.equal(result.failure, undefined);
      assert.ok(result.isExhausted);
      t.diagnostic(`${result.schedules} schedules, ${result.steps} steps`);
    });
  }

  test('finds a ring that releases a record before it is read', async () => {
    const { failure } = await exploreRing({
      records: 40,
      payloadBytesMax: 120,
      capacity: 1024,
      startPosition: 2 ** 32 - 512,
      preemptionsMax: 2,
      schedulesMax: 2000,
      mutant: 'release before read',
    });
    assert.ok(failure, 'not found');
  });
});
