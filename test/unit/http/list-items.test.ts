/**
 * The list splitter: every chunk boundary, random lists and refusals against JSON.parse, and bodies that are
 * no list.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ITEM_BYTES_MAX, ListItems } from '../../../src/http/list-items.ts';
import { COMPACT, ODD, type Json, randomJson, writeJson } from '../kube/json/random-json.ts';
import { Seeded } from '../kube/json/seeded.ts';
import { Collector, writeInPieces } from './collect.ts';

const NO_LIMIT = 1 << 24;
const META = { resourceVersion: '77', continue: 'abc', remainingItemCount: 3 };

function podList(items: Json[]): { [key: string]: Json } {
  return { kind: 'PodList', apiVersion: 'v1', metadata: META, items };
}

const FOUND = { kind: 'PodList', apiVersion: 'v1', ...META };

function read(body: Uint8Array, cuts: readonly number[] = [], sink: Collector = new Collector()): ListItems {
  const list = new ListItems(NO_LIMIT);
  writeInPieces(list, body, cuts, sink);
  return list;
}

test('every pair of chunk boundaries gives the same items', () => {
  const items = [{ a: '"\\]}' }, { 'b\\"': [{}, [], 'x'] }, { ü: '😀', n: null, t: true, i: -1e3 }];
  const list = { kind: 'L', metadata: { resourceVersion: '7' }, items, apiVersion: 'v1' };
  const body = Buffer.from(JSON.stringify(list).replace('},{', '} ,\n {'));
  for (let first = 0; first <= body.length; first++) {
    for (let second = first; second <= body.length; second++) {
      const sink = new Collector();
      const meta = read(body, [first, second], sink).finish();
      assert.deepEqual(sink.values, items, `cut at ${first} and ${second}`);
      assert.deepEqual(meta, { kind: 'L', apiVersion: 'v1', resourceVersion: '7' });
    }
  }
});

test('random lists, orders, boundaries and refusals agree with JSON.parse', () => {
  for (let seed = 1; seed <= 400; seed++) {
    const random = new Seeded(seed);
    const items = Array.from({ length: random.below(12) }, (_, index) => ({
      metadata: { name: `n${index}`, items: [randomJson(random)] },
      [random.pick(['spec', 'a"b', 'ü'])]: randomJson(random),
    }));
    const list = Object.fromEntries(
      random.shuffle([
        ...Object.entries(podList(items)),
        ['extra', { items: [randomJson(random)] }] as const,
      ]),
    );
    const body = Buffer.from(writeJson(list, random, random.chance(0.5) ? COMPACT : ODD));
    const cuts = Array.from({ length: random.below(50) }, () => random.below(body.length)).sort(
      (a, b) => a - b,
    );
    const sink = new Collector(() => random.chance(0.3));
    const meta = read(body, cuts, sink).finish();
    assert.deepEqual(sink.values, items, `seed ${seed}`);
    assert.deepEqual(meta, FOUND, `seed ${seed}`);
  }
});

test('runs of backslashes are kept at every boundary, byte by byte', () => {
  const items = Array.from({ length: 9 }, (_, count) => ({
    [`${'\\'.repeat(count)}"`]: '\\'.repeat(count),
  }));
  const body = Buffer.from(JSON.stringify(podList(items)));
  const sink = new Collector();
  const cuts = Array.from({ length: body.length - 1 }, (_, index) => index + 1);
  read(body, cuts, sink).finish();
  assert.deepEqual(sink.values, items);
});

test('C188 a list whose beginning is missing is not quoted', () => {
  const body = JSON.stringify({ ...podList([{ data: { password: 'hunter2' } }]), kind: 'SecretList' });
  for (let start = 1; start < body.length; start++) {
    const list = new ListItems(NO_LIMIT);
    list.write(Buffer.from(body.slice(start)), 0, new Collector());
    assert.throws(
      () => list.finish(),
      ({ message }: Error) => !message.includes('hunter2'),
      body.slice(start),
    );
  }
});

test('no items, null and missing items are an empty list', () => {
  for (const text of [
    '{"metadata":{"resourceVersion":"1"},"items":[]}',
    '{"metadata":{"resourceVersion":"1"},"items":[ \n ]}',
    '{"items":null,"metadata":{"resourceVersion":"1"}}',
    '{"metadata":{"resourceVersion":"1","continue":""}}',
  ]) {
    const sink = new Collector();
    assert.deepEqual(read(Buffer.from(text), [], sink).finish(), { resourceVersion: '1' }, text);
    assert.deepEqual(sink.texts, []);
  }
});

test('kind and apiVersion are known at the first item when they come before it', () => {
  const list = new ListItems(NO_LIMIT);
  const body = Buffer.from(JSON.stringify(podList([{ a: 1 }])));
  const sink = new Collector(() => true);
  list.write(body, 0, sink);
  assert.equal(sink.offers, 1);
  assert.deepEqual(list.head(), { kind: 'PodList', apiVersion: 'v1' });
  const sorted = new ListItems(NO_LIMIT);
  sorted.write(Buffer.from('{"apiVersion":"v1","items":[{}],"kind":"PodList"'), 0, new Collector(() => true));
  assert.deepEqual(sorted.head(), { apiVersion: 'v1' });
});

test('a refused item leaves the chunk unconsumed and is not scanned or offered twice in between', () => {
  const list = new ListItems(NO_LIMIT);
  let room = 1;
  const sink = new Collector(() => room-- <= 0);
  const chunk = Buffer.from('{"items":[{"a":1},{"b":2},{"c":');
  const at = list.write(chunk, 0, sink);
  assert.equal(chunk.toString('utf8', at), '{"b":2},{"c":');
  assert.equal(list.write(chunk, at, sink), at);
  room = 1;
  assert.equal(list.write(chunk, at, sink), chunk.length);
  const last = Buffer.from('3}');
  const lastAt = list.write(last, 0, sink);
  assert.ok(lastAt < last.length);
  room = 1;
  assert.equal(list.write(last, lastAt, sink), last.length);
  assert.deepEqual(sink.texts, ['{"a":1}', '{"b":2}', '{"c":3}']);
  list.write(Buffer.from('],"metadata":{"resourceVersion":"5"}}'), 0, sink);
  assert.equal(list.finish().resourceVersion, '5');
});

test('items above the limit come as their beginning and their length, in order with their neighbours', () => {
  const body = Buffer.from(JSON.stringify(podList([{ a: '1' }, { a: '123456789' }, { b: '2' }])));
  for (let cut = 0; cut <= body.length; cut++) {
    const list = new ListItems(10);
    const random = new Seeded(cut);
    const sink = new Collector(() => random.chance(0.3));
    writeInPieces(list, body, [cut], sink);
    assert.deepEqual(
      sink.taken,
      [{ text: '{"a":"1"}' }, { text: '{"a":"1234', totalBytes: 17 }, { text: '{"b":"2"}' }],
      `cut at ${cut}`,
    );
    assert.deepEqual(list.finish(), FOUND);
  }
});

test('a list that was cut off anywhere is truncated', () => {
  const body = Buffer.from(JSON.stringify(podList([{ a: 1 }, { b: [2] }])));
  for (let length = 0; length < body.length; length++) {
    const list = new ListItems(NO_LIMIT);
    list.write(body.subarray(0, length), 0, new Collector());
    assert.throws(() => list.finish(), { code: 'ERR_KUBELOOM_TRUNCATED' }, `${length} bytes`);
  }
});

test('a body that is not a list is malformed and never an empty list', () => {
  const malformed = [
    'not json at all',
    '<html>502</html>',
    '[]',
    '"items"',
    '5',
    '{}',
    '{"metadata":null,"items":[]}',
    '{"metadata":[],"items":[]}',
    '{"items":null,"metadata":{},"items":[{}],"it\\u0065ms":[]}',
    '{"items":[]}',
    '{"kind":"Status","metadata":{},"status":"Failure"}',
    '{"kind":"Table","metadata":{},"rows":[]}',
    '{"kind":"Pod","metadata":{"name":"a","resourceVersion":"4"}}',
    '{"metadata":{},"items":{}}',
    '{"metadata":{},"items":"none"}',
    '{"metadata":{},"items":[1]}',
    '{"metadata":{},"items":["x"]}',
    '{"metadata":{},"items":[{},]}',
    '{"metadata":{},"items":[,{}]}',
    '{"metadata":{},"items":[{}{}]}',
    '{"metadata":{},"items":[{}},"x":[]}',
    '{"metadata":{},"items":[{}],"items":[{}]}',
    '{"metadata":{},"items":[]} trailing',
    '{"metadata":{},"items":[]}{}',
    '{"metadata":{},"items":[],}',
    '{"metadata":{] ,"items":[]}',
    '{"metadata" {},"items":[]}',
    '{"metadata":{}"items":[]}',
    '{metadata:{},"items":[]}',
  ];
  for (const text of malformed) {
    for (const cut of [0, 1, Math.floor(text.length / 2), text.length - 1]) {
      const list = read(Buffer.from(text), [Math.max(cut, 0)]);
      assert.throws(() => list.finish(), { code: 'ERR_KUBELOOM_MALFORMED_RESPONSE' }, text);
    }
  }
});

test('C192 an endless answer that is not a list is given up within the first megabytes', () => {
  const list = new ListItems(NO_LIMIT);
  const sink = new Collector();
  list.write(Buffer.from('{"metadata":{"x":"'), 0, sink);
  const chunk = Buffer.alloc(64 * 1024, 'x');
  for (let count = 0; count < 40; count++) list.write(chunk, 0, sink);
  assert.throws(() => list.finish(), { code: 'ERR_KUBELOOM_MALFORMED_RESPONSE' });
  assert.deepEqual(
    sink.faults.map((error) => 'code' in error && error.code),
    ['ERR_KUBELOOM_MALFORMED_RESPONSE'],
  );
});

const OPEN = '{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[';
for (const [what, begin, filler] of [
  ['an item', `${OPEN}{"a":"`, 'x'],
  ['an item of brackets', `${OPEN}{"a":`, '['],
  ['the space before an item', `${OPEN}{}, `, ' '],
] as const) {
  test(`C192 a list is given up when ${what} has no end, and nothing of it is kept`, () => {
    const list = new ListItems(NO_LIMIT);
    const sink = new Collector();
    list.write(Buffer.from(begin), 0, sink);
    const chunk = Buffer.alloc(16 * 2 ** 20, filler);
    for (let bytes = 0; bytes <= ITEM_BYTES_MAX + chunk.length; bytes += chunk.length)
      assert.equal(list.write(chunk, 0, sink), chunk.length);
    assert.equal(sink.faults.length, 1);
    assert.throws(() => list.finish(), { code: 'ERR_KUBELOOM_MALFORMED_RESPONSE' });
  });
}
