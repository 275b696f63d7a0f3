/** The transport against servers on loopback: order and number of calls, back-pressure, closing, failures. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer as createNetServer } from 'node:net';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Http1Transport } from '../../../src/http/http1-transport.ts';
import { Happening, RecordingSink, get, listenOnLoopback, serve, transportTo } from './recording-sink.ts';

const REQUEST = { path: '/api/v1/pods', timeoutMs: 60_000 };

test('a response is one head, its data and one end', async (context) => {
  const server = await serve(context, (request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'X-Twice': ['a', 'b'] });
    response.write('{"url":"');
    response.end(`${request.url}"}`);
  });
  const sink = await get(transportTo(context, server), '/api/v1/pods?labelSelector=a%3Db');
  assert.deepEqual(sink.calls, ['head', 'data', 'end']);
  assert.deepEqual(
    [sink.status, sink.error, sink.text],
    [200, undefined, '{"url":"/api/v1/pods?labelSelector=a%3Db"}'],
  );
  assert.equal(sink.headers['content-type'], 'application/json');
  assert.equal(sink.headers['x-twice'], 'a, b');
});

test('requests carry the connection’s headers and their own, and ask for no compression', async (context) => {
  let seen: IncomingHttpHeaders = {};
  let url: string | undefined;
  const server = await serve(context, (request, response) => {
    seen = request.headers;
    url = request.url;
    assert.equal(request.method, 'GET');
    response.end();
  });
  const headers = { Authorization: 'Bearer t', 'X-Own': 'no' };
  const transport = transportTo(context, `${server}/base/path/`, {}, { headers });
  const sink = new RecordingSink();
  transport.request({ ...REQUEST, headers: { 'x-own': 'yes' } }, sink);
  await sink.ended;
  assert.equal(url, '/base/path/api/v1/pods');
  assert.equal(seen.authorization, 'Bearer t');
  assert.equal(seen.accept, 'application/json');
  assert.equal(seen['x-own'], 'yes');
  assert.equal(seen['accept-encoding'], undefined);
});

test('a watch does not block a list', async (context) => {
  const server = await serve(context, (request, response) => {
    if (request.url === '/watch') response.write('open');
    else response.end('list');
  });
  const transport = transportTo(context, server);
  const watch = new RecordingSink();
  transport.request({ ...REQUEST, path: '/watch' }, watch);
  await watch.firstData;
  assert.equal((await get(transport, '/list')).text, 'list');
  assert.deepEqual(watch.calls, ['head', 'data']);
});

test('a paused exchange receives no data and no end until it is resumed, and then everything', async (context) => {
  const body = Buffer.alloc(300_000, 'abcdefghij');
  const server = await serve(context, (_request, response) => {
    response.end(body);
  });
  const transport = transportTo(context, server);
  const sink = new RecordingSink();
  const exchange = transport.request(REQUEST, sink);
  sink.onData = () => exchange.pause();
  let pauses = 0;
  while (!sink.calls.includes('end')) {
    await Promise.race([sink.ended, dataAfter(sink, exchange)]);
    const chunks = sink.chunks.length;
    if (pauses++ < 3) await roundTrip(transport);
    assert.ok(
      sink.calls.includes('end') || sink.chunks.length === chunks,
      'nothing came while it was paused',
    );
  }
  assert.ok(pauses > 2);
  assert.equal(Buffer.compare(Buffer.concat(sink.chunks), body), 0);
  assert.equal(sink.error, undefined);
});

/** Makes another exchange over the same sockets: bytes that were under way have arrived afterwards. */
const roundTrip = get;

/** Resumes, and waits until data has come. */
async function dataAfter(sink: RecordingSink, exchange: { resume(): void; pause(): void }): Promise<void> {
  await new Promise<void>((resolve) => {
    sink.onData = () => {
      exchange.pause();
      resolve();
    };
    exchange.resume();
  });
}

test('pausing and resuming inside data loses nothing', async (context) => {
  const body = Buffer.alloc(500_000, 'xyz');
  const server = await serve(context, (_request, response) => {
    for (let at = 0; at < body.length; at += 50_000) response.write(body.subarray(at, at + 50_000));
    response.end();
  });
  const sink = new RecordingSink();
  const exchange = transportTo(context, server).request(REQUEST, sink);
  sink.onData = () => {
    exchange.pause();
    exchange.resume();
  };
  await sink.ended;
  assert.equal(Buffer.compare(Buffer.concat(sink.chunks), body), 0);
});

test('an exchange that is paused before its response begins receives only the head', async (context) => {
  const server = await serve(context, (_request, response) => response.end('body'));
  const transport = transportTo(context, server);
  const sink = new RecordingSink();
  const exchange = transport.request(REQUEST, sink);
  exchange.pause();
  await roundTrip(transport);
  await roundTrip(transport);
  assert.deepEqual(
    sink.calls.filter((call) => call !== 'head'),
    [],
  );
  exchange.resume();
  await sink.ended;
  assert.equal(sink.text, 'body');
});

