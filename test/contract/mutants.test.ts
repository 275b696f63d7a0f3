/** The document, the tests and the mutants of the contract belong together; the run itself is `npm run contract`. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { citedBy, readClauses } from './clauses.ts';
import type { Clause } from './clauses.ts';
import { contractFiles, layerFiles, numbersIn } from './layers.ts';
import { MUTANTS } from './mutants.ts';

const DIST = join(import.meta.dirname, '../..');
const CLAUSES = readClauses();
const NUMBERS = CLAUSES.map(({ number }) => number);

test('every clause of the contract has a number of its own', () => {
  assert.ok(NUMBERS.length >= 60);
  assert.equal(new Set(NUMBERS).size, NUMBERS.length);
});

test('every clause names one mutant, whose fault stands once in the compiled code', () => {
  assert.deepEqual(MUTANTS.map(({ clause }) => clause).toSorted(), NUMBERS.toSorted());
  const lost = MUTANTS.filter(({ file, find, replace }) => {
    const code = readFileSync(join(DIST, file.replace(/\.ts$/, '.js')), 'utf8');
    return code.split(find).length !== 2 || find === replace;
  });
  assert.deepEqual(lost, []);
});

test('every clause is cited where it must be proved, and no title cites what is no clause', () => {
  const ofContract = new Set(contractFiles(DIST).flatMap(numbersIn));
  const ofLayers = new Set(layerFiles(DIST).flatMap(numbersIn));
  const isMissing = ({ number, isOfLayer }: Clause): boolean =>
    !(isOfLayer ? ofLayers : ofContract).has(number);
  assert.deepEqual(CLAUSES.filter(isMissing), []);
  const unknown = [...ofContract, ...ofLayers].filter((number) => !NUMBERS.includes(number));
  assert.deepEqual(unknown, []);
});

test('the numbers at the beginning of a title are what it cites', () => {
  assert.deepEqual(citedBy('C8 C36 a removed handler'), ['C8', 'C36']);
  assert.deepEqual(citedBy('a handler of C8'), []);
});
