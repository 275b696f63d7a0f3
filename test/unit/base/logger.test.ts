/** Loggers with fields: the shapes of pino and of the console, and a logger that throws. */
import assert from 'node:assert/strict';
import { Console } from 'node:console';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { KubeloomError } from '../../../src/base/errors.ts';
import { aLogger, loggerWith, warnIn } from '../../../src/base/logger.ts';
import { RecordingLogger } from '../../kit/recording-logger.ts';

test('a line contains the fields of the logger and of the call, in every shape of a line', () => {
  const log = new RecordingLogger();
  const bound = loggerWith(log, { controller: 'web', key: 'a' });
  const error = new Error('no');
  bound.info('text only');
  bound.debug({ key: 'b', step: 1 }, 'fields and text');
  bound.warn({ step: 2 });
  bound.error(error, 'an error and text');
  assert.deepEqual(log.lines, [
    'info text only',
    'debug fields and text',
    'warn ',
    'error an error and text',
  ]);
  assert.deepEqual(log.fields, [
    { controller: 'web', key: 'a' },
    { controller: 'web', key: 'b', step: 1 },
    { controller: 'web', key: 'a', step: 2 },
    { controller: 'web', key: 'a', err: error },
  ]);
});

test('the console receives fields before the message, and no undefined after fields alone', (context) => {
  const seen: unknown[][] = [];
  context.mock.method(console, 'warn', (...line: unknown[]) => seen.push(line));
  const bound = loggerWith(console, { key: 'a' });
  bound.warn({ step: 1 }, 'text');
  bound.warn({ step: 2 });
  assert.deepEqual(seen, [[{ key: 'a', step: 1 }, 'text'], [{ key: 'a', step: 2 }]]);
});

test('C481 the console prints each record in one line, with the stack of an error of the program, and no empty fields', () => {
  const output = new PassThrough();
  const log = new Console(output);
  const cause = new TypeError('of the\nprogram');
  const error = new KubeloomError('ERR_KUBELOOM_HANDLER', 'a handler threw', { cause });
  const bound = { controller: 'websites', key: 'default/blue', reconcileID: 'b1946ac9-0d9b-4a2f-9c0e-2f6d' };
  loggerWith(log, bound).debug({ durationMs: 3, file: 'C:\\new' }, 'reconciled');
  loggerWith(log, bound).error({ err: error, nested: { error } }, 'reconciling failed');
  loggerWith(log).info('the caches are filled');
  const [reconciled, failed, filled, ...rest] = String(output.read()).split('\n');
  const fields =
    "controller: 'websites', key: 'default/blue', reconcileID: 'b1946ac9-0d9b-4a2f-9c0e-2f6d', durationMs: 3";
  assert.equal(reconciled, `{ ${fields}, file: 'C:\\\\new' } reconciled`);
  assert.match(
    failed ?? '',
    /KubeloomError: a handler threw at .*TypeError: of the program at .*logger\.test/,
  );
  assert.deepEqual([filled, rest], ['the caches are filled', ['']]);
});

test('an error is a line with its code, and without a log a process warning', (context) => {
  const warned = context.mock.method(process, 'emitWarning', () => undefined);
  const log = new RecordingLogger();
  const error = new KubeloomError('ERR_KUBELOOM_STALLED', 'one');
  warnIn(log, error);
  assert.deepEqual([log.lines, log.fields], [['warn one'], [{ code: 'ERR_KUBELOOM_STALLED', err: error }]]);
  assert.equal(warned.mock.callCount(), 0);
  warnIn(undefined, error);
  assert.equal(warned.mock.callCount(), 1);
});

test('a value that lacks a level is refused with a code', () => {
  aLogger('log', console);
  for (const value of [{}, { debug() {}, info() {}, warn() {} }, 'console', null, () => undefined])
    assert.throws(() => aLogger('log', value), {
      code: 'ERR_KUBELOOM_OPTION',
      message: /^log must be a logger/,
    });
});
