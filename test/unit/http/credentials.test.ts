/** From a KubeConfig to a connection: client-node's quirks, and every way in which a kubeconfig is unusable. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { KubeConfig } from '@kubernetes/client-node';
import type { Authenticator } from '@kubernetes/client-node/dist/auth.js';
import { connectionFor, loadKubeConfig } from '../../../src/http/credentials/credentials.ts';
import { kubeConfigFor } from '../../security/bare-server.ts';
import { failure, file, folder, setEnvironment } from './credentials-scene.ts';

const KUBECONFIG = { code: 'ERR_KUBELOOM_KUBECONFIG' };

const PEM = Buffer.from('-----BEGIN CERTIFICATE-----\n').toString('base64');

test('a connection is plain data that crosses threads, with explicit verification', async () => {
  const connection = await connectionFor(
    kubeConfigFor(
      'https://host:6443/',
      { token: 'secret', certData: PEM, keyData: PEM, impersonateUser: 'ada' },
      { caData: PEM, tlsServerName: 'other' },
    ),
  );
  const pem = '-----BEGIN CERTIFICATE-----\n';
  assert.deepEqual(structuredClone(connection), {
    server: 'https://host:6443',
    ca: pem,
    cert: pem,
    key: pem,
    servername: 'other',
    rejectUnauthorized: true,
    headers: { authorization: 'Bearer secret', 'impersonate-user': 'ada' },
  });
});

test('C182 verification is off only by the kubeconfig, never by the environment', async (context) => {
  setEnvironment(context, { NODE_TLS_REJECT_UNAUTHORIZED: '0' });
  const strict = await connectionFor(kubeConfigFor('https://host', {}, { skipTLSVerify: false }));
  assert.equal(strict.rejectUnauthorized, true);
  const insecure = await connectionFor(kubeConfigFor('https://host', {}, { skipTLSVerify: true }));
  assert.equal(insecure.rejectUnauthorized, false);
});

test('C182 a warning says once for each server that its certificate is not verified', async (context) => {
  const warned: unknown[] = [];
  context.mock.method(process, 'emitWarning', (message: string, { code }: { code: string }) =>
    warned.push([code, message.includes('insecure-skip-tls-verify')]),
  );
  for (const host of ['unverified', 'unverified', 'verified'])
    await connectionFor(kubeConfigFor(`https://${host}`, {}, { skipTLSVerify: host === 'unverified' }));
  assert.deepEqual(warned, [['ERR_KUBELOOM_TLS_UNVERIFIED', true]]);
});

test('a context without a user still has its CA', async () => {
  const config = kubeConfigFor('https://host', {}, { caData: PEM });
  config.loadFromOptions({
    clusters: config.clusters,
    users: [],
    contexts: [{ name: 'x', cluster: 'c' }],
    currentContext: 'x',
  });
  assert.match((await connectionFor(config)).ca ?? '', /BEGIN CERTIFICATE/);
});

test('plain HTTP works without skipTLSVerify, keeps credentials and does not change the KubeConfig', async () => {
  const config = kubeConfigFor('http://127.0.0.1:8001', { token: 't' }, { skipTLSVerify: false });
  assert.deepEqual(await connectionFor(config), {
    server: 'http://127.0.0.1:8001',
    headers: { authorization: 'Bearer t' },
  });
  assert.equal(config.getCurrentCluster()?.skipTLSVerify, false);
});

test('authenticators that the caller added are called, also over plain HTTP', async () => {
  for (const server of ['http://localhost', 'https://host']) {
    const config = kubeConfigFor(server, { authProvider: { name: 'mine' } });
    const authenticator: Authenticator = {
      isAuthProvider: (user) => user.authProvider?.name === 'mine',
      applyAuthentication: (_user, options) => {
        options.headers = { Authorization: 'Bearer mine' };
        return Promise.resolve();
      },
    };
    config.addAuthenticator(authenticator);
    const { headers } = await connectionFor(config);
    assert.deepEqual(headers, { authorization: 'Bearer mine' });
  }
});

test('missing credentials are an error that names user and cluster', async () => {
  const config = kubeConfigFor('https://h', {
    certFile: join(folder, 'missing.crt'),
    keyFile: join(folder, 'missing.key'),
  });
  await assert.rejects(connectionFor(config), {
    code: 'ERR_KUBELOOM_CREDENTIALS',
    message: /user u for cluster c.*missing\.crt/,
  });
});

test('a KubeConfig without a server is an error that names the missing part', async () => {
  const contexts = [{ name: 'x', cluster: 'c', user: 'u' }];
  const cases: [object, RegExp][] = [
    [{}, /no current context/],
    [{ currentContext: 'gone' }, /no context "gone"/],
    [{ contexts, currentContext: 'x' }, /no cluster "c"/],
    [{ clusters: [{ name: 'c', server: 'https://h' }], contexts, currentContext: 'x' }, /no user "u"/],
    [kubeConfigFor(''), /has no server/],
    [kubeConfigFor('host:6443/prefix'), /no http or https URL/],
    [kubeConfigFor('//host:6443'), /no http or https URL/],
  ];
  for (const [options, message] of cases) {
    const config = new KubeConfig();
    config.loadFromOptions({ clusters: [], users: [], contexts: [], ...options });
    await assert.rejects(connectionFor(config), { ...KUBECONFIG, message });
  }
});

const GOOD = `
clusters: [{name: c, cluster: {server: 'https://h:6443'}}]
users: [{name: u, user: {token: t}}]
contexts:
- {name: one, context: {cluster: c, user: u}}
- {name: two, context: {cluster: c, user: u}}
current-context: one
`;

test('a kubeconfig file is loaded with its own or the named context', () => {
  const path = file(GOOD, 'good.yaml');
  assert.equal(loadKubeConfig({ path }).getCurrentContext(), 'one');
  assert.equal(loadKubeConfig({ path, context: 'two' }).getCurrentContext(), 'two');
});

test('an unusable file or context is an error with the reason', () => {
  const cases: [string, string | undefined, RegExp][] = [
    ['', undefined, /empty path/],
    [join(folder, 'absent.yaml'), undefined, /absent\.yaml does not exist/],
    [folder, undefined, /is a directory/],
    [file('', 'empty.yaml'), undefined, /empty\.yaml has no current context/],
    [file('- a\n- b\n', 'list.yaml'), undefined, /list\.yaml cannot be used: it is no kubeconfig/],
    [
      file(GOOD.replace("server: 'https://h:6443'", ''), 'serverless.yaml'),
      undefined,
      /cluster "c" has no server/,
    ],
    [file(GOOD.replace('current-context: one', ''), 'currentless.yaml'), undefined, /no current context/],
    [
      file(GOOD.replace('current-context: one', 'current-context: three'), 'lost.yaml'),
      undefined,
      /no context "three"/,
    ],
    [file(GOOD, 'good.yaml'), 'three', /no context "three": it has one, two/],
    [file(GOOD, 'good.yaml'), '', /no context ""/],
  ];
  for (const [path, context, message] of cases) {
    const source = context === undefined ? { path } : { path, context };
    assert.throws(() => loadKubeConfig(source), { ...KUBECONFIG, message }, path);
  }
});

test('an error about broken YAML names the line and does not quote the file', () => {
  const path = file('users:\n- name: u\n  user: {token: topsecret\n   x: [\n', 'broken.yaml');
  assert.throws(
    () => loadKubeConfig({ path }),
    failure(
      'ERR_KUBELOOM_KUBECONFIG',
      /broken\.yaml cannot be used: it is not valid YAML \(line \d+\)$/,
      /topsecret/,
    ),
  );
});

test('C194 a missing file of several in $KUBECONFIG is left out; all missing, and no kubeconfig at all, are errors', (context) => {
  const nowhere = [join(folder, 'nowhere.yaml'), join(folder, 'gone.yaml')];
  const good = file(GOOD, 'good.yaml');
  setEnvironment(context, { HOME: folder, KUBECONFIG: [nowhere[0], good, nowhere[1]].join(delimiter) });
  assert.equal(loadKubeConfig({ context: 'two' }).getCurrentContext(), 'two');
  process.env['KUBECONFIG'] = good;
  assert.equal(loadKubeConfig({ context: 'two' }).getCurrentContext(), 'two');
  process.env['KUBECONFIG'] = nowhere.join(delimiter);
  assert.throws(() => loadKubeConfig(), {
    ...KUBECONFIG,
    message: /names .*nowhere\.yaml, .*gone\.yaml, none of which exists/,
  });
  process.env['KUBECONFIG'] = nowhere[0];
  assert.throws(() => loadKubeConfig(), { ...KUBECONFIG, message: /nowhere\.yaml, which does not exist/ });
  delete process.env['KUBECONFIG'];
  assert.throws(() => loadKubeConfig(), { ...KUBECONFIG, message: /no kubeconfig was found/ });
});

test('the first of several definitions in the files of $KUBECONFIG wins, as for kubectl', (context) => {
  const first = file("clusters: [{name: c, cluster: {server: 'https://first'}}]", 'first.yaml');
  setEnvironment(context, { KUBECONFIG: [first, file(GOOD, 'good.yaml')].join(delimiter) });
  const kubeConfig = loadKubeConfig();
  assert.equal(kubeConfig.getCurrentContext(), 'one');
  assert.equal(kubeConfig.getCurrentCluster()?.server, 'https://first');
  assert.equal(kubeConfig.getCurrentUser()?.token, 't');
  const last = file('current-context: two', 'last.yaml');
  process.env['KUBECONFIG'] = [file(GOOD, 'good.yaml'), last].join(delimiter);
  assert.equal(loadKubeConfig().getCurrentContext(), 'one');
});

test('C188 a name into which YAML has folded the line of a password is not quoted', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubeloom-folded-'));
  try {
    const path = join(folder, 'config');
    writeFileSync(path, 'current-context: x\n  password hunter2\n');
    assert.throws(
      () => loadKubeConfig({ path }),
      ({ message }: Error) => /has no context of several words/.test(message) && !message.includes('hunter2'),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
