/** States that are held without an entry. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeldState } from '../../../src/informer/held-state.ts';
import { newEntry, newOwner, tableOf, wireObject } from '../replica/store/objects.ts';

const SPEC = { name: 'web-0', version: 1 };

for (const retainChecks of ['strict', 'off'] as const) {
  test(`${retainChecks}: a held state is read from the row, without a copy of the bytes, until it is released`, () => {
    const entry = newEntry(newOwner({ retainChecks }), SPEC);
    const table = tableOf(entry);
    entry.addReference();
    const held = new HeldState(entry);
    entry.dropReference();
    assert.deepEqual(
      held.read((borrowed) => borrowed.copy()),
      wireObject(SPEC),
    );
    assert.equal(
      held.read(({ resourceVersion }) => resourceVersion),
      '1',
    );
    assert.equal(entry.privateCopy, undefined);
    held.release();
    assert.ok(!table.has(entry.row));
  });
}

test('a held state is borrowed for the time of a read', () => {
  const entry = newEntry(newOwner(), SPEC);
  const held = new HeldState(entry);
  const borrowed = held.read((each) => each);
  assert.throws(() => borrowed.object, { code: 'ERR_KUBELOOM_BORROW_EXPIRED' });
  const failure = new Error('of the reader');
  const fail = (): never => {
    throw failure;
  };
  assert.throws(() => held.read(fail), failure);
  assert.equal(
    held.read(({ key }) => key),
    'web-0',
  );
});
