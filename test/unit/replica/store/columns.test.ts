/** Columns: what was written stays, however the table grows. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { NumberColumns, ObjectColumn } from '../../../../src/replica/store/columns.ts';

test('numbers of a table stay while it grows, first in copies and then in reserved addresses', () => {
  const columns = new NumberColumns(3);
  const arrays = new Set<ArrayBufferLike>();
  const rows = 500_000;
  for (let row = 0; row < rows; row++) {
    columns.reserve(row);
    columns.set(row, 0, 7 - row);
    columns.setWide(row, 1, 2 ** 52 + row);
    arrays.add(columns.words.buffer);
  }
  for (let row = 0; row < rows; row++) {
    assert.equal(columns.get(row, 0), 7 - row);
    assert.equal(columns.getWide(row, 1), 2 ** 52 + row);
  }
  assert.ok(columns.end >= rows && columns.end < 4 * rows);
  const shared = [...arrays].filter((memory) => memory instanceof SharedArrayBuffer);
  assert.equal(shared.length, 1, 'a large table is copied once');
  assert.ok(arrays.size > 5);
});

test('objects of a table are found by row, in any order of arrival', () => {
  const column = new ObjectColumn<{ readonly row: number }>();
  const rows = [0, 1, 32_767, 32_768, 100_000, 65_535, 7];
  assert.equal(column.get(100_000), undefined);
  for (const row of rows) column.set(row, { row });
  assert.deepEqual(
    rows.map((row) => column.get(row)?.row),
    rows,
  );
  column.set(32_768, undefined);
  assert.equal(column.get(32_768), undefined);
  assert.equal(column.get(32_769), undefined);
  assert.equal(column.get(2), undefined);
});
