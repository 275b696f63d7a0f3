/** Installs the line of Node whose turn it is, by the commit, and prints the folder of its program: `.ci/run`. */
import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { ROOT } from '../package/installation.ts';
import { NODES, programOf } from '../package/runtimes.ts';
import { turnOf } from './turn.ts';

/** Returns the commit that is tested; without a repository, a number for the day. */
function commitOf(): string {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim();
  } catch {
    return Math.floor(Date.now() / 86_400_000).toString(16);
  }
}

process.stdout.write(`${dirname(await programOf(turnOf(NODES, commitOf())))}\n`);
