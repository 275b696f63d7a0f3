/**
 * Where the tests of the contract are. `*.contract.ts` run in every configuration. Other folders test a layer by
 * itself, without threads of its own or with all their variants in one file: their tests that cite a clause run once,
 * and they are the proof of the clauses that are marked °.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export const LAYER_FOLDERS = [
  'cache',
  'controller',
  'factory',
  'informer',
  'informers-map',
  'kube',
  'model',
  'mutation',
  'processor',
  'queue',
  'recovery',
  'reflector',
  'security',
  'testing',
  'transport',
  'workqueue',
] as const;

/** A title that begins with numbers, in source or in compiled code. `table` is test/reflector's. */
const TITLE = /\b(?:test|it|table)\(\s*['"`]((?:C\d+ )+)/g;

/** Compiled files that run in every configuration. */
export function contractFiles(dist: string): string[] {
  return testFiles(join(dist, 'test/contract'), '.contract.js');
}

/** Compiled files of the layers that cite a clause. */
export function layerFiles(dist: string): string[] {
  const files = LAYER_FOLDERS.flatMap((folder) => testFiles(join(dist, 'test', folder), '.test.js'));
  return files.filter((path) => numbersIn(path).length > 0);
}

/** The numbers that the titles of a file's tests begin with. */
export function numbersIn(path: string): string[] {
  const titles = readFileSync(path, 'utf8').matchAll(TITLE);
  return Array.from(titles, ([, numbers = '']) => numbers.trim().split(' ')).flat();
}

function testFiles(folder: string, ending: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}
