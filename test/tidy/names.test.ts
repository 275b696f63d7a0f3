/** The rules of names, on sources that keep and break them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { baseNamesAreFew, wordsStayGivenUp } from './names.ts';
import type { Rule } from './rules.ts';
import { parseSource } from './source-file.ts';

function violations(rule: Rule, texts: Readonly<Record<string, string>>): string[] {
  const files = Object.entries(texts).map(([path, text]) => parseSource(path, text));
  return rule(files).map(({ path, line }) => `${path}:${line}`);
}

test('a word that was given up is found in names, in constants, in plurals and in comments', () => {
  const files = {
    'src/a.ts':
      'const firstSlot = 1;\nconst UID_SLOT = 2;\n/** All loans. */\nconst silent = calendar + Entry;\n',
    'test/b.ts': 'const slots = [];\n',
  };
  assert.deepEqual(violations(wordsStayGivenUp, files), ['src/a.ts:1', 'src/a.ts:2', 'src/a.ts:3']);
});

test('three files with one base name are too many, apart from entries and tests', () => {
  const twice = { 'src/a/row.ts': '', 'src/b/row.ts': '', 'test/row.ts': '', 'test/a/row.ts': '' };
  const entries = { 'src/a/index.ts': '', 'src/b/index.ts': '', 'src/c/index.ts': '' };
  assert.deepEqual(violations(baseNamesAreFew, { ...twice, ...entries }), []);
  assert.deepEqual(violations(baseNamesAreFew, { ...twice, 'src/c/row.ts': '' }), [
    'src/a/row.ts:1',
    'src/b/row.ts:1',
    'src/c/row.ts:1',
  ]);
});
