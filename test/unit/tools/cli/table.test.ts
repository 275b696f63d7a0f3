/** Rows in columns that keep their widths. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Table } from '../../../../src/tools/cli/terminal/table.ts';

describe('a table', () => {
  it('has headers once and keeps widths', () => {
    const table = new Table(['NAME', 'AGE']);
    assert.deepEqual(table.lines([['a-long-name', '1s']]), ['NAME          AGE', 'a-long-name   1s']);
    assert.deepEqual(table.lines([['b', '2s']]), ['b             2s']);
  });

  it('prints nothing, not even headers, when there are no rows', () => {
    const table = new Table(['NAME']);
    assert.deepEqual(table.lines([]), []);
    assert.deepEqual(table.lines([['a']]), ['NAME', 'a']);
  });

  it('escapes what an object could do to the terminal', () => {
    assert.deepEqual(new Table(['NAME']).lines([['\u001b[31mred\nnext']]), ['NAME', '\\x1b[31mred\\nnext']);
  });
});
