/**
 * The package as a user receives it: packed, and alone in an empty folder. Every entry loads and has its types, and README.md
 * works as it is printed. `npm run prepare` writes what is packed.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { HANG_MS } from '../kit/hang.ts';
import { FIXTURES, ROOT, install, pack, run, userEnvironment } from './installation.ts';
import { CHECKS, savePrograms } from './installed-package.ts';

const PACKAGES_BELOW = 12;
const BYTES_BELOW = 13_000_000;
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

test('README.md has no block that the tests below leave out', () => {
  const blocks = README.matchAll(/^```\w*\n(?:\/\/ )?(.*?)(?: #.*)?\n[^]*?^```$/gm);
  const programs = ['informer.mjs', 'teams.mjs', 'teams.test.mjs'];
  const commands = ['npx kubeloom demo', 'npm install kubeloom'];
  assert.deepEqual(
    Array.from(blocks, ([, first]) => first),
    [...commands, ...programs, 'npm ci && npm start && npm test'],
  );
});

describe('the package alone in a folder', () => {
  let folder = '';
  const modules = (): string => join(folder, 'node_modules');

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubeloom-package-'));
    await install(folder, [await pack(folder)]);
    await savePrograms(folder);
  });

  after(() => rm(folder, { recursive: true, force: true }));

  test(`is less than ${PACKAGES_BELOW} packages and ${BYTES_BELOW / 1e6} MB, without client-node`, async () => {
    // The lock file that npm writes into node_modules: an entry for each folder of a package.
    const lock = readFileSync(join(modules(), '.package-lock.json'), 'utf8');
    const names = Object.keys((JSON.parse(lock) as { readonly packages: object }).packages);
    assert.ok(names.length < PACKAGES_BELOW, names.join(', '));
    const found = await readdir(modules(), { recursive: true, withFileTypes: true });
    const sizes = found.map((entry) =>
      entry.isFile() ? statSync(join(entry.parentPath, entry.name)).size : 0,
    );
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(bytes < BYTES_BELOW, `${bytes} bytes`);
    assert.equal(existsSync(join(modules(), '@kubernetes')), false);
  });

  /** Runs a program as a user types it. @returns what it prints */
  async function printed(program: string, ...args: readonly string[]): Promise<string> {
    const options = { cwd: folder, timeout: HANG_MS, env: userEnvironment() };
    return (await run(program, args, options)).stdout;
  }

  test('is a command for npx', async () => {
    assert.match(
      await printed('npx', '--no-install', 'kubeloom', 'demo', '--help'),
      /^Usage: kubeloom demo /,
    );
  });

  const runtime = { run: [], test: ['--test'] };
  for (const [name, check] of Object.entries(CHECKS))
    test(`passes ${name}`, () => check({ folder, runtime, program: process.execPath }));

  /** Compiles a program of the fixtures with the compiler of this repository. @returns the errors */
  async function errorsIn(fixture: string, ...options: readonly string[]): Promise<string> {
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const types = ['--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node'];
    const strict = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--pretty', 'false'];
    await copyFile(join(FIXTURES, `${fixture}.ts`), join(folder, `${fixture}.mts`));
    return printed(tsc, ...types, ...strict, ...options, `${fixture}.mts`).catch(
      ({ stdout, message }: Error & { readonly stdout?: string }) => stdout || message,
    );
  }

  test('has types that are never any without client-node, and in which a misspelt field is an error', async () => {
    assert.equal(await errorsIn('without-client-node', '--declaration', '--outDir', 'out'), '');
  });

  test('names the package to install when client-node is needed', async () => {
    const cluster = '{name: c, cluster: {server: "https://localhost"}}';
    const user = '{name: u, user: {auth-provider: {name: oidc, config: {}}}}';
    const context = '{name: x, context: {cluster: c, user: u}}';
    const config = `{clusters: [${cluster}], users: [${user}], contexts: [${context}], current-context: x}`;
    await writeFile(join(folder, 'oidc.yaml'), config);
    const program =
      "import { loadKubeConfig } from 'kubeloom'; loadKubeConfig({ path: 'oidc.yaml' }).toClientNode()";
    await assert.rejects(printed(process.execPath, '--input-type=module', '-e', program), {
      message: /client-node is not installed here: npm install @kubernetes\/client-node/,
    });
  });

  describe('with the optional packages beside it', () => {
    before(async () => {
      for (const scope of ['@kubernetes', '@opentelemetry', 'prom-client'])
        await symlink(join(ROOT, 'node_modules', scope), join(modules(), scope));
    });

    test('loads every entry through import and through require()', async () => {
      const program = `import { createRequire } from 'node:module';
        const require = createRequire(process.cwd() + '/');
        const { exports } = require('kubeloom/package.json');
        for (const [name, { types }] of Object.entries(exports)) {
          if (types === undefined) continue;
          const imported = await import('kubeloom' + name.slice(1));
          const required = require('kubeloom' + name.slice(1));
          if (Object.keys(imported).some((key) => imported[key] !== required[key])) throw new Error(name);
          console.log(name);
        }`;
      const names = (await printed(process.execPath, '--input-type=module', '-e', program))
        .trim()
        .split('\n');
      assert.ok(names.includes('./client-node') && names.includes('./metrics/opentelemetry'), names.join());
    });

    test('has types in every entry', async () => {
      assert.equal(await errorsIn('consumer', '--noEmit', '--skipLibCheck'), '');
    });
  });
});
