/** The response parser: accepted and refused bytes with their codes, at every boundary between two reads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readResponse } from './response-parser-driver.ts';
import type { ReadResponse } from './response-parser-driver.ts';

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;

/** Reads the text whole, byte by byte, and cut in two anywhere; all results must be the same. */
function read(text: string): ReadResponse {
  const response = Buffer.from(text, 'latin1');
  const whole = readResponse(response);
  const everywhere = Array.from({ length: response.length - 1 }, (_, index) => index + 1);
  if (response.length < 1000) {
    assert.deepEqual(readResponse(response, everywhere), whole, `byte by byte: ${text}`);
    for (const cut of everywhere)
      assert.deepEqual(readResponse(response, [cut]), whole, `cut at ${cut}: ${text}`);
  }
  return whole;
}

test('a body is as long as its length says, as its chunks are, or as the connection lasts', () => {
  const cases: [string, string, boolean][] = [
    [`${OK}Content-Length: 5\r\n\r\nhello`, 'hello', true],
    [`${OK}Content-Length: 0\r\n\r\n`, '', true],
    [`${CHUNKED}5\r\nhello\r\n0\r\n\r\n`, 'hello', true],
    [`${CHUNKED}1\r\nh\r\n003\r\nell\r\n1\r\no\r\n000\r\n\r\n`, 'hello', true],
    [`${CHUNKED}A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n`, '01234567890123456789', true],
    [`${CHUNKED}0\r\n\r\n`, '', true],
    [`${OK}\r\nhello`, 'hello', false],
    ['HTTP/1.0 200 OK\r\n\r\nhello', 'hello', false],
    ['HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello', 'hello', false],
    [`${OK}Content-Length: 5\r\nConnection: Keep-Alive, Close\r\n\r\nhello`, 'hello', false],
    ['HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n', '', true],
    ['HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n', '', true],
  ];
  for (const [text, body, isReusable] of cases) {
    const response = read(text);
    assert.deepEqual(
      [response.outcome, response.body, response.isReusable, response.surplus],
      ['complete', body, isReusable, 0],
      text,
    );
  }
});

test('extensions and trailers are skipped', () => {
  const body = '5;name="v;\t=";other\r\nhello\r\n0;last\r\nDigest: x\r\nExpires:\xff\r\n\r\n';
  const response = read(`${CHUNKED}${body}`);
  assert.deepEqual([response.outcome, response.body, response.surplus], ['complete', 'hello', 0]);
  assert.deepEqual(response.headers, { 'transfer-encoding': 'chunked' });
});

test('informational responses come before the response', () => {
  const hints =
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\nContent-Length: 7\r\n\r\n';
  const response = read(`${hints}${OK}Content-Length: 2\r\n\r\nok`);
  assert.deepEqual(
    [response.status, response.headers, response.body],
    [200, { 'content-length': '2' }, 'ok'],
  );
});

test('informational responses without an end are refused', () => {
  const hints = 'HTTP/1.1 100 Continue\r\n\r\n';
  assert.equal(read(`${hints.repeat(5)}${OK}Content-Length: 2\r\n\r\nok`).body, 'ok');
  assert.equal(read(hints.repeat(6)).outcome, 'HTTP_INFORMATIONAL');
});

test('header names become lower case, values are trimmed, repeated ones joined, and no name is special', () => {
  const head =
    'X-A: \t one two \t\r\nx-a:three\r\nEmpty:\r\n__proto__: p\r\nBytes: \xe9\r\nContent-Length: 0\r\n\r\n';
  const { headers } = read(`${OK}${head}`);
  assert.deepEqual(Object.entries(headers), [
    ['x-a', 'one two, three'],
    ['empty', ''],
    ['__proto__', 'p'],
    ['bytes', '\xe9'],
    ['content-length', '0'],
  ]);
});

test('a status line needs no reason, and 4xx and 5xx are responses like any other', () => {
  for (const [line, status] of [
    ['HTTP/1.1 200', 200],
    ['HTTP/1.1 200 ', 200],
    ['HTTP/1.1 404 Not \xe9 Found', 404],
    ['HTTP/1.0 599 x', 599],
  ] as const) {
    const response = read(`${line}\r\nContent-Length: 1\r\n\r\nx`);
    assert.deepEqual([response.status, response.outcome], [status, 'complete'], line);
  }
});

