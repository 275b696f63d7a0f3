/**
 * The parts of a file that count as code, and as comment.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { lineAt, parseSource } from './source-file.ts';

function codeOf(text: string): string {
  return parseSource('sample.ts', text).code;
}

describe('the code of a file keeps every position and drops', () => {
  test('comments, which are kept apart', () => {
    const { code, comments } = parseSource('sample.ts', 'a(); // b\n/* c\nd */ e();');
    assert.equal(code, 'a();     \n    \n     e();');
    assert.equal(comments, '     // b\n/* c\nd */     ');
  });

  test('the contents of strings', () => {
    assert.equal(codeOf(`a('// no', "it's", '\\'')`), `a('     ', "    ", '  ')`);
  });

  test('the text of templates, but not the expressions in them', () => {
    assert.equal(codeOf('`a ${b(`c ${d}`, { e: 1 })} f` + g'), '`  ${b(`  ${d}`, { e: 1 })}  ` + g');
    assert.equal(codeOf('`$5 \\` \\${` + a'), '`         ` + a');
  });

  test('regular expressions, but not divisions', () => {
    assert.equal(codeOf("a = /['/]\\/`/g; b"), 'a =           ; b');
    assert.equal(codeOf('return /"/.test(a)'), 'return    .test(a)');
    assert.equal(codeOf("a / b / c + (d) / e[0] / 2 + 'f'"), "a / b / c + (d) / e[0] / 2 + ' '");
  });
});

test('lines are counted from 1', () => {
  const text = 'a\nb\n\nc';
  assert.deepEqual(
    [0, 1, 2, 4, 5].map((position) => lineAt(text, position)),
    [1, 1, 2, 3, 4],
  );
});
