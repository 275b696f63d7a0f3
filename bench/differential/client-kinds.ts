/** The clients of the differential table, and how their programs are started. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface ClientKind {
  readonly name: string;
  readonly command: (kubeConfigPath: string) => readonly string[];
  /** Builds the client. @returns undefined when it can run, else the reason why not */
  prepare?(): string | undefined;
}

const ROOT = rootAbove(dirname(fileURLToPath(import.meta.url)));
const GO_SOURCE = join(ROOT, 'bench/differential/clients/client-go');
const GO_BINARY = join(ROOT, '.cache/differential/client-go');

export const CLIENT_KINDS: readonly ClientKind[] = [
  { name: 'kubeloom', command: (path) => [process.execPath, program('kubeloom'), path] },
  { name: 'client-go', command: (path) => [GO_BINARY, path], prepare: buildGo },
  { name: 'client-node', command: (path) => [process.execPath, program('client-node'), path] },
  {
    name: 'client-node, restarted',
    command: (path) => [process.execPath, program('client-node'), path, '--restart'],
  },
];

function program(name: string): string {
  return fileURLToPath(new URL(`./clients/${name}.js`, import.meta.url));
}

/** Builds with Go, whose own cache skips needless work. */
function buildGo(): string | undefined {
  if (spawnSync('go', ['version']).error) return 'there is no Go toolchain';
  mkdirSync(dirname(GO_BINARY), { recursive: true });
  const { status, stderr } = spawnSync(
    'go',
    ['build', '-buildvcs=false', '-ldflags=-s -w', '-o', GO_BINARY, '.'],
    { cwd: GO_SOURCE, env: { ...process.env, CGO_ENABLED: '0' }, encoding: 'utf8' },
  );
  return status === 0 ? undefined : `go build failed: ${stderr.trim().split('\n').at(-1)}`;
}

function rootAbove(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : rootAbove(dirname(folder));
}
