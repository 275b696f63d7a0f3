/** The recipes of documents: the files that a reader saves, and for each test runner the command that a reader runs. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './installation.ts';

const SHARED = 'A controller';
/** A fence whose first line names its file in a comment. */
const FILE = /^```\w+\n(?:\/\/|#) (\S+\.\w+)\n([^]*?)^```$/gm;
const COMMAND = /^```sh\n([^]*?)^```$/m;

export interface Recipe {
  readonly files: readonly (readonly [name: string, text: string])[];
  readonly command: string;
}

/** @param runner the heading */
export async function recipeOf(runner: string): Promise<Recipe> {
  const text = await readFile(join(ROOT, 'docs/testing.md'), 'utf8');
  const section = (heading: string): string => {
    const [, rest = ''] = text.split(`\n## ${heading}\n`);
    return rest.split('\n## ')[0] ?? '';
  };
  const own = section(runner);
  const [, command = ''] = COMMAND.exec(own) ?? [];
  return { files: filesOf(`${section(SHARED)}${own}`), command: command.trim() };
}

/** Returns the files of a document. */
export function filesOf(text: string): Recipe['files'] {
  return Array.from(text.matchAll(FILE), ([, name = '', content = '']) => [name, content] as const);
}

export async function save({ files }: Pick<Recipe, 'files'>, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of files) await writeFile(join(folder, name), text);
}
