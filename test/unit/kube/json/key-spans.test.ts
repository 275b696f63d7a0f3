/** Tests of the key scanner with cases that break a substring search, and against JSON.parse. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeySpans, scanKey, scanMetadata } from '../../../../src/kube/json/key-spans.ts';
import { decodeStringContent } from '../../../../src/kube/json/read.ts';
import { embed, podObject, sortKeys } from './objects.ts';
import { COMPACT, ODD, type Json, randomJson, randomString, writeJson } from './random-json.ts';
import { Seeded } from './seeded.ts';

type Key = (string | undefined)[];

/** Returns name, namespace, uid and resourceVersion; undefined when there is no key. */
function scan(text: string): Key | undefined {
  const { bytes, start, end } = embed(text);
  const spans = new KeySpans();
  if (!scanKey(bytes, start, end, spans)) return undefined;
  const read = (from: number, to: number): string | undefined =>
    from < 0 ? undefined : decodeStringContent(bytes, from, to);
  return [
    read(spans.nameStart, spans.nameEnd),
    read(spans.namespaceStart, spans.namespaceEnd),
    read(spans.uidStart, spans.uidEnd),
    read(spans.resourceVersionStart, spans.resourceVersionEnd),
  ];
}

const KEYS = ['name', 'namespace', 'uid', 'resourceVersion'];
const POD_KEY = ['web-4', 'team-4', '00000000-0000-4000-8000-000000000004', '1004'];

test("the key is found in Go's field order and in sorted order", () => {
  assert.deepEqual(scan(JSON.stringify(podObject(4))), POD_KEY);
  assert.deepEqual(scan(JSON.stringify(sortKeys(podObject(4)))), POD_KEY);
  assert.deepEqual(scan(JSON.stringify(podObject(4), null, 2)), POD_KEY);
});

test('the scan stops once all four are known and does not read on', () => {
  const text = JSON.stringify(podObject(4));
  const cut = text.indexOf('"generation"') - 1;
  assert.deepEqual(scan(text.slice(0, cut)), POD_KEY);
});

test('keys with the same names elsewhere are ignored', () => {
  const fake = { name: 'fake', namespace: 'fake', uid: 'fake', resourceVersion: 'fake' };
  const object = {
    spec: { metadata: fake, ...fake },
    ...fake,
    text: '"metadata":{"name":"fake"}',
    metadata: { annotations: fake, labels: { 'x": {"name': 'fake' }, managedFields: [fake], name: 'real' },
  };
  assert.deepEqual(scan(JSON.stringify(object)), ['real', undefined, undefined, undefined]);
});

test('keys written with escapes are found, and near misses are not', () => {
  const text =
    '{"m\\u0065tadata":{"n\\u0061m\\u0065":"a","\\u0075id":"u","nam\\u00e9":"no","namespac\\u0065s":"no"}}';
  assert.deepEqual(scan(text), ['a', undefined, 'u', undefined]);
});

test('escapes inside name and namespace are reported', () => {
  const { bytes, start, end } = embed('{"metadata":{"name":"a\\u002db","namespace":"plain"}}');
  const spans = new KeySpans();
  assert.equal(scanKey(bytes, start, end, spans), true);
  assert.equal(spans.nameEscaped, true);
  assert.equal(spans.namespaceEscaped, false);
});

test('values that are not strings count as absent', () => {
  assert.equal(scan('{"metadata":{"name":5,"uid":"u"}}'), undefined);
  const text = '{"metadata":{"uid":null,"namespace":{"name":"x"},"resourceVersion":7,"name":"a"}}';
  assert.deepEqual(scan(text), ['a', undefined, undefined, undefined]);
});

test('an empty string means the same as an absent member, in any order', () => {
  const members = { name: 'a', namespace: '', uid: '', resourceVersion: '5' };
  for (const metadata of permutations(Object.entries(members))) {
    const text = JSON.stringify({ metadata: Object.fromEntries(metadata) });
    assert.deepEqual(scan(text), ['a', undefined, undefined, '5'], text);
    assert.equal(scan(text.replace('"a"', '""')), undefined, 'no name');
    assert.deepEqual(scan(text.replace('"5"', '""')), ['a', undefined, undefined, undefined], text);
  }
});

