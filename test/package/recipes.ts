/** The recipes of documents: the files that a reader saves, and for each test runner the command that a reader runs. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './installation.ts';

const SHARED = 'A work queue';
/** A fence whose first line names its file in a comment. */
const FILE = /^```\w+\n(?:\/\/|#) (\S+\.\w+)\n([^]*?)^```$/gm;
const COMMAND = /^```sh\n([^]*?)^```$/m;

export interface Recipe {
  readonly files: readonly (readonly [name: string, text: string])[];
  readonly command: string;
}

/** Returns the files of docs/testing.md for a runner and its command. The tests of node:test are those of the README and the page's first. */
export async function recipeOf(runner: 'node:test' | 'vitest' | 'jest'): Promise<Recipe> {
  const text = await readFile(join(ROOT, 'docs/testing.md'), 'utf8');
  const [beginning = '', ...sections] = text.split(/^## /m);
  const section = (heading: string): string => sections.find((each) => each.startsWith(`${heading}\n`)) ?? '';
  if (runner === 'node:test') {
    const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
    return { files: [...filesOf(readme), ...filesOf(beginning)], command: 'node --test' };
  }
  const own = section(runner);
  const [, command = ''] = COMMAND.exec(own) ?? [];
  const shared =
    section(SHARED) + (runner === 'jest' ? section('vitest').replace("'vitest'", "'@jest/globals'") : '');
  return { files: filesOf(shared + own), command: command.trim() };
}

/** Returns the files of a document. */
export function filesOf(text: string): Recipe['files'] {
  return Array.from(text.matchAll(FILE), ([, name = '', content = '']) => [name, content] as const);
}

export async function save({ files }: Pick<Recipe, 'files'>, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of files) await writeFile(join(folder, name), text);
}
