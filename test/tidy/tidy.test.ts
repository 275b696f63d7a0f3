/**
 * The repository keeps its own rules (test/tidy/house.ts). Every test lists all violations of one rule.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import {
  atomicsInTheirPlace,
  everythingIsReachable,
  filesAreShort,
  filesHaveAHeader,
  functionsAreShort,
  importDirections,
  namesSaySomething,
  noImportCycles,
  nothingIsSwitchedOff,
} from './rules.ts';
import type { Rule } from './rules.ts';
import { readRepository } from './source-file.ts';

const RULES: readonly [string, Rule][] = [
  ['imports go in the directions of the architecture', importDirections],
  ['no file imports itself in a circle', noImportCycles],
  ['Atomics appears in ring and log only', atomicsInTheirPlace],
  ['no file is longer than 400 lines', filesAreShort],
  ['no function is longer than 70 lines', functionsAreShort],
  ['every file says in a header what it is', filesHaveAHeader],
  ['no file or folder has a name that says nothing', namesSaySomething],
  ['every source file is reachable from an entry point', everythingIsReachable],
  ['no test is switched off, nothing is left to do', nothingIsSwitchedOff],
];

describe('the repository', () => {
  const files = readRepository();

  test('is found and read', () => {
    assert.ok(files.some(({ path }) => path === 'test/tidy/tidy.test.ts'));
    assert.ok(files.some(({ path }) => path === 'src/ring/bell.ts'));
  });

  for (const [title, rule] of RULES) {
    test(title, () => {
      const violations = rule(files);
      const list = violations.map(({ path, line, message }) => `  ${path}:${line}  ${message}`);
      assert.ok(violations.length === 0, `${violations.length} violations:\n${list.join('\n')}`);
    });
  }
});
