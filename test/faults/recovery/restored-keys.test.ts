/** The key table of a successor. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ObjectLocation } from '../../../src/shared/record/delta.ts';
import { KeyTable } from '../../../src/indexer/key-table.ts';

test('free ids between the ids of restored keys are used before new ids', () => {
  const keys = new KeyTable();
  const bytes = Buffer.from('abcdefgh');
  const letter = (id: number): ObjectLocation =>
    Object.assign(new ObjectLocation(), { hash: id * 7919, nameOffset: id, nameLength: 1 });
  for (const id of [5, 2]) keys.restore(id, bytes, letter(id));
  keys.restored();
  assert.equal(keys.idEnd, 6);
  const given = [0, 1, 3, 4].map((name) => keys.insert(bytes, letter(name)));
  assert.deepEqual(
    given.toSorted((a, b) => a - b),
    [0, 1, 3, 4],
  );
  assert.equal(keys.insert(bytes, letter(6)), 6);
  for (const id of [5, 2]) assert.equal(keys.find(bytes, letter(id)), id);
});
