/**
 * Random responses, cut and damaged anywhere: valid ones are read as node:http reads them; damaged ones end
 * with a code or a valid result, the same for all cuts, and never crash or hang.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../src/base/random.ts';
import { readByNode, readResponse } from './response-parser-driver.ts';

type Dice = (sides: number) => number;

function dice(seed: number): Dice {
  const random = seededRandom(seed);
  return (sides) => Math.floor(random() * sides);
}

function pick<T>(roll: Dice, values: readonly T[]): T {
  const value = values[roll(values.length)];
  assert.ok(value !== undefined);
  return value;
}

/** Bytes of framing, and others. */
const BYTES = ['\r', '\n', '0', '5', ';', 'x', '\0', '\xff', '{', '"'];

function bytes(roll: Dice, length: number, of: readonly string[] = BYTES): string {
  return Array.from({ length }, () => pick(roll, of)).join('');
}

function chunks(roll: Dice, extensions: readonly string[]): string {
  let text = '';
  for (let count = roll(6); count > 0; count--) {
    const data = bytes(roll, 1 + roll(pick(roll, [4, 20, 300])));
    const size = data.length.toString(16).padStart(1 + roll(3), '0');
    const extension = pick(roll, extensions);
    text += `${roll(2) === 0 ? size : size.toUpperCase()}${extension}\r\n${data}\r\n`;
  }
  return `${text}${'0'.repeat(1 + roll(2))}\r\n${pick(roll, ['', '', 'Trailer: x\r\n'])}\r\n`;
}

const EXTENSIONS = ['', '', ';a', ';a=b;c="d"'];

function response(roll: Dice, extensions: readonly string[] = EXTENSIONS): string {
  const early = pick(roll, [
    '',
    '',
    '',
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 103 Hints\r\nA: b\r\n\r\n',
  ]);
  const status = pick(roll, [
    '200 OK',
    '200',
    '404 Not Found',
    '410 Gone',
    '500 x',
    '204 No Content',
    '304 Same',
  ]);
  const fields = Array.from(
    { length: roll(4) },
    () =>
      `${pick(roll, ['X-A', 'x-a', 'Date', 'Warning', 'aUdIt-iD'])}:${pick(roll, ['', ' ', '\t '])}${pick(roll, ['v', 'a b', '', '1, "2"'])}${pick(roll, ['', ' '])}\r\n`,
  ).join('');
  const isEmpty = status.startsWith('204') || status.startsWith('304');
  const data = bytes(roll, roll(200));
  const [framing, body] = isEmpty
    ? ['', '']
    : pick(roll, [
        ['Transfer-Encoding: chunked\r\n', chunks(roll, extensions)],
        [`Content-Length: ${data.length}\r\n`, data],
        ['Connection: close\r\n', data],
      ] as const);
  return `${early}HTTP/1.1 ${status}\r\n${fields}${framing}\r\n${body}`;
}

function randomCuts(roll: Dice, length: number): number[] {
  const cuts = new Set(Array.from({ length: roll(12) }, () => 1 + roll(Math.max(1, length - 1))));
  return [...cuts].sort((a, b) => a - b);
}

test('valid responses are read as node:http reads them, and the same at every boundary', async () => {
  for (let seed = 1; seed <= 300; seed++) {
    const roll = dice(seed);
    const text = Buffer.from(response(roll), 'latin1');
    const { status, headers, body, outcome, ...rest } = readResponse(text);
    assert.equal(outcome, 'complete', `seed ${seed}`);
    assert.deepEqual({ status, headers, body, outcome }, await readByNode(text), `seed ${seed}`);
    const whole = { status, headers, body, outcome, ...rest };
    for (let cut = 1; cut < Math.min(text.length, 600); cut++) {
      assert.deepEqual(readResponse(text, [cut]), whole, `seed ${seed}, cut at ${cut}`);
    }
    for (let round = 0; round < 10; round++) {
      const cuts = randomCuts(roll, text.length);
      assert.deepEqual(readResponse(text, cuts), whole, `seed ${seed}, cut at ${cuts.join()}`);
    }
  }
});

/** Changes, removes, doubles or inserts some bytes, or cuts the end off. */
function damaged(roll: Dice, text: Buffer, noiseOf: readonly string[] = BYTES): Buffer {
  const at = roll(text.length);
  const until = Math.min(text.length, at + 1 + roll(4));
  const [before, piece, after] = [text.subarray(0, at), text.subarray(at, until), text.subarray(until)];
  const noise = Buffer.from(bytes(roll, 1 + roll(3), noiseOf), 'latin1');
  switch (roll(5)) {
    case 0:
      return Buffer.concat([before, noise, after]);
    case 1:
      return Buffer.concat([before, after]);
    case 2:
      return Buffer.concat([before, piece, piece, after]);
    case 3:
      return Buffer.concat([before, noise, piece, after]);
    default:
      return before;
  }
}

const OUTCOMES = /^(complete|torn|HTTP_[A-Z_]+)$/;

test('damaged responses end with a code or a valid result, the same at every boundary', () => {
  const seen = new Map<string, number>();
  for (let seed = 1; seed <= 5000; seed++) {
    const roll = dice(seed);
    let text: Buffer = Buffer.from(response(roll), 'latin1');
    for (let damages = 1 + roll(3); damages > 0 && text.length > 0; damages--) text = damaged(roll, text);
    const whole = readResponse(text);
    assert.match(whole.outcome, OUTCOMES, `seed ${seed}`);
    assert.ok(whole.body.length <= text.length, `seed ${seed}`);
    for (let round = 0; round < 3; round++) {
      const cuts = randomCuts(roll, text.length);
      assert.deepEqual(readResponse(text, cuts), whole, `seed ${seed}, cut at ${cuts.join()}`);
    }
    seen.set(whole.outcome, (seen.get(whole.outcome) ?? 0) + 1);
  }
  for (const outcome of [
    'complete',
    'torn',
    'HTTP_STATUS_LINE',
    'HTTP_HEADER',
    'HTTP_CHUNK_SIZE',
    'HTTP_CHUNK_END',
  ]) {
    assert.ok((seen.get(outcome) ?? 0) > 20, `${outcome} came up ${seen.get(outcome)} times`);
  }
});

/** node:http checks chunk extensions, our parser skips them: they are left out here. */
const NO_SEMICOLON = BYTES.filter((byte) => byte !== ';');

test('the parser refuses every response that node:http refuses, and reads all others as node:http does', async () => {
  let agreed = 0;
  let refused = 0;
  for (let seed = 1; seed <= 2000; seed++) {
    const roll = dice(seed);
    const text = damaged(roll, Buffer.from(response(roll, ['']), 'latin1'), NO_SEMICOLON);
    const byNode = await readByNode(text);
    const { status, body, outcome, surplus } = readResponse(text);
    if (byNode.outcome !== 'complete') refused++;
    if (outcome !== 'complete' || surplus > 0) continue;
    const expected = { status: byNode.status, body: byNode.body, outcome: byNode.outcome };
    assert.deepEqual({ status, body, outcome }, expected, `seed ${seed}: ${JSON.stringify(String(text))}`);
    agreed++;
  }
  assert.ok(agreed > 300 && refused > 300, `${agreed} agreed, ${refused} refused`);
});
