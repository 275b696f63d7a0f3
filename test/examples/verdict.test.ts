/** A program passes only when its output is exactly the expected one, and it ended with code 0. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { complaint, firstDifference } from './verdict.ts';

const GOOD = { stdout: 'one\ntwo\n', stderr: '', end: '0' };

describe('the verdict on an example', () => {
  test('is a pass for the expected output, whatever stderr contains', () => {
    assert.equal(complaint('one\ntwo\n', { ...GOOD, stderr: 'a warning' }), undefined);
  });

  test('is a failure for another exit code, even with the expected output', () => {
    assert.equal(complaint('one\ntwo\n', { ...GOOD, end: 'SIGKILL' }), 'it ended with SIGKILL');
    assert.match(
      complaint('one\ntwo\n', { ...GOOD, end: '1', stderr: 'why\n' }) ?? '',
      /with 1\non stderr:\nwhy$/,
    );
  });

  test('names the first line that differs', () => {
    assert.equal(complaint('one\n2\n', GOOD), 'line 2: expected "2", printed "two"');
  });

  test('finds missing lines, superfluous lines, and a last line without an end', () => {
    assert.equal(firstDifference('one\ntwo\n', 'one\n'), 'line 2: expected "two", printed nothing');
    assert.equal(firstDifference('one\n', 'one\ntwo\n'), 'line 2: expected nothing, printed "two"');
    assert.equal(firstDifference('one\n', 'one'), 'line 2: expected nothing, printed nothing');
    assert.equal(firstDifference('one\n', ''), 'line 1: expected "one", printed nothing');
  });
});
