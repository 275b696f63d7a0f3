/**
 * The package alone, as `npm install kubeloom` installs it: client-node is optional, and the demo, the embedded
 * apiserver and informers with a kubeconfig work without it.
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
    await copyFile(join(FIXTURES, 'kubeconfig.mjs'), join(folder, 'kubeconfig.mjs'));
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

  test('runs an informer on the embedded apiserver with a kubeconfig, and the process ends', async () => {
    const { stdout } = await run(process.execPath, ['kubeconfig.mjs'], { cwd: folder, timeout: TIMEOUT_MS });
    assert.deepEqual(JSON.parse(stdout), { added: 25, cached: 25 });
  });

  test('names the package to install when client-node is needed', async () => {
    const program = "import { toModel } from 'kubeloom'; toModel({ apiVersion: 'v1', kind: 'Pod' })";
    const convert = run(process.execPath, ['--input-type=module', '-e', program], { cwd: folder });
    await assert.rejects(convert, (error: Error & { readonly stderr?: string }) => {
      assert.match(
        error.stderr ?? '',
        /client-node is not installed here: npm install @kubernetes\/client-node/,
      );
      return true;
    });
  });
});
