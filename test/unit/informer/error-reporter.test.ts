/** Reports of errors: to the listener if there is one, else rate-limited warnings; a report never throws itself. */
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import assert from 'node:assert/strict';
import type { ErrorCode } from '../../../src/base/error-codes/error-table.ts';
import { KubeloomError } from '../../../src/base/errors.ts';
import { ErrorReporter } from '../../../src/informer/error-reporter.ts';
import { MutationError } from '../../../src/informer/mutation/cache-mutation-detector.ts';
import { RecordingLogger } from '../../kit/recording-logger.ts';
import { FakeClock } from '../reflector/fake-clock.ts';

const PODS = 'pods (all namespaces)';

/** `code: message` of every warning of the process. */
function warnings(context: TestContext): string[] {
  const seen: string[] = [];
  context.mock.method(process, 'emitWarning', (message: string, options: { code: string; type: string }) => {
    assert.equal(options.type, 'KubeloomWarning');
    seen.push(`${options.code}: ${message}`);
  });
  return seen;
}

describe('with a listener', () => {
  test('C18 every error goes to it, with its context, and none becomes a warning', (context) => {
    const warned = warnings(context);
    const seen: unknown[] = [];
    const reports = new ErrorReporter(
      PODS,
      (error, about) => seen.push([error.message, about]),
      new FakeClock(),
    );
    const about = { informer: PODS, key: 'default/web-0', handler: 'onPod', registeredAt: 'at app.js' };
    reports.handler('one', 'default/web-0', 'onPod', 'at app.js');
    reports.object(new KubeloomError('ERR_KUBELOOM_STALLED', 'two'), 'default/web-1');
    reports.report(new KubeloomError('ERR_KUBELOOM_STALLED', 'three'), 'lifecycle');
    assert.deepEqual(seen, [
      ['event handler onPod threw for default/web-0: one', about],
      ['two', { informer: PODS, key: 'default/web-1' }],
      ['three', { informer: PODS }],
    ]);
    assert.deepEqual(warned, []);
  });

  test('C18 that throws, a report does not throw: it warns of the listener', (context) => {
    const warned = warnings(context);
    const onError = (): never => {
      throw new Error('broken');
    };
    new ErrorReporter(PODS, onError, new FakeClock()).report(
      new KubeloomError('ERR_KUBELOOM_STALLED', 'one'),
      'lifecycle',
    );
    assert.equal(warned.length, 1);
    assert.match(warned[0] ?? '', /^ERR_KUBELOOM_ERROR_LISTENER: pods.*broken/);
  });
});

describe('with a log', () => {
  test('each error is a line with its context and code, once a second, and none becomes a warning', (context) => {
    const warned = warnings(context);
    const clock = new FakeClock();
    const log = new RecordingLogger();
    const heard: string[] = [];
    const reports = new ErrorReporter(PODS, ({ message }) => heard.push(message), clock, undefined, log);
    const error = new KubeloomError('ERR_KUBELOOM_STALLED', 'one');
    reports.object(error, 'default/web-1');
    reports.object(error, 'default/web-2');
    clock.advance(1000);
    reports.object(error, 'default/web-3');
    assert.deepEqual(log.lines, ['warn one', 'warn one (and 1 more like it)']);
    const code = 'ERR_KUBELOOM_STALLED';
    const about = { informer: PODS, key: 'default/web-1', code, during: 'object', err: error };
    assert.deepEqual(log.fields[0], about);
    assert.deepEqual([heard, warned], [['one', 'one', 'one'], []]);
  });
});

describe('without a listener', () => {
  test('C18 an error is a warning that says where, about which object, and carries the code', (context) => {
    const warned = warnings(context);
    const reports = new ErrorReporter(PODS, undefined, new FakeClock());
    reports.object(new KubeloomError('ERR_KUBELOOM_STALLED', 'what happened'), 'default/web-0');
    assert.deepEqual(warned, ['ERR_KUBELOOM_STALLED: pods (all namespaces), default/web-0: what happened']);
  });

  test("C57 a warning has the stack of the program's error in its detail", (context) => {
    const details: (string | undefined)[] = [];
    context.mock.method(process, 'emitWarning', (_message: string, { detail }: { detail?: string }) => {
      details.push(detail);
    });
    const { report } = new ErrorReporter(PODS, undefined, new FakeClock());
    const cause = new Error('boom \u001b[31m');
    report(new KubeloomError('ERR_KUBELOOM_GONE', 'handler threw', { cause }), 'lifecycle');
    report(new KubeloomError('ERR_KUBELOOM_STALLED', 'no cause'), 'lifecycle');
    assert.match(details[0] ?? '', /^Error: boom \\x1b\[31m\n {4}at .*error-reporter\.test\.js/);
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect' });
    report(new KubeloomError('ERR_KUBELOOM_UNREACHABLE', 'away', { cause: refused }), 'list');
    assert.deepEqual(details.slice(1), [undefined, undefined]);
  });

  test('C472 a handler may throw a value that cannot be read', (context) => {
    const warned = warnings(context);
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    new ErrorReporter(PODS, undefined, new FakeClock()).handler(proxy, 'default/web-0', 'mine', '');
    assert.match(warned[0] ?? '', /^ERR_KUBELOOM_HANDLER: .*event handler mine threw for default\/web-0/);
  });

  test('C18 a warning names object and informer once, also where the error itself names them', (context) => {
    const warned = warnings(context);
    const reports = new ErrorReporter(PODS, undefined, new FakeClock());
    reports.mutation(new MutationError('default/web-0: a handler wrote to it', { key: 'default/web-0' }));
    reports.report(new KubeloomError('ERR_KUBELOOM_STALLED', `${PODS}: it ended`), 'lifecycle');
    assert.deepEqual(warned, [
      'ERR_KUBELOOM_MUTATION: pods (all namespaces): default/web-0: a handler wrote to it',
      'ERR_KUBELOOM_STALLED: pods (all namespaces): it ended',
    ]);
  });

  test('C189 a warning has no control characters', (context) => {
    const warned = warnings(context);
    new ErrorReporter(PODS, undefined, new FakeClock()).report(
      new KubeloomError('ERR_KUBELOOM_STALLED', 'a\u001b[2J\nb'),
      'lifecycle',
    );
    assert.deepEqual(warned, ['ERR_KUBELOOM_STALLED: pods (all namespaces): a\\x1b[2J\\nb']);
  });

  test('C18 there is one warning a second for each code, and the next says how many it stands for', (context) => {
    const warned = warnings(context);
    const clock = new FakeClock();
    const reports = new ErrorReporter(PODS, undefined, clock);
    const report = (code: ErrorCode): void => reports.report(new KubeloomError(code, 'm'), 'lifecycle');
    for (let count = 0; count < 5; count++) report('ERR_KUBELOOM_GONE');
    report('ERR_KUBELOOM_STALLED');
    assert.equal(warned.length, 2);
    clock.advance(999);
    report('ERR_KUBELOOM_GONE');
    assert.equal(warned.length, 2);
    clock.advance(1);
    report('ERR_KUBELOOM_GONE');
    report('ERR_KUBELOOM_STALLED');
    assert.deepEqual(warned.slice(2), [
      'ERR_KUBELOOM_GONE: pods (all namespaces): m (and 5 more like it)',
      'ERR_KUBELOOM_STALLED: pods (all namespaces): m',
    ]);
    clock.advance(5000);
    report('ERR_KUBELOOM_GONE');
    assert.equal(warned.at(-1), 'ERR_KUBELOOM_GONE: pods (all namespaces): m');
  });
});
