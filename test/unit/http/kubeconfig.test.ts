/** Kubeconfigs that kubeloom reads itself: the same requests as with client-node's loader, which it does without. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { connectionFor, loadKubeConfig } from '../../../src/http/credentials/credentials.ts';
import { podKubeConfig } from '../../../src/http/credentials/pod-kubeconfig.ts';
import { ServerAddress } from '../../../src/http/server-address.ts';
import { LoadedKubeConfig } from '../../../src/kube/loaded-kube-config.ts';
import { failure, file, folder, setEnvironment } from './credentials-scene.ts';

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

test('merge keys are read, as kubectl does', async () => {
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

test('C194 an empty file and one with comments only are files without entries, as for kubectl', (context) => {
  const good = configFile('{token: t}');
  const names = ['', '# nothing\n', '---\n', '~'].map((text) => file(text));
  setEnvironment(context, { KUBECONFIG: [...names, good].join(delimiter) });
  assert.equal(loadKubeConfig().getCurrentContext(), 'x');
  assert.throws(
    () => loadKubeConfig({ path: names[0] ?? '' }),
    failure('ERR_KUBELOOM_KUBECONFIG', /no current context/, /#/),
  );
});

test('the extension for plugins is read as data: rounded numbers and bombs of aliases are refused', () => {
  const extension = (yaml: string): string =>
    configFile(
      '{token: t}',
      `extensions: [~, {name: client.authentication.k8s.io/exec, extension: ${yaml}}]`,
    );
  const { execConfig } =
    loadKubeConfig({
      path: extension("{shoot: web, port: 0x10, on: yes, big: '12345678901234567890'}"),
    }).getCurrentCluster() ?? {};
  assert.deepEqual(execConfig, { shoot: 'web', port: 16, true: true, big: '12345678901234567890' });
  const refused = (yaml: string, message: RegExp): void =>
    assert.throws(
      () => loadKubeConfig({ path: extension(yaml) }),
      failure('ERR_KUBELOOM_KUBECONFIG', message, /1234567890/),
    );
  refused('{big: 12345678901234567890}', /number that would be rounded: write it in quotes/);
  const levels = Array.from(
    { length: 9 },
    (_, level) => `&b${level + 1} [${Array(9).fill(`*b${level}`).join(', ')}]`,
  );
  refused(`[&b0 [x], ${levels.join(', ')}]`, /more than 10000 values/);
});

test('C188 a loaded kubeconfig prints and serialises without credentials', (context) => {
  const user =
    '{token: c4n4ry, username: c4n4ry-u, password: c4n4ry, client-key-data: YzRuNHJ5, as: ada, exec: {apiVersion: a, command: b, env: [{name: NAME, value: c4n4ry}]}, auth-provider: {name: oidc, config: {id-token: c4n4ry}}}';
  const path = configFile('{token: t}', "proxy-url: 'http://u:c4n4ry@proxy'");
  const other = file(
    `users: [{name: v, user: ${user}}]\nclusters: [{name: d, cluster: {server: 'https://u:c4n4ry@h/c4n4ry?c4n4ry'}}]`,
  );
  setEnvironment(context, { KUBECONFIG: [path, other].join(delimiter) });
  const kubeConfig = loadKubeConfig();
  for (const text of [
    inspect(kubeConfig),
    inspect({ kubeConfig }, { depth: 9, showHidden: true }),
    JSON.stringify({ kubeConfig }),
  ]) {
    assert.doesNotMatch(text, /c4n4ry|YzRuNHJ5/);
  }
  assert.match(inspect(kubeConfig), /LoadedKubeConfig .*https:\/\/h:6443/s);
});

test('in a pod the server has TLS at every port', () => {
  file('first\n', 'token');
  for (const port of ['443', '80', '8080', '8001']) {
    const environment = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: port };
    assert.equal(podKubeConfig(environment, folder)?.clusters[0]?.server, `https://10.0.0.1:${port}`);
  }
});

test('a server with a million slashes in its path costs no time quadratic in them', async () => {
  const server = `https://h/${'/'.repeat(1_000_000)}x`;
  const connection = await connectionFor({ server: `${server}///` });
  assert.equal(connection.server, server);
  assert.equal(new ServerAddress(connection).urlOf('/api'), `${server}/api`);
});
