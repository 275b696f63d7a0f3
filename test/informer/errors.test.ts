/** The error sink: to the listener if there is one, else rate-limited warnings; it never throws itself. */
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import assert from 'node:assert/strict';

import { KubeloomError } from '../../src/errors.ts';
import { ErrorSink } from '../../src/informer/errors.ts';
import type { ErrorContext } from '../../src/informer/errors.ts';
import { FakeClock } from '../reflector/fake-clock.ts';

const PODS: ErrorContext = { informer: 'pods (all namespaces)' };

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
    const sink = new ErrorSink((error, about) => seen.push([error.message, about]), new FakeClock());
    const about = { ...PODS, key: 'default/web-0', handler: 'at app.js' };
    sink.report(new Error('one'), about);
    sink.report(new Error('two'), PODS);
    assert.deepEqual(seen, [
      ['one', about],
      ['two', PODS],
    ]);
    assert.deepEqual(warned, []);
  });

  test('C18 that throws, the sink does not: it warns of the listener', (context) => {
    const warned = warnings(context);
    const sink = new ErrorSink(() => {
      throw new Error('broken');
    }, new FakeClock());
    sink.report(new Error('one'), PODS);
    assert.equal(warned.length, 1);
    assert.match(warned[0] ?? '', /^ERR_KUBELOOM_ERROR_LISTENER: pods.*broken/);
  });
});

describe('without a listener', () => {
  test('C18 an error is a warning that says where, about which object, and carries the code', (context) => {
    const warned = warnings(context);
    const sink = new ErrorSink(undefined, new FakeClock());
    sink.report(new KubeloomError('ERR_KUBELOOM_X', 'what happened'), { ...PODS, key: 'default/web-0' });
    sink.report(new Error('thrown by a handler'), PODS);
    assert.deepEqual(warned, [
      'ERR_KUBELOOM_X: pods (all namespaces), default/web-0: what happened',
      'ERR_KUBELOOM_HANDLER: pods (all namespaces): thrown by a handler',
    ]);
  });

  test('C18 there is one warning a second for each code, and the next says how many it stands for', (context) => {
    const warned = warnings(context);
    const clock = new FakeClock();
    const sink = new ErrorSink(undefined, clock);
    const report = (code: string): void => sink.report(new KubeloomError(code, 'm'), PODS);
    for (let count = 0; count < 5; count++) report('ERR_A');
    report('ERR_B');
    assert.equal(warned.length, 2);
    clock.advance(999);
    report('ERR_A');
    assert.equal(warned.length, 2);
    clock.advance(1);
    report('ERR_A');
    report('ERR_B');
    assert.deepEqual(warned.slice(2), [
      'ERR_A: pods (all namespaces): m (and 5 more like it)',
      'ERR_B: pods (all namespaces): m',
    ]);
    clock.advance(5000);
    report('ERR_A');
    assert.equal(warned.at(-1), 'ERR_A: pods (all namespaces): m');
  });
});
