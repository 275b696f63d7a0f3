/** The Retry-After header, as numbers and as dates. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryAfterSeconds } from '../../../src/reflector/error-body.ts';

const DATE = 'Fri, 20 Nov 2026 10:00:00 GMT';

test('C91 a number of seconds is taken as it is', () => {
  assert.equal(retryAfterSeconds({ 'retry-after': '7', date: DATE }), 7);
  assert.equal(retryAfterSeconds({ 'retry-after': ' 0 ' }), 0);
});

test('C91 a date is compared with the date of the answer, not with our clock', () => {
  assert.equal(retryAfterSeconds({ 'retry-after': 'Fri, 20 Nov 2026 10:00:42 GMT', date: DATE }), 42);
  assert.equal(retryAfterSeconds({ 'retry-after': 'Fri, 20 Nov 2026 09:00:00 GMT', date: DATE }), 0);
});

test('text that is neither, or a date that cannot be compared, gives no time', () => {
  assert.equal(retryAfterSeconds({}), undefined);
  for (const value of ['', 'soon', '-5', '1.5', 'Friday', 'Fri, 99 Foo']) {
    assert.equal(retryAfterSeconds({ 'retry-after': value, date: DATE }), undefined, value);
  }
  assert.equal(retryAfterSeconds({ 'retry-after': 'Fri, 20 Nov 2026 10:00:42 GMT' }), undefined);
});
