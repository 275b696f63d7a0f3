/** Requests over HTTP proxies: real tunnels on loopback, and every refusal of a proxy. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect, promisify } from 'node:util';
import { test, type TestContext } from 'node:test';
import type { ConnectionOptions } from '../../../src/kube/connection-options.ts';
import { Http1Transport } from '../../../src/http/http1-transport.ts';
import { CA, OTHER_CA, SERVER_CERTIFICATE, SERVER_KEY } from './certificates.ts';
import { setEnvironment } from './credentials-scene.ts';
import { ConnectProxy } from './connect-proxy.ts';
import type { ConnectProxyOptions } from './connect-proxy.ts';
import { RecordingSink, get, listenOnLoopback, serveTls } from './recording-sink.ts';
import { HANG_MS } from '../../kit/hang.ts';

/** A name that only the proxy resolves. */
const SERVER = 'https://kubeloom.test:6443';
const PASSWORD = 'p@ss-canary';
const CREDENTIALS = `user:${encodeURIComponent(PASSWORD)}`;
const BASIC = `Basic ${Buffer.from(`user:${PASSWORD}`).toString('base64')}`;

async function apiserver(context: TestContext): Promise<number> {
  const material = { key: SERVER_KEY, cert: SERVER_CERTIFICATE };
  const server = await serveTls(context, material, (request, response) => {
    response.end(`${request.headers.host} ${request.headers.authorization} ${request.url}`);
  });
  return Number(new URL(server).port);
}

async function proxyTo(
  context: TestContext,
  options: Partial<ConnectProxyOptions> = {},
): Promise<{ proxy: ConnectProxy; address: string }> {
  const proxy = new ConnectProxy({ port: options.port ?? (await apiserver(context)), ...options });
  return { proxy, address: await proxy.listen(context) };
}

function transportOver(
  context: TestContext,
  proxy: string,
  more: Partial<ConnectionOptions> = {},
): Http1Transport {
  const headers = { authorization: 'Bearer token-canary' };
  const transport = new Http1Transport({ server: SERVER, ca: CA, headers, proxy, ...more });
  context.after(() => transport.dispose());
  return transport;
}

test('C185 an https server is reached through CONNECT, and the proxy sees neither request nor token', async (context) => {
  const { proxy, address } = await proxyTo(context);
  const transport = transportOver(context, `http://${CREDENTIALS}@${address}`);
  for (const path of ['/api', '/apis']) {
    const sink = await get(transport, path);
    assert.equal(sink.text, `kubeloom.test:6443 Bearer token-canary ${path}`, sink.error?.message);
  }
  assert.deepEqual(proxy.requests, [`CONNECT kubeloom.test:6443 ${BASIC}`], 'one tunnel serves both');
  assert.doesNotMatch(proxy.tunnelled, /canary|GET/);
});

test('C185 the server behind a proxy is verified as any other', async (context) => {
  const { address } = await proxyTo(context);
  const foreign = await get(transportOver(context, `http://${address}`, { ca: OTHER_CA }));
  await foreign.failsWith('ERR_KUBELOOM_TLS');
  const misnamed = await get(transportOver(context, `http://${address}`, { server: 'https://other.test' }));
  await misnamed.failsWith('ERR_KUBELOOM_TLS');
});

test('a proxy with TLS is verified by the CAs of the system, for any environment', async (context) => {
  setEnvironment(context, { NODE_TLS_REJECT_UNAUTHORIZED: '0' });
  const { proxy, address } = await proxyTo(context, { isTls: true });
  const sink = await get(transportOver(context, `https://${CREDENTIALS}@${address}`));
  const error = await sink.failsWith('ERR_KUBELOOM_PROXY');
  assert.match(error.message, /proxy https:\/\/127\.0\.0\.1:\d+, which cannot be used \(UNABLE_TO_VERIFY/);
  assert.deepEqual(proxy.requests, []);
});

test('an https server is reached through a proxy with TLS whose CA the system trusts', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubeloom-proxy-'));
  context.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'ca.pem'), CA);
  const { proxy, address } = await proxyTo(context, { isTls: true });
  const program = `
    import { Http1Transport } from ${JSON.stringify(new URL('../../../src/http/http1-transport.js', import.meta.url))};
    const transport = new Http1Transport(${JSON.stringify({ server: SERVER, ca: CA, headers: {}, proxy: `https://${address}` })});
    transport.request({ path: '/api' }, {
      head: () => undefined,
      data: (chunk) => process.stdout.write(chunk),
      end: (error) => { if (error) console.log(error); void transport.dispose(); },
    });`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') },
    timeout: HANG_MS,
  });
  assert.equal(stdout, 'kubeloom.test:6443 undefined /api');
  assert.deepEqual(proxy.requests, ['CONNECT kubeloom.test:6443 anonymous']);
});

test('a long answer through a tunnel is whole, however often it is paused', async (context) => {
  const body = Buffer.alloc(3_000_000, 'kubeloom ');
  const material = { key: SERVER_KEY, cert: SERVER_CERTIFICATE };
  const server = await serveTls(context, material, (_request, response) => response.end(body));
  const { address } = await proxyTo(context, { port: Number(new URL(server).port) });
  const sink = new RecordingSink();
  const exchange = transportOver(context, `http://${address}`).request({ path: '/' }, sink);
  sink.onData = () => {
    exchange.pause();
    setImmediate(() => exchange.resume());
  };
  await sink.ended;
  assert.equal(sink.error, undefined);
  assert.ok(Buffer.concat(sink.chunks).equals(body));
});

