/** The recipes of docs/testing.md: the files that a reader saves, and the command that a reader runs, for each runner. */
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
  const files = Array.from(`${section(SHARED)}${own}`.matchAll(FILE), ([, name = '', content = '']) => {
    return [name, content] as const;
  });
  const [, command = ''] = COMMAND.exec(own) ?? [];
  return { files, command: command.trim() };
}

export async function save({ files }: Recipe, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of files) await writeFile(join(folder, name), text);
}
