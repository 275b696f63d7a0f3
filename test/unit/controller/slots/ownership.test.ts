/** The distribution of slots over members. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { preferredOwners } from '../../../../src/controller/slots/ownership.ts';

function members(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `member-${index}`);
}

describe('preferredOwners', () => {
  for (const count of [1, 2, 3, 4, 5, 7, 16, 20]) {
    test(`gives ${count} members equally many of 16 slots, or one more`, () => {
      const owners = preferredOwners(16, members(count));
      const counts = members(count).map((member) => owners.filter((owner) => owner === member).length);
      assert.equal(
        counts.reduce((sum, slots) => sum + slots),
        16,
      );
      assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, String(counts));
    });
  }

  test('gives no slot an owner when there are no members', () => {
    assert.deepEqual(preferredOwners(2, []), [undefined, undefined]);
  });

  test('does not depend on the order of the members', () => {
    assert.deepEqual(preferredOwners(16, members(5).toReversed()), preferredOwners(16, members(5)));
  });

  test('moves less than half of the slots when a fourth member comes', (t) => {
    const before = preferredOwners(16, members(3));
    const moved = preferredOwners(16, members(4)).filter((owner, slot) => owner !== before[slot]).length;
    t.diagnostic(`${moved} of 16 slots move; 4 must`);
    assert.ok(moved >= 4 && moved < 8, String(moved));
  });
});
