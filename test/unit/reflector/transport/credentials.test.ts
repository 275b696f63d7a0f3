/** From a KubeConfig to a connection: client-node's quirks, and every way in which a kubeconfig is unusable. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, test } from 'node:test';
import type { TestContext } from 'node:test';
import { KubeConfig } from '@kubernetes/client-node';
import type { Authenticator } from '@kubernetes/client-node/dist/auth.js';
import { connectionFor, loadKubeConfig } from '../../../../src/reflector/transport/credentials.ts';

const folder = mkdtempSync(join(tmpdir(), 'kubeloom-credentials-'));
after(() => rmSync(folder, { recursive: true }));

const KUBECONFIG = { code: 'ERR_KUBELOOM_KUBECONFIG' };

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function kubeConfig(cluster: object, user?: object): KubeConfig {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: 'c', ...cluster }],
    users: user ? [{ name: 'u', ...user }] : [],
    contexts: [{ name: 'x', cluster: 'c', ...(user ? { user: 'u' } : {}) }],
    currentContext: 'x',
  });
  return config;
}

const PEM = Buffer.from('-----BEGIN CERTIFICATE-----\n').toString('base64');

test('a connection is plain data that crosses threads, with explicit verification', async () => {
  const connection = await connectionFor(
    kubeConfig(
      { server: 'https://host:6443/', caData: PEM, tlsServerName: 'other' },
      { token: 'secret\n', certData: PEM, keyData: PEM, impersonateUser: 'ada' },
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

test('C182 verification is off only when the kubeconfig says so, whatever the environment says', async (context) => {
  const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  context.after(() => {
    if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
  });
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  const strict = await connectionFor(kubeConfig({ server: 'https://host', skipTLSVerify: false }, {}));
  assert.equal(strict.rejectUnauthorized, true);
  const insecure = await connectionFor(kubeConfig({ server: 'https://host', skipTLSVerify: true }, {}));
  assert.equal(insecure.rejectUnauthorized, false);
});

test('a context without a user still has its CA', async () => {
  const connection = await connectionFor(kubeConfig({ server: 'https://host', caData: PEM }));
  assert.match(connection.ca ?? '', /BEGIN CERTIFICATE/);
});

test('plain HTTP works without skipTLSVerify, keeps credentials and does not change the KubeConfig', async () => {
  const config = kubeConfig({ server: 'http://127.0.0.1:8001', skipTLSVerify: false }, { token: 't' });
  assert.deepEqual(await connectionFor(config), {
    server: 'http://127.0.0.1:8001',
    headers: { authorization: 'Bearer t' },
  });
  assert.equal(config.getCurrentCluster()?.skipTLSVerify, false);
});

test('authenticators that the caller added are called, also over plain HTTP', async () => {
  for (const server of ['http://localhost', 'https://host']) {
    const config = kubeConfig({ server }, { authProvider: { name: 'mine' } });
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

test('user name and password become basic authentication', async () => {
  const { headers } = await connectionFor(
    kubeConfig({ server: 'https://h' }, { username: 'a', password: 'b' }),
  );
  assert.deepEqual(headers, { authorization: `Basic ${Buffer.from('a:b').toString('base64')}` });
});

test('missing credentials are an error that names user and cluster', async () => {
  const config = kubeConfig({ server: 'https://h' }, { certFile: join(folder, 'missing.crt') });
  await assert.rejects(connectionFor(config), (error: Error & { code?: string }) => {
    assert.equal(error.code, 'ERR_KUBELOOM_CREDENTIALS');
    assert.match(error.message, /user u for cluster c.*missing\.crt/);
    return true;
  });
});

test('a KubeConfig without a server is an error that names the missing part', async () => {
  const cases: [object, RegExp][] = [
    [{ clusters: [], users: [], contexts: [] }, /no current context/],
    [{ clusters: [], users: [], contexts: [], currentContext: 'gone' }, /no context "gone"/],
    [
      { clusters: [], users: [], contexts: [{ name: 'x', cluster: 'c', user: 'u' }], currentContext: 'x' },
      /no cluster "c"/,
    ],
    [
      {
        clusters: [{ name: 'c', server: 'https://h' }],
        users: [],
        contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
        currentContext: 'x',
      },
      /no user "u"/,
    ],
  ];
  for (const [options, message] of cases) {
    const config = new KubeConfig();
    config.loadFromOptions(options);
    await assert.rejects(connectionFor(config), { ...KUBECONFIG, message });
  }
  await assert.rejects(connectionFor(kubeConfig({ server: '' }, {})), {
    ...KUBECONFIG,
    message: /has no server/,
  });
  await assert.rejects(connectionFor(kubeConfig({ server: 'host:6443' }, {})), {
    ...KUBECONFIG,
    message: /no http or https URL/,
  });
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
  const path = file('good.yaml', GOOD);
  assert.equal(loadKubeConfig({ path }).getCurrentContext(), 'one');
  assert.equal(loadKubeConfig({ path, context: 'two' }).getCurrentContext(), 'two');
});

test('an unusable file or context is an error with the reason', () => {
  const cases: [string, string | undefined, RegExp][] = [
    ['', undefined, /empty path/],
    [join(folder, 'absent.yaml'), undefined, /absent\.yaml does not exist/],
    [folder, undefined, /is a directory/],
    [file('empty.yaml', ''), undefined, /empty or no kubeconfig/],
    [file('list.yaml', '- a\n- b\n'), undefined, /no current context/],
    [file('serverless.yaml', 'clusters: [{name: c, cluster: {}}]'), undefined, /server is missing/],
    [file('currentless.yaml', GOOD.replace('current-context: one', '')), undefined, /no current context/],
    [
      file('lost.yaml', GOOD.replace('current-context: one', 'current-context: three')),
      undefined,
      /no context "three"/,
    ],
    [file('good.yaml', GOOD), 'three', /no context "three": it has one, two/],
    [file('good.yaml', GOOD), '', /no context ""/],
  ];
  for (const [path, context, message] of cases) {
    const source = context === undefined ? { path } : { path, context };
    assert.throws(() => loadKubeConfig(source), { ...KUBECONFIG, message }, path);
  }
});

test('an error about broken YAML names the line and does not quote the file', () => {
  const path = file('broken.yaml', 'users:\n- name: u\n  user: {token: topsecret\n   x: [\n');
  assert.throws(
    () => loadKubeConfig({ path }),
    (error: Error & { code?: string; cause?: unknown }) => {
      assert.equal(error.code, 'ERR_KUBELOOM_KUBECONFIG');
      assert.match(error.message, /broken\.yaml cannot be used: it is not valid YAML: .*\(line \d+\)/);
      assert.doesNotMatch(`${error.message}${String(error.cause)}${error.stack}`, /topsecret/);
      return true;
    },
  );
});

/** Restores the variables after the test. */
function setEnvironment(context: TestContext, values: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(values)) {
    const saved = process.env[name];
    process.env[name] = value;
    context.after(() => {
      if (saved === undefined) delete process.env[name];
      else process.env[name] = saved;
    });
  }
}

test('C194 a missing file of several in $KUBECONFIG is left out; all missing, and no kubeconfig at all, are errors', (context) => {
  const nowhere = [join(folder, 'nowhere.yaml'), join(folder, 'gone.yaml')];
  const good = file('good.yaml', GOOD);
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
  const first = file('first.yaml', "clusters: [{name: c, cluster: {server: 'https://first'}}]");
  setEnvironment(context, { KUBECONFIG: [first, file('good.yaml', GOOD)].join(delimiter) });
  const kubeConfig = loadKubeConfig();
  assert.equal(kubeConfig.getCurrentContext(), 'one');
  assert.equal(kubeConfig.getCurrentCluster()?.server, 'https://first');
  assert.equal(kubeConfig.getCurrentUser()?.token, 't');
  const last = file('last.yaml', 'current-context: two');
  process.env['KUBECONFIG'] = [file('good.yaml', GOOD), last].join(delimiter);
  assert.equal(loadKubeConfig().getCurrentContext(), 'one');
});
