/**
 * Kubeconfigs that kubectl accepts and refuses, as a table: the rows were run through kubectl against a TLS server, and say what the
 * server received. `refused` rows send nothing.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionFor, loadKubeConfig } from '../../../src/http/credentials/credentials.ts';
import { kubeConfigFor } from '../../security/bare-server.ts';
import { SERVER_CERTIFICATE, SERVER_KEY } from './certificates.ts';
import { failure, file } from './credentials-scene.ts';

const CERT = Buffer.from(SERVER_CERTIFICATE).toString('base64');
const KEY = Buffer.from(SERVER_KEY).toString('base64');
const EXEC = 'apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never';
const PLUGIN = `exec: {${EXEC}, command: /bin/false}`;

interface Parts {
  readonly user?: string;
  /** More members of the cluster, of the lists and of the file; they begin with a comma or a line. */
  readonly cluster?: string;
  readonly users?: string;
  readonly contexts?: string;
  readonly clusters?: string;
  readonly head?: string;
  readonly end?: string;
}

function config({
  user = '{token: t}',
  cluster = '',
  head = 'apiVersion: v1\nkind: Config',
  end = '',
  ...lists
}: Parts): string {
  return `${head}
clusters: [{name: c, cluster: {server: 'https://h:6443'${cluster}}}${lists.clusters ?? ''}]
users: [{name: u, user: ${user}}${lists.users ?? ''}]
contexts: [{name: x, context: {cluster: c, user: u}}${lists.contexts ?? ''}]
current-context: x
${end}`;
}

const token = file('of-file\n', 'table-token');
const empty = file('', 'table-empty');
const cert = file(SERVER_CERTIFICATE, 'table.crt');
const key = file(SERVER_KEY, 'table.key');

/** @param plain the unquoted text of a token */
const unquoted = (plain: string): Parts => ({ user: `{token: ${plain}}` });

