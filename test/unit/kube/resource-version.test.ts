/** Tests of the order of resourceVersions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareResourceVersions, isComparableResourceVersion } from '../../../src/kube/resource-version.ts';

const NINES = '9'.repeat(40);

test('C143 resourceVersions of different length are in the order of their numbers', () => {
  assert.ok(compareResourceVersions('9', '10') < 0);
  assert.ok(compareResourceVersions('10', '9') > 0);
  assert.ok(compareResourceVersions('0', '1') < 0);
  assert.ok(compareResourceVersions('99999', '100000') < 0);
});

test('C143 resourceVersions of the same length are in the order of their digits', () => {
  assert.ok(compareResourceVersions('1234', '1235') < 0);
  assert.ok(compareResourceVersions('2000', '1999') > 0);
  assert.equal(compareResourceVersions('4711', '4711'), 0);
  assert.equal(compareResourceVersions('0', '0'), 0);
});

test('C143 resourceVersions beyond 2^53 and beyond 64 bits differ in their last digit', () => {
  assert.equal(Number('9007199254740992'), Number('9007199254740993'));
  assert.ok(compareResourceVersions('9007199254740992', '9007199254740993') < 0);
  assert.ok(compareResourceVersions('18446744073709551616', '18446744073709551615') > 0);
  assert.ok(compareResourceVersions(`${NINES}8`, `${NINES}9`) < 0);
});

test('a list of resourceVersions can be sorted', () => {
  const sorted = ['0', '7', '10', '99', '100', '9007199254740992', '9007199254740993', NINES];
  assert.deepEqual(sorted.toReversed().toSorted(compareResourceVersions), sorted);
});

test('C143 a version that is empty or not a decimal number is rejected on either side', () => {
  for (const wrong of ['', '01', '00', '-1', '1.0', '1e3', ' 1', '1\n', 'abc', '0x10', '١']) {
    assert.equal(isComparableResourceVersion(wrong), false, JSON.stringify(wrong));
    const refused = { code: 'ERR_KUBELOOM_RESOURCE_VERSION' };
    assert.throws(() => compareResourceVersions(wrong, '1'), refused, JSON.stringify(wrong));
    assert.throws(() => compareResourceVersions('1', wrong), refused, JSON.stringify(wrong));
    assert.throws(() => compareResourceVersions(wrong, wrong), refused, JSON.stringify(wrong));
  }
  for (const right of ['0', '1', '10', NINES]) assert.equal(isComparableResourceVersion(right), true);
});

test('C143 a number is rejected: its last digits may be lost already', () => {
  const number = 5 as unknown as string;
  assert.equal(isComparableResourceVersion(number), false);
  assert.throws(() => compareResourceVersions('10', number), { code: 'ERR_KUBELOOM_RESOURCE_VERSION' });
});
