/** Colours and widths of what commands print. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WriteStream } from 'node:tty';
import { wrapped } from '../../../../src/tools/cli/terminal/cells.ts';
import { columnsOf, isScreen, printText } from '../../../../src/tools/cli/terminal/output.ts';
import { barLines } from '../../../../src/tools/cli/terminal/progress.ts';
import { conclusionText } from '../../../../src/tools/cli/terminal/report.ts';
import { Table } from '../../../../src/tools/cli/terminal/table.ts';

/** Returns what is printed with a colour to a terminal with this environment, or without a terminal. */
function printed(environment: Readonly<Record<string, string>> | undefined): string {
  let text = '';
  const write = (chunk: string | Uint8Array): boolean => {
    text += String(chunk);
    return true;
  };
  const hasColors = (): boolean =>
    // The depth that Node finds for this environment, in bits.
    WriteStream.prototype.getColorDepth.call({}, { TERM: 'xterm-256color', ...environment }) > 2;
  printText('FAIL:\n  a reason', { write, hasColors, isTTY: environment !== undefined }, 'red');
  return text;
}

describe('the first word of a verdict', () => {
  it('has a colour on a terminal', () =>
    assert.equal(printed({}), '\u001B[31mFAIL:\u001B[39m\n  a reason\n'));

  for (const [what, environment] of [
    ['NO_COLOR', { NO_COLOR: '1' }],
    ['FORCE_COLOR=0', { FORCE_COLOR: '0' }],
    ['TERM=dumb', { TERM: 'dumb' }],
    ['a pipe', undefined],
  ] as const)
    it(`has none with ${what}`, () => assert.equal(printed(environment), 'FAIL:\n  a reason\n'));
});

describe('the width of the terminal', () => {
  it('wraps between words, and leaves a pipe alone', () => {
    assert.deepEqual(wrapped('  one two three', 9, '    '), ['  one two', '    three']);
    assert.deepEqual(wrapped('a-word-that-is-long b', 5), ['a-word-that-is-long', 'b']);
    assert.equal(columnsOf({ isTTY: false, columns: 80 }), Infinity);
    assert.equal(columnsOf({ isTTY: true, columns: 0 }), 80);
    assert.equal(conclusionText({ kind: 'PASS', reasons: [] }, 'all is well', 12), 'PASS: all is\n  well');
  });

  it('puts the text of a bar below it, and the columns of a table that have no room', () => {
    assert.equal(barLines(0.5, 'half of it', 80).length, 1);
    assert.deepEqual(barLines(0.5, 'half of it', 40).slice(1), ['half of it']);
    const lines = new Table(['NAME', 'FIRST', 'SECOND']).lines([['a', '1', '2']], 14);
    assert.deepEqual(lines, ['NAME   FIRST', 'a      1', '', 'NAME   SECOND', 'a      2']);
  });

  it('does not draw a screen on a dumb terminal', () => {
    const { TERM } = process.env;
    process.env['TERM'] = 'dumb';
    assert.equal(isScreen({ isTTY: true }), false);
    process.env['TERM'] = 'xterm';
    assert.equal(isScreen({ isTTY: true }), true);
    if (TERM === undefined) delete process.env['TERM'];
    else process.env['TERM'] = TERM;
  });
});