const ACCEPTED: readonly (readonly [what: string, parts: Parts, authorization: string])[] = [
  ['a text that looks like no number', unquoted('1:20'), 'Bearer 1:20'],
  ['a date', unquoted('2026-01-01'), 'Bearer 2026-01-01'],
  ['a version', unquoted('1.2.3'), 'Bearer 1.2.3'],
  ['NaN without a point', unquoted('NaN'), 'Bearer NaN'],
  ['0x without digits', unquoted('0x'), 'Bearer 0x'],
  ['a number in quotes', unquoted("'12345678901234567890'"), 'Bearer 12345678901234567890'],
  ['a number with a tag', unquoted('!!str 5'), 'Bearer 5'],
  ['the last of two members', { user: '{token: a, token: b}' }, 'Bearer b'],
  ['an unknown member', { user: '{token: t, tokens: [a]}' }, 'Bearer t'],
  ['a second document', { end: '---\nfoo: bar\n' }, 'Bearer t'],
  ['an end without a document', { end: '---\n' }, 'Bearer t'],
  ['the mark of an end', { end: '...\n[}{\n' }, 'Bearer t'],
  ['a second document that is no YAML', { end: '---\n[}{\n' }, 'Bearer t'],
  ['a comment ahead of the first document', { head: '# x\n---' }, 'Bearer t'],
  ['null in a list', { users: ', null', clusters: ', null', contexts: ', null' }, 'Bearer t'],
  [
    'an unused context without a cluster',
    { contexts: ', {name: half, context: {namespace: dev}}' },
    'Bearer t',
  ],
  ['an unused cluster without a server', { clusters: ', {name: half, cluster: {server: ""}}' }, 'Bearer t'],
  ['an unused user with two methods', { users: ', {name: v, user: {token: a, username: b}}' }, 'Bearer t'],
  ['neither kind nor apiVersion', { head: '' }, 'Bearer t'],
  ['kind null and an empty apiVersion', { head: 'kind: ~\napiVersion: ""' }, 'Bearer t'],
  ['insecure-skip-tls-verify: yes', { cluster: ', insecure-skip-tls-verify: yes' }, 'Bearer t'],
  ['a token file', { user: `{tokenFile: ${token}}` }, 'Bearer of-file'],
  ['a token file over a token', { user: `{tokenFile: ${token}, token: t}` }, 'Bearer of-file'],
  ['a missing token file beside a token', { user: '{tokenFile: gone, token: t}' }, 'Bearer t'],
  ['an empty token file beside a token', { user: `{tokenFile: ${empty}, token: t}` }, 'Bearer t'],
  [
    'a user name without a password',
    { user: '{username: u}' },
    `Basic ${Buffer.from('u:').toString('base64')}`,
  ],
  ['a token beside a plugin', { user: `{token: t, ${PLUGIN}}` }, 'Bearer t'],
  ['a token file beside a plugin', { user: `{tokenFile: ${token}, ${PLUGIN}}` }, 'Bearer of-file'],
  [
    'a user name beside a plugin',
    { user: `{username: u, ${PLUGIN}}` },
    `Basic ${Buffer.from('u:').toString('base64')}`,
  ],
  [
    'a certificate beside a plugin',
    { user: `{client-certificate: ${cert}, client-key: ${key}, ${PLUGIN}}` },
    '',
  ],
  [
    'a certificate beside a token',
    { user: `{client-certificate: ${cert}, client-key: ${key}, token: t}` },
    'Bearer t',
  ],
  ['data and file mixed', { user: `{client-certificate-data: ${CERT}, client-key: ${key}}` }, ''],
  [
    'base64 with line ends',
    { user: `{client-certificate-data: "${CERT.slice(0, 8)}\\n${CERT.slice(8)}", client-key-data: ${KEY}}` },
    '',
  ],
  ['a key without a certificate beside a token', { user: `{client-key: ${key}, token: t}` }, 'Bearer t'],
  ['a blank in a token', { user: '{token: "a b"}' }, 'Bearer a b'],
  ['null in an identity', { user: '{token: t, as: a, as-groups: [~], as-user-extra: {k: ~}}' }, 'Bearer t'],
  ['exec: null', { user: '{token: t, exec: ~}' }, 'Bearer t'],
];