test('bytes after a response are not taken', () => {
  for (const text of [
    `${OK}Content-Length: 2\r\n\r\nok`,
    `${CHUNKED}2\r\nok\r\n0\r\n\r\n`,
    'HTTP/1.1 204 No Content\r\n\r\n',
  ]) {
    const whole = readResponse(Buffer.from(`${text}HTTP/1.1 200 OK\r\n`));
    assert.deepEqual([whole.outcome, whole.surplus], ['complete', 17], text);
  }
});

test('a response cut off before its end is torn, and its data up to the cut is delivered', () => {
  const cases: [string, string][] = [
    ['', ''],
    [OK, ''],
    [`${OK}Content-Length: 5\r\n\r\nhell`, 'hell'],
    [`${CHUNKED}5\r\nhell`, 'hell'],
    [`${CHUNKED}5\r\nhello`, 'hello'],
    [`${CHUNKED}5\r\nhello\r\n`, 'hello'],
    [`${CHUNKED}5\r\nhello\r\n0\r\n`, 'hello'],
    [`${CHUNKED}5\r\nhello\r\n0\r\nA: b\r\n\r`, 'hello'],
  ];
  for (const [text, body] of cases) {
    const response = read(text);
    assert.deepEqual([response.outcome, response.body], ['torn', body], text);
  }
});

const LONG_SIZE = `1${'0'.repeat(12)}`;

