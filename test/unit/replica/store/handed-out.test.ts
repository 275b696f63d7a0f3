/** Entries that listers have returned: the table knows them as long as a caller holds them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Entry } from '../../../../src/replica/store/entry.ts';
import { at, jsonOf, newEntry, newOwner } from './objects.ts';

const OBJECTS = 500;
/** Marks an entry, so that another one for the same row is recognised. */
const MARK = 77;

async function collectGarbage(): Promise<void> {
  // V8 keeps the targets of WeakRefs that were made in the current task.
  await new Promise((resolve) => setImmediate(resolve));
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

test('an entry that a caller holds is the one that the next caller receives, and others are not kept', async () => {
  const owner = newOwner();
  const { table } = owner;
  const rows = Array.from({ length: OBJECTS }, (_, number) => {
    const entry = newEntry(owner, at(`pod-${number}`, number));
    entry.addReference();
    owner.keep(entry);
    entry.forgottenAtKiB = MARK;
    return entry.row;
  });
  const held = rows.filter((_, at) => at % 100 === 0).map((row) => table.open(row));
  await collectGarbage();
  for (const entry of held) assert.equal(table.open(entry.row), entry);
  const known = rows.filter((row) => table.open(row).forgottenAtKiB === MARK);
  assert.ok(known.length < OBJECTS / 5, `${known.length} of ${OBJECTS} entries are kept`);
  for (const row of rows) table.dropReference(row);
  for (const entry of held)
    assert.deepEqual(readAfterEnd(entry), jsonOf(at(entry.name, Number(entry.version))));
});

test('C29 an entry that takes the place of a collected one is found while a call borrows it', async () => {
  const owner = newOwner();
  const { table } = owner;
  const rows = Array.from({ length: OBJECTS }, (_, number) => {
    const entry = newEntry(owner, at(`pod-${number}`, number));
    entry.addReference();
    table.close(entry, false);
    table.handOut(entry.row).forgottenAtKiB = MARK;
    return entry.row;
  });
  await collectGarbage();
  const collected = rows.filter((row) => {
    const entry = table.open(row);
    table.borrow(entry);
    assert.equal(table.open(row), entry);
    assert.equal(table.handOut(row), entry);
    table.endBorrow(entry, 'a handler');
    return entry.forgottenAtKiB !== MARK;
  });
  assert.ok(collected.length > OBJECTS / 2, `${collected.length} of ${OBJECTS} entries were collected`);
});

test('C65 an entry that a call borrows is readable for good after a lister returned it', () => {
  const owner = newOwner();
  const entry = newEntry(owner, at('a', 1));
  entry.addReference();
  owner.table.borrow(entry);
  assert.equal(owner.table.handOut(entry.row), entry);
  owner.table.endBorrow(entry, 'a handler');
  assert.equal(owner.table.handOut(entry.row), entry);
  entry.dropReference();
  assert.deepEqual(entry.bytes(), jsonOf(at('a', 1)));
});

function readAfterEnd(entry: Entry): Buffer {
  assert.ok(entry.privateCopy, 'a caller may read it');
  return entry.bytes();
}
