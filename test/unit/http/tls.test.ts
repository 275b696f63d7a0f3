/**
 * TLS against servers with good, expired, foreign and misnamed certificates: the decisions and the messages.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import tls from 'node:tls';
import { test, type TestContext } from 'node:test';
import type { ConnectionOptions } from '../../../src/kube/connection-options.ts';
import { Http1Transport } from '../../../src/http/http1-transport.ts';
import {
  CA,
  COMMON_NAME_CERTIFICATE,
  EXPIRED_CERTIFICATE,
  INTERMEDIATE_CA,
  OTHER_CA,
  OTHER_NAME_CERTIFICATE,
  SERVER_CERTIFICATE,
  SERVER_KEY,
  SIGNED_BY_INTERMEDIATE,
} from './certificates.ts';
import { setEnvironment } from './credentials-scene.ts';
import { get, serve, serveTls } from './recording-sink.ts';
import type { RecordingSink } from './recording-sink.ts';

function ask(context: TestContext, connection: ConnectionOptions): Promise<RecordingSink> {
  const transport = new Http1Transport(connection);
  context.after(() => transport.dispose());
  return get(transport);
}

function serverWith(context: TestContext, cert: string): Promise<string> {
  return serveTls(context, { key: SERVER_KEY, cert }, (_request, response) => response.end('hello'));
}

test('a server whose certificate the CA signed is trusted', async (context) => {
  const server = await serverWith(context, SERVER_CERTIFICATE);
  const sink = await ask(context, { server, ca: CA, rejectUnauthorized: true, headers: {} });
  assert.deepEqual([sink.error, sink.text], [undefined, 'hello']);
});

test('C182 wrong CA, no CA, expired and wrong name are refused with different codes', async (context) => {
  const good = await serverWith(context, SERVER_CERTIFICATE);
  const expired = await serverWith(context, EXPIRED_CERTIFICATE);
  const elsewhere = await serverWith(context, OTHER_NAME_CERTIFICATE);
  const cases: [ConnectionOptions, RegExp][] = [
    [{ server: good, ca: OTHER_CA, headers: {} }, /not signed by the CA/],
    [{ server: good, headers: {} }, /not signed by the CA/],
    [{ server: expired, ca: CA, headers: {} }, /CERT_HAS_EXPIRED.*has expired/],
    [
      { server: elsewhere, ca: CA, headers: {} },
      /is for DNS:elsewhere\.test and not for this server.*tls-server-name/,
    ],
  ];
  for (const [connection, message] of cases) {
    const sink = await ask(context, connection);
    const error = await sink.failsWith('ERR_KUBELOOM_TLS');
    assert.match(error.message, message);
    assert.deepEqual(sink.calls, ['end']);
  }
});

test('C253 every given certificate is an anchor, as in Go: an intermediate CA, and the server’s own certificate', async (context) => {
  const server = await serverWith(context, SIGNED_BY_INTERMEDIATE);
  for (const ca of [INTERMEDIATE_CA, SIGNED_BY_INTERMEDIATE, `${OTHER_CA}${INTERMEDIATE_CA}`]) {
    assert.equal((await ask(context, { server, ca, headers: {} })).text, 'hello');
  }
  const foreign = await ask(context, { server, ca: OTHER_CA, headers: {} });
  assert.match(
    (await foreign.failsWith('ERR_KUBELOOM_TLS')).message,
    /not signed by the CA that is trusted here/,
  );
});

test('C253 an anchor does not make a certificate valid for another name or after its end', async (context) => {
  for (const cert of [EXPIRED_CERTIFICATE, OTHER_NAME_CERTIFICATE]) {
    const server = await serverWith(context, cert);
    await (await ask(context, { server, ca: cert, headers: {} })).failsWith('ERR_KUBELOOM_TLS');
  }
});

test('C253 a certificate with a common name and no subject alternative name is refused, as in Go', async (context) => {
  const server = await serverWith(context, COMMON_NAME_CERTIFICATE);
  const sink = await ask(context, { server, ca: INTERMEDIATE_CA, servername: 'localhost', headers: {} });
  const { message } = await sink.failsWith('ERR_KUBELOOM_TLS');
  assert.match(message, /has no subject alternative name, and its common name does not count/);
});

test('C182 the server name of the kubeconfig is verified', async (context) => {
  const server = await serverWith(context, OTHER_NAME_CERTIFICATE);
  const right = await ask(context, { server, ca: CA, servername: 'elsewhere.test', headers: {} });
  assert.equal(right.text, 'hello');
  const good = await serverWith(context, SERVER_CERTIFICATE);
  const wrong = await ask(context, { server: good, ca: CA, servername: 'elsewhere.test', headers: {} });
  await wrong.failsWith('ERR_KUBELOOM_TLS');
});

test('C182 verification is off only on request, not by NODE_TLS_REJECT_UNAUTHORIZED', async (context) => {
  const server = await serverWith(context, EXPIRED_CERTIFICATE);
  const insecure = await ask(context, { server, rejectUnauthorized: false, headers: {} });
  assert.equal(insecure.text, 'hello');
  setEnvironment(context, { NODE_TLS_REJECT_UNAUTHORIZED: '0' });
  for (const connection of [
    { server, headers: {} },
    { server, ca: CA, rejectUnauthorized: true, headers: {} },
  ]) {
    await (await ask(context, connection)).failsWith('ERR_KUBELOOM_TLS');
  }
});

test('https to a port with plain HTTP, and unusable certificates, have their own errors', async (context) => {
  const plain = await serve(context, (_request, response) => response.end());
  const sink = await ask(context, { server: plain.replace('http:', 'https:'), ca: CA, headers: {} });
  const error = await sink.failsWith('ERR_KUBELOOM_TLS');
  assert.match(error.message, /does not speak TLS/);
  const good = await serverWith(context, SERVER_CERTIFICATE);
  const unusable = await ask(context, { server: good, ca: CA, cert: 'no pem', key: 'no pem', headers: {} });
  assert.match((await unusable.failsWith('ERR_KUBELOOM_TLS')).message, /cannot be used: are they PEM/);
});

test('C182 an empty CA, and a CA that is not a certificate, are refused instead of trusting every server', async (context) => {
  const server = await serverWith(context, SERVER_CERTIFICATE);
  for (const ca of ['', 'garbage', CA.slice(0, 200)]) {
    const sink = await ask(context, { server, ca, headers: {} });
    assert.match((await sink.failsWith('ERR_KUBELOOM_TLS')).message, /cannot be used: are they PEM/, ca);
  }
});

test('C182 TLS below 1.2 is refused, also where Node allows it', async (context) => {
  const [version, ciphers] = [tls.DEFAULT_MIN_VERSION, tls.DEFAULT_CIPHERS];
  context.after(() => {
    tls.DEFAULT_MIN_VERSION = version;
    tls.DEFAULT_CIPHERS = ciphers;
  });
  tls.DEFAULT_MIN_VERSION = 'TLSv1';
  tls.DEFAULT_CIPHERS = 'DEFAULT@SECLEVEL=0';
  const material = { key: SERVER_KEY, cert: SERVER_CERTIFICATE, maxVersion: 'TLSv1.1' as const };
  const server = await serveTls(context, material, (_request, response) => response.end('hello'));
  const old = tls.connect({ port: Number(new URL(server).port), host: '127.0.0.1', ca: CA });
  await once(old, 'secureConnect');
  assert.equal(old.getProtocol(), 'TLSv1.1', 'Node itself would speak it');
  old.destroy();
  await (await ask(context, { server, ca: CA, headers: {} })).failsWith('ERR_KUBELOOM_TLS');
});
