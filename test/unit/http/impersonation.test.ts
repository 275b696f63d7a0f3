/** The identity that a kubeconfig's user acts as: the parts that reach the server, and the refusals. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionFor, loadKubeConfig } from '../../../src/http/credentials/credentials.ts';
import { Http1Transport } from '../../../src/http/http1-transport.ts';
import { kubeConfigFor } from '../../security/bare-server.ts';
import { file } from './credentials-scene.ts';
import { Scripted } from './scripted-server.ts';
import { get } from './recording-sink.ts';

/** @param user YAML of a user */
function configFile(server: string, user: string): string {
  return file(`
clusters: [{name: c, cluster: {server: '${server}'}}]
users: [{name: u, user: ${user}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`);
}

const EXTRA = `{'example.com/Scope%': [view, dévelopment], reason: [], Twice: [a], twice: [b]}`;
const WHOLE = `{as: ada, as-uid: '42', as-groups: [developers, 'ops, all'], as-user-extra: ${EXTRA}}`;

test('C201 a kubeconfig’s identity reaches the server whole, as client-go sends it', async (context) => {
  const server = new Scripted(() => 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  const url = await server.listen(context);
  const transport = new Http1Transport(await connectionFor(loadKubeConfig({ path: configFile(url, WHOLE) })));
  context.after(() => transport.dispose());
  await get(transport);
  const lines = Buffer.from(server.requests.join(''), 'latin1').toString().split('\r\n');
  assert.deepEqual(
    lines.filter((line) => line.startsWith('impersonate-')),
    [
      'impersonate-user: ada',
      'impersonate-uid: 42',
      'impersonate-group: developers',
      'impersonate-group: ops, all',
      'impersonate-extra-example.com%2fscope%25: view',
      'impersonate-extra-example.com%2fscope%25: dévelopment',
      'impersonate-extra-twice: a',
      'impersonate-extra-twice: b',
    ],
  );
});

test('C201 the identity of a KubeConfig built in code is also sent', async () => {
  const user = {
    token: 't',
    impersonateUser: 'ada',
    impersonateUid: '42',
    impersonateGroups: ['developers'],
    impersonateExtra: { scope: ['view'] },
  };
  assert.deepEqual((await connectionFor(kubeConfigFor('https://h', user))).headers, {
    authorization: 'Bearer t',
    'impersonate-user': 'ada',
    'impersonate-uid': '42',
    'impersonate-group': ['developers'],
    'impersonate-extra-scope': ['view'],
  });
});

test('C201 an identity with a part that cannot be sent is refused when the kubeconfig is loaded', () => {
  const cases: [string, RegExp][] = [
    ['{as-groups: [a]}', /a uid, groups or extra need a user to act as/],
    ["{as: '', as-uid: '1'}", /need a user to act as/],
    ['{as: ada, as-groups: a}', /as-groups must be a list/],
    ['{as: ada, as-groups: [1]}', /as-groups\[0\] is a number, where a text belongs/],
    ['{as: ada, as-uid: 42}', /as-uid is a number, where a text belongs/],
    ['{as: ada, as-user-extra: [a]}', /as-user-extra must be a map/],
    ['{as: ada, as-user-extra: {scope: view}}', /a value of .*as-user-extra must be a list/],
    ['{as: "ada\\r\\nx: y"}', /as has control characters/],
    ['{as: " ada"}', /white space at an end/],
    ['{as: ada, as-roles: [a]}', /as-roles is not known/],
  ];
  for (const [user, message] of cases) {
    const path = configFile('https://h', user);
    assert.throws(() => loadKubeConfig({ path }), { code: 'ERR_KUBELOOM_KUBECONFIG', message }, user);
  }
});

test('C201 unknown members of a KubeConfig that describe an identity are refused', async () => {
  for (const user of [
    { 'as-groups': ['a'] },
    { impersonateUser: 'ada', impersonateRoles: ['a'] },
    { impersonateGroups: ['a'] },
    { impersonateUser: 'ada', impersonateGroups: 'a' },
    { impersonateUser: 'ada', impersonateUid: 42 },
    { impersonateUser: 'ada', impersonateExtra: ['a'] },
    { impersonateUser: 'ada', impersonateExtra: { scope: 'view' } },
  ]) {
    await assert.rejects(connectionFor(kubeConfigFor('https://h', user)), {
      code: 'ERR_KUBELOOM_KUBECONFIG',
    });
  }
});

test('an empty identity sends no header', async () => {
  const path = configFile('https://h', "{as: '', as-groups: [], as-user-extra: {}, as-uid: null}");
  assert.deepEqual((await connectionFor(loadKubeConfig({ path }))).headers, {});
});
