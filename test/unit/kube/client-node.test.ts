/** Tests of how client-node is loaded, and of the error when it cannot be. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { clientNode } from '../../../src/kube/client-node.ts';
import { loadKubeConfig } from '../../../src/http/credentials/credentials.ts';

test('kubeloom loads the same client-node as a program that imports it', async () => {
  assert.equal(clientNode(), await import('@kubernetes/client-node'));
});

const HAND_IN =
  "hand it in: const clientNode = await import('@kubernetes/client-node'), then loadKubeConfig({ clientNode }), and " +
  'createModelConverter(clientNode) for toModel and fromModel';

test('a client-node that is not installed is an error that says what to install for this Node', () => {
  const missing = (name: string): never => {
    throw Object.assign(new Error(`Cannot find module '${name}'\nRequire stack:`), {
      code: 'MODULE_NOT_FOUND',
    });
  };
  for (const [node, version] of [
    ['20.19.0', '@1'],
    ['22.0.0', ''],
  ]) {
    assert.throws(() => clientNode(missing, node), {
      code: 'ERR_KUBELOOM_CLIENT_NODE',
      message:
        `@kubernetes/client-node is not installed here: npm install @kubernetes/client-node${version}. ` +
        `If it is part of a bundle, ${HAND_IN}`,
    });
  }
});

test('an installed client-node that cannot be loaded is an error that says why, with a remedy', () => {
  const tooNew = new TypeError("Cannot read properties of undefined (reading 'bind')\n    at undici");
  const lacking = Object.assign(new Error("Cannot find module 'undici'"), { code: 'MODULE_NOT_FOUND' });
  const noModules = Object.assign(new Error('Must use import'), { code: 'ERR_REQUIRE_ESM' });
  for (const cause of [tooNew, lacking, noModules]) {
    const broken = (): never => {
      throw cause;
    };
    assert.throws(
      () => clientNode(broken, '20.19.0'),
      (error: Error & { code?: string }) => {
        assert.equal(error.code, 'ERR_KUBELOOM_CLIENT_NODE');
        const [reason] = cause.message.split('\n');
        assert.ok(error.message.includes(`is installed and cannot be loaded (${reason})`));
        assert.ok(error.message.endsWith(HAND_IN), error.message);
        assert.equal(error.message.includes('npm install'), cause !== noModules, error.message);
        assert.equal(error.cause, cause);
        return true;
      },
    );
  }
});

test('a kubeconfig is loaded with the client-node that is handed in', async () => {
  const handedIn = await import('@kubernetes/client-node');
  const folder = mkdtempSync(join(tmpdir(), 'kubeloom-client-node-'));
  const path = join(folder, 'config');
  writeFileSync(
    path,
    "{clusters: [{name: c, cluster: {server: 'https://h'}}], contexts: [{name: x, context: {cluster: c}}], current-context: x}",
  );
  class Marked extends handedIn.KubeConfig {}
  const clientNode = { ...handedIn, KubeConfig: Marked };
  assert.ok(loadKubeConfig({ path, clientNode }) instanceof Marked);
  rmSync(folder, { recursive: true });
});
