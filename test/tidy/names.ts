/** Rules of names: a word that was given up does not come back, and the base name of a file says which file it is. */
import path from 'node:path';

import { lineAt } from './source-file.ts';
import type { Rule } from './rules.ts';

/** Words that had several meanings, each with the words that took their places. */
export const GIVEN_UP: ReadonlyMap<string, string> = new Map([
  ['slot', 'ordinal, cell, place, partition or thread'],
  ['lend', 'export'],
  ['lent', 'exported'],
  ['lender', 'cache export'],
  ['lending', 'cache exports'],
  ['loan', 'export'],
  ['upkeep', 'maintenance'],
]);

/** Files of the product with one base name. An entry of the package is `index.ts`. */
export const BASE_NAMES_MAX = 2;

const WORD = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g;

const isProduct = (file: string): boolean => file.startsWith('src/') || file.startsWith('workers/');

export const wordsStayGivenUp: Rule = (files) =>
  files
    .filter(({ path: file }) => isProduct(file))
    .flatMap(({ path: file, code, comments }) =>
      [code, comments].flatMap((text) =>
        Array.from(text.matchAll(WORD)).flatMap(({ 0: word, index }) => {
          const lower = word.toLowerCase();
          const instead = GIVEN_UP.get(lower.replace(/s$/, ''));
          if (instead === undefined) return [];
          return [{ path: file, line: lineAt(text, index), message: `'${word}' was given up: ${instead}` }];
        }),
      ),
    );

export const baseNamesAreFew: Rule = (files) => {
  const byName = new Map<string, string[]>();
  for (const { path: file } of files.filter(({ path: file }) => isProduct(file))) {
    const name = path.posix.basename(file);
    byName.set(name, [...(byName.get(name) ?? []), file]);
  }
  return Array.from(byName).flatMap(([name, same]) =>
    name === 'index.ts' || same.length <= BASE_NAMES_MAX
      ? []
      : same.map((file) => ({
          path: file,
          line: 1,
          message: `${same.length} files are called ${name}, at most ${BASE_NAMES_MAX}: name the file after its concept`,
        })),
  );
};
