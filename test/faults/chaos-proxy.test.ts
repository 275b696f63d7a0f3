/** Tests of the proxy's realism: no case may fail because of a fault that networks cannot cause. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { ChaosProxy } from './chaos-proxy.ts';

/** Opens a connection through the proxy; returns both its ends. */
async function connected(proxy: ChaosProxy, server: Server): Promise<{ client: Socket; upstream: Socket }> {
  const accepted = once(server, 'connection');
  const client = connect(Number(new URL(proxy.url).port), '127.0.0.1');
  const [upstream] = (await accepted) as [Socket];
  return { client, upstream };
}

test('a connection that has lost bytes is reset when bytes pass again, so no half answer arrives', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  await using proxy = await ChaosProxy.start((server.address() as AddressInfo).port);

  const half = await connected(proxy, server);
  // The kernel resets this end as well where the proxy closes it with bytes that it has not read.
  half.upstream.on('error', (error: NodeJS.ErrnoException) => assert.equal(error.code, 'ECONNRESET'));
  const whole = await connected(proxy, server);
  await proxy.mode({ kind: 'drop' });
  half.upstream.write('lost');
  while (proxy.landed.length === 0) await new Promise(setImmediate);
  half.client.resume();
  const reset = once(half.client, 'error');
  await proxy.mode({ kind: 'pass' });
  half.upstream.end('behind the gap');
  whole.upstream.end('whole');

  const [error] = (await reset) as [NodeJS.ErrnoException];
  assert.equal(error.code, 'ECONNRESET');
  assert.equal(half.client.bytesRead, 0);
  assert.equal(await text(whole.client), 'whole');
});
