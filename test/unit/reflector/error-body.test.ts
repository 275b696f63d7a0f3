/** The body of an answer that is no list and no watch: its text, copied and limited in size. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ErrorBody } from '../../../src/reflector/error-body.ts';

it('keeps its text when its memory is reused', () => {
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

it('is read up to 64 KiB and ends there', () => {
  const texts: string[] = [];
  const body = new ErrorBody((text) => texts.push(text));
  body.write(Buffer.alloc(40_000, 'a'), 0);
  assert.deepEqual(texts, []);
  body.write(Buffer.alloc(40_000, 'b'), 0);
  assert.deepEqual(texts, ['a'.repeat(40_000) + 'b'.repeat(25_536)]);
});