const REFUSED: readonly (readonly [parts: Parts, message: RegExp])[] = [
  ...[
    '12345678901234567890',
    '1e3',
    '0123',
    '0o17',
    '0x1F',
    '-0x1F',
    '0b11',
    '1_000',
    '.5',
    '5.',
    '+1',
    '08',
    '.inf',
    '.nan',
  ].map(
    (plain) =>
      [
        unquoted(plain),
        /users\[0\]\.user\.token is a number, where a text belongs: write it in quotes/,
      ] as const,
  ),
  ...['yes', 'y', 'on', 'NO', 'True', 'off'].map(
    (plain) => [unquoted(plain), /users\[0\]\.user\.token is a boolean, where a text belongs/] as const,
  ),
  [{ users: ', {name: 5}' }, /users\[1\]\.name is a number/],
  [{ user: '{as: a, as-groups: [1]}' }, /as-groups\[0\] is a number/],
  [{ cluster: ', insecure-skip-tls-verify: "true"' }, /insecure-skip-tls-verify must be true or false/],
  [{ cluster: ', insecure-skip-tls-verify: 1' }, /must be true or false/],
  [{ users: ', text' }, /users\[1\] must be a map/],
  [{ user: '[]' }, /users\[0\]\.user must be a map/],
  [{ user: '{exec: x}' }, /exec must be a map/],
  [{ user: `{exec: {${EXEC}, command: a, args: [1]}}` }, /args\[0\] is a number/],
  [{ user: `{exec: {${EXEC}, command: a, env: [{name: x, value: 1}]}}` }, /value is a number/],
  [
    { user: '{token: t, auth-provider: {name: oidc, config: {a: 1}}}' },
    /a value of .*auth-provider\.config is a number/,
  ],
  [{ end: 'preferences: x' }, /preferences must be a map/],
  [{ end: 'extensions: x' }, /extensions must be a list/],
  [{ users: ', {name: u, user: {token: v}}' }, /users has two entries with the name "u"/],
  [{ users: ', null, null' }, /users has two entries with the name ""/],
  [{ clusters: ", {name: c, cluster: {server: 'https://other'}}" }, /clusters has two entries/],
  ...['kind: config', 'kind: Pod', 'apiVersion: v2', 'apiVersion: x/v1'].map(
    (head) => [{ head }, /its kind and apiVersion must be Config and v1/] as const,
  ),
  [{ head: 'kind: 5' }, /kind is a number/],
  [{ head: '---\n---' }, /has no current context/],
  [
    { cluster: `, insecure-skip-tls-verify: true, certificate-authority: ${cert}` },
    /cluster "c" has a CA and insecure-skip-tls-verify/,
  ],
  [
    { cluster: `, certificate-authority: ${cert}, certificate-authority-data: ${CERT}` },
    /certificate-authority-data and certificate-authority/,
  ],
  [{ cluster: ', certificate-authority-data: "%"' }, /certificate-authority-data is no base64/],
  [{ user: '{token: t, username: u}' }, /user "u" has a token and a user name or password/],
  [{ user: `{tokenFile: ${token}, username: u}` }, /has a tokenFile and a user name/],
  [{ user: '{password: secret}' }, /has a password without a user name/],
  [{ user: `{client-certificate: ${cert}}` }, /has a client certificate without a key/],
  [{ user: `{client-certificate-data: ${CERT}}` }, /has a client certificate without a key/],
  [{ user: `{client-key: ${key}}` }, /has a client key without a certificate/],
  [
    { user: `{client-certificate: ${cert}, client-certificate-data: ${CERT}, client-key: ${key}}` },
    /client-certificate-data and client-certificate/,
  ],
  [
    { user: `{client-certificate: ${cert}, client-key: ${key}, client-key-data: ${KEY}}` },
    /client-key-data and client-key/,
  ],
  ...['%%%', 'YQ', '_-==', `${CERT.slice(0, 8)} ${CERT.slice(8)}`].map(
    (data) =>
      [
        { user: `{client-certificate-data: "${data}", client-key-data: ${KEY}}` },
        /client-certificate-data is no base64/,
      ] as const,
  ),
  [{ users: ', {name: v, user: {client-key-data: "%"}}' }, /users\[1\]\.user\.client-key-data is no base64/],
  [{ user: '{token: "t\\n"}' }, /has a token with control characters/],
  [{ user: '{token: "  "}' }, /without a visible one/],
  [{ user: `{${PLUGIN}, auth-provider: {name: oidc}}` }, /has a plugin \(exec\) and an auth-provider/],
  [{ user: '{exec: {}}' }, /has a plugin that has no command/],
  [{ user: '{exec: {command: a, interactiveMode: Never}}' }, /has a plugin a that has no apiVersion/],
  [
    { user: '{token: t, exec: {command: a, apiVersion: x/v2, interactiveMode: Never}}' },
    /another apiVersion than/,
  ],
  [
    { user: '{exec: {command: a, apiVersion: client.authentication.k8s.io/v1alpha1}}' },
    /another apiVersion than/,
  ],
  [{ user: '{exec: {command: a, apiVersion: client.authentication.k8s.io/v1}}' }, /no interactiveMode/],
  [
    { user: '{exec: {command: a, apiVersion: client.authentication.k8s.io/v1, interactiveMode: x}}' },
    /unknown interactiveMode/,
  ],
  [
    { user: `{exec: {${EXEC}, command: a, env: [{value: x}]}}` },
    /an env that is no list of names and values/,
  ],
  [
    { user: `{auth-provider: {name: tokenFile, config: {tokenFile: ${token}}}}` },
    /an auth-provider that names a program or a token file/,
  ],
  [{ user: '{as-uid: "5"}' }, /need a user to act as/],
];

