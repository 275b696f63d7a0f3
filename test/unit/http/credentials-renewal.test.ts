/** Credentials that change while informers run: rotated files, and plugins that are real processes. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import type { KubeConfig } from '@kubernetes/client-node';
import { Credentials, loadKubeConfig } from '../../../src/http/credentials/credentials.ts';
import { kubeConfigFor } from '../../security/bare-server.ts';
import { OTHER_NAME_CERTIFICATE, SERVER_CERTIFICATE, SERVER_KEY } from './certificates.ts';
import { PLUGIN_VERSION, failure, file, folder, plugin } from './credentials-scene.ts';

function kubeConfig(user: object, cluster: object = {}): KubeConfig {
  return kubeConfigFor('https://host', user, cluster);
}

async function token(credentials: Credentials, isUnauthorized = false): Promise<string | undefined> {
  const { authorization } = (await credentials.connection(isUnauthorized)).headers;
  return authorization === undefined ? undefined : String(authorization);
}

test('C115 a token file is read again for every request, so that a rotated one counts at once', async () => {
  const tokenFile = file('one\n');
  const credentials = new Credentials(
    kubeConfig({ authProvider: { name: 'tokenFile', config: { tokenFile } } }),
  );
  assert.equal(await token(credentials), 'Bearer one');
  writeFileSync(tokenFile, 'two\n');
  assert.equal(await token(credentials), 'Bearer two');
});

test('client certificate, key and CA are read again for every request', async () => {
  const [certFile, keyFile, caFile] = [file('cert 1'), file('key 1'), file('ca 1')];
  const credentials = new Credentials(kubeConfig({ certFile, keyFile }, { caFile }));
  const material = async (): Promise<unknown[]> => {
    const { cert, key, ca } = await credentials.connection(false);
    return [cert, key, ca];
  };
  assert.deepEqual(await material(), ['cert 1', 'key 1', 'ca 1']);
  for (const [path, text] of [
    [certFile, 'cert 2'],
    [keyFile, 'key 2'],
    [caFile, 'ca 2'],
  ] as const) {
    writeFileSync(path, text);
  }
  assert.deepEqual(await material(), ['cert 2', 'key 2', 'ca 2']);
});

test('C114 a plugin that names no expiry runs once, not for every request', async () => {
  const { exec, runs } = plugin('{ token: `t${n}` }');
  const credentials = new Credentials(kubeConfig({ exec }));
  for (let request = 0; request < 3; request++) assert.equal(await token(credentials), 'Bearer t1');
  assert.equal(runs(), 1);
});

test('C114 a plugin runs again when its credentials have expired', async () => {
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
  const expiry = `n === 1 ? '2020-01-01T00:00:00Z' : '${inAnHour}'`;
  const { exec, runs } = plugin(`{ token: \`t\${n}\`, expirationTimestamp: ${expiry} }`);
  const credentials = new Credentials(kubeConfig({ exec }));
  const tokens = [await token(credentials), await token(credentials), await token(credentials)];
  assert.deepEqual(tokens, ['Bearer t1', 'Bearer t2', 'Bearer t2']);
  assert.equal(runs(), 2);
});

test('C114 a plugin runs again when its credentials were refused, once for all informers that were refused', async () => {
  const { exec, runs } = plugin('{ token: `t${n}` }');
  const config = kubeConfig({ exec });
  const [one, two, late] = [new Credentials(config), new Credentials(config), new Credentials(config)];
  assert.deepEqual(await Promise.all([token(one), token(two)]), ['Bearer t1', 'Bearer t1']);
  assert.equal(runs(), 1, 'they start together');
  assert.equal(await token(late), 'Bearer t1');
  assert.deepEqual(await Promise.all([token(one, true), token(two, true)]), ['Bearer t2', 'Bearer t2']);
  assert.equal(await token(late, true), 'Bearer t2', 'what was refused is not what is there by now');
  assert.equal(runs(), 2);
  assert.equal(await token(late, true), 'Bearer t3');
});

test('a plugin may give a certificate, which is refused and renewed like a token', async () => {
  const [first, second] = [SERVER_CERTIFICATE, OTHER_NAME_CERTIFICATE].map((pem) => JSON.stringify(pem));
  const clientKeyData = JSON.stringify(SERVER_KEY);
  const { exec } = plugin(
    `{ clientCertificateData: n === 1 ? ${first} : ${second}, clientKeyData: ${clientKeyData} }`,
  );
  const credentials = new Credentials(kubeConfig({ exec }));
  const { cert, key, headers } = await credentials.connection(false);
  assert.deepEqual([cert, key, headers['authorization']], [SERVER_CERTIFICATE, SERVER_KEY, undefined]);
  assert.equal((await credentials.connection(false)).cert, SERVER_CERTIFICATE);
  assert.equal((await credentials.connection(true)).cert, OTHER_NAME_CERTIFICATE);
});

test('a plugin receives the protocol, the cluster if it asks for it, and its own environment', async () => {
  const told = '{ token: Buffer.from(process.env.KUBERNETES_EXEC_INFO + process.env.MINE).toString("hex") }';
  const env = [{ name: 'MINE', value: 'mine' }];
  const decoded = async (options: object): Promise<string> => {
    const { exec } = plugin(told, { env, ...options });
    const config = kubeConfig({ exec }, { caData: 'Q0E=', tlsServerName: 'other' });
    const text = (await token(new Credentials(config)))?.replace('Bearer ', '') ?? '';
    return Buffer.from(text, 'hex').toString();
  };
  const info = { kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1' };
  assert.equal(await decoded({}), `${JSON.stringify({ ...info, spec: { interactive: false } })}mine`);
  const cluster = {
    server: 'https://host',
    'certificate-authority-data': 'Q0E=',
    'tls-server-name': 'other',
  };
  assert.equal(
    await decoded({ provideClusterInfo: true }),
    `${JSON.stringify({ ...info, spec: { interactive: false, cluster } })}mine`,
  );
});

test('a failing plugin is an error with its reason, is not cached and shows no secret', async () => {
  const cases: [object, RegExp][] = [
    [
      plugin('(console.error("topsecret"), process.exit(3))').exec,
      /failed \(3\) with 10 bytes on stderr, not shown/,
    ],
    [plugin('undefined').exec, /no ExecCredential/],
    [plugin('{}').exec, /neither a token nor a certificate/],
    [plugin('{ clientCertificateData: "topsecret" }').exec, /a certificate without a key/],
    [plugin('{ token: "t", clientKeyData: "topsecret" }').exec, /a key without a certificate/],
    [
      plugin('{ token: "t", clientCertificateData: "topsecret", clientKeyData: "x" }').exec,
      /no PEM or do not belong/,
    ],
    [plugin('{ token: 5 }').exec, /that is no text/],
    [plugin('{ token: "top\\nsecret" }').exec, /that no header can carry/],
    [plugin('{ token: "  " }').exec, /that no header can carry/],
    ...[
      'soon',
      '2099-01-01',
      '',
      '2099-01-01 00:00:00Z',
      '2099-01-01T00:00:00',
      '2099-02-30T00:00:00Z',
      5,
    ].map((expiry): [object, RegExp] => [
      plugin(`{ token: "topsecret", expirationTimestamp: ${JSON.stringify(expiry)} }`).exec,
      /expirationTimestamp that is no time of RFC 3339/,
    ]),
    [
      { ...PLUGIN_VERSION, command: join(folder, 'missing'), installHint: 'install it' },
      /not found: install it/,
    ],
    [{ ...PLUGIN_VERSION, command: './plugin.sh' }, /relative to the working directory/],
    [plugin('{ token: "t" }', { interactiveMode: 'Always' }).exec, /ask a person/],
  ];
  for (const [exec, message] of cases) {
    await assert.rejects(
      token(new Credentials(kubeConfig({ exec }))),
      failure('ERR_KUBELOOM_CREDENTIALS', message, /topsecret/),
    );
  }
  const { exec, runs } = plugin('n === 1 ? process.exit(1) : { token: `t${n}` }');
  const credentials = new Credentials(kubeConfig({ exec }));
  await assert.rejects(token(credentials));
  assert.equal(await token(credentials), 'Bearer t2');
  assert.equal(runs(), 2);
});

test('a plugin that reads input gets an end of file and does not hang', async () => {
  const { exec } = plugin('{ token: `read ${fs.readFileSync(0).length}` }');
  assert.equal(await token(new Credentials(kubeConfig({ exec }))), 'Bearer read 0');
});

test('C115 tokenFile and a plugin of a kubeconfig file are found relative to that file, and the token of tokenFile wins', async () => {
  const tokenFile = file('one\n');
  const { exec } = plugin('{ token: `t${n}` }');
  const script = join(folder, 'plugin.sh');
  const { command, args } = exec as { command: string; args: string[] };
  writeFileSync(script, `#!/bin/sh\nexec ${[command, ...args].join(' ')}\n`, { mode: 0o755 });
  const path = file(`
clusters: [{name: c, cluster: {server: 'https://h:6443'}}]
users:
- {name: f, user: {tokenFile: ${basename(tokenFile)}, token: old}}
- {name: p, user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: ./plugin.sh}}}
contexts:
- {name: file, context: {cluster: c, user: f}}
- {name: plugin, context: {cluster: c, user: p}}
current-context: file
`);
  const credentials = new Credentials(loadKubeConfig({ path }));
  assert.equal(await token(credentials), 'Bearer one');
  writeFileSync(tokenFile, 'two\n');
  assert.equal(await token(credentials), 'Bearer two');
  assert.equal(await token(new Credentials(loadKubeConfig({ path, context: 'plugin' }))), 'Bearer t1');
});
