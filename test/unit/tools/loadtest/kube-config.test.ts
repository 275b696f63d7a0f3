/** A kubeconfig that is sent to another process. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LoadedKubeConfig } from '../../../../src/kube/loaded-kube-config.ts';
import { dataOf } from '../../../../src/tools/loadtest/process/kube-config.ts';
import { connectionFor, loadKubeConfig } from '../../../../src/http/credentials/credentials.ts';
import { TemporaryFolder } from '../../../kit/temporary-folder.ts';

const KUBECONFIG = `apiVersion: v1
kind: Config
current-context: here
clusters: [{ name: here, cluster: { server: "https://here.example", tls-server-name: other.example } }]
users: [{ name: me, user: { tokenFile: token, as: you, as-groups: [readers] } }]
contexts: [{ name: here, context: { cluster: here, user: me } }]
`;

it('a kubeconfig has the same server, token file and identity in another process', async () => {
  await using folder = new TemporaryFolder();
  folder.write('token', 'first');
  const here = loadKubeConfig({ path: folder.write('kubeconfig', KUBECONFIG) });
  const there = new LoadedKubeConfig(structuredClone(dataOf(here)));
  const connection = await connectionFor(there);
  assert.deepEqual(connection, await connectionFor(here));
  assert.equal(connection.headers['impersonate-user'], 'you');
  assert.deepEqual(connection.headers['impersonate-group'], ['readers']);
  folder.write('token', 'second');
  assert.equal((await connectionFor(there)).headers['authorization'], 'Bearer second');
});
