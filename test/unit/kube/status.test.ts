/** The errors of servers, in all their encodings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toErrorMessage } from '../../../src/base/errors.ts';
import { statusError, statusText } from '../../../src/kube/status.ts';

function status(fields: object): string {
  return JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...fields });
}

const WHERE = 'GET https://host/api/v1/pods';

test('every answer that a client can handle has its own code, by number and by reason', () => {
  const cases: [number, string, string][] = [
    [400, 'BadRequest', 'ERR_KUBELOOM_BAD_REQUEST'],
    [401, 'Unauthorized', 'ERR_KUBELOOM_UNAUTHORIZED'],
    [403, 'Forbidden', 'ERR_KUBELOOM_FORBIDDEN'],
    [404, 'NotFound', 'ERR_KUBELOOM_NOT_FOUND'],
    [409, 'Conflict', 'ERR_KUBELOOM_CONFLICT'],
    [422, 'Invalid', 'ERR_KUBELOOM_INVALID'],
    [410, 'Gone', 'ERR_KUBELOOM_GONE'],
    [410, 'Expired', 'ERR_KUBELOOM_GONE'],
    [429, 'TooManyRequests', 'ERR_KUBELOOM_TOO_MANY_REQUESTS'],
    [500, 'InternalError', 'ERR_KUBELOOM_INTERNAL'],
  ];
  for (const [httpStatus, reason, code] of cases) {
    const byNumber = statusError(httpStatus, 'plain text', undefined, WHERE);
    assert.equal(byNumber.code, code);
    assert.equal(byNumber.httpStatus, httpStatus);
    const byReason = statusError(200, status({ reason, message: 'said' }), undefined, WHERE);
    assert.equal(byReason.code, code, reason);
    assert.equal(byReason.reason, reason);
    assert.match(byReason.message, /^GET https:\/\/host\/api\/v1\/pods answered .*said; \w+/);
  }
  assert.equal(statusError(503, '', undefined, WHERE).code, 'ERR_KUBELOOM_HTTP_STATUS');
});

test('C481 the error of an answer has no stack frame, because none is of the program', () => {
  const { stack, message } = statusError(403, status({ reason: 'Forbidden' }), undefined, WHERE);
  assert.equal(stack, `KubeloomError: ${message}`);
});

test('429 is too many requests for any reason, and 500 with a known reason is not an internal error', () => {
  const codeOf = (code: number, reason: string): string =>
    statusError(code, status({ code, reason }), undefined, WHERE).code;
  assert.equal(codeOf(429, 'Forbidden'), 'ERR_KUBELOOM_TOO_MANY_REQUESTS');
  assert.equal(codeOf(500, 'StoreReadError'), 'ERR_KUBELOOM_STORE_READ');
  assert.equal(codeOf(500, 'ServerTimeout'), 'ERR_KUBELOOM_SERVER_TIMEOUT');
  assert.equal(codeOf(504, 'Timeout'), 'ERR_KUBELOOM_SERVER_TIMEOUT');
  assert.equal(codeOf(500, 'NobodyKnows'), 'ERR_KUBELOOM_INTERNAL');
  assert.equal(codeOf(410, 'NobodyKnows'), 'ERR_KUBELOOM_GONE');
});

test('the code inside the Status counts, as in an ERROR event of a stream with status 200', () => {
  const error = statusError(
    200,
    status({ code: 410, message: 'too old resource version: 1 (2)' }),
    undefined,
    WHERE,
  );
  assert.deepEqual([error.code, error.httpStatus], ['ERR_KUBELOOM_GONE', 410]);
});

test('a resourceVersion that is too large is recognised in exactly its three encodings', () => {
  const encodings = [
    status({ code: 504, reason: 'Timeout', details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } }),
    status({
      code: 504,
      reason: 'Timeout',
      details: { causes: [{ message: 'Too large resource version' }] },
    }),
    status({ code: 504, reason: 'Timeout', message: 'Timeout: Too large resource version: 9, current: 5' }),
  ];
  for (const body of encodings) {
    assert.equal(
      statusError(504, body, undefined, WHERE).code,
      'ERR_KUBELOOM_RESOURCE_VERSION_TOO_LARGE',
      body,
    );
  }
  const others = [
    status({ code: 504, reason: 'Timeout', message: 'request timed out' }),
    status({ code: 400, reason: 'BadRequest', message: 'Too large resource version' }),
  ];
  for (const body of others) {
    assert.notEqual(
      statusError(504, body, undefined, WHERE).code,
      'ERR_KUBELOOM_RESOURCE_VERSION_TOO_LARGE',
      body,
    );
  }
});

test('the time to wait is the header’s, else the one in the Status, else none', () => {
  const body = status({ code: 429, details: { retryAfterSeconds: 7 } });
  assert.equal(statusError(429, body, 3, WHERE).retryAfterSeconds, 3);
  assert.equal(statusError(429, body, undefined, WHERE).retryAfterSeconds, 7);
  assert.equal(statusError(429, '', undefined, WHERE).retryAfterSeconds, 0);
});

test('a Status with members of wrong types is accepted', () => {
  const odd = [
    status({ code: '410', reason: 5, message: {}, details: { causes: 'x', retryAfterSeconds: 'soon' } }),
    status({ details: { causes: [null, 5, { reason: 7 }] } }),
    status({ details: null }),
    'null',
    '[]',
    '{"kind":"Status"',
  ];
  for (const body of odd) {
    const error = statusError(500, body, undefined, WHERE);
    assert.equal(error.code, 'ERR_KUBELOOM_INTERNAL', body);
    assert.equal(error.retryAfterSeconds, 0);
  }
});

test('an answer that is not a Status is quoted, shortened and without control characters', () => {
  const error = statusError(502, `<html>\n\u001b[31mBad\u202e gateway ${'x'.repeat(5000)}`, undefined, WHERE);
  assert.equal(error.code, 'ERR_KUBELOOM_HTTP_STATUS');
  assert.match(error.message, /<html> \[31mBad gateway x/);
  assert.doesNotMatch(error.message, /\p{Cc}|\p{Cf}/u);
  assert.ok(error.message.length < 600);
});

test('a Status of a program that is not JSON has the message of the thrown error', () => {
  const cycle: Record<string, unknown> = { kind: 'Status' };
  cycle['self'] = cycle;
  for (const given of [cycle, { kind: 'Status', code: 7n }]) {
    const error = statusError(500, statusText(given, new Error('no disk')), undefined, WHERE);
    assert.deepEqual([error.code, error.serverMessage], ['ERR_KUBELOOM_INTERNAL', 'no disk']);
  }
});

test('a redirect is an error, because it is not followed', () => {
  for (const number of [301, 302, 303, 307, 308]) {
    const error = statusError(number, '', undefined, WHERE);
    assert.equal(error.code, 'ERR_KUBELOOM_REDIRECT');
    assert.match(error.message, /redirects are not followed/);
  }
});

test('status, reason and waiting time are kept on the way to another thread', () => {
  const error = statusError(429, status({ code: 429, reason: 'TooManyRequests' }), 2, WHERE);
  const { code, details } = toErrorMessage(error);
  assert.equal(code, 'ERR_KUBELOOM_TOO_MANY_REQUESTS');
  assert.deepEqual(
    [details?.['httpStatus'], details?.['reason'], details?.['retryAfterSeconds']],
    [429, 'TooManyRequests', 2],
  );
});
