/** A program passes only when it printed exactly what stands beside it, and ended well. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { complaint, firstDifference } from './verdict.ts';

const GOOD = { stdout: 'one\ntwo\n', stderr: '', end: '0' };

describe('the verdict on an example', () => {
  test('is that all is well when it printed what it should, whatever stderr says', () => {
    assert.equal(complaint('one\ntwo\n', { ...GOOD, stderr: 'a warning' }), undefined);
  });

  test('is that it ended badly, also when all was printed', () => {
    assert.equal(complaint('one\ntwo\n', { ...GOOD, end: 'SIGKILL' }), 'it ended with SIGKILL');
    assert.match(
      complaint('one\ntwo\n', { ...GOOD, end: '1', stderr: 'why\n' }) ?? '',
      /with 1\non stderr:\nwhy$/,
    );
  });

  test('names the first line that is another', () => {
    assert.equal(complaint('one\n2\n', GOOD), 'line 2: expected "2", printed "two"');
  });

  test('sees what is missing, what is too much, and a last line that has no end', () => {
    assert.equal(firstDifference('one\ntwo\n', 'one\n'), 'line 2: expected "two", printed nothing');
    assert.equal(firstDifference('one\n', 'one\ntwo\n'), 'line 2: expected nothing, printed "two"');
    assert.equal(firstDifference('one\n', 'one'), 'line 2: expected nothing, printed nothing');
    assert.equal(firstDifference('one\n', ''), 'line 1: expected "one", printed nothing');
  });
});
