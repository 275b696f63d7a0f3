/** Columns of numbers: what was written stays, however the table grows. */
import { test } from 'node:test';
import assert from 'node:assert/strict';

import { NumberColumns } from '../../../../src/replica/store/columns.ts';

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
