/**
 * The dependencies of peers that the package does not need: made under .cache at the first use. A failure is
 * the reason why a peer was not measured.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

/** A path or URL, or why there is none. */
export type Made = { readonly made: string } | { readonly reason: string };

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const CACHE = path.join(REPOSITORY, '.cache');
const BUILD_MS_MAX = 1_200_000;
const ERROR_CHARACTERS = 200;

/** The current LTS, which npm carries as a package. */
export async function ltsNode(): Promise<Made> {
  const name = `node-linux-${process.arch}`;
  const prefix = path.join(CACHE, 'node-lts');
  const binary = path.join(prefix, 'node_modules', name, 'bin', 'node');
  if (existsSync(binary)) return { made: binary };
  const args = ['install', '--silent', '--no-save', '--prefix', prefix, `${name}@^26`];
  return make('npm', args, REPOSITORY, binary);
}

/** Its generator of types is not measured, so any version of that will do. */
export async function fluentClient(): Promise<Made> {
  const folder = path.join(CACHE, 'bench', 'kubernetes-fluent-client');
  const entry = path.join(folder, 'node_modules', 'kubernetes-fluent-client', 'dist', 'index.js');
  if (!existsSync(entry)) {
    mkdirSync(folder, { recursive: true });
    const dependencies = { 'kubernetes-fluent-client': '^3.11.0' };
    const manifest = { private: true, dependencies, overrides: { 'quicktype-core': '*' } };
    writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
    const args = ['install', '--silent', '--ignore-scripts', '--no-package-lock'];
    const made = await make('npm', args, folder, entry);
    if ('reason' in made) return made;
  }
  return { made: pathToFileURL(entry).href };
}

/** @param folder of the program in `bench`, e.g. `peers/client-go` */
export function clientGo(folder: string): Promise<Made> {
  const binary = path.join(CACHE, 'bench', folder);
  const args = ['build', '-buildvcs=false', '-o', binary, '.'];
  return make('go', args, path.join(REPOSITORY, 'bench', folder), binary, { CGO_ENABLED: '0' });
}

export function kubeRs(): Promise<Made> {
  const target = path.join(CACHE, 'bench', 'kube-rs');
  const binary = path.join(target, 'release', 'kube-rs-peer');
  const args = ['build', '--release', '--locked', '--quiet', '--target-dir', target];
  return make('cargo', args, path.join(REPOSITORY, 'bench', 'peers', 'kube-rs'), binary);
}

/** Runs a compiler, which skips work that is not needed. */
async function make(
  tool: string,
  args: readonly string[],
  cwd: string,
  result: string,
  environment: NodeJS.ProcessEnv = {},
): Promise<Made> {
  if (!existsSync(cwd)) return { reason: `there is no ${path.relative(REPOSITORY, cwd)}` };
  try {
    const env = { ...process.env, ...environment };
    await promisify(execFile)(tool, args, { cwd, env, timeout: BUILD_MS_MAX });
    return { made: result };
  } catch (error) {
    return { reason: reasonOf(tool, error) };
  }
}

function reasonOf(tool: string, error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
    return `no ${tool} on this machine`;
  const text = String(error instanceof Error && 'stderr' in error ? error.stderr : error);
  return `${tool} failed: ${text.trim().replaceAll(/\s+/g, ' ').slice(-ERROR_CHARACTERS)}`;
}
