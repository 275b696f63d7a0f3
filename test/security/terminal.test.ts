/** Text of servers and objects cannot control a terminal or forge a line of a log. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { failureText } from '../../src/cli/failure.ts';
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
