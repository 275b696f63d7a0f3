/**
 * The parts of docs/contract.md that follow from the tests: clauses in the order of their numbers within each chapter, and
 * below each clause the files of its tests. `npm run suite -- clauses` writes them, and a test compares them.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ROOT } from './clauses.ts';

/** Files named below a clause; the contract's own suites come first. */
const FILES_MAX = 2;
const SUITE = /\.(?:contract|test|slow)\.ts$/;
/** `table` and `it` are other names of `test`. */
const TITLE = /\b(?:test|it|table)\(\s*['"`]((?:C\d+ )+)/g;
const CLAUSE = /^\*\*(C\d+)°? /;
const MARK = 'Tests: ';

/** Files of tests by the clause that their titles cite, from the sources. */
export function testsByClause(root: string = ROOT): Map<string, string[]> {
  const files = new Map<string, Set<string>>();
  const names = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' });
  for (const name of names.filter((each) => SUITE.test(each)).toSorted(byContractFirst)) {
    for (const [, numbers = ''] of readFileSync(join(root, 'test', name), 'utf8').matchAll(TITLE)) {
      for (const number of numbers.trim().split(' ')) {
        files.set(number, (files.get(number) ?? new Set()).add(basename(name).replace(/\.ts$/, '')));
      }
    }
  }
  return new Map(Array.from(files, ([number, set]) => [number, [...set]]));
}

function byContractFirst(a: string, b: string): number {
  const rank = (name: string): number => (name.endsWith('.contract.ts') ? 0 : 1);
  return rank(a) - rank(b) || (a < b ? -1 : 1);
}

/** Returns the page with the clauses in order, and the tests of each clause below it. */
export function withTests(page: string, tests: ReadonlyMap<string, readonly string[]>): string {
  return page
    .split(/^(?=## )/m)
    .map((chapter) => inOrder(chapter, tests))
    .join('');
}

function inOrder(chapter: string, tests: ReadonlyMap<string, readonly string[]>): string {
  const [before = '', ...blocks] = chapter.split(/^(?=\*\*C\d+°? )/m);
  if (blocks.length === 0) return chapter;
  const clauses = blocks.map((block) => {
    const number = CLAUSE.exec(block)?.[1] ?? '';
    const text = block.replaceAll(new RegExp(`^${MARK}.*\n?`, 'gm'), '').trim();
    return { order: Number(number.slice(1)), text: `${text}\n${testsLine(tests.get(number) ?? [])}` };
  });
  return (
    before +
    clauses
      .toSorted((a, b) => a.order - b.order)
      .map(({ text }) => `${text}\n`)
      .join('')
  );
}

function testsLine(files: readonly string[]): string {
  if (files.length === 0) return '';
  const named = files.slice(0, FILES_MAX).join(', ');
  const more = files.length > FILES_MAX ? ` and ${files.length - FILES_MAX} more` : '';
  return `${MARK}${named}${more}\n`;
}
