/** Compaction of slabs while threads read their rows: a former row keeps each place until no thread reads there. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { CacheExports } from '../../../../src/replica/store/cache-exports.ts';
import { ExportedRows } from '../../../../src/thread/main/exported-rows.ts';
import { EntryFlag } from '../../../../src/replica/store/entry.ts';
import type { EntryOwner } from '../../../../src/replica/store/entry-owner.ts';
import { at, newEntry, newOwner } from '../../replica/store/objects.ts';

const OBJECTS = 3000;
/** Bytes of each object: 500 in a slab. */
const OBJECT_BYTES = 1024;

/** Returns rows with an object each, of which a thread reads all. */
function exportedCount(owner: EntryOwner, exportedRows: ExportedRows, objects: number = OBJECTS): number[] {
  return Array.from({ length: objects }, (_, number) => {
    const text = 'x'.repeat(OBJECT_BYTES - 200) + String(number).padStart(8, '0');
    const { row } = newEntry(owner, { ...at(`pod-${number}`, 1), spec: { text } });
    owner.table.addReference(row);
    exportedRows.begin(row);
    return row;
  });
}

function bytesAt(owner: EntryOwner, row: number): string {
  const { table, slabs } = owner;
  const start = table.offsetOf(row);
  return slabs.slabOf(row).bytes.toString('latin1', start, start + table.storedBytesOf(row));
}

test('a slab that compaction empties is freed when no thread reads a former row in it', () => {
  const owner = newOwner();
  const { table, slabs } = owner;
  const exportedRows = new ExportedRows(table);
  const formers: { readonly row: number; readonly former: number; readonly bytes: string }[] = [];
  let isFarBehind = true;
  const dropped: Buffer[] = [];
  owner.readers = {
    mayMove: () => !isFarBehind,
    moved: (row, former) => {
      exportedRows.begin(former);
      formers.push({ row, former, bytes: bytesAt(owner, row) });
    },
    dropped: ({ bytes }) => dropped.push(bytes),
  };
  const rows = exportedCount(owner, exportedRows);
  for (const row of rows) slabs.slabOf(row).isShared = true;
  const kept = rows.filter((_, number) => number % 4 === 0);
  for (const row of rows.filter((_, number) => number % 4 !== 0)) {
    exportedRows.end(row);
    table.dropReference(row);
  }
  while (slabs.hasCompaction) slabs.compact();
  assert.equal(formers.length, 0, 'rows were moved although a thread is far behind');
  isFarBehind = false;
  // The next release makes the slabs of its size compact again.
  const [first = 0] = kept.splice(0, 1);
  exportedRows.end(first);
  table.dropReference(first);
  const { heldBytes } = slabs;
  dropped.length = 0;
  while (slabs.hasCompaction) slabs.compact();
  assert.ok(formers.length > 100, `${formers.length} rows were moved`);
  for (const { row, former, bytes } of formers) {
    assert.ok(table.hasFlag(former, EntryFlag.Moved));
    assert.equal(bytesAt(owner, former), bytes);
    assert.equal(bytesAt(owner, row), bytes);
  }
  assert.ok(slabs.heldBytes >= heldBytes, 'memory was freed that threads read');
  assert.equal(dropped.length, 0);
  for (const { former } of formers) exportedRows.end(former);
  assert.ok(slabs.heldBytes < heldBytes * 0.6, `${slabs.heldBytes} of ${heldBytes} bytes are held`);
  assert.ok(dropped.length > 1);
  for (const row of kept) {
    exportedRows.end(row);
    table.dropReference(row);
  }
  assert.equal(slabs.liveBytes, 0);
  assert.equal(slabs.heldBytes, 0);
});

test('packed rows that compaction moves save the same bytes as before, and their dictionary ends with the last of them', () => {
  const owner = newOwner({ packing: { totalBytesMin: 0 } });
  const { table, slabs, packed } = owner;
  const exportedRows = new ExportedRows(table);
  const formers: number[] = [];
  owner.readers = {
    mayMove: () => true,
    moved: (_, former) => {
      exportedRows.begin(former);
      formers.push(former);
    },
    dropped: () => undefined,
  };
  // More than one slab of packed objects.
  const rows = exportedCount(owner, exportedRows, 4 * OBJECTS);
  for (const row of rows) slabs.slabOf(row).isShared = true;
  for (let round = 0; round < 3; round++) for (const _ of packed.round());
  assert.ok(
    rows.every((row) => table.hasFlag(row, EntryFlag.Packed)),
    'a row was not packed',
  );
  assert.ok(formers.length >= rows.length, `${formers.length} moves`);
  for (const former of formers.splice(0)) exportedRows.end(former);
  for (const row of rows) packed.slabs.slabOf(row).isShared = true;
  const savedBytes = [...packed.dictionaries].map((dictionary) => dictionary.savedBytes);
  const [kept, released] = [rows.filter((_, at) => at % 8 === 0), rows.filter((_, at) => at % 8 !== 0)];
  for (const row of released) {
    exportedRows.end(row);
    table.dropReference(row);
  }
  while (packed.slabs.hasCompaction) packed.slabs.compact();
  assert.ok(formers.length > 10, `${formers.length} packed rows were moved`);
  for (const former of formers) exportedRows.end(former);
  const left = [...packed.dictionaries].reduce((sum, dictionary) => sum + dictionary.savedBytes, 0);
  const expected = kept.reduce((sum, row) => sum + table.lengthOf(row) - table.storedBytesOf(row), 0);
  assert.equal(left, expected);
  assert.ok(left < (savedBytes[0] ?? 0));
  for (const row of kept) {
    assert.equal(packed.unpacked(row).toString('latin1', 0, 15), '{"kind":"Pod","');
    exportedRows.end(row);
    table.dropReference(row);
  }
  assert.equal([...packed.dictionaries].length, 0);
  assert.equal(slabs.liveBytes + packed.slabs.liveBytes, 0);
});

test('rows of a thread that has ended are moved while its exportedRows end in steps', () => {
  const owner = newOwner();
  const { table, slabs } = owner;
  const exportedRows = new ExportedRows(table);
  // No cache export has these rows any more, as after the end of a thread.
  owner.readers = new CacheExports(table, () => undefined);
  const rows = exportedCount(owner, exportedRows);
  const kept = rows.filter((_, number) => number % 4 === 0);
  const bytes = new Map(kept.map((row) => [row, bytesAt(owner, row)]));
  for (const row of rows.filter((_, number) => number % 4 !== 0)) {
    exportedRows.end(row);
    table.dropReference(row);
  }
  const { heldBytes } = slabs;
  while (slabs.hasCompaction) slabs.compact();
  assert.ok(slabs.heldBytes < heldBytes * 0.6, `${slabs.heldBytes} of ${heldBytes} bytes are held`);
  assert.ok(
    kept.some((row) => !table.hasFlag(row, EntryFlag.Exported)),
    'no row was moved',
  );
  for (const row of kept) {
    assert.equal(bytesAt(owner, row), bytes.get(row));
    exportedRows.end(row);
    table.dropReference(row);
  }
  assert.equal(slabs.liveBytes + slabs.heldBytes, 0);
});
