/** Text in columns of a terminal, and tables of it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cut, cutStart, fitted, flow, widthOf } from '../../../../src/tools/cli/terminal/cells.ts';
import {
  figureColumn,
  screenTable,
  textColumn,
  widthsOf,
} from '../../../../src/tools/cli/terminal/screen-table.ts';

describe('text on a terminal', () => {
  test('counts a wide character as two columns and a combining one as none', () => {
    assert.equal(widthOf('集群'), 4);
    assert.equal(widthOf('e\u0301'), 1);
  });

  test('is cut between characters, with an ellipsis at the cut', () => {
    assert.equal(cut('pods', 4), 'pods');
    assert.equal(cut('deployments', 6), 'deplo…');
    assert.equal(cut('集群集群', 6), '集群…');
    assert.equal(cut('e\u0301tat', 3), 'e\u0301t…');
    assert.equal(cutStart('0123456789', 4), '…789');
    for (const width of [0, 1, 2, 3, 4, 5]) {
      assert.ok(widthOf(cut('集群集群', width)) <= width, String(width));
      assert.ok(widthOf(cutStart('集群集群', width)) <= width, String(width));
    }
  });

  test('has exactly the width of its column', () => {
    assert.equal(fitted('集', 4, 'left'), '集  ');
    assert.equal(fitted('7', 4, 'right'), '   7');
    assert.equal(fitted('集群集', 4, 'left'), '集… ');
  });

  test('flows into as few lines as its cells need', () => {
    assert.deepEqual(flow(['ab', 'cd', 'ef'], 1, 5), ['ab cd', 'ef']);
    assert.deepEqual(flow(['abcdef'], 1, 3), ['ab…']);
    assert.deepEqual(flow([], 1, 3), []);
  });
});

describe('a table on a screen', () => {
  const columns = [textColumn('NAME', 0, 6), textColumn('STATE', 2, 5, 8), figureColumn('SIZE', 1, 6)];

  test('has left-aligned text and right-aligned figures', () => {
    const rows = [
      ['pods', 'ready', '7'],
      ['集群', 'a', '12,345'],
    ];
    assert.deepEqual(screenTable(columns, { rows, first: 0, count: 2 }, 40), [
      'NAME  STATE       SIZE',
      'pods  ready          7',
      '集群  a         12,345',
    ]);
  });

  test('gives names half of the width, then columns room by rank, then names the rest', () => {
    const names = { min: 4, max: 10 };
    const widths = [3, 13, 17, 20, 27, 99].map((width) => widthsOf(columns, names, width));
    assert.deepEqual(widths, [
      [3, undefined, undefined],
      [10, undefined, undefined],
      [9, undefined, 6],
      [10, undefined, 6],
      [10, 7, 6],
      [10, 8, 6],
    ]);
  });

  test('cuts names that are wider than their column', () => {
    const rows = [['deployments', '', '1']];
    assert.deepEqual(screenTable(columns, { rows, first: 0, count: 1 }, 18), [
      'NAME          SIZE',
      'deploymen…       1',
    ]);
  });

  test('tells which rows are shown, at the cost of other columns', () => {
    const rows = Array.from({ length: 200 }, (_, index) => [`pods ${index}`, 'ready', '1']);
    const page = (first: number, width: number): string[] =>
      screenTable(columns, { rows, first, count: 1 }, width);
    assert.deepEqual(page(8, 40), [
      'NAME 9–9 of 200      STATE       SIZE',
      'pods 8               ready          1',
    ]);
    assert.deepEqual(page(98, 27), ['NAME 99–99 of 200      SIZE', 'pods 98                   1']);
    assert.deepEqual(page(198, 20), ['NAME 199–199 of 200', 'pods 198']);
  });

  test('keeps its widths whatever its figures and its page are', () => {
    const rows = [
      ['deployments', '', '1'],
      ['pods', '', '999,999'],
    ];
    const [headers] = screenTable(columns, { rows, first: 0, count: 2 }, 60);
    const other = [
      ['deployments', 'x', ''],
      ['pods', 'terminating', ''],
    ];
    assert.equal(screenTable(columns, { rows: other, first: 0, count: 2 }, 60)[0], headers);
  });
});
