/** Answers in gzip over real connections: pieces, pauses, ends, and bytes that are no gzip. */
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { constants, createGzip, deflateSync, gzipSync } from 'node:zlib';
import type { HttpExchange } from '../../../src/http/http.ts';
import { RecordingSink, get, serve, transportTo } from './recording-sink.ts';

const REQUEST = { path: '/api/v1/pods', timeoutMs: 60_000, acceptsGzip: true };
const TEXT = '{"kind":"PodList","items":[]}';
const MEBIBYTE = 2 ** 20;
/** Turns of the event loop in which a thread that inflates would have gone on. */
const TURNS = 50;

interface Answered {
  readonly sink: RecordingSink;
  readonly exchange: HttpExchange;
}

/** Requests a path of a server that answers in this way. */
async function answered(
  context: TestContext,
  answer: (response: ServerResponse) => void,
  encoding = 'gzip',
): Promise<Answered> {
  const server = await serve(context, (_request, response) => {
    response.writeHead(200, { 'content-encoding': encoding });
    answer(response);
  });
  const sink = new RecordingSink();
  return { sink, exchange: transportTo(context, server).request(REQUEST, sink) };
}

async function whole(context: TestContext, body: Buffer, encoding?: string): Promise<RecordingSink> {
  const { sink } = await answered(context, (response) => response.end(body), encoding);
  await sink.ended;
  return sink;
}

test('gzip is asked for where the request accepts it, and a server may answer with it or plainly', async (context) => {
  const asked: IncomingHttpHeaders[] = [];
  const server = await serve(context, (request, response) => {
    asked.push(request.headers);
    if (request.url !== '/gzip') return response.end(TEXT);
    return response.writeHead(200, { 'content-encoding': 'GZIP' }).end(gzipSync(TEXT));
  });
  const transport = transportTo(context, server);
  for (const path of ['/gzip', '/plain', '/gzip']) {
    const sink = new RecordingSink();
    transport.request({ path, acceptsGzip: true }, sink);
    await sink.ended;
    assert.deepEqual([sink.calls, sink.text, sink.error], [['head', 'data', 'end'], TEXT, undefined]);
  }
  await get(transport, '/plain');
  assert.deepEqual(
    asked.map((headers) => headers['accept-encoding']),
    ['gzip', 'gzip', 'gzip', undefined],
  );
});

test('an answer is inflated however it is cut, in chunks, and in several members', async (context) => {
  const body = Buffer.concat([gzipSync(TEXT), gzipSync(''), gzipSync(TEXT)]);
  for (let at = 0; at <= body.length; at += 3) {
    const { sink } = await answered(context, (response) => {
      response.write(body.subarray(0, at), () => setImmediate(() => response.end(body.subarray(at))));
    });
    await sink.ended;
    assert.deepEqual([sink.text, sink.error], [TEXT + TEXT, undefined], `cut at ${at}`);
  }
});

test('what the server flushes arrives before it sends more', async (context) => {
  const gzip = createGzip();
  const { sink } = await answered(context, (response) => gzip.pipe(response));
  for (let event = 0; event < 5; event++) {
    const arrived = new Promise<void>((resolve) => (sink.onData = resolve));
    gzip.write(`${event}\n`);
    gzip.flush(constants.Z_SYNC_FLUSH);
    await arrived;
    assert.ok(sink.text.endsWith(`${event}\n`));
  }
  gzip.end();
  await sink.ended;
  assert.deepEqual([sink.text, sink.error], ['0\n1\n2\n3\n4\n', undefined]);
});

test('a paused answer holds a few pieces back, and no data and no end comes until it is resumed', async (context) => {
  const bytes = 64 * MEBIBYTE;
  const body = gzipSync(Buffer.alloc(bytes, TEXT));
  const { sink, exchange } = await answered(context, (response) => response.end(body));
  let receivedBytes = 0;
  const before = process.memoryUsage().arrayBuffers;
  let heldBytes: number | undefined;
  while (!sink.calls.includes('end')) {
    await new Promise<void>((resolve) => {
      sink.onData = () => {
        exchange.pause();
        resolve();
      };
      void sink.ended.then(resolve);
      exchange.resume();
    });
    const held = sink.chunks.splice(0);
    receivedBytes += Buffer.concat(held).length;
    const calls = sink.calls.length;
    for (let turn = heldBytes === undefined ? 0 : TURNS; turn <= TURNS; turn++)
      await new Promise(setImmediate);
    assert.deepEqual([sink.chunks.length, sink.calls.length], [0, calls]);
    heldBytes ??= process.memoryUsage().arrayBuffers - before;
  }
  assert.ok(Number(heldBytes) < bytes / 4, `${heldBytes} bytes were inflated ahead`);
  assert.deepEqual([receivedBytes, sink.error], [bytes, undefined]);
});

