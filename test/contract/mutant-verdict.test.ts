/** Tests of the verdict on a mutant: only a test that fails by itself proves a promise. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verdictOf } from './mutant-verdict.ts';
import { lineOf } from './reporter.ts';
import { STANDSTILL } from './standstill.ts';
import type { TestLine } from './reporter.ts';

/** Returns the line for a test with this error of node:test; without an error it has passed. */
function line(error?: { failureType: string; message: string; exitCode?: number }): TestLine {
  const data = { name: 'C1 one', details: error ? { error } : {} };
  const made = lineOf({ type: error ? 'test:fail' : 'test:pass', data });
  assert.ok(made && 'title' in made);
  return made;
}

const PASSED = line();
const FAILED = line({ failureType: 'testCodeFailure', message: 'Expected values to be strictly equal' });
const STILL = line({ failureType: 'testCodeFailure', message: 'test failed', exitCode: STANDSTILL });
const SLOW = line({ failureType: 'testTimeoutFailure', message: 'test timed out after 120000ms' });

test('a failed test kills the mutant, also beside tests that pass or time out', () => {
  assert.equal(verdictOf([PASSED], [FAILED]), 'killed');
  assert.equal(verdictOf([PASSED, PASSED, PASSED], [SLOW, FAILED, PASSED]), 'killed');
});

test('a file that stood still kills the mutant, as a result of its own', () => {
  assert.equal(verdictOf([PASSED, PASSED], [PASSED, STILL]), 'killed by standstill');
  assert.equal(verdictOf([PASSED], [STILL, SLOW]), 'killed by standstill');
  assert.equal(verdictOf([PASSED, PASSED], [STILL, FAILED]), 'killed');
});

test('tests that pass let the mutant survive', () => {
  assert.equal(verdictOf([PASSED], [PASSED]), 'survived');
});

test('a limit of time kills no mutant, whether of the file, the suite or a signal', () => {
  const inSuite = {
    failureType: 'cancelledByParent',
    message: 'test did not finish before its parent and was cancelled',
  };
  const bySignal = { failureType: 'testCodeFailure', message: 'The operation was aborted due to timeout' };
  assert.equal(verdictOf([PASSED], [SLOW]), 'timed out');
  assert.equal(verdictOf([PASSED, PASSED], [PASSED, line(inSuite)]), 'timed out');
  assert.equal(verdictOf([PASSED], [line(bySignal)]), 'timed out');
});

test('a promise that no event can settle is a failure, and not a limit of time', () => {
  const pending = 'Promise resolution is still pending but the event loop has already resolved';
  assert.equal(verdictOf([PASSED], [line({ failureType: 'cancelledByParent', message: pending })]), 'killed');
});

test('tests that never ran, because their process ended with success, kill the mutant', () => {
  assert.equal(verdictOf([PASSED, PASSED], [PASSED]), 'killed');
  assert.equal(verdictOf([PASSED], []), 'killed');
});

test('without a test, or with a test that fails without the mutant, no failure proves anything', () => {
  assert.equal(verdictOf([], [FAILED]), 'no test');
  assert.equal(verdictOf([PASSED, FAILED], [FAILED, FAILED]), 'sick');
  assert.equal(verdictOf([SLOW], [FAILED]), 'sick');
});
