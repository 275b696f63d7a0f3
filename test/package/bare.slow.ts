/**
 * The package alone, as `npm install kubeloom` installs it: client-node is optional, and the demo, the embedded
 * apiserver and informers with a connection work without it.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { FIXTURES, install, pack, run } from './installation.ts';

const TIMEOUT_MS = 120_000;

describe('the package alone in a folder', () => {
  let folder = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubeloom-bare-'));
    await install(folder, [await pack(folder)]);
    await copyFile(join(FIXTURES, 'connection.mjs'), join(folder, 'connection.mjs'));
  });

  after(() => rm(folder, { recursive: true, force: true }));

  test('does not bring client-node', () => {
    assert.equal(existsSync(join(folder, 'node_modules/@kubernetes')), false);
  });

  test('runs the demo', async () => {
    const demo = ['--no-install', 'kubeloom', 'demo', '--pods', '500', '--rate', '500', '--duration', '2'];
    const { stdout } = await run('npx', demo, { cwd: folder, timeout: TIMEOUT_MS });
    assert.match(stdout, /^PASS: every change reached both handlers once/m);
  });

  test('runs an informer on the embedded apiserver with a connection, and the process ends', async () => {
    const { stdout } = await run(process.execPath, ['connection.mjs'], { cwd: folder, timeout: TIMEOUT_MS });
    assert.deepEqual(JSON.parse(stdout), { added: 25, cached: 25 });
  });

  test('names the package to install when a kubeconfig is needed', async () => {
    const watch = run('npx', ['--no-install', 'kubeloom', 'watch', 'pods'], {
      cwd: folder,
      timeout: TIMEOUT_MS,
    });
    await assert.rejects(watch, (error: Error & { readonly stderr?: string }) => {
      assert.match(
        error.stderr ?? '',
        /client-node is not installed here: npm install @kubernetes\/client-node/,
      );
      return true;
    });
  });
});
