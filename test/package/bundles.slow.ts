/**
 * The installed package beside client-node: through import and require(), in bundles by the recipes of docs/bundling.md, and in
 * the runners of docs/testing.md. Each program must also end by itself. `package.slow.ts` has the package alone.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { copyFile, cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import { HANG_MS } from '../kit/hang.ts';
import { FIXTURES, ROOT, install, pack, run, userEnvironment } from './installation.ts';
import { filesOf, recipeOf, save } from './recipes.ts';

const PODS = 25;
const FIXTURE_FILES = [
  'app.mjs',
  'app.cjs',
  'app.test.mjs',
  'app.jest.mjs',
  'threads.mjs',
  'reader.mjs',
] as const;

interface Recipe {
  readonly command: string;
  readonly isCommonJs: boolean;
  /** The program runs without threads. */
  readonly isThreadless: boolean;
  /** Nothing but the folder `out` is needed. */
  readonly isAlone: boolean;
}

/** Every command of docs/bundling.md. */
const RECIPES: readonly Recipe[] = Array.from(
  readFileSync(join(ROOT, 'docs/bundling.md'), 'utf8').matchAll(/```sh\n([^`]+)```/g),
  ([, command = '']) => ({
    command,
    isCommonJs: command.includes('--format=cjs'),
    isThreadless: !command.includes('workers/') && !command.includes('--packages=external'),
    isAlone: !command.includes('--packages=external'),
  }),
);

function nameOf({ isAlone, isThreadless, isCommonJs }: Recipe): string {
  const place = isThreadless ? 'one file' : isAlone ? 'one folder' : 'packages outside';
  return `${place}, ${isCommonJs ? 'CommonJS' : 'ES modules'}`;
}

/** Returns the commands for the program `threads.mjs`, whose thread is one more entry. */
function withThread({ command, isAlone }: Recipe): string[] {
  if (isAlone) return [command.replace('app=app.ts', 'threads=threads.mjs reader=reader.mjs')];
  return ['threads', 'reader'].map((name) =>
    command.replace('app.ts', `${name}.mjs`).replace('out/app', `out/${name}`),
  );
}

/** The first program of the README, with a line that prints what it saw. */
async function readmeProgram(isCommonJs: boolean): Promise<string> {
  const [, code = ''] = /```ts\n([^`]+)```/.exec(await readFile(join(ROOT, 'README.md'), 'utf8')) ?? [];
  const end = 'await factory.shutdown(';
  const program = code.replace(end, `console.log(JSON.stringify({ cached: lister.list().length }));\n${end}`);
  if (!isCommonJs) return program;
  const lines = program.split('\n');
  const isImport = (line: string): boolean => line.startsWith('import ');
  const body = lines.filter((line) => !isImport(line));
  return [...lines.filter(isImport), 'async function main() {', ...body, '}', 'void main();'].join('\n');
}

describe('the installed package', () => {
  let folder = '';
  let server: EmbeddedApiServer | undefined;
  let kubeconfig = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubeloom-package-'));
    server = await startEmbeddedApiServer();
    await server.populate({ count: PODS });
    kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, server.kubeConfigYaml);
    // npm would otherwise choose a newer one than this Node supports.
    const tools = [
      '@kubernetes/client-node@1',
      'esbuild@0.28',
      'rollup@4',
      ...['commonjs', 'json', 'node-resolve'].map((name) => `@rollup/plugin-${name}`),
      'rolldown@1',
      'vitest@3',
      'jest@30',
      'typescript@5',
      '@types/node@20',
    ];
    await install(folder, [await pack(folder), ...tools]);
    for (const name of FIXTURE_FILES) {
      await copyFile(join(FIXTURES, name), join(folder, name));
    }
  });

  after(async () => {
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function output(file: string): Promise<unknown> {
    const { stdout } = await run(process.execPath, [file, kubeconfig], { cwd: folder, timeout: HANG_MS });
    return JSON.parse(stdout);
  }

  test('runs a threaded informer through require(), and the process ends', async () => {
    assert.deepEqual(await output('app.cjs'), { added: PODS, cached: PODS });
  });

  for (const recipe of RECIPES) {
    const { command, isCommonJs, isAlone, isThreadless } = recipe;
    test(`runs the README’s program from a bundle by the documented recipe: ${nameOf(recipe)}`, async () => {
      await rm(join(folder, 'out'), { recursive: true, force: true });
      const program = (await readmeProgram(isCommonJs)).replace(
        'loadKubeConfig())',
        isThreadless ? 'loadKubeConfig(), { threads: { indexerThreads: 0 } })' : 'loadKubeConfig())',
      );
      await writeFile(join(folder, 'app.ts'), program);
      await run('sh', ['-c', command], { cwd: folder, timeout: HANG_MS });
      const [file = ''] = (await readdir(join(folder, 'out'))).filter((name) => name.startsWith('app.'));
      const away = await mkdtemp(join(tmpdir(), 'kubeloom-bundle-'));
      if (isAlone) await cp(join(folder, 'out'), away, { recursive: true });
      const { stdout } = await run(process.execPath, [join(isAlone ? away : join(folder, 'out'), file)], {
        timeout: HANG_MS,
        env: { ...process.env, KUBECONFIG: kubeconfig },
      });
      await rm(away, { recursive: true });
      // The program also prints what its handler receives.
      assert.deepEqual(JSON.parse(/^\{.*\}$/m.exec(stdout)?.[0] ?? ''), { cached: PODS });
    });
  }

  test('runs the README’s program from the bundles of the documented configurations', async () => {
    const text = await readFile(join(ROOT, 'docs/bundling.md'), 'utf8');
    await save({ files: filesOf(text) }, folder);
    // It has no types.
    await writeFile(join(folder, 'app.js'), await readmeProgram(false));
    for (const bundler of ['rollup', 'rolldown']) {
      await rm(join(folder, 'out'), { recursive: true, force: true });
      await run('npx', [bundler, '-c', `${bundler}.config.mjs`], { cwd: folder, timeout: HANG_MS });
      const away = await mkdtemp(join(tmpdir(), 'kubeloom-bundle-'));
      await cp(join(folder, 'out'), away, { recursive: true });
      await writeFile(join(away, 'package.json'), '{ "type": "module" }');
      const { stdout, stderr } = await run(process.execPath, [join(away, 'app.js')], {
        timeout: HANG_MS,
        env: { ...process.env, KUBECONFIG: kubeconfig },
      });
      await rm(away, { recursive: true });
      assert.deepEqual(JSON.parse(/^\{.*\}$/m.exec(stdout)?.[0] ?? ''), { cached: PODS }, bundler);
      assert.equal(stderr, '', bundler);
    }
  });

  for (const recipe of RECIPES.filter(({ isThreadless }) => !isThreadless)) {
    test(`opens the cache in a thread of a bundled program: ${nameOf(recipe)}`, async () => {
      await rm(join(folder, 'out'), { recursive: true, force: true });
      for (const command of withThread(recipe)) {
        await run('sh', ['-c', command], { cwd: folder, timeout: HANG_MS });
      }
      const files = await readdir(join(folder, 'out'));
      const fileOf = (name: string): string => files.find((file) => file.startsWith(`${name}.`)) ?? name;
      const away = await mkdtemp(join(tmpdir(), 'kubeloom-bundle-'));
      if (recipe.isAlone) await cp(join(folder, 'out'), away, { recursive: true });
      const place = recipe.isAlone ? away : join(folder, 'out');
      const command = [join(place, fileOf('threads')), kubeconfig, join(place, fileOf('reader'))];
      const { stdout } = await run(process.execPath, command, { timeout: HANG_MS });
      await rm(away, { recursive: true });
      assert.deepEqual(JSON.parse(stdout), { added: PODS, cached: PODS });
    });
  }

  for (const [what, program, bytesMax] of [
    ['nothing of itself', "import 'kubeloom';\nimport 'kubeloom/testing';\n", 100],
    ['little', "import { resourcePath } from 'kubeloom';\nconsole.log(resourcePath);\n", 10_000],
  ] as const) {
    test(`leaves ${what} in the bundle of a program that uses ${what} of it`, async () => {
      await writeFile(join(folder, 'part.mjs'), program);
      const options = ['--bundle', '--platform=node', '--format=esm', '--log-level=error'];
      const { stdout } = await run('npx', ['esbuild', 'part.mjs', ...options], { cwd: folder });
      assert.ok(stdout.length < bytesMax, `${stdout.length} bytes`);
    });
  }

  test('its examples compile as they are, under nothing but strict', async () => {
    await cp(join(ROOT, 'docs/examples'), join(folder, 'examples'), { recursive: true });
    const files = (await readdir(join(folder, 'examples'))).filter((name) => name.endsWith('.ts'));
    const strict = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022'];
    // The files import each other by the names that Node runs, as the page of the operator says.
    const options = [...strict, '--rewriteRelativeImportExtensions'];
    const compiled = run('npx', ['tsc', ...options, ...files], { cwd: join(folder, 'examples') });
    const failed = ({ code, stdout }: { readonly code?: number; readonly stdout?: string }): unknown => [
      code,
      stdout,
    ];
    assert.deepEqual(await compiled.then(() => [0, ''], failed), [0, '']);
  });

  // vitest and jest end a test after five seconds, which a busy machine may need to load the package.
  const patience = `--testTimeout=${HANG_MS}`;
  for (const [runner, passed, flag] of [
    ['node:test', /pass 2\b[^]*fail 0/, ''],
    ['vitest', /Tests\s+1 passed/, patience],
    ['jest', /Tests:\s+1 passed, 1 total/, patience],
  ] as const) {
    test(`runs the documented test of a controller in ${runner}`, async () => {
      const recipe = await recipeOf(runner);
      const own = join(folder, `recipe-${runner.replace(':', '-')}`);
      await save(recipe, own);
      const { stdout, stderr } = await run('sh', ['-c', `${recipe.command} ${flag}`], {
        cwd: own,
        timeout: HANG_MS,
        env: userEnvironment(),
      });
      assert.match(`${stdout}\n${stderr}`, passed);
    });
  }

  test('runs a threaded informer inside vitest', async () => {
    const { stdout } = await run('npx', ['vitest', 'run', 'app.test.mjs', patience], {
      cwd: folder,
      timeout: HANG_MS,
      env: { ...process.env, KUBECONFIG_UNDER_TEST: kubeconfig, NO_COLOR: '1' },
    });
    assert.match(stdout, /Tests\s+1 passed/);
  });

  test('runs a threaded informer inside jest, with client-node passed in', async () => {
    const { stderr } = await run('npx', ['jest', '--testMatch', '**/app.jest.mjs'], {
      cwd: folder,
      timeout: HANG_MS,
      env: {
        ...process.env,
        KUBECONFIG_UNDER_TEST: kubeconfig,
        NODE_OPTIONS: '--experimental-vm-modules',
        NO_COLOR: '1',
      },
    });
    assert.match(stderr, /Tests:\s+2 passed, 2 total/);
  });
});
