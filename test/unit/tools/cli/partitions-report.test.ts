/** The report about a group of partitions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportOf } from '../../../../src/tools/cli/partitions-report.ts';
import type { ListedObject } from '../../../../src/tools/loadtest/process/list-page.ts';

const NOW_MS = Date.parse('2026-01-01T00:01:00Z');

function lease(
  name: string,
  holderIdentity: string,
  atSecond: number,
  note?: object,
): ListedObject & { readonly spec: object } {
  const time = `2026-01-01T00:00:${String(atSecond).padStart(2, '0')}.000000Z`;
  const annotations = note ? { 'kubeloom.dev/note': JSON.stringify(note) } : {};
  return {
    metadata: { name, annotations },
    spec: {
      holderIdentity,
      leaseDurationSeconds: 15,
      acquireTime: time,
      renewTime: time,
      leaseTransitions: 3,
    },
  };
}

test('tells which partitions are active, which move, and which no member serves', () => {
  const { partitions, members } = reportOf(
    'g',
    [
      lease('g-member-a.x.1', 'a.x.1', 58, {
        division: 'uid-4',
        holds: { 0: [3, true], 1: [3, false] },
        cannotTake: { 2: 't' },
      }),
      lease('g-member-b.y.1', 'b.y.1', 30, { division: 'uid-4', holds: { 2: [3, true] } }),
      lease('g-partition-00', 'a.x.1', 10),
      lease('g-partition-01', 'a.x.1', 20),
      lease('g-partition-02', 'b.y.1', 20),
    ],
    NOW_MS,
  );
  const states = partitions.map(({ owner, state, ageSeconds }) => [owner, state, ageSeconds]);
  assert.deepEqual(states, [
    ['a.x.1', 'active', 50],
    ['a.x.1', 'starting', 40],
    ['b.y.1', 'not served', 40],
    ['', 'not served', undefined],
  ]);
  const found = members.map(({ member, isAlive, holds, cannotTake }) => [member, isAlive, holds, cannotTake]);
  assert.deepEqual(found, [
    ['a.x.1', true, 2, [2]],
    ['b.y.1', false, 1, []],
  ]);
});

test('has no partitions for a group without Leases', () => {
  assert.deepEqual(reportOf('g', [], NOW_MS), { partitions: [], members: [] });
});

test('reads a note that another program wrote as far as it is one', () => {
  const notes: readonly object[] = [
    { division: 'uid-1000000000', holds: { 0: [3, true] } },
    { division: 7, holds: null, cannotTake: 'x', isLeaving: 'yes' },
    { division: 'uid-Infinity', holds: { 0: 5 }, cannotTake: { x: 't' } },
    { division: 'uid--4', holds: 'text' },
    [],
  ];
  for (const note of notes) {
    const leases = [lease('g-member-a', 'a', 58, note), lease('g-partition-00', 'a', 10)];
    const { partitions, members } = reportOf('g', leases, NOW_MS);
    assert.equal(partitions.length, 1, 'the Leases of partitions count');
    assert.deepEqual(members[0]?.cannotTake, []);
    assert.equal(members[0]?.isLeaving, false);
  }
});
