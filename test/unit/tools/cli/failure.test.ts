/** The error output of a command: one line with a code, without control characters. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CommanderError } from 'commander';
import { failureText } from '../../../../src/tools/cli/failure.ts';
import { KubeloomError } from '../../../../src/base/errors.ts';

describe('a failure', () => {
  it('is one line with its code, without a stack', () => {
    const error = new KubeloomError('ERR_KUBELOOM_UNREACHABLE', 'it broke');
    assert.equal(failureText(error, false), 'error: it broke (ERR_KUBELOOM_UNREACHABLE)');
  });

  it('stays one line when its message has several', () => {
    const error = new KubeloomError('ERR_KUBELOOM_UNREACHABLE', 'first\nsecond\r\u001b[2J');
    assert.equal(failureText(error, false), 'error: first\\nsecond\\r\\x1b[2J (ERR_KUBELOOM_UNREACHABLE)');
  });

  it('has the code of the operating system where there is one, and one of ours where there is none', () => {
    const error = Object.assign(new Error('in use'), { code: 'EADDRINUSE' });
    assert.equal(failureText(error, false), 'error: in use (EADDRINUSE)');
    assert.equal(failureText(new TypeError('odd'), false), 'error: odd (ERR_KUBELOOM_UNEXPECTED)');
    assert.equal(failureText('thrown text', false), 'error: thrown text (ERR_KUBELOOM_UNEXPECTED)');
  });

  it('of the command line itself has the prefix error once', () => {
    const error = new CommanderError(1, 'commander.unknownOption', "error: unknown option '--x'");
    assert.equal(failureText(error, false), "error: unknown option '--x' (ERR_KUBELOOM_USAGE)");
  });

  it('has the advice of the command line in its line', () => {
    const message = "error: unknown option '--rat'\n(Did you mean --rate?)";
    const text = failureText(new CommanderError(1, 'commander.unknownOption', message), false);
    assert.equal(text, "error: unknown option '--rat': did you mean --rate? (ERR_KUBELOOM_USAGE)");
  });

  it('shows stack and causes on request, still escaped', () => {
    const cause = new Error('below\u001b');
    const text = failureText(new KubeloomError('ERR_KUBELOOM_UNREACHABLE', 'above', { cause }), true);
    assert.match(text, /^error: above \(ERR_KUBELOOM_UNREACHABLE\)\n/);
    assert.match(text, /failure\.test/);
    assert.match(text, /\ncaused by: Error: below\\x1b\n +at .*failure\.test/);
    assert.doesNotMatch(text, /\\n/);
    assert.ok(!text.includes('\u001b'));
  });
});

describe('the stack of a failure', () => {
  it('has lines of its own for frames only: those of a message stay one line', () => {
    const text = failureText(new Error('above\nforged', { cause: new Error('below\nforged') }), true);
    const lines = text.split('\n');
    assert.equal(lines[1], 'Error: above\\nforged');
    assert.ok(lines.includes('caused by: Error: below\\nforged'), text);
    assert.ok(
      lines.slice(2).every((line) => /^( +at |caused by: )/.test(line)),
      text,
    );
  });

  it('of a cause that is no error shows what inspect shows', () => {
    const cause = { why: 'x'.repeat(50), what: 'y'.repeat(50) };
    const text = failureText(new Error('above', { cause }), true);
    assert.match(text, /\ncaused by: \{\n {2}why: 'x+',\n {2}what: 'y+'\n\}$/);
  });
});
