/**
 * The package on Bun and Deno, from their npm packages: the README's test, the demo, and one program with threads, TLS, a
 * credential plugin, a controller in threads and a leader election. On this Node as well, so that a failure says whose it is.
 */
import assert from 'node:assert/strict';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { FIXTURES, ROOT, install, pack, run, userEnvironment } from './installation.ts';
import { filesOf, save } from './recipes.ts';

const TIMEOUT_MS = 180_000;
const CLI = 'node_modules/kubeloom/dist/tools/cli.js';
const FIXTURE_FILES = ['smoke.mjs', 'smoke-reconcile.mjs'];
const isArm = process.arch === 'arm64';
const BUN_PACKAGE = `@oven/bun-linux-${isArm ? 'aarch64' : 'x64'}`;
const DENO_PACKAGE = `@deno/linux-${isArm ? 'arm64' : 'x64'}-glibc`;
const BUN = `node_modules/${BUN_PACKAGE}/bin/bun`;
const DENO = `node_modules/${DENO_PACKAGE}/deno`;

/** Commands by runtime: for a program, and for a file with tests. Deno would check types, for which it needs `@types/node`. */
const RUNTIMES = {
  Node: { run: [process.execPath], test: [process.execPath, '--test'] },
  Bun: { run: [BUN], test: [BUN, 'test'] },
  Deno: { run: [DENO, 'run', '-A', '--no-check'], test: [DENO, 'test', '-A', '--no-check'] },
} as const;

describe('the installed package', () => {
  let folder = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubeloom-runtimes-'));
    // Both packages are the programs themselves: no script of an installation fetches anything.
    const runtimes = [`${BUN_PACKAGE}@1`, `${DENO_PACKAGE}@2`];
    await install(folder, ['--ignore-scripts', await pack(folder), ...runtimes]);
    for (const name of FIXTURE_FILES) await copyFile(join(FIXTURES, name), join(folder, name));
    await save({ files: filesOf(await readFile(join(ROOT, 'README.md'), 'utf8')) }, folder);
  });

  after(() => rm(folder, { recursive: true, force: true }));

  async function output([command, ...first]: readonly string[], ...rest: readonly string[]): Promise<string> {
    const options = { cwd: folder, timeout: TIMEOUT_MS, env: userEnvironment() };
    const { stdout, stderr } = await run(command ?? '', [...first, ...rest], options);
    return `${stdout}\n${stderr}`;
  }

  for (const [name, commands] of Object.entries(RUNTIMES)) {
    test(`runs threads, TLS, a plugin, a pool and an election on ${name}`, async () => {
      const printed = await output(commands.run, 'smoke.mjs');
      const [, json = ''] = /^(\{.*\})$/m.exec(printed) ?? [];
      assert.deepEqual(JSON.parse(json), { added: 3, labels: ['1', '1', '1'], hasLed: true });
    });

    test(`passes the README’s test on ${name}`, async () => {
      assert.match(await output(commands.test, './teams.test.mjs'), /(pass 1\b|1 pass|1 passed)/);
    });

    test(`passes the demo on ${name}`, async () => {
      const flags = ['demo', '--pods', '500', '--rate', '500', '--duration', '2'];
      assert.match(await output(commands.run, CLI, ...flags), /^PASS: every change reached both handlers/m);
    });
  }
});
