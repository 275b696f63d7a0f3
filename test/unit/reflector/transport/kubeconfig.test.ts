/** Kubeconfigs that kubeloom reads itself: the same requests as with client-node's loader, which it does without. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { connectionFor, loadKubeConfig } from '../../../../src/reflector/transport/credentials.ts';
import { podKubeConfig } from '../../../../src/reflector/transport/pod-kubeconfig.ts';
import { LoadedKubeConfig } from '../../../../src/kube/loaded-kube-config.ts';
import { file, folder } from './credentials-scene.ts';

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** @param user YAML of a user @param cluster YAML of more members of its cluster */
function configFile(user: string, cluster = ''): string {
  return file(`
clusters: [{name: c, cluster: {server: 'https://h:6443/', ${cluster}}}]
users: [{name: u, user: ${user}}]
contexts: [{name: x, context: {cluster: c, user: u, namespace: web}}]
current-context: x
`);
}

test('a file gives the same connections as with client-node’s loader', async () => {
  file('from a file', 'beside.pem');
  const files = [
    configFile('{token: t}', `certificate-authority-data: ${base64('a CA')}, tls-server-name: other`),
    configFile(
      '{client-certificate: beside.pem, client-key: beside.pem}',
      'certificate-authority: beside.pem',
    ),
    configFile(`{client-certificate-data: ${base64('cert')}, client-key-data: ${base64('key')}}`),
    configFile('{username: me, password: secret}', 'insecure-skip-tls-verify: true'),
    configFile('{token: t, as: ada}', "proxy-url: 'http://proxy:3128'"),
    configFile('{auth-provider: {name: tokenFile, config: {tokenFile: ' + join(folder, 'beside.pem') + '}}}'),
    configFile('~'),
  ];
  file('beside', 'beside.pem');
  for (const path of files) {
    const theirs = new KubeConfig();
    theirs.loadFromFile(path);
    const ours = loadKubeConfig({ path });
    assert.deepEqual(await connectionFor(ours), await connectionFor(theirs), path);
    assert.deepEqual(ours.getContexts(), theirs.getContexts());
  }
});

test('data win over a file beside them, and merge keys are read, as kubectl does', async () => {
  const cluster = `certificate-authority: gone.pem, certificate-authority-data: ${base64('a CA')}`;
  assert.equal((await connectionFor(loadKubeConfig({ path: configFile('{token: t}', cluster) }))).ca, 'a CA');
  const path = file(`
shared: &shared {server: 'https://shared'}
clusters: [{name: c, cluster: {<<: *shared}}]
contexts: [{name: x, context: {cluster: c}}]
current-context: x
`);
  assert.equal((await connectionFor(loadKubeConfig({ path }))).server, 'https://shared');
});

test('a user with the auth provider oidc has the token that client-node makes of it', async () => {
  const [head, claims] = [{ alg: 'none' }, { exp: 4e9 }].map((part) => base64(JSON.stringify(part)));
  const config = `{client-id: i, idp-issuer-url: 'https://issuer', id-token: ${head}.${claims}.s, refresh-token: r}`;
  const path = configFile(`{auth-provider: {name: oidc, config: ${config}}}`);
  const { headers } = await connectionFor(loadKubeConfig({ path }));
  assert.deepEqual(headers, { authorization: `Bearer ${head}.${claims}.s` });
});

test('API objects of client-node can be made of a loaded kubeconfig, and the whole becomes client-node’s', () => {
  const kubeConfig = loadKubeConfig({ path: configFile('{token: t}') });
  assert.ok(kubeConfig.makeApiClient(CoreV1Api) instanceof CoreV1Api);
  const theirs = kubeConfig.toClientNode();
  assert.ok(theirs instanceof KubeConfig);
  assert.equal(theirs.getCurrentUser()?.token, 't');
  assert.deepEqual(theirs.getCurrentCluster(), kubeConfig.getCurrentCluster());
});

test('a pod’s kubeconfig has the address of its environment and the files of its service account', async () => {
  const account = join(folder, 'serviceaccount');
  mkdirSync(account);
  const environment = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  assert.equal(podKubeConfig(environment, account), undefined);
  file('first\n', 'serviceaccount/token');
  assert.equal(podKubeConfig({}, account), undefined);
  file('a CA', 'serviceaccount/ca.crt');
  file('web\n', 'serviceaccount/namespace');
  const data = podKubeConfig(environment, account);
  assert.ok(data);
  const kubeConfig = new LoadedKubeConfig(data);
  const { server, ca, headers } = await connectionFor(kubeConfig);
  assert.deepEqual(
    [server, ca, headers],
    ['https://[fd00::1]:443', 'a CA', { authorization: 'Bearer first' }],
  );
  assert.equal(kubeConfig.getContextObject(kubeConfig.getCurrentContext())?.namespace, 'web');
  file('second\n', 'serviceaccount/token');
  assert.deepEqual((await connectionFor(kubeConfig)).headers, { authorization: 'Bearer second' });
});
