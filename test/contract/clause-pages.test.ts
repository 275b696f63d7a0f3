/** The page of the contract: the order of the clauses, and the tests that it names. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testsByClause, withTests } from './clause-pages.ts';
import { ROOT, readClauses } from './clauses.ts';

test('docs/contract.md has its clauses in order and names the tests of each: npm run suite -- clauses writes it', () => {
  const page = readFileSync(join(ROOT, 'docs/contract.md'), 'utf8');
  assert.equal(page, withTests(page, testsByClause()));
});

test('every clause of docs/contract.md is cited by the title of a test', () => {
  const tests = testsByClause();
  const without = readClauses().filter(({ number }) => !tests.has(number));
  const numbers = without.map(({ number }) => number);
  assert.deepEqual(numbers, []);
});

test('clauses are sorted within their chapter, keep their paragraphs, and name two files at most', () => {
  const page =
    '# P\n\n## A\n\nIntro.\n\n**C3 Third.** c\n\n- more\n\n**C1° First.** a\nTests: old.test\n\n## B\n\n**C2 Second.** b\n';
  const tests = new Map([
    ['C1', ['order.contract']],
    ['C3', ['a.test', 'b.test', 'c.test', 'd.test']],
  ]);
  const written = withTests(page, tests);
  assert.equal(
    written,
    '# P\n\n## A\n\nIntro.\n\n**C1° First.** a\nTests: order.contract\n\n' +
      '**C3 Third.** c\n\n- more\nTests: a.test, b.test and 2 more\n\n## B\n\n**C2 Second.** b\n\n',
  );
  assert.equal(withTests(written, tests), written);
});
