/** The proxy between a client and a server: it passes bytes, drops connections and slows them down. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { describe, it } from 'node:test';
import { relayed } from '../../../../src/tools/loadtest/watch/informer-watcher.ts';
import { TcpProxy } from '../../../../src/tools/loadtest/watch/tcp-proxy.ts';
import { kubeConfigFor } from '../../../security/bare-server.ts';

interface Scene extends AsyncDisposable {
  readonly proxy: TcpProxy;
  readonly client: net.Socket;
  /** The server's side of the connection. */
  readonly upstream: net.Socket;
  readonly url: string;
}

async function connect(): Promise<Scene> {
  const server = net.createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as net.AddressInfo).port}/base`;
  const proxy = await TcpProxy.start(url);
  const accepted = once(server, 'connection') as Promise<[net.Socket]>;
  const client = net.connect(Number(new URL(proxy.addressOf(url)).port), '127.0.0.1');
  const [upstream] = await accepted;
  // A dropped connection is what these tests expect.
  for (const socket of [client, upstream]) socket.on('error', () => undefined);
  return {
    proxy,
    client,
    upstream,
    url,
    async [Symbol.asyncDispose]() {
      client.destroy();
      upstream.destroy();
      await proxy[Symbol.asyncDispose]();
      server.close();
      await once(server, 'close');
    },
  };
}

async function received(socket: net.Socket, bytes: number): Promise<string> {
  let text = '';
  while (text.length < bytes) text += String((await once(socket, 'data'))[0]);
  return text;
}

describe('the proxy', () => {
  it('has the path of the server, and passes bytes in both directions', async () => {
    await using scene = await connect();
    const { proxy, client, upstream, url } = scene;
    assert.match(proxy.addressOf(url), /^http:\/\/127\.0\.0\.1:\d+\/base$/);
    client.write('request');
    assert.equal(await received(upstream, 7), 'request');
    upstream.write('answer');
    assert.equal(await received(client, 6), 'answer');
    assert.equal(proxy.receivedBytes, 6);
  });

  it('drops connections on both sides', async () => {
    await using scene = await connect();
    const closed = Promise.all([once(scene.client, 'close'), once(scene.upstream, 'close')]);
    scene.proxy.drop();
    await closed;
  });

  it('passes all bytes when it is no longer slow', async () => {
    await using scene = await connect();
    const { proxy, client, upstream } = scene;
    const size = 4_000_000;
    let passed = 0;
    const whole = new Promise<void>((resolve) => {
      client.on('data', (bytes) => {
        passed += bytes.length;
        if (passed === size) resolve();
        // Limited to a byte a second, the first chunk already takes longer than any test.
        else if (proxy.receivedBytes < size) proxy.limit(undefined);
      });
    });
    proxy.limit(1);
    upstream.write('x'.repeat(size));
    await whole;
    assert.equal(proxy.receivedBytes, size);
  });
});

it('a relayed server with an IPv6 address has a name without brackets', () => {
  const kubeConfig = kubeConfigFor('https://[fd00::1]:6443');
  const { server, tlsServerName } =
    relayed(kubeConfig, { addressOf: () => 'https://127.0.0.1:1' }).getCurrentCluster() ?? {};
  assert.deepEqual([server, tlsServerName], ['https://127.0.0.1:1', 'fd00::1']);
});