test('a request to an http server has its whole URL, and the proxy receives its credentials', async (context) => {
  const { proxy, address } = await proxyTo(context, { port: 1 });
  const transport = transportOver(context, `http://${CREDENTIALS}@${address}`, {
    server: 'http://kubeloom.test/base',
  });
  assert.equal((await get(transport, '/api?limit=1')).text, 'proxied http://kubeloom.test/base/api?limit=1');
  assert.deepEqual(proxy.requests, [`GET http://kubeloom.test/base/api?limit=1 ${BASIC}`]);
});

test('C185 the error for a refusal names the proxy and the reason, and shows no password', async (context) => {
  const cases: [answer: string, code: string, errno: string, message: RegExp][] = [
    ['HTTP/1.1 407 Who?\r\n\r\n', 'ERR_KUBELOOM_PROXY', 'HTTP_PROXY_407', /other credentials/],
    [
      'HTTP/1.1 502 Bad\r\nContent-Length: 9\r\n\r\nforbidden',
      'ERR_KUBELOOM_PROXY',
      'HTTP_PROXY_502',
      /answered 502/,
    ],
    ['HTTP/1.1 302 Go\r\nLocation: http://x\r\n\r\n', 'ERR_KUBELOOM_PROXY', 'HTTP_PROXY_302', /answered 302/],
    ['SSH-2.0-OpenSSH\r\n', 'ERR_KUBELOOM_PROXY', 'HTTP_STATUS_LINE', /cannot be used/],
    ['HTTP/1.1 200 OK\r\n\r\nsurplus', 'ERR_KUBELOOM_PROXY', 'HTTP_PROXY_SURPLUS', /cannot be used/],
    [`HTTP/1.1 200 ${'x'.repeat(70_000)}`, 'ERR_KUBELOOM_PROXY', 'HTTP_HEADERS_TOO_LARGE', /cannot be used/],
  ];
  for (const [answer, code, errno, message] of cases) {
    const { address } = await proxyTo(context, { port: 1, answer: () => answer });
    const sink = await get(transportOver(context, `http://${CREDENTIALS}@${address}`));
    const error = await sink.failsWith(code);
    assert.equal(error.errno, errno);
    assert.match(error.message, message);
    assert.ok(error.message.includes(`http://${address}`), error.message);
    assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), /canary|p%40ss/);
    assert.deepEqual(sink.calls, ['end']);
  }
});

test('a proxy that is missing, closes at once or hangs is distinguished from the server', async (context) => {
  const closing = createServer((socket) => socket.destroy());
  const cases: [proxy: string, errno: RegExp][] = [
    ['http://127.0.0.1:1', /^ECONNREFUSED$/],
    [`http://${await listenOnLoopback(context, closing)}`, /^(HTTP_CLOSED_EARLY|ECONNRESET)$/],
  ];
  for (const [proxy, errno] of cases) {
    const error = await (await get(transportOver(context, proxy))).failsWith('ERR_KUBELOOM_PROXY');
    assert.match(error.errno ?? '', errno);
  }
  const { address } = await proxyTo(context, { port: 1, answer: () => 'HTTP/1.1 ' });
  const headers = {};
  const hanging = new Http1Transport(
    { server: SERVER, ca: CA, headers, proxy: `http://${address}` },
    { connectTimeoutMs: 50 },
  );
  const error = await (await get(hanging)).failsWith('ERR_KUBELOOM_PROXY');
  assert.equal(error.errno, 'HTTP_CONNECT_TIMEOUT');
  await hanging.dispose();
});

test('dispose closes tunnels, idle and in use', async (context) => {
  const { proxy, address } = await proxyTo(context);
  const transport = transportOver(context, `http://${address}`);
  await get(transport);
  await transport.dispose();
  const gone = async (): Promise<void> => {
    if (proxy.openTunnels === 0) return;
    await new Promise((resolve) => setImmediate(resolve));
    await gone();
  };
  await gone();
});

test('badly encoded credentials of a proxy are an error that does not quote them', () => {
  assert.throws(
    () => new Http1Transport({ server: SERVER, headers: {}, proxy: 'http://u:%zz-canary@host' }),
    (error: Error) => /percent-encoded/.test(error.message) && !/canary/.test(inspect(error)),
  );
});
