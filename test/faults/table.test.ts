/** The table itself: every case that has to be there is, once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CASES } from './cases.ts';

/** Of the table of cases those that are played here. Security and dying threads have suites of their own. */
const WANTED =
  '1 2 3 4 5 6 7 8 9 11 12 13 14 15 16 17 18 20 21 22 24 25 26 27 28 29 30 31 32 33 34 37 39 40 41 42 43 44 45 48 49 50 51 ' +
  '56 58 62 64 66 67 68 69 70 71 72 73';

test('every case is in the table, under a name of its own', () => {
  const ids = CASES.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  const numbers = new Set(ids.map((id) => Number.parseInt(id, 10)));
  assert.deepEqual(
    WANTED.split(' ').filter((number) => !numbers.has(Number(number))),
    [],
  );
});

test('every case says what is expected, and reports no code without a reason', () => {
  for (const { id, expected, codes = [], mayReport = [] } of CASES) {
    assert.notEqual(expected, '', id);
    const all = [...codes, ...mayReport];
    assert.equal(new Set(all).size, all.length, `${id} names a code twice`);
  }
});
