/** `npm run suite -- NAME [arguments]`: runs a suite of `suites.ts`; without a name it lists them. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './package/installation.ts';
import { SUITES } from './suites.ts';

function statusOf(command: string, args: readonly string[]): number {
  const { error, status } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' });
  if (error) throw error;
  return status ?? 1;
}

function run(name: string, args: readonly string[]): number {
  const suite = SUITES[name];
  if (suite === undefined) {
    const width = Math.max(...Object.keys(SUITES).map(({ length }) => length));
    const list = Object.entries(SUITES).map(([each, { what }]) => `  ${each.padEnd(width)}  ${what}\n`);
    process.stderr.write(`npm run suite -- NAME [arguments], where NAME is one of\n${list.join('')}`);
    return 1;
  }
  if (suite.isOfPackage && statusOf('npm', ['run', '--silent', 'prepare']) !== 0) return 1;
  const last = suite.programs.length - 1;
  for (const [index, [program = '', ...fixed]] of suite.programs.entries()) {
    const given = [...fixed, ...(index === last ? args : [])];
    const status = statusOf(process.execPath, [join(ROOT, 'dist', program), ...given]);
    if (status !== 0) return status;
  }
  return 0;
}

const [name = '', ...args] = process.argv.slice(2);
process.exitCode = run(name, args);
