/** The table from low-level failures to coded errors, without a network. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeloomError, toErrorMessage } from '../../../src/base/errors.ts';
import { toHttpError } from '../../../src/http/http-errors.ts';

function failure(code: string, message = 'low level'): Error {
  return Object.assign(new Error(message), { code });
}

const URL = 'https://host:6443/api/v1/pods';

test('every low-level failure has a code, names the URL and keeps its errno', () => {
  const cases: [string, string][] = [
    ['ECONNREFUSED', 'ERR_KUBELOOM_UNREACHABLE'],
    ['ENOTFOUND', 'ERR_KUBELOOM_UNREACHABLE'],
    ['EAI_AGAIN', 'ERR_KUBELOOM_UNREACHABLE'],
    ['EHOSTUNREACH', 'ERR_KUBELOOM_UNREACHABLE'],
    ['HTTP_CONNECT_TIMEOUT', 'ERR_KUBELOOM_UNREACHABLE'],
    ['CERT_HAS_EXPIRED', 'ERR_KUBELOOM_TLS'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'ERR_KUBELOOM_TLS'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'ERR_KUBELOOM_TLS'],
    ['ERR_SSL_SOMETHING_NEW', 'ERR_KUBELOOM_TLS'],
    ['ECONNRESET', 'ERR_KUBELOOM_CONNECTION_RESET'],
    ['HTTP_CLOSED_EARLY', 'ERR_KUBELOOM_CONNECTION_RESET'],
    ['HTTP_HEADERS_TIMEOUT', 'ERR_KUBELOOM_STALLED'],
    ['HTTP_CHUNK_SIZE', 'ERR_KUBELOOM_HTTP'],
    ['HTTP_DISPOSED', 'ERR_KUBELOOM_STOPPED'],
    ['SOMETHING_NEW', 'ERR_KUBELOOM_HTTP'],
  ];
  for (const [errno, code] of cases) {
    const cause = failure(errno);
    const error = toHttpError(cause, URL);
    assert.equal(error.code, code, errno);
    assert.match(error.message, /https:\/\/host:6443\/api\/v1\/pods/);
    assert.equal(error.cause, cause);
    assert.equal(toErrorMessage(error).details?.['errno'], errno, 'it survives the way to another thread');
  }
});

test('the first failure is reported when several addresses were tried', () => {
  const both = new AggregateError([failure('ECONNREFUSED'), failure('EHOSTUNREACH')]);
  assert.equal(toHttpError(both, URL).code, 'ERR_KUBELOOM_UNREACHABLE');
});

test('a refused client certificate is distinguished from a wrong CA', () => {
  assert.match(
    toHttpError(failure('ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE'), URL).message,
    /client certificate/,
  );
  assert.match(toHttpError(failure('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), URL).message, /not signed by the CA/);
});

test('a coded error stays unchanged, and a value that is not an Error is described', () => {
  const coded = new KubeloomError('ERR_KUBELOOM_STOPPED', 'mine');
  assert.equal(toHttpError(coded, URL), coded);
  assert.match(toHttpError('text', URL).message, /failed: text/);
});
