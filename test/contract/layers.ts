/**
 * Places of the contract's tests. `*.contract.ts` run in every configuration. Other folders test a single layer,
 * without threads or with all variants in the same file. Their tests that cite a clause run once, and they prove the
 * clauses marked °.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const LAYER_FOLDERS = ['unit', 'security', 'faults/recovery'];

/**
 * A title that begins with clause numbers, in sources or compiled code. `table` is a function of test/unit/reflector.
 */
const TITLE = /\b(?:test|it|table)\(\s*['"`]((?:C\d+ )+)/g;

/** Returns the compiled files that run in every configuration. */
export function contractFiles(dist: string): string[] {
  return testFiles(join(dist, 'test/contract'), '.contract.js');
}

/** Returns the layers' compiled files that cite a clause. */
export function layerFiles(dist: string): string[] {
  const files = LAYER_FOLDERS.flatMap((folder) =>
    ['.test.js', '.slow.js'].flatMap((ending) => testFiles(join(dist, 'test', folder), ending)),
  );
  return files.filter((path) => numbersIn(path).length > 0);
}

/** Returns the clause numbers at the beginning of a file's test titles. */
export function numbersIn(path: string): string[] {
  const titles = readFileSync(path, 'utf8').matchAll(TITLE);
  return Array.from(titles, ([, numbers = '']) => numbers.trim().split(' ')).flat();
}

function testFiles(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name))
    .toSorted();
}
