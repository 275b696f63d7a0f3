/** An answer that is no list and no watch: its text, copied and limited in size, and its Retry-After header. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ErrorBody, retryAfterSeconds } from '../../../src/http/error-body.ts';

it('the text of an answer is kept when its memory is reused', () => {
  const texts: string[] = [];
  const body = new ErrorBody((text) => texts.push(text));
  const memory = Buffer.from('the first part, ');
  assert.equal(body.write(memory, 4), memory.length);
  memory.write('and the second!!');
  body.write(memory, 0);
  memory.fill('#');
  body.end(undefined);
  body.end(undefined);
  assert.deepEqual(texts, ['first part, and the second!!']);
});

it('the text of an answer is read up to 64 KiB', () => {
  const texts: string[] = [];
  const body = new ErrorBody((text) => texts.push(text));
  body.write(Buffer.alloc(40_000, 'a'), 0);
  assert.deepEqual(texts, []);
  body.write(Buffer.alloc(40_000, 'b'), 0);
  assert.deepEqual(texts, ['a'.repeat(40_000) + 'b'.repeat(25_536)]);
});

const DATE = 'Fri, 20 Nov 2026 10:00:00 GMT';

it('C91 a number of seconds is taken as it is', () => {
  assert.equal(retryAfterSeconds({ 'retry-after': '7', date: DATE }), 7);
  assert.equal(retryAfterSeconds({ 'retry-after': ' 0 ' }), 0);
});

it('C91 a date is compared with the date of the answer, not with our clock', () => {
  assert.equal(retryAfterSeconds({ 'retry-after': 'Fri, 20 Nov 2026 10:00:42 GMT', date: DATE }), 42);
  assert.equal(retryAfterSeconds({ 'retry-after': 'Fri, 20 Nov 2026 09:00:00 GMT', date: DATE }), 0);
});

it('text that is neither, or a date that cannot be compared, gives no time', () => {
  assert.equal(retryAfterSeconds({}), undefined);
  for (const value of ['', 'soon', '-5', '1.5', 'Friday', 'Fri, 99 Foo']) {
    assert.equal(retryAfterSeconds({ 'retry-after': value, date: DATE }), undefined, value);
  }
  assert.equal(retryAfterSeconds({ 'retry-after': 'Fri, 20 Nov 2026 10:00:42 GMT' }), undefined);
});
