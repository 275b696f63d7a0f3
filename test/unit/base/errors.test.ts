/** Errors on their way to another thread. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  KubeloomError,
  fromErrorMessage,
  messageOf,
  toErrorMessage,
  withCode,
  wrapped,
} from '../../../src/base/errors.ts';
import { statusError } from '../../../src/kube/status.ts';

function sent(error: unknown): KubeloomError {
  return fromErrorMessage(structuredClone(toErrorMessage(error)));
}

test('a coded error keeps code, message, stack and the figures of its class', () => {
  const error = sent(statusError(429, '{"kind":"Status","message":"busy"}', 3, 'LIST /pods'));
  assert.ok(error instanceof KubeloomError);
  const { code, message, httpStatus, retryAfterSeconds } = error as KubeloomError & Record<string, unknown>;
  assert.deepEqual([code, httpStatus, retryAfterSeconds], ['ERR_KUBELOOM_TOO_MANY_REQUESTS', 429, 3]);
  assert.match(message, /^LIST \/pods answered 429: busy/);
  const own = sent(new KubeloomError('ERR_KUBELOOM_OPTION', 'wrong'));
  assert.match(own.stack ?? '', /errors\.test/);
});

test('an error of Node is unexpected, and its own code is errno', () => {
  const error = sent(Object.assign(new Error('address in use'), { code: 'EADDRINUSE' }));
  assert.equal(error.code, 'ERR_KUBELOOM_UNEXPECTED');
  assert.equal((error as KubeloomError & { readonly errno?: string }).errno, 'EADDRINUSE');
});

test('a thrown value that is no error is unexpected, and its text is the message', () => {
  const { code, message } = sent('out of cheese');
  assert.deepEqual([code, message], ['ERR_KUBELOOM_UNEXPECTED', 'out of cheese']);
});

test('every thrown value has a message, and an error of kubeloom takes every value as its message', () => {
  const throwing = {
    toString(): string {
      throw new Error('no text');
    },
  };
  for (const value of [Object.create(null), throwing, Symbol('x'), null, undefined, 7n] as unknown[]) {
    assert.equal(typeof messageOf(value), 'string');
    const error = new KubeloomError('ERR_KUBELOOM_OPTION', value as string, null as never);
    assert.equal(error.message, messageOf(value));
    assert.equal('cause' in error, false);
  }
});

test('C472 a cause that cannot be read is replaced, and so is a thrown value that becomes an error of kubeloom', () => {
  const { proxy, revoke } = Proxy.revocable(new Error('x'), {});
  revoke();
  const { cause } = new KubeloomError('ERR_KUBELOOM_OPTION', 'outer', { cause: proxy });
  assert.match((cause as Error).message, /^an error that cannot be read was thrown/);
  for (const error of [withCode(proxy), wrapped('ERR_KUBELOOM_OPTION', 'outer', proxy)])
    assert.match(error.message, /that cannot be read/);
  const right = new Error('right');
  assert.equal(new KubeloomError('ERR_KUBELOOM_OPTION', 'outer', { cause: right }).cause, right);
});

test('a code that the table does not have is refused by the compiler', () => {
  // @ts-expect-error -- no code of kubeloom
  assert.ok(new KubeloomError('ERR_KUBELOOM_NO_SUCH_CODE', 'a message'));
});