test('a pause between two chunks holds back the next one and the end', async (context) => {
  let open: ServerResponse | undefined;
  const server = await serve(context, (request, response) => {
    if (request.url === '/watch') {
      open = response;
      response.write('first');
    } else {
      response.end();
    }
  });
  const transport = transportTo(context, server);
  const sink = new RecordingSink();
  const exchange = transport.request({ ...REQUEST, path: '/watch' }, sink);
  await sink.firstData;
  exchange.pause();
  open?.write('second');
  await roundTrip(transport);
  open?.end('third');
  await roundTrip(transport);
  await roundTrip(transport);
  assert.deepEqual([sink.text, sink.calls], ['first', ['head', 'data']]);
  exchange.resume();
  await sink.ended;
  assert.deepEqual([sink.text, sink.calls], ['firstsecondthird', ['head', 'data', 'end']]);
});

test('after close the sink receives no call, and the server sees the connection close', async (context) => {
  const gone = new Happening();
  let open: ServerResponse | undefined;
  const server = await serve(context, (request, response) => {
    if (request.url === '/watch') {
      response.on('close', () => gone.resolve());
      response.write('first');
      open = response;
    } else {
      response.end();
    }
  });
  const transport = transportTo(context, server);
  const sink = new RecordingSink();
  const exchange = transport.request({ ...REQUEST, path: '/watch' }, sink);
  await sink.firstData;
  exchange.close();
  exchange.close();
  open?.write('second');
  await gone.promise;
  await roundTrip(transport);
  assert.deepEqual(sink.calls, ['head', 'data']);
  assert.equal(sink.text, 'first');
});

test('an exchange that is closed at once, or inside its own data, makes no more calls', async (context) => {
  const server = await serve(context, (_request, response) => {
    response.write('a');
    response.end('b');
  });
  const transport = transportTo(context, server);
  const atOnce = new RecordingSink();
  transport.request(REQUEST, atOnce).close();
  const inside = new RecordingSink();
  const exchange = transport.request(REQUEST, inside);
  inside.onData = () => exchange.close();
  await inside.firstData;
  await roundTrip(transport);
  await roundTrip(transport);
  assert.deepEqual(atOnce.calls, []);
  assert.deepEqual(inside.calls, ['head', 'data']);
});

test('a connection that breaks in the middle of a body is reset, after the data that came', async (context) => {
  const server = await serve(context, (_request, response) => {
    response.write('half a li', () => response.destroy());
  });
  const sink = await get(transportTo(context, server), REQUEST.path);
  const error = await sink.failsWith('ERR_KUBELOOM_CONNECTION_RESET');
  assert.deepEqual(sink.calls, ['head', 'data', 'end']);
  assert.equal(sink.text, 'half a li');
  assert.match(error.message, /\/api\/v1\/pods/);
});

test('a server that does not answer in time is a timeout', async (context) => {
  const server = await serve(context, () => undefined);
  const sink = new RecordingSink();
  transportTo(context, server).request({ ...REQUEST, timeoutMs: 20 }, sink);
  await sink.failsWith('ERR_KUBELOOM_STALLED');
  assert.deepEqual(sink.calls, ['end']);
});

test('a port without a listener is unreachable, with the errno and without the query', async (context) => {
  const server = createNetServer();
  const address = await listenOnLoopback(context, server);
  server.close();
  await once(server, 'close');
  const sink = await get(transportTo(context, `http://${address}`), '/api?continue=long');
  const error = await sink.failsWith('ERR_KUBELOOM_UNREACHABLE');
  assert.equal(error.errno, 'ECONNREFUSED');
  assert.match(
    error.message,
    new RegExp(`cannot reach http://${address}/api \\(ECONNREFUSED\\): nothing listens`),
  );
});

test('an answer that is not HTTP, is compressed or has endless headers is a protocol error', async (context) => {
  const answers = [
    'SSH-2.0-OpenSSH_9.2\r\n\r\n',
    `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`,
    Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n'), gzipSync('{}')]),
  ];
  for (const answer of answers) {
    const server = createNetServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(answer));
    });
    const sink = await get(transportTo(context, `http://${await listenOnLoopback(context, server)}`));
    await sink.failsWith('ERR_KUBELOOM_HTTP');
    assert.deepEqual(sink.calls, ['end']);
  }
});

test('dispose ends open and later requests with the same error', async (context) => {
  const server = await serve(context, (_request, response) => {
    response.write('open');
  });
  const transport = new Http1Transport({ server, headers: {} });
  const running = new RecordingSink();
  transport.request(REQUEST, running);
  await running.firstData;
  await transport.dispose();
  await running.failsWith('ERR_KUBELOOM_STOPPED');
  const late = new RecordingSink();
  transport.request(REQUEST, late);
  assert.deepEqual(late.calls, [], 'nothing is called before request has returned');
  await late.failsWith('ERR_KUBELOOM_STOPPED');
  await transport.dispose();
  assert.deepEqual(running.calls, ['head', 'data', 'end']);
});
