/** A connection that is given directly in the place of a KubeConfig: its requests and the refusals. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InformersMap } from '../../../src/controller/index.ts';
import { SharedIndexInformer, SharedInformerFactory, resources } from '../../../src/index.ts';
import type { ServerConnection } from '../../../src/index.ts';
import { assertServerSource } from '../../../src/kube/server-source.ts';
import { settled, startEmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import { Credentials, connectionFor } from '../../../src/http/credentials/credentials.ts';
import { kubeConfigFor } from '../../security/bare-server.ts';
import { failure, file } from './credentials-scene.ts';

test('an informer lists and watches with an address, a token and a CA, without a KubeConfig', async () => {
  await using server = await startEmbeddedApiServer();
  await server.populate({ count: 3 });
  await using informer = new SharedIndexInformer(server.connection, resources.core.v1.pods, {
    threads: { indexerThreads: 0 },
  });
  const stop = new AbortController();
  const ended = informer.run({ signal: stop.signal });
  await settled(informer);
  assert.equal(informer.getStore().list().length, 3);
  stop.abort();
  await ended;
});

test('a connection becomes the same request options as an equal kubeconfig', async () => {
  const pem = '-----BEGIN CERTIFICATE-----\n';
  const data = Buffer.from(pem).toString('base64');
  const given = await connectionFor({
    server: 'https://host:6443/',
    ca: pem,
    cert: pem,
    key: pem,
    token: 't',
    tlsServerName: 'other',
    proxyUrl: 'http://proxy:3128',
  });
  const user = { token: 't', certData: data, keyData: data };
  const cluster = { caData: data, tlsServerName: 'other', proxyUrl: 'http://proxy:3128' };
  assert.deepEqual(given, await connectionFor(kubeConfigFor('https://host:6443/', user, cluster)));
});

test('the token file of a connection is read for every request', async () => {
  const tokenFile = file('', 'token');
  const credentials = new Credentials({ server: 'https://host', tokenFile });
  for (const token of ['one', 'two']) {
    file(`${token}\n`, 'token');
    const { headers } = await credentials.connection(false);
    assert.deepEqual(headers, { authorization: `Bearer ${token}` });
  }
});

test('the token of a connection does not go to another machine in plain text', async () => {
  await assert.rejects(connectionFor({ server: 'http://10.0.0.1', token: 't' }), {
    code: 'ERR_KUBELOOM_PLAIN_HTTP',
  });
});

test('a scheme in capital letters is TLS as well', async () => {
  const given = await connectionFor({ server: 'HTTPS://10.0.0.1', token: 't' });
  const usual = await connectionFor({ server: 'https://10.0.0.1', token: 't' });
  assert.deepEqual({ ...given, server: usual.server }, usual);
});

test('a source that is neither a KubeConfig nor a connection is refused when an informer, a factory or a cache is made', () => {
  const cases: [unknown, RegExp][] = [
    [{}, /must be a KubeConfig \(loadKubeConfig gives one\) or a connection .* object with no members/],
    [{ clusters: [], users: [] }, /object with clusters, users/],
    ['https://host', /and is a string/],
    [undefined, /and is undefined/],
    [{ server: 'ftp://host' }, /server of the connection must be an http or https URL/],
    [{ server: '' }, /server of the connection must be a text/],
    [{ server: 'https://a:topsecret@host' }, /no user name and no password/],
    [{ server: 'https://host', token: 1 }, /token of the connection must be a text/],
    [{ server: 'https://host', caData: 'x' }, /has no member caData; it may have server, ca, token/],
    [{ server: 'https://host', token: 'topsecret', tokenFile: 'f' }, /a token or a tokenFile, not both/],
    [{ server: 'https://host', cert: 'x' }, /cert and key together/],
  ];
  for (const [source, message] of cases) {
    const refusal = failure('ERR_KUBELOOM_OPTION', message, /topsecret/);
    const given = source as ServerConnection;
    assert.throws(() => assertServerSource(given), refusal);
    if (typeof source !== 'object') continue;
    assert.throws(() => new SharedIndexInformer(given, resources.core.v1.pods), refusal);
    assert.throws(() => new SharedInformerFactory(given), refusal);
    assert.throws(() => new InformersMap(given), refusal);
  }
});
