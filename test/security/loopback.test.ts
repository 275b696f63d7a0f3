/** The embedded apiserver serves this machine only, and limits the size of requests. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import { isLoopbackHost } from '../../src/base/loopback.ts';

/** An address of this machine on the network. */
const OUTSIDE = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .filter(({ internal, family }) => !internal && family === 'IPv4')
  .map(({ address }) => address);

async function isReachable(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

test('C195 hosts that are not this machine are refused with a code, even those that look like it', async () => {
  for (const host of [
    '0.0.0.0',
    '::',
    '10.0.0.1',
    'example.com',
    '127.evil.example',
    '127.0.0.1.example',
    '::ffff:10.0.0.1',
  ]) {
    assert.equal(isLoopbackHost(host), false, host);
    await assert.rejects(startEmbeddedApiServer({ host }), { code: 'ERR_KUBELOOM_OPTION' });
  }
  for (const host of [
    '127.0.0.1',
    '127.8.8.8',
    '::1',
    '[::1]',
    'localhost',
    'LOCALHOST',
    '::ffff:127.0.0.1',
  ]) {
    assert.equal(isLoopbackHost(host), true, host);
  }
});

test('C195 its ports answer on loopback and on no other address of the machine', async (context) => {
  await using server = await startEmbeddedApiServer();
  const faults = await server.openFaultPort();
  for (const url of [server.url, faults.url]) {
    const port = Number(new URL(url).port);
    assert.equal(await isReachable('127.0.0.1', port), true);
    for (const address of OUTSIDE) assert.equal(await isReachable(address, port), false, `${address} ${url}`);
  }
  context.diagnostic(`${OUTSIDE.length} other addresses`);
});

test('C195 bodies, headers and addresses beyond their limits are refused, and the server continues', async () => {
  await using server = await startEmbeddedApiServer({ tls: false, token: '', requestBytesMax: 10_000 });
  const pods = `${server.url}/api/v1/namespaces/default/pods`;
  const json = { 'content-type': 'application/json' };
  const large = await fetch(pods, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ a: 'x'.repeat(20_000) }),
  });
  assert.equal(large.status, 413);
  const { port } = new URL(server.url);
  for (const head of [
    `GET /api HTTP/1.1\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`,
    `GET /${'a'.repeat(100_000)} HTTP/1.1\r\n\r\n`,
  ]) {
    const socket = connect(Number(port), '127.0.0.1');
    let answer = '';
    socket.on('error', () => undefined).on('data', (bytes: Buffer) => (answer += bytes.toString()));
    socket.write(head);
    // A reset is one way of refusing: `once` of node:events would take it for a failure.
    await new Promise((resolve) => socket.once('close', resolve));
    assert.match(answer, /^(HTTP\/1\.1 431 |$)/);
  }
  const after = await fetch(`${server.url}/version`);
  assert.equal(after.status, 200);
  await after.arrayBuffer();
});

test('C195 without a token, other host names and bodies without a type are refused, as web pages could send them', async () => {
  await using server = await startEmbeddedApiServer({ tls: false, token: '' });
  const { port } = new URL(server.url);
  const send = async (headers: Record<string, string>, body?: string): Promise<number> => {
    const path = '/api/v1/namespaces/default/configmaps';
    const sent = request({
      host: '127.0.0.1',
      port,
      path,
      headers,
      method: body === undefined ? 'GET' : 'POST',
      agent: false,
    });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode ?? 0;
  };
  const body = '{"metadata":{"name":"a"}}';
  assert.equal(await send({ host: 'attacker.example' }), 403);
  assert.equal(await send({ host: `127.0.0.1.attacker.example:${port}` }), 403);
  assert.equal(await send({}, body), 415);
  assert.equal(await send({ 'content-type': 'text/plain' }, body), 415);
  assert.equal(await send({ host: `localhost:${port}` }), 200);
  assert.equal(await send({ 'content-type': 'application/json' }, body), 201);
});
