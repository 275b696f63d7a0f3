/**
 * Tests of removing fields from the bytes of objects: valid JSON stays valid, all other bytes stay. Metadata without
 * managedFields have the same values for every writer and order.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DROP_MALFORMED, dropPaths, metadataText } from '../../../../src/kube/json/drop.ts';
import { pathTrie, splitPath } from '../../../../src/kube/json/read.ts';
import { embed, podObject } from './objects.ts';
import { COMPACT, ODD, type Json, randomJson, writeJson } from './random-json.ts';
import { Seeded } from './seeded.ts';

function drop(text: string, paths: readonly string[]): string | number {
  const { bytes, start, end } = embed(text);
  const out = new Uint8Array(100_000);
  const outEnd = dropPaths(bytes, start, end, pathTrie(paths), out, 3);
  return outEnd < 0 ? outEnd : Buffer.from(out.slice(3, outEnd)).toString('utf8');
}

function without(value: Json, paths: readonly string[]): Json {
  const copy = structuredClone(value);
  for (const path of paths) {
    const keys = splitPath(path);
    const last = keys.pop() ?? '';
    let holder: Json | undefined = copy;
    for (const key of keys) {
      holder = isObject(holder) && Object.hasOwn(holder, key) ? holder[key] : undefined;
    }
    if (isObject(holder)) delete holder[last];
  }
  return copy;
}

function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

test('managedFields are removed and all other bytes stay', () => {
  const object = podObject(1);
  const text = JSON.stringify(object);
  assert.equal(
    drop(text, ['metadata.managedFields']),
    JSON.stringify(without(object, ['metadata.managedFields'])),
  );
  assert.equal(drop(text, ['absent', 'metadata.absent']), text);
});

test('commas are correct wherever the dropped members stand', () => {
  const text = '{"a":1,"b":2,"c":3,"d":4}';
  const cases: [string, string][] = [
    ['a', '{"b":2,"c":3,"d":4}'],
    ['b', '{"a":1,"c":3,"d":4}'],
    ['d', '{"a":1,"b":2,"c":3}'],
    ['a b', '{"c":3,"d":4}'],
    ['b c', '{"a":1,"d":4}'],
    ['c d', '{"a":1,"b":2}'],
    ['a c', '{"b":2,"d":4}'],
    ['b d', '{"a":1,"c":3}'],
    ['a d', '{"b":2,"c":3}'],
    ['a b c', '{"d":4}'],
    ['a b c d', '{}'],
  ];
  for (const [paths, expected] of cases) assert.equal(drop(text, paths.split(' ')), expected, paths);
});

test('a path through a value that is not an object drops nothing', () => {
  const text = '{"a":[{"b":1}],"c":"x","d":null}';
  assert.equal(drop(text, ['a.b', 'c.b', 'd.b']), text);
});

test('escaped keys, keys with dots and quotes, and every one of two equal keys are dropped', () => {
  assert.equal(drop('{"m\\u0065":1,"x":2}', ['me']), '{"x":2}');
  assert.equal(drop('{"a.b/c":1,"x":2}', ['a\\.b/c']), '{"x":2}');
  assert.equal(drop('{"a\\"b":1,"c\\\\d":2,"x":3}', ['a"b', 'c\\\\d']), '{"x":3}');
  assert.equal(drop('{"a":1,"x":2,"a":3}', ['a']), '{"x":2}');
});

test('malformed objects have a result of their own', () => {
  for (const malformed of [
    '',
    '[]',
    'null',
    '{"a"}',
    '{"a":1,}',
    '{"b":{"c":2}',
    '{"b":{"c":2,}}',
    '{"a":1 "b":2}',
  ]) {
    assert.equal(drop(malformed, ['a', 'b.d']), DROP_MALFORMED, malformed);
  }
});

test('random objects agree with deleting from the parsed object', () => {
  const paths = [
    'name',
    'spec',
    'metadata.uid',
    'metadata.items',
    'items.name.uid',
    'a\\.b/c',
    'k:{"uid":"x"}',
    'ü.spec',
  ];
  for (let seed = 1; seed <= 1500; seed++) {
    const random = new Seeded(seed);
    const object: Json = { metadata: randomJson(random), items: randomJson(random), name: 'n' };
    const shuffled = Object.fromEntries(
      random.shuffle(Object.entries({ ...object, ...asObject(randomJson(random)) })),
    );
    const dropped = paths.filter(() => random.chance(0.5));
    const text = writeJson(shuffled, random, random.chance(0.5) ? COMPACT : ODD);
    const result = drop(text, dropped);
    assert.equal(typeof result, 'string', `seed ${seed}: ${text}`);
    assert.deepEqual(JSON.parse(String(result)), without(shuffled, dropped), `seed ${seed}: ${text}`);
  }
});

function asObject(value: Json): { [key: string]: Json } {
  return isObject(value) ? value : {};
}

const MANAGED = [{ manager: 'kubectl', fieldsV1: { 'f:labels': { '.': {}, 'f:a"}]': {} } } }];
const GO = {
  name: 'a',
  generateName: 'x',
  namespace: 'n',
  uid: 'u',
  resourceVersion: '7',
  generation: 2,
  creationTimestamp: '2026-01-01T00:00:00Z',
  labels: { managedFields: 'no', 'ü"\\': '}' },
  annotations: { last: '{"metadata":{"managedFields":[]},"name":1}' },
};

function metadataOf(text: string): unknown {
  const { bytes, start, end } = embed(text);
  const kept = metadataText(Buffer.from(bytes), start, end);
  return kept === undefined ? undefined : JSON.parse(kept);
}

test('managedFields that end the metadata are cut off, and their content is not parsed', () => {
  const object = { kind: 'Pod', apiVersion: 'v1', metadata: { ...GO, managedFields: MANAGED }, spec: {} };
  assert.deepEqual(metadataOf(JSON.stringify(object)), GO);
  const broken = JSON.stringify(object).replace('[{"manager', '[{broken');
  assert.deepEqual(metadataOf(broken), GO);
});

test('in every order the members after managedFields stay', () => {
  const { name, uid, resourceVersion, creationTimestamp, labels } = GO;
  const orders: Record<string, unknown>[] = [
    { managedFields: MANAGED, name, uid, resourceVersion, creationTimestamp, labels },
    { name, uid, resourceVersion, creationTimestamp, managedFields: MANAGED, labels },
    { name, uid, resourceVersion, managedFields: MANAGED, creationTimestamp, labels },
    { creationTimestamp, name, uid, resourceVersion, managedFields: MANAGED, labels },
    { name, resourceVersion, uid, creationTimestamp, managedFields: MANAGED, labels },
  ];
  for (const metadata of orders) {
    const { managedFields: _dropped, ...expected } = metadata;
    assert.deepEqual(metadataOf(JSON.stringify({ metadata, spec: 1 })), expected);
  }
});

test('metadata without managedFields is returned completely, and an object may have no metadata', () => {
  assert.deepEqual(metadataOf(JSON.stringify({ spec: { metadata: 1 }, metadata: GO })), GO);
  assert.deepEqual(metadataOf('{"metadata":{}}'), {});
  assert.equal(metadataOf('{"metadata":null}'), undefined);
  assert.equal(metadataOf('{"spec":{"metadata":{}}}'), undefined);
  assert.equal(metadataOf('{"metadata":{"name":"a"'), undefined);
  assert.equal(metadataOf('{"metadata":'), undefined);
});

test('random members in random places, spaced and escaped at random', () => {
  for (let seed = 0; seed < 300; seed++) {
    const random = new Seeded(seed);
    const isGo = random.chance(0.5);
    const { name, ...others } = GO;
    const members: [string, Json][] = [
      ...Object.entries(isGo ? { name, ...others } : others).filter(() => random.chance(0.8)),
      ['managedFields', randomJson(random, 3)],
      ...(isGo ? [] : [['other', randomJson(random, 2)] satisfies [string, Json]]),
    ];
    // Without a name it is not Go's output, and then the members may have any order.
    const metadata = Object.fromEntries(isGo ? members : random.shuffle(members));
    const { managedFields: _dropped, ...expected } = metadata;
    const text = writeJson({ kind: 'Pod', metadata, spec: randomJson(random, 2) }, random, ODD);
    assert.deepEqual(metadataOf(text), expected, `seed ${seed}: ${text}`);
  }
});
