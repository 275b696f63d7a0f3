/**
 * The splitter at every chunk boundary, with refusals, torn and oversized events and lines: none is lost or
 * repeated, whatever separates them. The event scanner: the shortcut for canonical events and the general way agree with JSON.parse.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LineEvidence } from '../../../src/http/watch-frames.ts';
import {
  LINE_BYTES_MAX,
  WatchEventSpans,
  WatchEventType,
  WatchFrames,
  scanWatchEvent,
} from '../../../src/http/watch-frames.ts';
import { embed, podObject } from '../kube/json/objects.ts';
import { COMPACT, ODD, type Json, type WriteStyle, randomJson, writeJson } from '../kube/json/random-json.ts';
import { Seeded } from '../kube/json/seeded.ts';
import { Collector, writeInPieces } from './collect.ts';

const NO_LIMIT = 1 << 20;

function refusing(random: Seeded, probability: number): Collector {
  return new Collector(() => random.chance(probability));
}

test('every chunk boundary gives the same lines; empty lines are skipped, carriage returns tolerated', () => {
  const body = Buffer.from('{"a":1}\n\n{"ü":"€😀"}\r\n\r\n\r\nx\n{}\n');
  const expected = ['{"a":1}', '{"ü":"€😀"}', 'x', '{}'];
  for (let first = 0; first <= body.length; first++) {
    for (let second = first; second <= body.length; second++) {
      const frames = new WatchFrames(NO_LIMIT);
      const sink = new Collector();
      writeInPieces(frames, body, [first, second], sink);
      assert.deepEqual(sink.texts, expected, `cut at ${first} and ${second}`);
      assert.equal(frames.finish(), 'clean');
    }
  }
});

test('random lines, boundaries and refusals lose, repeat and reorder no line', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = new Seeded(seed);
    const lines = Array.from({ length: 40 }, (_, index) => `${index}${'x'.repeat(random.below(90))}`);
    const body = Buffer.from(lines.map((line) => `${line}${random.chance(0.2) ? '\r\n' : '\n'}`).join(''));
    const cuts = Array.from({ length: random.below(60) }, () => random.below(body.length)).sort(
      (a, b) => a - b,
    );
    const frames = new WatchFrames(NO_LIMIT);
    const sink = refusing(random, 0.4);
    writeInPieces(frames, body, cuts, sink);
    assert.deepEqual(sink.texts, lines, `seed ${seed}`);
    assert.equal(frames.finish(), 'clean');
  }
});

const STYLES: readonly WriteStyle[] = [COMPACT, COMPACT, ODD, { spaces: 0.5, escapes: 0.3 }];
const BETWEEN = ['\n', '\n', '', ' ', '\r\n', '\n\n\t'];

function randomEvent(random: Seeded, style: WriteStyle = random.pick(STYLES)): string {
  const members: [string, Json][] = [
    ['type', random.pick(['ADDED', 'MODIFIED'])],
    [
      'object',
      { metadata: { involvedObject: randomJson(random), object: '}}\n{' }, spec: randomJson(random) },
    ],
  ];
  return writeJson(Object.fromEntries(random.chance(0.8) ? members : members.toReversed()), random, style);
}

test('C450 events are values of JSON, joined, on lines or on several lines, with any cuts and refusals', () => {
  const lists: boolean[] = [];
  for (let seed = 1; seed <= 400; seed++) {
    const random = new Seeded(seed);
    const events = Array.from({ length: 1 + random.below(8) }, () => randomEvent(random));
    const body = Buffer.from(events.map((text) => `${text}${random.pick(BETWEEN)}`).join(''));
    const cuts = Array.from({ length: random.below(6) }, () => random.below(body.length)).sort(
      (a, b) => a - b,
    );
    const evidence = random.pick<LineEvidence>([{}, {}, { isLineWriter: false }, { isLineWriter: true }]);
    const isScanned = evidence.isLineWriter === false;
    const frames = new WatchFrames(NO_LIMIT, evidence);
    const sink = refusing(random, 0.3);
    writeInPieces(frames, body, random.chance(0.1) ? [...body.keys()].slice(1) : cuts, sink);
    if (sink.needsList === true) lists.push(isScanned);
    // The list follows an event that was not whole.
    const count = sink.needsList === true ? Math.max(0, sink.texts.length - 1) : Infinity;
    const texts = sink.texts.map((text) => text.trim());
    assert.deepEqual(texts.slice(0, count), events.slice(0, count), `seed ${seed}`);
    assert.equal(frames.finish(), 'clean');
  }
  assert.ok(lists.length < 40 && !lists.includes(true), `${lists.length} lists`);
});

test('C450 lines are whole wherever chunks cut them, and no list is needed', () => {
  for (let seed = 1; seed <= 400; seed++) {
    const random = new Seeded(seed);
    const events = Array.from({ length: 1 + random.below(8) }, () => randomEvent(random, COMPACT));
    const body = Buffer.from(events.map((text) => `${text}${random.pick(['\n', '\r\n'])}`).join(''));
    const cuts = Array.from({ length: random.below(12) }, () => random.below(body.length)).sort(
      (a, b) => a - b,
    );
    const frames = new WatchFrames(random.pick([NO_LIMIT, 200]), { isLineWriter: true });
    const sink = refusing(random, 0.3);
    writeInPieces(frames, body, random.chance(0.1) ? [...body.keys()].slice(1) : cuts, sink);
    const textOf = (event: string, index: number): string =>
      sink.taken[index]?.totalBytes === undefined ? event : Buffer.from(event).toString('utf8', 0, 200);
    assert.deepEqual(sink.texts, events.map(textOf), `seed ${seed}`);
    assert.deepEqual([frames.finish(), sink.faults], ['clean', []]);
  }
});

test('C450 an event is read when its last brace has come, with or without a line feed', () => {
  const frames = new WatchFrames(NO_LIMIT);
  const sink = new Collector();
  frames.write(Buffer.from('{"type":"ADDED","object":{"a":{}}'), 0, sink);
  frames.write(Buffer.from('\n,"x":1}{"type"'), 0, sink);
  assert.deepEqual(sink.texts, ['{"type":"ADDED","object":{"a":{}}\n,"x":1}']);
  frames.write(Buffer.from(':"ADDED","object":{"b":{}}}'), 0, sink);
  assert.equal(sink.texts.length, 2);
});

test('C450 a line that ends in two braces inside an event is not taken for the event', () => {
  const split = '{"type":"ADDED","object":{"metadata":{"labels":{}}\n,"spec":{"of":"a"}}}';
  const escaped = String.raw`{"type":"ADDED","object":{"of":"a"}}{"type":"ADDED","\u006fbject":{"of":"b"}}`;
  for (const text of [`${split}\n${split}\n{}`, `${escaped}\n{}`]) {
    const sink = new Collector();
    new WatchFrames(NO_LIMIT).write(Buffer.from(text), 0, sink);
    assert.equal(sink.values.length, 3);
  }
});

test('C450 C23 a line that is cut off is offered as it is as soon as the next event begins, or when it ends in a string', () => {
  const good = '{"type":"ADDED","object":{"a":{}}}';
  for (const cut of ['{"type":"ADDED","object":{"a":{}}', '{"type":"ADDED","object":{"ki', '{"a":1', 'x']) {
    for (let at = 0; at <= cut.length + 1; at++) {
      const sink = new Collector();
      writeInPieces(new WatchFrames(NO_LIMIT), Buffer.from(`${cut}\n${good}\n`), [at], sink);
      assert.deepEqual(
        sink.texts.map((text) => text.trim()),
        [cut, good],
        `cut at ${at}`,
      );
    }
  }
});

test('C450 the last line of a chunk is not scanned if the server writes lines, and a list follows if it was no whole event', () => {
  const line = '{"type":"ADDED","object":{"a":{}}}\n';
  const damaged = '{"type":"ADDED","object":{"a":[}}\n';
  const evidence: LineEvidence = {};
  const sink = new Collector();
  const frames = new WatchFrames(NO_LIMIT, evidence);
  for (const chunk of [line, damaged, line]) frames.write(Buffer.from(chunk), 0, sink);
  assert.deepEqual(
    sink.texts,
    [line, damaged, line].map((text) => text.trim()),
  );
  frames.write(Buffer.from(line.replace('}}}', '}}\n}').slice(0, -2)), 0, sink);
  frames.write(Buffer.from('}\n'), 0, sink);
  assert.deepEqual([sink.faults.length, sink.needsList, evidence.isLineWriter], [1, true, false]);
  const next = new WatchFrames(NO_LIMIT, evidence);
  for (const chunk of [line, damaged]) next.write(Buffer.from(chunk), 0, sink);
  assert.equal(sink.texts.at(-1), line.trim(), 'each event is scanned from then on');
});

test('C23 lines that are no JSON together end the response, because events are among them', () => {
  const frames = new WatchFrames(NO_LIMIT);
  const sink = new Collector();
  const body = '{"type":"ADDED","object":{"a":\n{"type":"ADDED","object":{}}\n{"type":"ADDED","object":{}}\n';
  frames.write(Buffer.from(body), 0, sink);
  assert.deepEqual([sink.offers, sink.faults.length], [0, 1]);
  assert.match(String(sink.faults[0]), /ERR_KUBELOOM_MALFORMED_EVENT|not JSON/);
  assert.equal(frames.finish(), 'clean');
});

test('a refused line in one chunk is offered again from the returned index', () => {
  const chunk = Buffer.from('one\ntwo\nthree\n');
  const frames = new WatchFrames(NO_LIMIT);
  let room = 1;
  const sink = new Collector(() => room-- <= 0);
  assert.equal(frames.write(chunk, 0, sink), 4);
  assert.deepEqual(sink.texts, ['one']);
  assert.equal(frames.write(chunk, 4, sink), 4);
  room = 9;
  assert.equal(frames.write(chunk, 4, sink), chunk.length);
  assert.deepEqual(sink.texts, ['one', 'two', 'three']);
});

test('a refused assembled line leaves the chunk unconsumed, also when it ends with the chunk', () => {
  const frames = new WatchFrames(NO_LIMIT);
  let isFull = true;
  const sink = new Collector(() => isFull);
  assert.equal(frames.write(Buffer.from('he'), 0, sink), 2);
  const chunk = Buffer.from('llo\n');
  const at = frames.write(chunk, 0, sink);
  assert.ok(at < chunk.length);
  assert.equal(frames.write(chunk, at, sink), at);
  isFull = false;
  assert.equal(frames.write(chunk, at, sink), chunk.length);
  assert.deepEqual(sink.texts, ['hello']);
  assert.equal(sink.offers, 3);
});

test('a torn line is dropped and reported, once', () => {
  const frames = new WatchFrames(NO_LIMIT);
  const sink = new Collector();
  frames.write(Buffer.from('whole\ntorn'), 0, sink);
  assert.equal(frames.finish(), 'partial');
  assert.deepEqual(sink.texts, ['whole']);
  frames.write(Buffer.from('{"torn":{'), 0, sink);
  assert.equal(frames.finish(), 'partial');
  frames.write(Buffer.from('{"next":1}\n'), 0, sink);
  assert.deepEqual(sink.texts, ['whole', '{"next":1}']);
  assert.equal(frames.finish(), 'clean');
});

test('a line that was refused and never taken counts as torn', () => {
  const frames = new WatchFrames(NO_LIMIT);
  const sink = new Collector(() => true);
  frames.write(Buffer.from('a'), 0, sink);
  frames.write(Buffer.from('b\n'), 0, sink);
  assert.equal(frames.finish(), 'partial');
});

test('lines above the limit come as their beginning and their length, in order with their neighbours', () => {
  const body = Buffer.from('12345678\n123456789\n1234567890\r\n12345678\r\nend\n');
  const expected = [
    { text: '12345678' },
    { text: '12345678', totalBytes: 9 },
    { text: '12345678', totalBytes: 10 },
    { text: '12345678' },
    { text: 'end' },
  ];
  for (let first = 0; first <= body.length; first++) {
    for (let second = first; second <= body.length; second++) {
      const random = new Seeded(first * 1000 + second);
      const frames = new WatchFrames(8);
      const sink = refusing(random, 0.3);
      writeInPieces(frames, body, [first, second], sink);
      assert.deepEqual(sink.taken, expected, `cut at ${first} and ${second}`);
    }
  }
});

test('a line of 32 MiB in chunks of 16 KiB is copied a bounded number of times', (context) => {
  const frames = new WatchFrames(64 << 20);
  const chunk = Buffer.alloc(16 * 1024, 'x');
  let copied = 0;
  const copy = Buffer.prototype.copy;
  context.mock.method(
    Buffer.prototype,
    'copy',
    function counted(this: Buffer, ...given: Parameters<typeof copy>) {
      const bytes = copy.apply(this, given);
      copied += bytes;
      return bytes;
    },
  );
  const sink = { length: 0, frame: takeLength, oversized: () => true, unreadable: () => undefined };
  function takeLength(_bytes: Uint8Array, start: number, end: number): boolean {
    sink.length = end - start;
    return true;
  }
  for (let count = 0; count < 2048; count++) frames.write(chunk, 0, sink);
  frames.write(Buffer.from('\n'), 0, sink);
  assert.equal(sink.length, 32 << 20);
  assert.ok(copied >= 32 << 20 && copied <= 3 * (32 << 20), `${copied} bytes were copied`);
});

test('C192 a line without an end is given up at the limit, and nothing of it is kept', () => {
  const frames = new WatchFrames(NO_LIMIT);
  const sink = new Collector();
  const chunk = Buffer.alloc(16 * 2 ** 20, 'x');
  for (let bytes = 0; bytes <= LINE_BYTES_MAX + chunk.length; bytes += chunk.length)
    assert.equal(frames.write(chunk, 0, sink), chunk.length);
  frames.write(Buffer.from('\n{"a":1}\n'), 0, sink);
  assert.deepEqual(
    sink.faults.map((error) => 'code' in error && error.code),
    ['ERR_KUBELOOM_MALFORMED_EVENT'],
  );
  assert.equal(sink.offers, 0);
  assert.equal(frames.finish(), 'clean');
});

function scan(text: string): { type: WatchEventType; name: string; object: string } | undefined {
  const { bytes, start, end } = embed(text);
  const spans = new WatchEventSpans();
  if (!scanWatchEvent(bytes, start, end, spans)) return undefined;
  const slice = (from: number, to: number): string => Buffer.from(bytes.slice(from, to)).toString('utf8');
  return {
    type: spans.type,
    name: slice(spans.typeStart, spans.typeEnd),
    object: slice(spans.objectStart, spans.objectEnd),
  };
}

test('every type is found with the exact span of its object', () => {
  const object = JSON.stringify(podObject(1));
  const types: [string, WatchEventType][] = [
    ['ADDED', WatchEventType.Added],
    ['MODIFIED', WatchEventType.Modified],
    ['DELETED', WatchEventType.Deleted],
    ['BOOKMARK', WatchEventType.Bookmark],
    ['ERROR', WatchEventType.Error],
    ['RENAMED', WatchEventType.Unknown],
  ];
  for (const [name, type] of types) {
    assert.deepEqual(scan(`{"type":"${name}","object":${object}}`), { type, name, object });
    assert.deepEqual(scan(`{"type":"${name}","object":${object} } \r`), { type, name, object });
    assert.deepEqual(scan(`{"object":${object},"type":"${name}"}`), { type, name, object });
    assert.deepEqual(scan(` { "type" : "${name}" , "object" : ${object} }`), { type, name, object });
  }
});

test('a canonical event is not scanned: its object may be anything between the braces', () => {
  assert.deepEqual(scan('{"type":"ADDED","object":{"broken":]}}')?.object, '{"broken":]}');
});

test('C450 members behind the object are no part of it', () => {
  const spans = new WatchEventSpans();
  for (const [name, extra] of ['{"a":{}}', '{}', '1'].entries()) {
    const event = Buffer.from(`{"type":"ADDED","object":{"name":${name}},"extra":${extra}}`);
    assert.ok(scanWatchEvent(event, 0, event.length, spans));
    assert.equal(event.toString('utf8', spans.objectStart, spans.objectEnd), `{"name":${name}}`);
  }
});

test('bytes that are not a watch event are refused', () => {
  const refused = [
    '',
    '{}',
    'null',
    'garbage',
    '{"type":"ADDED"}',
    '{"object":{}}',
    '{"type":"ADDED","object":null}',
    '{"type":"ADDED","object":[]}',
    '{"type":5,"object":{}}',
    '{"type":"ADDED","object":{}',
    '{"type":"ADDED","object":{"a":1',
    '{"type":"ADDED","object":',
    '{"type":"ADDED","object":{}]',
    '[{"type":"ADDED","object":{}}]',
    '{"kind":"Status","code":500}',
  ];
  for (const text of refused) assert.equal(scan(text), undefined, text);
});

test('spans of an earlier event are reset', () => {
  const spans = new WatchEventSpans();
  const first = Buffer.from('{"type":"DELETED","object":{"a":1}}');
  assert.equal(scanWatchEvent(first, 0, first.length, spans), true);
  const second = Buffer.from('{"object":{}}');
  assert.equal(scanWatchEvent(second, 0, second.length, spans), false);
});

test('random events in any order agree with JSON.parse', () => {
  for (let seed = 1; seed <= 500; seed++) {
    const random = new Seeded(seed);
    const object: Json = { a: randomJson(random), metadata: randomJson(random) };
    const members: [string, Json][] = [
      ['type', random.pick(['ADDED', 'MODIFIED', 'DELETED'])],
      ['object', object],
    ];
    const event = Object.fromEntries([['extra', randomJson(random)], ...random.shuffle(members)]);
    const text = writeJson(event, random, ODD);
    const found = scan(text);
    assert.deepEqual(found && JSON.parse(found.object), object, `seed ${seed}: ${text}`);
  }
});
