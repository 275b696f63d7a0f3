/** The key table of a successor. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeltaKind, ObjectLocation } from '../../../src/shared/record/delta.ts';
import { ShardTwin } from '../../unit/indexer/shard-twin.ts';
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

test('C173 a successor continues the relist that was open and no other', async () => {
  const identity = { key: 'a', namespace: '', name: 'a' };
  for (const epoch of [3, undefined]) {
    const twin = new ShardTwin({ isSuccessor: true });
    await twin.attach();
    await twin.inherit([{ id: 0, identity, live: 5, listed: undefined }], epoch);
    twin.offerControl(DeltaKind.ReplaceEnd, 4, '9');
    twin.commit();
    if (epoch === undefined) twin.shard.doWork();
    else assert.throws(() => twin.shard.doWork(), /end of epoch 4 in epoch 3/);
  }
});
