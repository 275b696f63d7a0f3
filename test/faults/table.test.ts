/** Completeness of the table: every required case is in it once. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../contract/clauses.ts';
import { ALL_CASES, casesPage } from './cases-page.ts';

const PAGE = join(ROOT, 'docs/reliability.md');

/** Ids of the cases of the table. Security and dying threads have separate suites. */
const WANTED =
  '1 2 3 4 5 6 7 8 9 11 12 13 14 15 16 17 18 20 21 22 24 25 26 27 28 29 30 31 32 33 34 37 39 40 41 42 43 44 45 48 49 50 51 ' +
  '56 58 62 64 66 67 68 69 70 71 72 73 83 84';

test('every case is in the table with a unique id', () => {
  const ids = ALL_CASES.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  const numbers = new Set(ids.map((id) => Number.parseInt(id, 10)));
  assert.deepEqual(
    WANTED.split(' ').filter((number) => !numbers.has(Number(number))),
    [],
  );
});

test('docs/reliability.md says how many cases are proven in which place', () => {
  const counts = new Map<string, number>();
  for (const { place } of ALL_CASES) counts.set(place, (counts.get(place) ?? 0) + 1);
  assert.deepEqual(Object.fromEntries(placesOf(readFileSync(PAGE, 'utf8'))), Object.fromEntries(counts));
});

test('every case has an expected behaviour and names no code twice', () => {
  for (const { id, expected, codes = [], mayReport = [] } of ALL_CASES) {
    assert.notEqual(expected, '', id);
    const all = [...codes, ...mayReport];
    assert.equal(new Set(all).size, all.length, `${id} names a code twice`);
  }
});

/** Cases that run elsewhere. */
const ELSEWHERE = '46 47 52 53 55 59 60 74 75 76 77 78 79 81 82';

test('the page of cases has a row for each, and docs/reliability.md names the suite of those that do not run here', () => {
  const idsOf = (text: string): string[] =>
    Array.from(text.matchAll(/^\| (\d+[a-d]?(?:, \d+)*) \| /gm), ([, ids = '']) => ids.split(', ')).flat();
  assert.deepEqual(
    idsOf(casesPage()),
    ALL_CASES.map(({ id }) => id),
  );
  const text = readFileSync(PAGE, 'utf8');
  assert.deepEqual(idsOf(text).toSorted(), ELSEWHERE.split(' ').toSorted());
  const files = Array.from(text.matchAll(/`(test\/[^`*]+\.ts)`/g), ([, path = '']) => path);
  assert.deepEqual(
    files.filter((path) => !existsSync(join(ROOT, path))),
    [],
  );
});

/** Returns the rows of the table of places. */
function placesOf(text: string): [string, number][] {
  const rows = text.matchAll(/^\| (simulator|sockets|threads|process) \| (\d+) \|/gm);
  return Array.from(rows, ([, place = '', count]) => [place, Number(count)]);
}