const BAD_HEADS: readonly (readonly [string, string])[] = [
  ['SSH-2.0-OpenSSH', 'HTTP_STATUS_LINE'],
  ['\r\nHTTP/1.1 200 OK\r\n\r\n', 'HTTP_STATUS_LINE'],
  ['HTTP/2.0 200 OK\r\n\r\n', 'HTTP_STATUS_LINE'],
  ['HTTP/1.2 200 OK\r\n\r\n', 'HTTP_STATUS_LINE'],
  ['HTTP/1.1 20 OK\r\n\r\n', 'HTTP_STATUS_LINE'],
  ['HTTP/1.1 2000 OK\r\n\r\n', 'HTTP_STATUS_LINE'],
  ['HTTP/1.1 099 OK\r\n\r\n', 'HTTP_STATUS_LINE'],
  ['HTTP/1.1  200 OK\r\n\r\n', 'HTTP_STATUS_LINE'],
  ['HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\n\r\n', 'HTTP_UPGRADE'],
  ['HTTP/1.1 200 OK\n\n', 'HTTP_HEADER'],
  ['HTTP/1.1 200 OK\r\nA: b\n\r\n', 'HTTP_HEADER'],
  ['HTTP/1.1 200 OK\rA: b\r\n\r\n', 'HTTP_HEADER'],
  [`${OK}A: b\0c\r\n\r\n`, 'HTTP_HEADER'],
  [`${OK}A: b\x7fc\r\n\r\n`, 'HTTP_HEADER'],
  [`${OK}A: b\r\n folded\r\n\r\n`, 'HTTP_HEADER'],
  [`${OK}A : b\r\n\r\n`, 'HTTP_HEADER'],
  [`${OK}: b\r\n\r\n`, 'HTTP_HEADER'],
  [`${OK}nocolon\r\n\r\n`, 'HTTP_HEADER'],
  [`${OK}A\r\n\r\n`, 'HTTP_HEADER'],
  [`${OK}A\xe9: b\r\n\r\n`, 'HTTP_HEADER'],
  [`${OK}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`, 'HTTP_CONTENT_LENGTH'],
  [`${OK}Content-Length: 5, 5\r\n\r\nhello`, 'HTTP_CONTENT_LENGTH'],
  [`${OK}Content-Length: -5\r\n\r\nhello`, 'HTTP_CONTENT_LENGTH'],
  [`${OK}Content-Length: +5\r\n\r\nhello`, 'HTTP_CONTENT_LENGTH'],
  [`${OK}Content-Length: 0x5\r\n\r\nhello`, 'HTTP_CONTENT_LENGTH'],
  [`${OK}Content-Length: 5.0\r\n\r\nhello`, 'HTTP_CONTENT_LENGTH'],
  [`${OK}Content-Length:\r\n\r\nhello`, 'HTTP_CONTENT_LENGTH'],
  [`${OK}Content-Length: 9007199254740993\r\n\r\nhello`, 'HTTP_CONTENT_LENGTH'],
  [`${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 'HTTP_TRANSFER_ENCODING'],
  [`${OK}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, 'HTTP_TRANSFER_ENCODING'],
  [`${OK}Transfer-Encoding: identity\r\n\r\n`, 'HTTP_TRANSFER_ENCODING'],
  [
    `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'HTTP_TRANSFER_ENCODING',
  ],
  ['HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 'HTTP_TRANSFER_ENCODING'],
  [`${OK}A: ${'b'.repeat(65_536)}\r\n\r\n`, 'HTTP_HEADERS_TOO_LARGE'],
  [`${OK}${'A: b\r\n'.repeat(20_000)}\r\n`, 'HTTP_HEADERS_TOO_LARGE'],
];

const BAD_BODIES: readonly (readonly [string, string])[] = [
  [`${CHUNKED}\r\n`, 'HTTP_CHUNK_SIZE'],
  [`${CHUNKED};x\r\n`, 'HTTP_CHUNK_SIZE'],
  [`${CHUNKED}-1\r\n`, 'HTTP_CHUNK_SIZE'],
  [`${CHUNKED}0x5\r\n`, 'HTTP_CHUNK_SIZE'],
  [`${CHUNKED}5 \r\n`, 'HTTP_CHUNK_SIZE'],
  [`${CHUNKED} 5\r\n`, 'HTTP_CHUNK_SIZE'],
  [`${CHUNKED}G\r\n`, 'HTTP_CHUNK_SIZE'],
  [`${CHUNKED}@\r\n`, 'HTTP_CHUNK_SIZE'],
  [`${CHUNKED}5\nhello\r\n`, 'HTTP_CHUNK_SIZE'],
  [`${CHUNKED}5\rhello\r\n`, 'HTTP_CHUNK_SIZE'],
  [`${CHUNKED}${LONG_SIZE}\r\n`, 'HTTP_CHUNK_SIZE'],
  [`${CHUNKED}5;a\nhello`, 'HTTP_CHUNK_EXTENSION'],
  [`${CHUNKED}5;a\0\r\nhello`, 'HTTP_CHUNK_EXTENSION'],
  [`${CHUNKED}5;${'a'.repeat(5000)}\r\nhello`, 'HTTP_CHUNK_EXTENSION'],
  [`${CHUNKED}5\r\nhelloworld\r\n`, 'HTTP_CHUNK_END'],
  [`${CHUNKED}5\r\nhello\n0\r\n\r\n`, 'HTTP_CHUNK_END'],
  [`${CHUNKED}5\r\nhello\r0\r\n\r\n`, 'HTTP_CHUNK_END'],
  [`${CHUNKED}0\r\nA: b\n\r\n`, 'HTTP_TRAILER'],
  [`${CHUNKED}0\r\nA: b\r\n folded\r\n\r\n`, 'HTTP_TRAILER'],
  [`${CHUNKED}0\r\n0\r\n\r\n`, 'HTTP_TRAILER'],
  [`${CHUNKED}0\r\nA: b\rC\r\n\r\n`, 'HTTP_TRAILER'],
  [`${CHUNKED}0\r\n\rx`, 'HTTP_TRAILER'],
  [`${CHUNKED}0\r\n${'A: b\r\n'.repeat(30_000)}\r\n`, 'HTTP_TRAILER'],
];

test('C170 a response that is ambiguous, or not HTTP, is refused with a code', () => {
  for (const [text, outcome] of [...BAD_HEADS, ...BAD_BODIES]) {
    const response = read(text);
    assert.deepEqual(
      [response.outcome, response.isReusable],
      [outcome, false],
      JSON.stringify(text.slice(0, 200)),
    );
  }
});

test('C170 the data before refused bytes is delivered', () => {
  assert.equal(read(`${CHUNKED}5\r\nhello\r\n2\r\nokX`).body, 'hellook');
});

test('a head of 64 KiB is accepted in linear time, also with many blanks', () => {
  const head = `${OK}Content-Length: 0\r\nA: b`;
  const blanks = ' '.repeat(64 * 1024 - head.length - 'c\r\n\r\n'.length);
  const response = read(`${head}${blanks}c\r\n\r\n`);
  assert.deepEqual([response.outcome, response.headers['a']?.length], ['complete', blanks.length + 2]);
  assert.equal(read(`${head}${blanks} c\r\n\r\n`).outcome, 'HTTP_HEADERS_TOO_LARGE');
});

test('chunks of one read become one piece of data, in the place of the first', () => {
  const text = `${CHUNKED}${'3\r\nabc\r\n'.repeat(1000)}0\r\n\r\n`;
  assert.equal(readResponse(Buffer.from(text)).body, 'abc'.repeat(1000));
  const cuts = [CHUNKED.length + 4, CHUNKED.length + 4001, CHUNKED.length + 4007];
  assert.equal(readResponse(Buffer.from(text), cuts).body, 'abc'.repeat(1000));
});