test('an object without a name, or that is none, is refused', () => {
  const refused = [
    '',
    'null',
    '[]',
    '"metadata"',
    '{}',
    '{"metadata":null}',
    '{"metadata":[]}',
    '{"metadata":{}}',
    '{"metadata":{"name":""}}',
    '{"metadata":{"namespace":"x","uid":"u"}}',
    '{"kind":"Pod"',
    '{"kind" "Pod","metadata":{"name":"a"}}',
    '{"metadata":{"name" "a"}}',
    '{"metadata":{name:"a"}}',
    '{"metadata":{"name":"a"',
    '{"metadata":{"name":"a",}}',
    '{"metadata":{"name":"a"]}}',
    '{"metadata":{"uid":"u" "name":"a"}}',
    '{,"metadata":{"name":"a"}}',
  ];
  for (const text of refused) assert.equal(scan(text), undefined, text);
});

test('spans of an earlier object are cleared', () => {
  const spans = new KeySpans();
  const first = Buffer.from(JSON.stringify(podObject(1)));
  assert.equal(scanKey(first, 0, first.length, spans), true);
  const second = Buffer.from('{"metadata":{"name":"n"}}');
  assert.equal(scanKey(second, 0, second.length, spans), true);
  assert.deepEqual([spans.namespaceStart, spans.uidStart, spans.resourceVersionStart], [-1, -1, -1]);
});

test('random objects in random key orders agree with JSON.parse', () => {
  for (let seed = 1; seed <= 1500; seed++) {
    const random = new Seeded(seed);
    const metadata = shuffledMembers(random, 0.8);
    const object: { [key: string]: Json } = {};
    for (const key of random.shuffle(['kind', 'spec', 'metadata', 'status'])) {
      object[key] = key === 'metadata' ? metadata : randomJson(random, 3);
    }
    const text = writeJson(object, random, random.chance(0.5) ? COMPACT : ODD);
    const expected = KEYS.map((key) => {
      const value = metadata[key];
      return typeof value === 'string' && value !== '' ? value : undefined;
    });
    assert.deepEqual(scan(text), expected[0] && expected, `seed ${seed}: ${text}`);
  }
});

function permutations<T>(values: readonly T[]): T[][] {
  if (values.length === 0) return [[]];
  return values.flatMap((first, at) => permutations(values.toSpliced(at, 1)).map((rest) => [first, ...rest]));
}

function shuffledMembers(random: Seeded, presence: number): { [key: string]: Json } {
  const members: { [key: string]: Json } = {};
  for (const key of random.shuffle([...KEYS, 'labels', 'managedFields', 'generation'])) {
    if (!random.chance(presence)) continue;
    members[key] = KEYS.includes(key) && random.chance(0.9) ? randomString(random) : randomJson(random, 2);
  }
  return members;
}

test("Go's order is distinguished from every other that would hide a field before the resourceVersion", () => {
  const isStandardOrder = (metadata: string): boolean => {
    const { bytes, start, end } = embed(metadata);
    const spans = new KeySpans();
    assert.ok(scanMetadata(bytes, start, end, spans));
    return spans.isStandardOrder;
  };
  const pod = podObject(4) as { readonly metadata: Json };
  assert.equal(isStandardOrder(JSON.stringify(pod.metadata)), true);
  assert.equal(isStandardOrder(JSON.stringify(sortKeys(pod.metadata))), false);
  assert.equal(isStandardOrder('{"name":"a","generateName":"g","uid":"u","resourceVersion":"1"}'), true);
  assert.equal(isStandardOrder('{"name":"a","labels":{},"uid":"u","resourceVersion":"1"}'), false);
  assert.equal(isStandardOrder('{"name":"a","uid":1,"uid":"u","resourceVersion":"1"}'), false);
  assert.equal(isStandardOrder('{"name":"a","resourceVersion":"1","uid":"u"}'), false);
  assert.equal(isStandardOrder('{"name":"a","resourceVersion":"1"}'), false);
  assert.equal(isStandardOrder('{"name":"a","uid":"","resourceVersion":"1"}'), false);
  assert.equal(isStandardOrder('{"name":"a","namespace":"","uid":"u","resourceVersion":"1"}'), true);
  const { bytes, start, end } = embed(JSON.stringify({ status: {}, metadata: pod.metadata }));
  const spans = new KeySpans();
  assert.ok(scanKey(bytes, start, end, spans));
  assert.equal(spans.isStandardOrder, false, 'who knows what comes before metadata');
});
