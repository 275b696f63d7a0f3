/** The navigation of the site has every document once, and the pages of a first user are short. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../unit/docs/documents.ts';
import { FIRST_PAGES, FIRST_WORDS_MAX, SECTIONS, placeOf } from './navigation.ts';

const PATHS = SECTIONS.flatMap(({ pages }) => pages.map(({ path }) => path));
const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

test('every document is in the navigation once, under a place of its own', () => {
  const inDocs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`);
  const documents = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...inDocs];
  const written = PATHS.filter((path) => existsSync(join(ROOT, path)));
  assert.deepEqual(written.toSorted(), documents.toSorted());
  assert.equal(new Set(PATHS.map(placeOf)).size, PATHS.length);
});

test('no guide and no page for a person who operates a program is longer than 150 lines', () => {
  for (const { pages, linesMax = Infinity } of SECTIONS) {
    for (const { path } of pages) {
      if (!existsSync(join(ROOT, path))) continue;
      const lines = textOf(path).trimEnd().split('\n').length;
      assert.ok(lines <= linesMax, `${path} has ${lines} lines of ${linesMax}`);
    }
  }
});

test('the pages that a first user meets have at most 8,000 words together, and are in the navigation', (context) => {
  assert.ok(FIRST_PAGES.every((path) => PATHS.includes(path)));
  const words = FIRST_PAGES.reduce((sum, path) => sum + textOf(path).trim().split(/\s+/).length, 0);
  context.diagnostic(`${words} words`);
  assert.ok(words <= FIRST_WORDS_MAX, `${words} words`);
});
