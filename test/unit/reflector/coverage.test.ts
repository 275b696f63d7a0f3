/** The table of client-go's rules is complete: every test that it names exists. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { RULES } from './coverage.ts';

const sources = new Map<string, string>();

function source(file: string): string {
  const known = sources.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(fileURLToPath(new URL(`../${file}.js`, import.meta.url)), 'utf8');
  sources.set(file, text);
  return text;
}

for (const { rule, verdict, note, tests } of RULES) {
  test(`${rule}: ${verdict}, and tested`, () => {
    assert.ok(tests.length > 0);
    assert.equal(note !== undefined, verdict !== 'same', 'what is not the same is explained');
    for (const [file, title] of tests) assert.ok(source(file).includes(title), `${file}: ${title}`);
  });
}
