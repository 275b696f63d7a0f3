/** The distribution of partitions over members. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ownersUntilFilled, preferredOwners } from '../../../src/partitions/ownership.ts';

function members(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `member-${index}`);
}

describe('preferredOwners', () => {
  for (const count of [1, 2, 3, 4, 5, 7, 16, 20]) {
    test(`gives ${count} members equally many of 16 partitions, or one more`, () => {
      const owners = preferredOwners(16, members(count));
      const counts = members(count).map((member) => owners.filter((owner) => owner === member).length);
      const sum = counts.reduce((total, partitions) => total + partitions);
      assert.equal(sum, 16);
      assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, String(counts));
    });
  }

  test('gives no partition an owner when there are no members', () => {
    assert.deepEqual(preferredOwners(2, []), [undefined, undefined]);
  });

  test('C461 divides evenly among the members that can take partitions, and among all if none can', () => {
    for (const [isUnable, shares] of [
      [(member: string) => member === 'member-1', 2],
      [() => true, 3],
    ] as const) {
      const owners = preferredOwners(16, members(3), (member) => (isUnable(member) ? '1970' : undefined));
      const counts = members(3).map((member) => owners.filter((owner) => owner === member).length);
      const able = counts.filter((count) => count > 0);
      assert.equal(able.length, shares);
      assert.ok(Math.max(...able) - Math.min(...able) <= 1, String(counts));
    }
  });

  test('does not depend on the order of the members', () => {
    assert.deepEqual(preferredOwners(16, members(5).toReversed()), preferredOwners(16, members(5)));
  });

  test('moves less than half of the partitions when a fourth member comes', (t) => {
    const before = preferredOwners(16, members(3));
    const after = preferredOwners(16, members(4));
    const moved = after.filter((owner, partition) => owner !== before[partition]).length;
    t.diagnostic(`${moved} of 16 partitions move; 4 must`);
    assert.ok(moved >= 4 && moved < 8, String(moved));
  });
});

describe('ownersUntilFilled', () => {
  type Holds = Parameters<typeof ownersUntilFilled>[1];
  type Held = Record<string, Record<number, readonly [number, boolean]>>;
  const owners = (preferred: string, holds: Held): string =>
    ownersUntilFilled([...preferred], new Map(Object.entries(holds)) satisfies Holds).join('');
  const all = { 0: [1, true], 1: [1, true], 2: [1, true], 3: [1, true] } as const;

  test('C447 moves one partition to a member without an active partition, and leaves the others where they are served', () => {
    assert.equal(owners('abab', { a: all, b: {} }), 'abaa');
  });

  test('moves another partition first to each member', () => {
    const first = (member: string): number =>
      owners(member.repeat(4), { a: all, [member]: {} }).indexOf(member);
    assert.deepEqual(Array.from('bcdefgh', first), [2, 1, 2, 2, 1, 3, 0]);
  });

  test('C447 moves the rest when the member has an active partition', () => {
    assert.equal(owners('abab', { a: { ...all, 1: [1, false] }, b: { 1: [2, true] } }), 'abab');
  });

  test('moves no second partition while the first is filled, whichever the member holds', () => {
    assert.equal(owners('abab', { a: all, b: { 3: [2, false] } }), 'aaab');
  });

  test('gives a partition that no member serves to its preferred owner', () => {
    const { 1: _gone, ...others } = all;
    assert.equal(owners('bbbb', { a: others, b: {} }), 'abba');
    assert.equal(owners('abab', { a: {}, b: {} }), 'abab');
  });

  test('believes the heartbeat with the greater epoch', () => {
    assert.equal(owners('cccc', { a: { 2: [7, true] }, b: { 2: [9, true] }, c: {} }), 'ccbc');
  });
});
