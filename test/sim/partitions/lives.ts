/** Lives of groups in a process of their own, because promises are several times as slow under the test runner. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Lives } from './run.ts';

const PROGRAM = join(import.meta.dirname, 'run.js');

/** Runs seeds until one shows a violation. @param mutant title of the mutant; '' for none */
export async function runLives(seeds: number, mutant = ''): Promise<Lives> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, `${seeds}`, mutant]);
  return JSON.parse(stdout) as Lives;
}
