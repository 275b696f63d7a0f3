/** Text of servers and objects cannot control a terminal or forge a line of a log. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { PASSED, resultText } from '../../src/tools/cli/loadtest/loadtest-text.ts';
import { conclusionText } from '../../src/tools/cli/terminal/report.ts';
import { screenOn } from '../../src/tools/cli/terminal/screen.ts';
import { printJson, printLine, printText } from '../../src/tools/cli/terminal/output.ts';
import { exampleResult } from '../unit/tools/loadtest/example-result.ts';
import { failureText } from '../../src/tools/cli/failure.ts';
import { KubeloomError, fromErrorMessage } from '../../src/base/errors.ts';
import { escapeControls } from '../../src/base/printable.ts';
import { statusError } from '../../src/kube/status.ts';

const HOSTILE = [
  ...Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)),
  ...Array.from({ length: 33 }, (_, index) => String.fromCharCode(0x7f + index)),
  ...'\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069',
].join('');
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const DANGEROUS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

test('C189 every control character and direction mark is escaped, and nothing else is touched', () => {
  for (const character of HOSTILE) {
    assert.match(escapeControls(`a${character}b`), /^a\\([ntr]|x[\da-f]{2}|u[\da-f]{4})b$/);
  }
  const harmless = 'Grüße, 世界, 👩‍👩‍👧, \\n as text';
  assert.equal(escapeControls(harmless), harmless);
});

test('text for a pipe has no colours, also on Deno, whose pipes say that they have some', () => {
  const written = (isTTY: boolean): string => {
    let text = '';
    printText(
      'PASS: all',
      { isTTY, hasColors: () => true, write: (part: string) => Boolean((text += part)) },
      'green',
    );
    return text;
  };
  assert.equal(written(false), 'PASS: all\n');
  assert.equal(written(true), '\u001B[32mPASS:\u001B[39m all\n');
});

test('C189 messages of errors have none, on this side of a thread and on the other', () => {
  const raw = `pods/a\u001b[2J${HOSTILE} is gone`;
  const error = new KubeloomError('ERR_KUBELOOM_NOT_FOUND', raw);
  assert.doesNotMatch(error.message, DANGEROUS);
  const received = fromErrorMessage({
    code: 'ERR_KUBELOOM_UNEXPECTED',
    message: raw,
    stack: `Error: ${raw}\n    at a\u001b[2J`,
  });
  assert.doesNotMatch(received.message, DANGEROUS);
  assert.doesNotMatch((received.stack ?? '').replaceAll('\n', ''), DANGEROUS);
  const answer = JSON.stringify({ kind: 'Status', code: 403, reason: `R${HOSTILE}`, message: raw });
  const refused = statusError(403, answer, undefined, `LIST /${HOSTILE}`);
  assert.doesNotMatch(refused.message, DANGEROUS);
  // `serverMessage` is the server's text as it is: what inspect escapes of it is what moves a terminal.
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  assert.doesNotMatch(inspect(refused).replaceAll('\n', ''), /[\u0000-\u001f\u007f-\u009f]/);
});

test('C189 a command prints one line for a failure, and its stack has no escapes either', () => {
  const foreign = new Error(`x${HOSTILE}\u001b]0;title\u0007`, { cause: new Error(`cause ${HOSTILE}`) });
  assert.doesNotMatch(failureText(foreign, false), DANGEROUS);
  assert.doesNotMatch(failureText(foreign, true).replaceAll('\n', ''), DANGEROUS);
});

class Terminal {
  text = '';
  readonly isTTY = true;
  readonly columns = 200;
  readonly rows = 50;

  write(text: string): boolean {
    this.text += text;
    return true;
  }
}

test('C189 the one writer of the commands escapes lines, text and JSON', () => {
  const terminal = new Terminal();
  printLine(`line ${HOSTILE} end`, terminal);
  printText(`first\r\nsecond ${HOSTILE.replaceAll('\n', '')}\n`, terminal);
  printJson(`{"a":"${HOSTILE.slice(32)}",\r\n\t"b":1}`, terminal);
  assert.equal(terminal.text.split('\n').length, 5);
  assert.doesNotMatch(terminal.text.replaceAll('\n', ''), DANGEROUS);
  const [, , , json = ''] = terminal.text.split('\n');
  assert.deepEqual(JSON.parse(json), { a: HOSTILE.slice(32), b: 1 });
});

test('C189 a screen escapes its lines and the lines above it', () => {
  const terminal = new Terminal();
  const screen = screenOn(terminal as unknown as NodeJS.WriteStream);
  screen.draw([`a\u001b]0;title\u0007${HOSTILE}`]);
  screen.printLine(`b\u001b[8m${HOSTILE}`);
  screen[Symbol.dispose]();
  assert.ok(!terminal.text.includes('\u001b]0'));
  assert.ok(!terminal.text.includes('\u001b[8m'));
  assert.doesNotMatch(terminal.text, /[\u0080-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u);
});

test('C189 the result of a load test has no control characters of the server or the workload', () => {
  const result = exampleResult();
  const hostile = {
    ...result,
    run: {
      ...result.run,
      versions: { ...result.run.versions, server: `v1${HOSTILE}` },
      workload: { ...result.run.workload, name: `w${HOSTILE}` },
    },
    conclusion: { kind: 'FAIL', reasons: [`r${HOSTILE}`] } as const,
  };
  for (const text of [resultText(hostile), conclusionText(hostile.conclusion, PASSED)])
    assert.doesNotMatch(text.replaceAll('\n', ''), DANGEROUS);
});
