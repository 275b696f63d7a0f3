/** The connections of the HTTP/1.1 transport: their reuse, their requests, and their end. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createNetServer } from 'node:net';
import type { Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { ServerAddress } from '../../../src/http/server-address.ts';
import { FakeClock } from '../../../src/tools/apiserver/testing/index.ts';
import { Http1Transport } from '../../../src/http/http1-transport.ts';
import { CA, SERVER_CERTIFICATE, SERVER_KEY } from './certificates.ts';
import { Happening, RecordingSink, get, listenOnLoopback, transportTo } from './recording-sink.ts';
import { Scripted } from './scripted-server.ts';

const TLS = { key: SERVER_KEY, cert: SERVER_CERTIFICATE };
const EMPTY = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

test('pages of a list and the watch after them share one connection', async (context) => {
  const answers = [
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    EMPTY,
    'HTTP/1.1 204 No Content\r\n\r\n',
    'HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno',
  ];
  const server = new Scripted((request) => answers[request - 1] ?? EMPTY);
  const transport = transportTo(context, await server.listen(context));
  for (const text of ['ok', '', '', 'no', '']) assert.equal((await get(transport)).text, text);
  assert.deepEqual([server.requests.length, server.sockets.length], [5, 1]);
});

test('the next request may be made inside the end of the previous one', async (context) => {
  const server = new Scripted(() => EMPTY);
  const transport = transportTo(context, await server.listen(context));
  const second = await new Promise<RecordingSink>((resolve) => {
    const sink = new RecordingSink();
    transport.request(
      { path: '/1' },
      {
        head: () => undefined,
        data: () => undefined,
        end: () => {
          transport.request({ path: '/2' }, sink);
          resolve(sink);
        },
      },
    );
  });
  await second.ended;
  assert.deepEqual([server.requests.length, server.sockets.length], [2, 1]);
});

test('a connection is not reused after close, HTTP/1.0, a body until the end of the connection, or surplus bytes', async (context) => {
  for (const answer of [
    'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
    'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n',
    `${EMPTY}surplus`,
    `${EMPTY}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`,
  ]) {
    const server = new Scripted(() => answer);
    const transport = transportTo(context, await server.listen(context));
    assert.deepEqual((await get(transport)).calls, ['head', 'end']);
    assert.deepEqual((await get(transport)).calls, ['head', 'end']);
    assert.equal(server.sockets.length, 2, answer);
  }
  const untilEnd = new Scripted((_request, _connection, socket) => {
    socket.end('HTTP/1.1 200 OK\r\n\r\nbody');
    return undefined;
  });
  const transport = transportTo(context, await untilEnd.listen(context));
  for (let request = 1; request <= 2; request++) {
    const sink = await get(transport);
    assert.deepEqual([sink.error, sink.text, untilEnd.sockets.length], [undefined, 'body', request]);
  }
});

test('after an early answer to a large request, a read waits a second for the server to read it, and a write does not', async (context) => {
  const clock = new FakeClock();
  const sockets: Socket[] = [];
  const server = createNetServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    // The server never reads the rest of the body.
    socket.once('data', () => socket.pause().write(EMPTY));
  });
  context.after(() => sockets.forEach((socket) => socket.destroy()));
  const transport = transportTo(context, `http://${await listenOnLoopback(context, server)}`, { clock });
  const post = async (bytes: number): Promise<void> => {
    const early = new RecordingSink();
    transport.request({ path: '/1', method: 'POST', body: Buffer.alloc(bytes) }, early);
    await early.ended;
    assert.equal(early.error, undefined);
  };
  // More than the buffers of the system hold, and less.
  await post(2 ** 26);
  await post(2 ** 19);
  await post(2 ** 19);
  assert.equal(sockets.length, 3);
  const read = get(transport, '/2');
  clock.advance(999);
  await new Promise(setImmediate);
  assert.equal(sockets.length, 3);
  clock.advance(1);
  assert.equal((await read).error, undefined);
  assert.equal(sockets.length, 4);
});

test('an idle connection is closed after its time', async (context) => {
  const server = new Scripted(() => EMPTY);
  const transport = transportTo(context, await server.listen(context), { idleMaxMs: 5 });
  await get(transport);
  const [socket] = server.sockets;
  assert.ok(socket);
  if (!socket.closed) await once(socket, 'close');
  await get(transport);
  assert.equal(server.sockets.length, 2);
});

test('connections that are idle when a request meets silence are not reused', async (context) => {
  const server = new Scripted((request) => (request === 3 ? undefined : EMPTY));
  const transport = transportTo(context, await server.listen(context), { idleMaxMs: 3_600_000 });
  await Promise.all([get(transport, '/1'), get(transport, '/2')]);
  assert.equal(server.sockets.length, 2);
  const slow = new RecordingSink();
  transport.request({ path: '/3', timeoutMs: 50 }, slow);
  await slow.ended;
  assert.equal(slow.error?.code, 'ERR_KUBELOOM_STALLED');
  await get(transport, '/4');
  assert.equal(server.sockets.length, 3);
  transport.closeIdle();
  await get(transport, '/5');
  assert.equal(server.sockets.length, 4);
});

test('a connection that was paused until its response was complete serves the next request', async (context) => {
  const server = new Scripted(() => 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  const transport = transportTo(context, await server.listen(context));
  const sink = new RecordingSink();
  const exchange = transport.request({ path: '/api' }, sink);
  sink.onData = () => exchange.pause();
  await sink.firstData;
  assert.deepEqual(sink.calls, ['head', 'data']);
  exchange.resume();
  await sink.ended;
  assert.equal((await get(transport)).text, 'ok');
  assert.equal(server.sockets.length, 1);
});

test('unrequested bytes close an idle connection', async (context) => {
  const server = new Scripted(() => EMPTY);
  const transport = transportTo(context, await server.listen(context), { idleMaxMs: 3_600_000 });
  await get(transport);
  const [socket] = server.sockets;
  assert.ok(socket);
  const closed = once(socket, 'close');
  socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil');
  await closed;
  assert.equal((await get(transport)).text, '');
  assert.equal(server.sockets.length, 2);
});

test('C172 a request on a connection that the server has just closed is sent again, once', async (context) => {
  // The second request of a connection finds it closed; so does every request to the second connection.
  const server = new Scripted((_request, connection, socket) => {
    if (connection === 1 && server.requests.length === 1) return EMPTY;
    socket.destroy();
    return undefined;
  });
  const transport = transportTo(context, await server.listen(context));
  await get(transport, '/1');
  const sink = await get(transport, '/2');
  assert.equal(sink.error?.code, 'ERR_KUBELOOM_CONNECTION_RESET');
  assert.deepEqual(sink.calls, ['end']);
  assert.deepEqual(
    server.requests.map((request) => request.slice(0, 6)),
    ['GET /1', 'GET /2', 'GET /2'],
  );
});

test('C172 a request is not sent again once an answer has begun', async (context) => {
  const server = new Scripted((request, _connection, socket) => {
    if (request === 1) return EMPTY;
    socket.end('HTTP/1.1 2');
    return undefined;
  });
  const transport = transportTo(context, await server.listen(context));
  await get(transport);
  assert.equal((await get(transport)).error?.code, 'ERR_KUBELOOM_CONNECTION_RESET');
  assert.equal(server.requests.length, 2);
});

test('bytes that arrive during a pause that begins in the head are delivered afterwards, also over TLS', async (context) => {
  const body = Buffer.alloc(2_000_000, 'abcdefghijklmnopqrstuvwxyz');
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  const chunks = Array.from({ length: 20 }, (_, index) =>
    body.subarray(index * 100_000, (index + 1) * 100_000),
  );
  const answer = (socket: Socket): void => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(head);
      for (const chunk of chunks) {
        socket.write(`${chunk.length.toString(16)}\r\n`);
        socket.write(chunk);
        socket.write('\r\n');
      }
      socket.end('0\r\n\r\n');
    });
  };
  for (const server of [createNetServer(answer), createTlsServer(TLS, answer)]) {
    const scheme = 'setSecureContext' in server ? 'https' : 'http';
    const address = await listenOnLoopback(context, server);
    for (const readBytes of [1000, 65_536, 262_144]) {
      const transport = transportTo(context, `${scheme}://${address}`, { readBytes });
      const sink = new RecordingSink();
      const paused = new Happening();
      const exchange = transport.request(
        { path: '/api' },
        {
          head: (status, headers) => {
            sink.head(status, headers);
            exchange.pause();
            setImmediate(() => paused.resolve());
          },
          data: (chunk) => {
            sink.data(chunk);
            if (sink.chunks.length % 7 !== 0) return;
            exchange.pause();
            setImmediate(() => exchange.resume());
          },
          end: (error) => sink.end(error),
        },
      );
      await paused.promise;
      assert.deepEqual(sink.calls, ['head']);
      exchange.resume();
      await sink.ended;
      assert.equal(sink.error, undefined);
      assert.equal(Buffer.compare(Buffer.concat(sink.chunks), body), 0, `${scheme}, reads of ${readBytes}`);
    }
  }
});

test('the next read reuses the memory of data', async (context) => {
  let socket: Socket | undefined;
  const server = new Scripted((_request, _connection, accepted) => {
    socket = accepted;
    return 'HTTP/1.1 200 OK\r\n\r\n';
  });
  const transport = transportTo(context, await server.listen(context));
  const memories: ArrayBufferLike[] = [];
  const sink = new RecordingSink();
  const arrived = [new Happening(), new Happening()];
  transport.request(
    { path: '/api' },
    {
      head: () => socket?.write('first'),
      data: (chunk) => {
        memories.push(chunk.buffer);
        sink.data(chunk);
        arrived[memories.length - 1]?.resolve();
      },
      end: (error) => sink.end(error),
    },
  );
  await arrived[0]?.promise;
  socket?.write('second');
  await arrived[1]?.promise;
  assert.equal(memories[0], memories[1]);
  assert.equal(sink.text, 'firstsecond');
});

test('a name with several addresses is reached at the one with a listener', async (context) => {
  const server = createHttpServer((request, response) => response.end(request.headers.host));
  const port = Number((await listenOnLoopback(context, server)).split(':')[1]);
  assert.equal((await get(transportTo(context, `http://localhost:${port}`))).text, `localhost:${port}`);
});

test('an IPv6 address loses its brackets to connect, and keeps them in the request', () => {
  const target = new ServerAddress({ server: 'https://[::1]:6443/base/', headers: {} });
  assert.deepEqual(
    [target.host, target.port, target.name, target.serverName],
    ['::1', 6443, '::1', undefined],
  );
  assert.match(
    String(target.requestBytes({ path: '/api' })),
    /^GET \/base\/api HTTP\/1\.1\r\nhost: \[::1\]:6443\r\n/,
  );
  assert.equal(target.urlOf('/api?limit=1'), 'https://[::1]:6443/base/api');
  assert.equal(new ServerAddress({ server: 'https://host', headers: {} }).port, 443);
});

test('a TLS handshake asks for HTTP/1.1 and names the server, but never an address', async (context) => {
  const seen: unknown[] = [];
  const server = createTlsServer({ ...TLS, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    seen.push([socket.alpnProtocol, socket.servername]);
    socket.on('error', () => undefined).once('data', () => socket.write(EMPTY));
  });
  const port = Number((await listenOnLoopback(context, server)).split(':')[1]);
  await get(transportTo(context, `https://localhost:${port}`));
  await get(transportTo(context, `https://127.0.0.1:${port}`));
  assert.deepEqual(seen, [
    ['http/1.1', 'localhost'],
    ['http/1.1', false],
  ]);
});

test('a TLS handshake that hangs fails at the connect timeout', async (context) => {
  const mute = createNetServer((socket) => socket.on('error', () => undefined));
  const address = await listenOnLoopback(context, mute);
  const sink = await get(transportTo(context, `https://${address}`, { connectTimeoutMs: 50 }));
  await sink.failsWith('ERR_KUBELOOM_UNREACHABLE');
});

test('a client certificate is sent', async (context) => {
  const server = createTlsServer(
    { ...TLS, ca: CA, requestCert: true, rejectUnauthorized: true },
    (socket) => {
      socket.on('error', () => undefined).once('data', () => socket.write(EMPTY));
    },
  );
  server.on('tlsClientError', () => undefined);
  const address = `https://${await listenOnLoopback(context, server)}`;
  const shown = await get(transportTo(context, address, {}, { cert: SERVER_CERTIFICATE, key: SERVER_KEY }));
  assert.equal(shown.error, undefined);
  assert.equal((await get(transportTo(context, address))).error?.code, 'ERR_KUBELOOM_TLS');
});

test('C190 only a GET with valid headers is sent', async (context) => {
  const server = new Scripted(() => EMPTY);
  const address = await server.listen(context);
  const transport = transportTo(context, address);
  for (const [path, headers] of [
    ['/a b', {}],
    ['/a\r\nX: y', {}],
    ['/é', {}],
    ['/', { 'x y': 'z' }],
    ['/', { x: 'y\r\nz: a' }],
    ['/', { x: '\0' }],
    ['/', { x: '€' }],
    ['/', { 'Transfer-Encoding': 'chunked' }],
    ['/', { 'content-length': '5' }],
    ['/', { connection: 'upgrade' }],
  ] as const) {
    const sink = new RecordingSink();
    transport.request({ path, headers }, sink);
    assert.deepEqual(sink.calls, []);
    await sink.failsWith('ERR_KUBELOOM_HTTP');
  }
  await get(transport, '/ok?a=%20b');
  const host = address.slice('http://'.length);
  assert.deepEqual(server.requests, [
    `GET /ok?a=%20b HTTP/1.1\r\nhost: ${host}\r\naccept: application/json\r\nuser-agent: kubeloom\r\n` +
      'connection: keep-alive\r\n\r\n',
  ]);
});

test('a server that is not an http or https URL is refused at once', () => {
  for (const server of ['ftp://host', 'unix:/run/x', 'host:6443', '']) {
    assert.throws(() => new Http1Transport({ server, headers: {} }), TypeError, server);
  }
});

test('the errno of the error names the fault of an answer', async (context) => {
  const server = new Scripted(() => 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX');
  const sink = await get(transportTo(context, await server.listen(context)));
  assert.deepEqual(sink.calls, ['head', 'data', 'end']);
  assert.equal((await sink.failsWith('ERR_KUBELOOM_HTTP')).errno, 'HTTP_CHUNK_END');
});

test('dispose closes idle connections and ends requests that are being connected', async (context) => {
  const server = new Scripted(() => EMPTY);
  const transport = transportTo(context, await server.listen(context));
  await get(transport);
  const [socket] = server.sockets;
  assert.ok(socket);
  const gone = once(socket, 'close');
  const late = new RecordingSink();
  const later = new RecordingSink();
  transport.request({ path: '/1' }, late);
  transport.request({ path: '/2' }, later);
  await transport.dispose();
  await gone;
  for (const sink of [late, later]) {
    await sink.failsWith('ERR_KUBELOOM_STOPPED');
    assert.deepEqual(sink.calls, ['end']);
  }
});

/** A script for another process: the test runner intercepts uncaught errors. */
const THROWING = `
  import { createServer } from 'node:net';
  import { Http1Transport } from ${JSON.stringify(new URL('../../../src/http/http1-transport.js', import.meta.url).href)};
  const server = createServer((socket) => socket.once('data', () => socket.write('HTTP/1.1 200 OK\\r\\n\\r\\nbody')));
  server.listen(0, '127.0.0.1', () => {
    const transport = new Http1Transport({ server: 'http://127.0.0.1:' + server.address().port, headers: {} });
    const calls = [];
    server.on('connection', (socket) => socket.on('close', () => {
      server.close();
      console.log(calls.join());
    }));
    process.on('uncaughtException', (error) => calls.push(error.message));
    transport.request({ path: '/' }, {
      head: () => calls.push('head'),
      data: () => { calls.push('data'); throw new Error('mine'); },
      end: () => calls.push('end'),
    });
  });
`;

test('a sink that throws ends its request, and the error is not swallowed', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', THROWING]);
  assert.equal(stdout.trim(), 'head,data,mine');
});
