/** The commit that is tested. Turns go by it: a commit that is tested again is tested in the same way. */
import { execFileSync } from 'node:child_process';
import { ROOT } from '../package/installation.ts';

/** Returns hexadecimal digits; without a repository, a number for the day. */
export function commitOf(): string {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim();
  } catch {
    return Math.floor(Date.now() / 86_400_000).toString(16);
  }
}

/** Returns a number from 0 to `count` - 1. @param commit hexadecimal digits */
export function turnAmong(count: number, commit: string): number {
  return Number.parseInt(commit.slice(0, 8), 16) % count;
}