test('a body that is truncated, damaged, followed by other bytes or no gzip ends with a code', async (context) => {
  const zipped = gzipSync(TEXT);
  const damaged = Buffer.from(zipped);
  damaged.writeUInt8(damaged.readUInt8(zipped.length - 6) ^ 1, zipped.length - 6);
  const bodies: readonly (readonly [what: string, body: Buffer, errno: string])[] = [
    ['empty', Buffer.alloc(0), 'Z_BUF_ERROR'],
    ['a part of the head', zipped.subarray(0, 5), 'Z_BUF_ERROR'],
    ['without its last byte', zipped.subarray(0, -1), 'Z_BUF_ERROR'],
    ['with another checksum', damaged, 'Z_DATA_ERROR'],
    ['text behind it', Buffer.concat([zipped, Buffer.from(TEXT)]), 'Z_DATA_ERROR'],
    ['zeros behind it', Buffer.concat([zipped, Buffer.alloc(9)]), 'content-encoding'],
    ['text', Buffer.from(TEXT), 'Z_DATA_ERROR'],
    ['another format', deflateSync(TEXT), 'Z_DATA_ERROR'],
  ];
  for (const [what, body, errno] of bodies) {
    const sink = await whole(context, body);
    const error = await sink.failsWith('ERR_KUBELOOM_HTTP');
    assert.equal(error.errno, errno, what);
    assert.match(error.message, /the answer of http:\S+\/pods cannot be inflated: /);
    assert.equal(sink.calls.filter((call) => call === 'end').length, 1, what);
  }
});

test('a connection that breaks within an answer is reported as such, after the data that came', async (context) => {
  const gzip = createGzip();
  const { sink } = await answered(context, (response) => {
    gzip.pipe(response);
    sink.onData = () => response.destroy();
  });
  gzip.write(TEXT);
  gzip.flush(constants.Z_SYNC_FLUSH);
  await sink.failsWith('ERR_KUBELOOM_CONNECTION_RESET');
  assert.equal(sink.text, TEXT);
});

test('C191 an answer in an encoding that was not asked for is refused before a byte is inflated', async (context) => {
  for (const encoding of ['br', 'deflate', 'gzip, gzip', 'identity, gzip']) {
    const sink = await whole(context, gzipSync(TEXT), encoding);
    assert.equal((await sink.failsWith('ERR_KUBELOOM_HTTP')).errno, 'content-encoding');
    assert.deepEqual(sink.calls, ['end'], encoding);
  }
  assert.equal((await whole(context, Buffer.from(TEXT), 'Identity')).text, TEXT);
});

test('C191 an answer that is inflated to far more than its length ends with a code, a short one does not', async (context) => {
  const zeros = (mebibytes: number): Buffer => gzipSync(Buffer.alloc(mebibytes * MEBIBYTE), { level: 9 });
  const short = await whole(context, zeros(8));
  assert.deepEqual([short.error, Buffer.concat(short.chunks).length], [undefined, 8 * MEBIBYTE]);

  const { sink, exchange } = await answered(context, (response) => response.end(zeros(256)));
  let inflatedBytes = 0;
  sink.onData = () => {
    for (const chunk of sink.chunks.splice(0)) inflatedBytes += chunk.length;
  };
  const error = await sink.failsWith('ERR_KUBELOOM_HTTP');
  assert.match(error.message, /bytes are inflated to more than \d+/);
  assert.ok(inflatedBytes < 128 * MEBIBYTE, `${inflatedBytes} bytes`);
  exchange.close();
  assert.equal(sink.calls.filter((call) => call === 'end').length, 1);
});

test('a closed answer calls nothing more, whatever is being inflated', async (context) => {
  const body = gzipSync(Buffer.alloc(32 * MEBIBYTE, TEXT));
  const { sink, exchange } = await answered(context, (response) => response.end(body));
  sink.onData = () => exchange.close();
  await sink.firstData;
  const { length } = sink.chunks;
  for (let turn = 0; turn < TURNS; turn++) await new Promise(setImmediate);
  assert.deepEqual([sink.chunks.length, sink.calls], [length, ['head', 'data']]);
});
