/** Servers that accept a connection and then say nothing, over real sockets. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { once } from 'node:events';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { KubeloomError } from '../../src/errors.ts';
import { DirectTransport } from '../../src/transport/direct-transport.ts';

/** @returns the port of a server that accepts and is mute */
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
  const transport = new DirectTransport({ server, headers: {} }, options);
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

test('a TLS handshake that hangs is given up after the time for connecting', async (context) => {
  const port = await mute(context);
  assert.equal(await failureOf(`https://127.0.0.1:${port}`), 'ERR_KUBELOOM_UNREACHABLE');
});

test('a server that accepts and never answers is given up after the time for headers', async (context) => {
  const port = await mute(context);
  assert.equal(await failureOf(`http://127.0.0.1:${port}`), 'ERR_KUBELOOM_HTTP_TIMEOUT');
});
