/** The distribution of partitions over members. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { preferredOwners } from '../../../src/partitions/ownership.ts';

function members(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `member-${index}`);
}

describe('preferredOwners', () => {
  for (const count of [1, 2, 3, 4, 5, 7, 16, 20]) {
    test(`gives ${count} members equally many of 16 partitions, or one more`, () => {
      const owners = preferredOwners(16, members(count));
      const counts = members(count).map((member) => owners.filter((owner) => owner === member).length);
      assert.equal(
        counts.reduce((sum, partitions) => sum + partitions),
        16,
      );
      assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, String(counts));
    });
  }

  test('gives no partition an owner when there are no members', () => {
    assert.deepEqual(preferredOwners(2, []), [undefined, undefined]);
  });

  test('does not depend on the order of the members', () => {
    assert.deepEqual(preferredOwners(16, members(5).toReversed()), preferredOwners(16, members(5)));
  });

  test('moves less than half of the partitions when a fourth member comes', (t) => {
    const before = preferredOwners(16, members(3));
    const moved = preferredOwners(16, members(4)).filter(
      (owner, partition) => owner !== before[partition],
    ).length;
    t.diagnostic(`${moved} of 16 partitions move; 4 must`);
    assert.ok(moved >= 4 && moved < 8, String(moved));
  });
});
