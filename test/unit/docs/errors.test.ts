/** The table of the codes, compared with docs/errors.md, with the code that throws, with documents and with the tests. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ERROR_GROUPS } from '../../../src/base/error-codes/error-table.ts';
import { readDocuments, readRepository } from '../../tidy/source-file.ts';
import type { SourceFile } from '../../tidy/source-file.ts';
import { errorsPage } from './errors-page.ts';

const PAGE = fileURLToPath(new URL('../../../../docs/errors.md', import.meta.url));
const CODE = /\bERR_KUBELOOM_[A-Z_]*[A-Z]\b/g;
/** Errors that a test makes itself say nothing about the code that should throw them. */
const MADE = /new KubeloomError\(\s*'(?=ERR_)/g;

const CODES: readonly string[] = ERROR_GROUPS.flatMap(({ errors }) => Object.keys(errors));
const FILES = readRepository();

/** Returns the codes in files of these folders, outside comments and the table itself. */
function codesIn(folders: readonly string[], ignored: RegExp = /(?!)/g): Set<string> {
  const isTheirs = ({ path }: SourceFile): boolean =>
    !path.includes('/error-codes/') && folders.some((folder) => path.startsWith(`${folder}/`));
  const found = FILES.filter(isTheirs).flatMap(({ text, comments }) => {
    const made = new Set(Array.from(text.matchAll(ignored), ({ index, 0: { length } }) => index + length));
    return [...text.matchAll(CODE)].filter(({ index }) => comments[index] === ' ' && !made.has(index));
  });
  return new Set(found.map(([code]) => code));
}

function missing(codes: Iterable<string>, from: ReadonlySet<string>): string[] {
  return [...codes].filter((code) => !from.has(code));
}

test('docs/errors.md is the page of the table', () => {
  assert.equal(readFileSync(PAGE, 'utf8'), errorsPage(), 'npm run suite -- errors writes it');
});

test('the code uses every code of the table', () => {
  assert.deepEqual(missing(CODES, codesIn(['src', 'workers'])), []);
});

test('code, comments and documents name codes of the table only', () => {
  const known = new Set(CODES);
  const texts = [...FILES.filter(({ path }) => !path.startsWith('test/')), ...readDocuments()];
  for (const { path, text } of texts) assert.deepEqual(missing(text.match(CODE) ?? [], known), [], path);
});

test('a test expects every code of the table', () => {
  assert.deepEqual(missing(CODES, codesIn(['test'], MADE)), []);
});
