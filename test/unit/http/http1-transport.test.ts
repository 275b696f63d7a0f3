/** The connections that the HTTP/1.1 transport keeps. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Http1Connection } from '../../../src/http/http1-connection.ts';
import type { Http1Transport } from '../../../src/http/http1-transport.ts';
import { get, transportTo } from './recording-sink.ts';
import { Scripted } from './scripted-server.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns the idle connection, and keeps it idle. */
function idleConnection(transport: Http1Transport): WeakRef<Http1Connection> {
  const connection = transport.acquire(false, true);
  transport.release(connection);
  return new WeakRef(connection);
}

test('an idle connection that the server closes is released at once, with its buffer', async (context) => {
  const server = new Scripted(() => 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  const transport = transportTo(context, await server.listen(context), { idleMaxMs: 3_600_000 });
  await get(transport);
  const connection = idleConnection(transport);
  const [socket] = server.sockets;
  assert.ok(socket);
  socket.end();
  await once(socket, 'close');
  for (let turns = 0; turns < 1000 && connection.deref(); turns++) {
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  }
  assert.equal(connection.deref(), undefined);
  await get(transport);
  assert.equal(server.sockets.length, 2);
});
