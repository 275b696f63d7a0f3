/** Rows and the entries of them: callers that may compare entries receive the same one. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Entry } from '../../../../src/replica/store/entry.ts';
import type { EntryOwner } from '../../../../src/replica/store/entry-owner.ts';
import { at, borrowed, jsonOf, newEntry, newOwner } from './objects.ts';

function cached(owner: EntryOwner, name = 'a'): Entry {
  const entry = newEntry(owner, at(name, 1));
  entry.addReference();
  return entry;
}

describe('a row has one entry', () => {
  test('C29 while a call borrows it, also an outer one', () => {
    const owner = newOwner();
    const entry = cached(owner);
    borrowed(entry, 'outer', () => {
      borrowed(entry, 'inner', () => assert.equal(owner.table.open(entry.row), entry));
      assert.equal(owner.table.open(entry.row), entry);
    });
    assert.notEqual(
      owner.table.open(entry.row),
      entry,
      'the table has forgotten the entry, because no call borrows it',
    );
  });

  test('C29 as long as it lasts, when the entry was retained or handed out', () => {
    const owner = newOwner();
    const entry = cached(owner);
    borrowed(entry, 'a handler', () => entry.retain());
    borrowed(owner.table.open(entry.row), 'another handler', () => {});
    assert.equal(owner.table.open(entry.row), entry);
  });

  test('C15 while its object is parsed, so that the next handler does not parse it again', () => {
    const owner = newOwner({ retainChecks: 'off' });
    const entry = cached(owner);
    const object: unknown = borrowed(entry, 'a handler', () => entry.object);
    assert.equal(owner.table.open(entry.row).object, object);
    entry.forgetDecoded();
    assert.notEqual(owner.table.open(entry.row), entry);
  });
});

describe('an entry whose row belongs to another entry', () => {
  test('C65 reads the same object, and has bytes of its own when it is retained', () => {
    const owner = newOwner({ retainChecks: 'off' });
    const first = cached(owner);
    borrowed(first, 'a handler', () => {});
    const second = owner.table.open(first.row);
    assert.deepEqual(first.bytes(), second.bytes());
    first.retain();
    first.dropReference();
    assert.deepEqual(first.bytes(), jsonOf(at('a', 1)));
    assert.throws(() => second.bytes(), { code: 'ERR_KUBELOOM_BORROW_EXPIRED' });
  });
});

test('C66 an entry reads nothing of the next state in its row', () => {
  const owner = newOwner({ retainChecks: 'off' });
  const entry = cached(owner);
  entry.dropReference();
  const next = cached(owner, 'b');
  assert.equal(next.row, entry.row);
  assert.throws(() => entry.bytes(), { code: 'ERR_KUBELOOM_BORROW_EXPIRED' });
  assert.throws(() => entry.retain(), { code: 'ERR_KUBELOOM_BORROW_EXPIRED' });
  assert.equal(entry.key, 'a');
  assert.equal(owner.table.open(next.row), next);
});
