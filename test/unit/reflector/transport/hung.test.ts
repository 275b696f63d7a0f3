/** Servers that accept a connection and never answer, over real sockets. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { once } from 'node:events';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { KubeloomError } from '../../../../src/base/errors.ts';
import { Http1Transport } from '../../../../src/reflector/transport/http1-transport.ts';

/** @returns the port of a server that accepts and never answers */
async function mute(context: TestContext): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function failureOf(server: string): Promise<string | undefined> {
  const options = { connectTimeoutMs: 50, headersTimeoutMs: 50 };
  const transport = new Http1Transport({ server, headers: {} }, options);
  try {
    const error = await new Promise<KubeloomError | undefined>((resolve) => {
      transport.request(
        { path: '/api' },
        { head: () => undefined, data: () => undefined, end: (failure) => resolve(failure) },
      );
    });
    return error?.code;
  } finally {
    await transport.dispose();
  }
}

test('a TLS handshake that hangs fails at the connect timeout', async (context) => {
  const port = await mute(context);
  assert.equal(await failureOf(`https://127.0.0.1:${port}`), 'ERR_KUBELOOM_UNREACHABLE');
});

test('a server that accepts and never answers fails at the headers timeout', async (context) => {
  const port = await mute(context);
  assert.equal(await failureOf(`http://127.0.0.1:${port}`), 'ERR_KUBELOOM_HTTP_TIMEOUT');
});