test('C250 a kubeconfig that kubectl accepts gives the credentials that kubectl sends', async () => {
  for (const [what, parts, authorization] of ACCEPTED) {
    const { headers, cert: sent } = await connectionFor(loadKubeConfig({ path: file(config(parts)) }));
    assert.equal(headers['authorization'] ?? '', authorization, what);
    if (authorization === '') assert.equal(sent, SERVER_CERTIFICATE, what);
  }
});

test('C250 a kubeconfig that kubectl refuses is an error with the file and the place, without its content', () => {
  for (const [parts, message] of REFUSED) {
    const path = file(config(parts), 'refused-config');
    const check = failure('ERR_KUBELOOM_KUBECONFIG', message, /12345678901234567890|secret|MIIB/);
    assert.throws(
      () => loadKubeConfig({ path }),
      (error: Error) => {
        assert.match(error.message, /refused-config|identity/, error.message);
        return check(error);
      },
      config(parts),
    );
  }
});

test('C250 a server without a scheme is reached as kubectl reaches it: by http, or by https beside settings of TLS', async () => {
  const servers: readonly (readonly [server: string, cluster: object, user: object, url: string])[] = [
    ['127.0.0.1:8001', {}, {}, 'http://127.0.0.1:8001'],
    ['localhost', {}, {}, 'http://localhost'],
    ['[::1]:8001/', {}, {}, 'http://[::1]:8001'],
    ['h:6443', { skipTLSVerify: true }, {}, 'https://h:6443'],
    ['h:6443', { caData: CERT }, {}, 'https://h:6443'],
    ['h:6443', {}, { certData: CERT, keyData: KEY }, 'https://h:6443'],
  ];
  for (const [server, cluster, user, url] of servers)
    assert.equal((await connectionFor(kubeConfigFor(server, user, cluster))).server, url);
  assert.equal((await connectionFor({ server: 'localhost:80', token: 't' })).server, 'http://localhost:80');
  assert.equal((await connectionFor({ server: 'h', ca: SERVER_CERTIFICATE })).server, 'https://h');
});

test('C250 credentials that cannot be read are an error, and no request goes without them', async () => {
  for (const user of [
    '{tokenFile: gone}',
    `{tokenFile: ${empty}}`,
    `{client-certificate: ${empty}, client-key: ${key}}`,
    `{client-certificate: ${cert}, client-key: ${empty}, token: t}`,
    `{client-certificate: gone, client-key: ${key}}`,
    '{auth-provider: {name: gcp}}',
    '{auth-provider: {name: x}, token: t}',
  ]) {
    const source = loadKubeConfig({ path: file(config({ user })) });
    await assert.rejects(connectionFor(source), { code: 'ERR_KUBELOOM_CREDENTIALS' }, user);
  }
});

test('C250 a KubeConfig of client-node follows the same rules', async () => {
  const cases: readonly (readonly [user: object, cluster: object, message: RegExp])[] = [
    [{ certData: CERT }, {}, /client certificate without a key/],
    [{ keyData: KEY }, {}, /client key without a certificate/],
    [{ certData: '%%%', keyData: KEY }, {}, /no base64/],
    [{ token: 'a', username: 'b' }, {}, /a token and a user name/],
    [{ exec: { command: 'a' } }, {}, /no apiVersion/],
    [{ exec: [] }, {}, /an exec entry that is no map/],
    [
      { authProvider: { name: 'x', config: { exec: { command: './a' } } } },
      {},
      /names a program or a token file/,
    ],
    [
      { authProvider: { name: 'x', config: { tokenFile: '/etc/hostname' } } },
      {},
      /names a program or a token file/,
    ],
    [{ token: 't' }, { caData: CERT, skipTLSVerify: true }, /a CA and insecure-skip-tls-verify/],
    [{ token: 't' }, { caData: '%' }, /no base64/],
  ];
  for (const [user, cluster, message] of cases) {
    await assert.rejects(connectionFor(kubeConfigFor('https://h', user, cluster)), {
      code: 'ERR_KUBELOOM_KUBECONFIG',
      message,
    });
  }
});
