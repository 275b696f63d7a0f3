/** The package as npm packs it, installed into folders outside the checkout. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const run: typeof execFile.__promisify__ = promisify(execFile);
export const ROOT: string = fileURLToPath(new URL('../../../', import.meta.url));
export const FIXTURES: string = join(ROOT, 'test/package/fixtures');

/**
 * Returns the environment of a command that a user types.
 *
 * @param bin folder of the Node to use; default: this process's
 */
export function userEnvironment(bin: string = dirname(process.execPath)): NodeJS.ProcessEnv {
  // With it, node --test would not run files inside a test.
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  return { ...environment, NO_COLOR: '1', PATH: `${bin}:${environment['PATH'] ?? ''}` };
}

/** Packs what `npm run prepare` has written: another build for each tarball would take longer than the test. @returns the tarball */
export async function pack(folder: string): Promise<string> {
  const flags = ['--silent', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await run('npm', ['pack', ...flags], { cwd: ROOT });
  return join(folder, stdout.trim().split('\n').at(-1) ?? '');
}

/**
 * Installs into a folder that has nothing else.
 *
 * @param packages tarballs, or names for the registry
 * @param bin folder of the Node that npm runs on; default: this process's
 */
export async function install(folder: string, packages: readonly string[], bin?: string): Promise<void> {
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  const options = { cwd: folder, env: userEnvironment(bin) };
  await run('npm', ['install', '--silent', '--no-audit', '--no-fund', ...packages], options);
}
