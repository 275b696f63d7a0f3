/** The page of `kubeloom top`, compared with the code: its keys, its columns, and what is in its recorded frame. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { statsSnapshot } from '../../../src/metrics/snapshot.ts';
import { widthOf } from '../../../src/tools/cli/terminal/cells.ts';
import { frame } from '../../../src/tools/cli/top/top-frame.ts';
import { TOP_COLUMNS } from '../../../src/tools/cli/top/top-rows.ts';
import { QUIT_KEY, SCROLL_KEYS, SORT_KEYS, initialTop } from '../../../src/tools/cli/top/top-state.ts';
import { ROOT } from './documents.ts';

const PAGE = readFileSync(join(ROOT, 'docs/top.md'), 'utf8');
const [, RECORDED = ''] = /<!-- recorded -->\n```text\n([^]*?)\n```/.exec(PAGE) ?? [];

/** Cells of the rows of the table below a heading. */
function rowsBelow(heading: string): string[][] {
  const [, section = ''] = PAGE.split(`\n## ${heading}\n`);
  const lines = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(1).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe('docs/top.md', () => {
  test('has every key', () => {
    const keys = rowsBelow('Keys').flatMap(([cell = '']) => cell.match(/`[^`]+`/g) ?? []);
    const scroll = { up: '↑', down: '↓', pageup: 'PgUp', pagedown: 'PgDn' };
    assert.deepEqual(Object.keys(SCROLL_KEYS), Object.keys(scroll));
    const expected = [QUIT_KEY, 'Ctrl-C', ...Object.values(scroll), ...Object.keys(SORT_KEYS)];
    assert.deepEqual(
      keys,
      expected.map((key) => `\`${key}\``),
    );
    const sorts = rowsBelow('Keys').slice(-Object.keys(SORT_KEYS).length);
    for (const [index, column] of Object.values(SORT_KEYS).entries())
      assert.match(sorts[index]?.[1] ?? '', new RegExp(column, 'i'));
  });

  test('has every column, in the order of the screen', () => {
    const columns = rowsBelow('Columns').map(([table, column]) => [table, column]);
    assert.deepEqual(
      columns,
      Object.entries(TOP_COLUMNS).flatMap(([table, of]) => of.slice(1).map(({ header }) => [table, header])),
    );
  });

  test('has a recorded frame with every column of informers and threads, which fits its terminal and ends with the keys', () => {
    const lines = RECORDED.split('\n');
    const columns = widthOf(lines[0] ?? '');
    assert.ok(lines.every((line) => widthOf(line) <= columns));
    const keys = frame(initialTop(''), columns, lines.length).at(-1) ?? '';
    const plain = (line = ''): string => line.replaceAll(/[[\]]/g, ' ').trimEnd();
    assert.equal(plain(lines.at(-1)), plain(keys));
    for (const { header } of [...TOP_COLUMNS.informers, ...TOP_COLUMNS.threads])
      assert.ok(RECORDED.includes(header), header);
    assert.ok(lines.some((line) => line.startsWith('LAST ERRORS')));
  });

  test('has every member of a line of --json', () => {
    const members = rowsBelow('Without a terminal').flatMap(([cell = '']) => cell.match(/`[^`]+`/g) ?? []);
    for (const member of Object.keys(statsSnapshot()))
      assert.ok(
        members.some((each) => each.startsWith(`\`${member}`)),
        member,
      );
  });
});
