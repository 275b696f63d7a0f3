/**
 * The package alone, as `npm install kubeloom` installs it: client-node is optional, and the demo, the embedded
 * apiserver and informers with a kubeconfig work without it.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { FIXTURES, install, pack, run } from './installation.ts';

const TIMEOUT_MS = 120_000;
const PACKAGES_BELOW = 12;
const BYTES_BELOW = 13_000_000;

/** The lock file that npm writes into node_modules: an entry for each folder of a package. */
interface Installed {
  readonly packages: Readonly<Record<string, unknown>>;
}

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

  test(`is less than ${PACKAGES_BELOW} packages and ${BYTES_BELOW / 1e6} MB with all that it needs`, async () => {
    const modules = join(folder, 'node_modules');
    const { packages } = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')) as Installed;
    const names = Object.keys(packages);
    assert.ok(names.length < PACKAGES_BELOW, names.join(', '));
    const found = await readdir(modules, { recursive: true, withFileTypes: true });
    const sizes = found.map((entry) =>
      entry.isFile() ? statSync(join(entry.parentPath, entry.name)).size : 0,
    );
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(bytes < BYTES_BELOW, `${bytes} bytes`);
  });

  test('runs the demo', async () => {
    const demo = ['--no-install', 'kubeloom', 'demo', '--pods', '200', '--rate', '200', '--duration', '1'];
    const { stdout } = await run('npx', demo, { cwd: folder, timeout: TIMEOUT_MS });
    assert.match(stdout, /^PASS: every change reached both handlers once/m);
  });

  test('runs an informer on the embedded apiserver with a kubeconfig, and the process ends', async () => {
    const { stdout } = await run(process.execPath, ['kubeconfig.mjs'], { cwd: folder, timeout: TIMEOUT_MS });
    assert.deepEqual(JSON.parse(stdout), { added: 25, cached: 25 });
  });

  test('names the package to install when client-node is needed', async () => {
    const cluster = '{name: c, cluster: {server: "https://localhost"}}';
    const user = '{name: u, user: {auth-provider: {name: oidc, config: {}}}}';
    const context = '{name: x, context: {cluster: c, user: u}}';
    const config = `{clusters: [${cluster}], users: [${user}], contexts: [${context}], current-context: x}`;
    await writeFile(join(folder, 'oidc.yaml'), config);
    const program =
      "import { loadKubeConfig } from 'kubeloom'; loadKubeConfig({ path: 'oidc.yaml' }).toClientNode()";
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
