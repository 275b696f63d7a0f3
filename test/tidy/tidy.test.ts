/**
 * The repository keeps its own rules (test/tidy/house.ts). Every test lists all violations of one rule.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { FILE_LINES_WARNING } from './house.ts';
import {
  atomicsInTheirPlace,
  everythingIsReachable,
  filesAreShort,
  filesHaveAHeader,
  filesLongerThan,
  functionsAreShort,
  importDirections,
  membersDecideNothing,
  messagesHaveOneForm,
  namesSaySomething,
  noImportCycles,
  nothingIsSwitchedOff,
  waitsInTheirPlace,
} from './rules.ts';
import type { Rule, Violation } from './rules.ts';
import {
  BENCHMARK_LINES_MAX,
  CHANGELOG_LINES_MAX,
  DOCS_BYTES_MAX,
  README_LINES_MAX,
  bytesOf,
  decisionsAreShort,
  linesOf,
} from './documents.ts';
import { baseNamesAreFew, wordsStayGivenUp } from './names.ts';
import { plainEnglish, proseViolations, roomsMeetGoal, withoutCode } from './prose.ts';
import { REAL_TIME, clocksOutside } from './real-time.ts';
import { readDocuments, readRepository } from './source-file.ts';
import { earlierWeights, raisesWithoutReason, readWeights, weigh, weightFaults } from './weights.ts';

const RULES: readonly [string, Rule][] = [
  ['imports go in the directions of the architecture', importDirections],
  ['no file imports itself in a circle', noImportCycles],
  ['Atomics appears in the words and deadlines of rings only', atomicsInTheirPlace],
  ['signals and timers wait in one place', waitsInTheirPlace],

  ['no member of an object decides whose object it is', membersDecideNothing],
  ['messages of errors have one form', messagesHaveOneForm],
  ['no function is longer than 70 lines', functionsAreShort],
  ['every file says in a header what it is', filesHaveAHeader],
  ['no file or folder has a name that says nothing', namesSaySomething],
  ['a test reads no clock and waits for no timer, unless a list says why', clocksOutside(REAL_TIME)],
  ['a word that was given up does not come back', wordsStayGivenUp],
  ['no three files of the product have one base name', baseNamesAreFew],
  ['every source file is reachable from an entry point', everythingIsReachable],
  ['no test is switched off, nothing is left to do', nothingIsSwitchedOff],
  ['comments and titles of tests are in plain English', plainEnglish],
];

describe('the repository', () => {
  const files = readRepository();

  test('is found and read', () => {
    assert.ok(files.some(({ path }) => path === 'test/tidy/tidy.test.ts'));
    assert.ok(files.some(({ path }) => path === 'src/shared/ring/bell.ts'));
  });

  test('nothing is heavier than its limit, and no limit is far above', () => {
    assert.deepEqual(weightFaults(readWeights(), weigh(files)), []);
  });

  test('a higher limit has a new reason and its date', (context) => {
    const versions = earlierWeights();
    context.diagnostic(`${versions.length} earlier versions of the limits; without a history of git, none`);
    const raises = versions.flatMap((before) => raisesWithoutReason(before, readWeights()));
    assert.deepEqual([...new Set(raises)], []);
  });

  test('no file is longer than 500 lines, and those above 300 are counted', (context) => {
    const long = filesLongerThan(FILE_LINES_WARNING, files);
    const longest = long.slice(0, 5).map(({ path, message }) => `${path} ${message.split(',')[0]}`);
    context.diagnostic(`${long.length} files above ${FILE_LINES_WARNING} lines: ${longest.join(', ')}`);
    assertNone(filesAreShort(files));
  });

  for (const [title, rule] of RULES) test(title, () => assertNone(rule(files)));

  test('the comments of each room repeat the noun and use its verb', () => {
    assertNone(roomsMeetGoal(files));
  });

  test('the documents name the actor of every sentence', () => {
    const documents = readDocuments();
    assert.ok(documents.some(({ path }) => path === 'docs/contract.md'));
    assertNone(documents.flatMap(({ path, text }) => proseViolations(path, withoutCode(text))));
  });

  test('every decision says context, choice, price and what would reverse it, in half a page', () => {
    assertNone(decisionsAreShort(readDocuments()));
  });

  test('the documents stay within their budget', (context) => {
    const documents = readDocuments();
    const bytes = bytesOf(documents);
    const lines = linesOf(documents, 'docs/benchmarks.md');
    context.diagnostic(`${(bytes / 1000).toFixed(0)} KB of documents, ${lines} lines of benchmarks`);
    assert.ok(bytes <= DOCS_BYTES_MAX && lines <= BENCHMARK_LINES_MAX);
    assert.ok(linesOf(documents, 'CHANGELOG.md') <= CHANGELOG_LINES_MAX);
    assert.ok(linesOf(documents, 'README.md') <= README_LINES_MAX);
  });
});

function assertNone(violations: readonly Violation[]): void {
  const list = violations.map(({ path, line, message }) => `  ${path}:${line}  ${message}`);
  assert.ok(violations.length === 0, `${violations.length} violations:\n${list.join('\n')}`);
}
