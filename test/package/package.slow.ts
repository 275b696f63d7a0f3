/**
 * The package as users get it: packed, installed outside the checkout, and run through ESM import, require(),
 * an esbuild bundle by the recipe of docs/bundling.md, and vitest. Each program must also end by itself.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startEmbeddedApiServer } from '../../src/testing/index.ts';
import type { EmbeddedApiServer } from '../../src/testing/index.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const FIXTURES = join(ROOT, 'test/package/fixtures');
const PODS = 25;
const TIMEOUT_MS = 120_000;

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
    const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT });
    await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
    // A newer one than this Node runs would be chosen otherwise: npm does not know.
    const tools = ['@kubernetes/client-node@1', 'esbuild@0.28', 'vitest@3', 'typescript@5', '@types/node@20'];
    const tarball = join(folder, stdout.trim().split('\n').at(-1) ?? '');
    await run('npm', ['install', '--silent', '--no-audit', '--no-fund', tarball, ...tools], { cwd: folder });
    for (const name of ['app.mjs', 'app.cjs', 'app.test.mjs']) {
      await copyFile(join(FIXTURES, name), join(folder, name));
    }
  });

  after(async () => {
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function output(file: string): Promise<unknown> {
    const { stdout } = await run(process.execPath, [file, kubeconfig], { cwd: folder, timeout: TIMEOUT_MS });
    return JSON.parse(stdout);
  }

  test('runs a threaded informer through ESM import, and the process ends', async () => {
    assert.deepEqual(await output('app.mjs'), { added: PODS, cached: PODS });
  });

  test('runs a threaded informer through require(), and the process ends', async () => {
    assert.deepEqual(await output('app.cjs'), { added: PODS, cached: PODS });
  });

  test('runs a threaded informer from an esbuild bundle made by the documented recipe', async () => {
    const recipe = await readFile(join(ROOT, 'docs/bundling.md'), 'utf8');
    const [, command] = /```sh\n([^`]+)```/.exec(recipe) ?? [];
    assert.ok(command, 'docs/bundling.md has a sh block');
    await run('sh', ['-c', command], { cwd: folder, timeout: TIMEOUT_MS });
    assert.deepEqual(await output('out/app.js'), { added: PODS, cached: PODS });
  });

  test('its examples compile as they are, under nothing but strict', async () => {
    await cp(join(ROOT, 'docs/examples'), join(folder, 'examples'), { recursive: true });
    const files = (await readdir(join(folder, 'examples'))).filter((name) => name.endsWith('.ts'));
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022'];
    const compiled = run('npx', ['tsc', ...options, ...files], { cwd: join(folder, 'examples') });
    const failed = ({ code, stdout }: { readonly code?: number; readonly stdout?: string }): unknown => [
      code,
      stdout,
    ];
    assert.deepEqual(await compiled.then(() => [0, ''], failed), [0, '']);
  });

  test('runs a threaded informer inside vitest', async () => {
    const { stdout } = await run('npx', ['vitest', 'run', 'app.test.mjs', '--testTimeout=60000'], {
      cwd: folder,
      timeout: TIMEOUT_MS,
      env: { ...process.env, KUBECONFIG_UNDER_TEST: kubeconfig, NO_COLOR: '1' },
    });
    assert.match(stdout, /Tests\s+1 passed/);
  });
});
