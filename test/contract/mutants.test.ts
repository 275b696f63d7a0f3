/** Agreement of the contract's document, tests and mutants. The run itself is `npm run suite -- contract`. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { citedBy, readClauses } from './clauses.ts';
import type { Clause } from './clauses.ts';
import { lostOf } from './fault.ts';
import { contractFiles, layerFiles, numbersIn } from './layers.ts';
import { MUTANTS } from './mutants.ts';

const DIST = join(import.meta.dirname, '../..');
const CLAGENERATION = readClauses();
const NUMBERS = CLAGENERATION.map(({ number }) => number);

test('every clause of the contract has a unique number', () => {
  assert.ok(NUMBERS.length >= 60);
  assert.equal(new Set(NUMBERS).size, NUMBERS.length);
});

test('every clause names a mutant, whose fault occurs once in the compiled code', () => {
  assert.deepEqual([...new Set(MUTANTS.map(({ clause }) => clause))].toSorted(), NUMBERS.toSorted());
  assert.deepEqual(lostOf(MUTANTS, DIST), []);
});

test('every clause is cited where it must be proved, and titles cite only existing clauses', () => {
  const ofContract = new Set(contractFiles(DIST).flatMap(numbersIn));
  const ofLayers = new Set(layerFiles(DIST).flatMap(numbersIn));
  const isMissing = ({ number, isOfLayer }: Clause): boolean =>
    !(isOfLayer ? ofLayers : ofContract).has(number);
  assert.deepEqual(CLAGENERATION.filter(isMissing), []);
  const unknown = [...ofContract, ...ofLayers].filter((number) => !NUMBERS.includes(number));
  assert.deepEqual(unknown, []);
});

test('a title cites the numbers at its beginning', () => {
  assert.deepEqual(citedBy('C8 C36 a removed handler'), ['C8', 'C36']);
  assert.deepEqual(citedBy('a handler of C8'), []);
});
