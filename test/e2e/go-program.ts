/** Builds the Go programs of the end-to-end tests, each a folder beside this file, into .cache. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

type GoProgram = 'control-plane' | 'prometheus';

const FOLDER = 'test/e2e';
const ROOT = repositoryRoot(import.meta.dirname);

/** True when there is a Go toolchain, which all of these programs need. */
export function goAvailable(): boolean {
  return spawnSync('go', ['version'], { stdio: 'ignore' }).status === 0;
}

/** Returns the folder of a program's sources. */
export function sourceOf(program: GoProgram): string {
  return join(ROOT, FOLDER, program);
}

/**
 * Compiles a program; Go's own cache skips needless work.
 * @param linkerFlags besides those that leave out symbols, without which the linker is faster
 * @returns the program's path
 */
export async function buildGoProgram(
  program: GoProgram,
  linkerFlags: readonly string[] = [],
): Promise<string> {
  if (!goAvailable()) {
    throw failure('ERR_KUBELOOM_E2E_NO_GO', `${program} needs a Go toolchain: \`go version\` failed`);
  }
  const source = sourceOf(program);
  const binary = join(ROOT, '.cache', program, program);
  mkdirSync(dirname(binary), { recursive: true });
  const linker = `-ldflags=${['-s', '-w', ...linkerFlags].join(' ')}`;
  const child = spawn('go', ['build', '-v', '-buildvcs=false', linker, '-o', binary, '.'], {
    cwd: source,
    env: { ...process.env, CGO_ENABLED: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const output: string[] = [];
  const note = (message: string): void => void process.stderr.write(`${program}: ${message}\n`);
  for await (const line of createInterface({ input: child.stderr })) {
    if (output.push(line) === 1) note('building; the first time this takes minutes');
    if (output.length % 100 === 0) note(`${output.length} packages fetched or compiled, now ${line}`);
  }
  if ((await ended) === 0) return binary;
  throw failure('ERR_KUBELOOM_E2E_BUILD', `go build in ${source} failed:\n${output.slice(-40).join('\n')}`);
}

/** Finds the repository: this file runs from any output folder, and only the repository has the Go sources. */
function repositoryRoot(folder: string): string {
  if (existsSync(join(folder, FOLDER, 'control-plane/go.mod'))) return folder;
  if (folder === dirname(folder)) {
    throw failure('ERR_KUBELOOM_E2E_BUILD', `no ${FOLDER}/control-plane/go.mod above ${import.meta.dirname}`);
  }
  return repositoryRoot(dirname(folder));
}

function failure(code: 'ERR_KUBELOOM_E2E_NO_GO' | 'ERR_KUBELOOM_E2E_BUILD', message: string): Error {
  return Object.assign(new Error(message), { code });
}
