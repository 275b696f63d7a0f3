/**
 * The repository keeps its own rules (test/tidy/house.ts). Every test lists all violations of one rule.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { EDGES_MAX, ROOMS, ROOMS_MAX } from './house.ts';
import {
  atomicsInTheirPlace,
  edgesBetweenRooms,
  everythingIsReachable,
  filesAreShort,
  filesHaveAHeader,
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
import { readDocuments, readRepository } from './source-file.ts';

const RULES: readonly [string, Rule][] = [
  ['imports go in the directions of the architecture', importDirections],
  ['no file imports itself in a circle', noImportCycles],
  ['Atomics appears in the words and deadlines of rings only', atomicsInTheirPlace],
  ['signals and timers wait in one place', waitsInTheirPlace],

  ['no member of an object decides whose object it is', membersDecideNothing],
  ['messages of errors have one form', messagesHaveOneForm],
  ['no file is longer than 400 lines', filesAreShort],
  ['no function is longer than 70 lines', functionsAreShort],
  ['every file says in a header what it is', filesHaveAHeader],
  ['no file or folder has a name that says nothing', namesSaySomething],
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

  test('the house has at most 12 rooms and 55 edges between them', (context) => {
    const rooms = ROOMS.filter(({ name }) => name !== 'index.ts').length;
    const edges = edgesBetweenRooms(files).size;
    context.diagnostic(`${rooms} rooms, ${edges} edges between rooms, index and workers included`);
    assert.ok(rooms <= ROOMS_MAX && edges <= EDGES_MAX);
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
