/** The installed package on a runtime: the programs of README.md, the demo, and a program with everything that has threads. */
import assert from 'node:assert/strict';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import { HANG_MS } from '../kit/hang.ts';
import { CommandRun } from '../unit/tools/cli/command.ts';
import { FIXTURES, ROOT, run, userEnvironment } from './installation.ts';
import { filesOf, save } from './recipes.ts';
import type { Runtime } from './runtimes.ts';

const CLI = 'node_modules/kubeloom/dist/tools/cli.js';
const SMOKE_FILES = ['smoke.mjs', 'smoke-reconcile.mjs', 'threads.mjs', 'reader.mjs'];
/** Pods by name and label of the cluster that the first program of README.md looks at. */
const PODS = { 'web-0': 'web', 'web-1': 'web', 'api-0': 'api', 'db-0': 'db' };

export interface InstalledPackage {
  /** The folder that it is installed in. */
  readonly folder: string;
  readonly runtime: Pick<Runtime, 'run' | 'test'>;
  /** The runtime's program. */
  readonly program: string;
}

/** The programs of README.md and what they need, saved beside the package. */
export async function savePrograms(folder: string): Promise<void> {
  await save({ files: filesOf(await readFile(join(ROOT, 'README.md'), 'utf8')) }, folder);
  for (const name of SMOKE_FILES) await copyFile(join(FIXTURES, name), join(folder, name));
}

/** Runs a program of the package's user. @returns everything that it printed */
async function output(
  { folder, program }: InstalledPackage,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const env = { ...userEnvironment(dirname(program)), ...environment };
  const { stdout, stderr } = await run(program, [...args], { cwd: folder, timeout: HANG_MS, env });
  return `${stdout}\n${stderr}`;
}

/** The checks of an installed package by their names. They throw when the package is at fault. */
export const CHECKS: Readonly<Record<string, (installed: InstalledPackage) => Promise<void>>> = {
  'the first program of README.md': async (installed) => {
    await using server = await startEmbeddedApiServer();
    for (const [name, app] of Object.entries(PODS)) {
      const object = { metadata: { name, labels: { app } } };
      await server.apply([{ type: 'create', resource: 'pods', object }]);
    }
    const kubeconfig = join(installed.folder, 'kubeconfig-of-readme');
    await writeFile(kubeconfig, server.kubeConfigYaml, { mode: 0o600 });
    const args = [...installed.runtime.run, 'informer.mjs'];
    const lines = (await output(installed, args, { KUBECONFIG: kubeconfig })).trim().split('\n');
    const added = Object.entries(PODS).map(([name, app]) => `added default/${name} ${app}`);
    assert.deepEqual(lines.toSorted(), ['3 2', ...added.toSorted()]);
  },
  'the test of README.md': async (installed) => {
    const printed = await output(installed, [...installed.runtime.test, './teams.test.mjs']);
    assert.match(printed, /(pass 1\b|1 pass|1 passed)/);
  },
  'the demo': async (installed) => {
    const flags = ['demo', '--pods', '500', '--rate', '500', '--duration', '1'];
    const printed = await output(installed, [...installed.runtime.run, CLI, ...flags]);
    assert.match(printed, /^PASS: every change reached both handlers/m);
  },
  'threads, TLS, a plugin, a pool and an election': async (installed) => {
    const [, json = ''] =
      /^(\{.*\})$/m.exec(await output(installed, [...installed.runtime.run, 'smoke.mjs'])) ?? [];
    assert.deepEqual(JSON.parse(json), { added: 3, labels: ['1', '1', '1'], hasLed: true });
  },
  'a cache that another thread reads': async (installed) => {
    await using server = await startEmbeddedApiServer();
    await server.populate({ count: 25 });
    const kubeconfig = join(installed.folder, 'kubeconfig-of-threads');
    await writeFile(kubeconfig, server.kubeConfigYaml, { mode: 0o600 });
    const args = [...installed.runtime.run, 'threads.mjs', kubeconfig, './reader.mjs'];
    const [, json = ''] = /^(\{.*\})$/m.exec(await output(installed, args)) ?? [];
    assert.deepEqual(JSON.parse(json), { added: 25, cached: 25 });
  },
  'the commands apiserver and watch, which signals end': async ({ folder, program, runtime }) => {
    const command = [program, ...runtime.run, join(folder, CLI)];
    const kubeconfig = join(folder, 'kubeconfig-of-apiserver');
    const flags = ['--kubeconfig-out', kubeconfig, '--pods', '3'];
    await using server = new CommandRun(['apiserver', ...flags], {}, command);
    await server.until('stdout', /kubeconfig/);
    await using watch = new CommandRun(
      ['watch', 'pods', '-A', '-o', 'name'],
      { KUBECONFIG: kubeconfig },
      command,
    );
    await watch.until('stdout', /(?:.+\n){3}/);
    for (const [each, signal] of [
      [watch, 'SIGINT'],
      [server, 'SIGTERM'],
    ] as const) {
      each.kill(signal);
      assert.deepEqual([await each.exitCode, each.stderr], [0, '']);
    }
  },
};
