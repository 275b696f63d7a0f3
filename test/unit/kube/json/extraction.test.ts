/** Tests of the extractor against JSON.parse: any order, any spelling, and early stops that miss no field. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeySpans, scanMetadata } from '../../../../src/kube/json/key-spans.ts';
import { EXTRACTION_MALFORMED, EXTRACTION_NO_ROOM, Extractor } from '../../../../src/kube/json/extraction.ts';
import { findPath, splitPath } from '../../../../src/kube/json/read.ts';
import { embed, podObject, sortKeys } from './objects.ts';
import { COMPACT, ODD, type Json, randomJson, writeJson } from './random-json.ts';
import { Seeded } from './seeded.ts';

function project(extractor: Extractor, text: string): Json | number {
  const { bytes, start, end } = embed(text);
  const out = new Uint8Array(100_000);
  const outEnd = extractor.project(bytes, start, end, out, 7);
  return outEnd < 0 ? outEnd : (JSON.parse(Buffer.from(out.slice(7, outEnd)).toString('utf8')) as Json);
}

function at(value: Json, path: string): Json {
  let found: Json | undefined = value;
  for (const key of splitPath(path)) found = member(found, key);
  return found ?? null;
}

function member(value: Json | undefined, key: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function controllerUid(object: Json): Json {
  const owners = at(object, 'metadata.ownerReferences');
  const owner = Array.isArray(owners) ? owners.find((item) => at(item, 'controller') === true) : undefined;
  const uid = owner === undefined ? null : at(owner, 'uid');
  return typeof uid === 'string' ? uid : null;
}

function expected(object: Json, fields: readonly string[]): Json {
  const fixed = ['metadata.uid', 'metadata.generation', 'metadata.deletionTimestamp'];
  return [
    ...fixed.map((path) => at(object, path)),
    controllerUid(object),
    ...['metadata.labels', ...fields].map((path) => at(object, path)),
  ];
}

const FIELDS = ['spec.nodeName', 'status.phase', 'metadata.annotations.example\\.com/motto'];

test('a pod in field order, in sorted order and indented', () => {
  const object = podObject(3, { deletionTimestamp: '2026-11-20T00:00:00Z' });
  for (const fields of [[], FIELDS, ['spec.nodeName'], ['status'], ['metadata.managedFields']]) {
    const extractor = new Extractor(fields);
    const want = expected(object, fields);
    assert.deepEqual(project(extractor, JSON.stringify(object)), want);
    assert.deepEqual(project(extractor, JSON.stringify(sortKeys(object))), want);
    assert.deepEqual(project(extractor, JSON.stringify(object, null, 3)), want);
  }
});

test('absent fields are null, and a second object has no values of the first', () => {
  const extractor = new Extractor(FIELDS);
  project(extractor, JSON.stringify(podObject(1)));
  const nothing = [null, null, null, null, null, null, null, null];
  assert.deepEqual(project(extractor, '{}'), nothing);
  assert.deepEqual(project(extractor, '{"metadata":{},"spec":{},"status":null}'), nothing);
  assert.deepEqual(project(extractor, '{"metadata":5,"spec":[{"nodeName":"x"}],"status":"phase"}'), nothing);
});

test('paths may overlap, repeat and name the fixed fields', () => {
  const fields = [
    'metadata',
    'metadata.labels',
    'metadata.labels.app',
    'metadata.labels.app',
    'metadata.uid',
    'metadata.ownerReferences',
    'spec',
    'spec.nodeName',
    'kind',
  ];
  const object = podObject(2);
  const extractor = new Extractor(fields);
  assert.deepEqual(project(extractor, JSON.stringify(object)), expected(object, fields));
  assert.deepEqual(project(extractor, JSON.stringify(sortKeys(object))), expected(object, fields));
});

test('of two members with the same key the first counts, and nothing else is missed', () => {
  const text =
    '{"metadata":{"generation":1,"generation":2,"generation":3,"labels":{"a":"b"}},"metadata":{"uid":"u"}}';
  assert.deepEqual(project(new Extractor(['kind']), text), [null, 1, null, null, { a: 'b' }, null]);
});

test('a key with a backslash is not treated as an escape', () => {
  const extractor = new Extractor(['a\\\\nb']);
  assert.deepEqual(project(extractor, JSON.stringify({ 'a\nb': 1 })), [null, null, null, null, null, null]);
  assert.deepEqual(project(extractor, JSON.stringify({ 'a\\nb': 1 })), [null, null, null, null, null, 1]);
});

test('the controller is the first owner with controller: true, with or without a string uid', () => {
  const extractor = new Extractor([]);
  const cases: [string, Json][] = [
    ['[{"uid":"a"},{"controller":true,"uid":"b"},{"uid":"c","controller":true}]', 'b'],
    ['[{"uid":"a","controller":false},{"uid":"b","controller":"true"}]', null],
    ['[{"controller":true,"uid":5}]', null],
    ['[{"controller":true},{"uid":"c","controller":true}]', null],
    ['[{"uid":"a","controller":true,"controller":false,"uid":"b"}]', 'a'],
    ['[{"uid":"a","controller":false,"controller":true}]', null],
    ['[null,7,"x",[{"controller":true,"uid":"n"}],{"controller":true,"uid":"d\\u0065"}]', 'de'],
    ['[]', null],
    ['null', null],
    ['{"controller":true,"uid":"x"}', null],
  ];
  for (const [owners, uid] of cases) {
    const text = `{"metadata":{"ownerReferences":${owners},"generation":4}}`;
    assert.deepEqual(project(extractor, text), [null, 4, null, uid, null], owners);
  }
});

test('the bytes behind metadata are not read when no field there is requested', () => {
  const text = JSON.stringify(podObject(5));
  const cut = text.slice(0, text.indexOf('"nodeName"'));
  assert.deepEqual(project(new Extractor([]), cut), expected(podObject(5), []));
  assert.equal(project(new Extractor(['spec.nodeName']), cut), EXTRACTION_MALFORMED);
});

test('C16 C73 C155 C261 fields behind managedFields are found, in the order of Go and in any other', () => {
  const fields = ['metadata.annotations.note'];
  const added = {
    labels: { a: 'b' },
    annotations: { note: 'n' },
    ownerReferences: [{ controller: true, uid: 'o' }],
  };
  for (const managedFields of [[{}], [], [{ a: [{}], spec: ']},"x' }], null, 'no']) {
    const before = { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: 't', managedFields };
    const object: Json = { kind: 'Pod', metadata: { ...before, ...added }, spec: {} };
    const want = expected(object, fields);
    for (const indent of [0, 1])
      assert.deepEqual(project(new Extractor(fields), JSON.stringify(object, null, indent)), want);
    assert.deepEqual(projectBehindVersion(new Extractor(fields), JSON.stringify(object)), want);
  }
});

test('the bytes after the last requested field are not read', () => {
  const text = JSON.stringify(podObject(5));
  const cut = text.slice(0, text.indexOf('"podIP"'));
  const found = project(new Extractor(['spec.nodeName', 'status.phase']), cut);
  assert.deepEqual(found, expected(podObject(5), ['spec.nodeName', 'status.phase']));
});

test('the result is no room at every size that is too small, and no byte after it is written', () => {
  const extractor = new Extractor(['status.phase']);
  const { bytes, start, end } = embed(JSON.stringify(podObject(1)));
  const whole = new Uint8Array(10_000);
  const size = extractor.project(bytes, start, end, whole, 0);
  for (let room = 0; room < size; room++) {
    assert.equal(extractor.project(bytes, start, end, new Uint8Array(room), 0), EXTRACTION_NO_ROOM);
  }
  assert.equal(extractor.project(bytes, start, end, new Uint8Array(size), 0), size);
});

test('an object that is not valid JSON, or has an invalid token to copy, is malformed', () => {
  const malformed = [
    '',
    'null',
    '[]',
    '{"metadata":{"labels":{"a":}}}',
    '{"metadata":{"labels":{"a" "b"}}}',
    '{"metadata":{"labels":{"a":"b",}}}',
    '{"metadata":{"generation":01}}',
    '{"metadata":{"generation":tru}}',
    '{"metadata":{"uid":"\\x"}}',
    '{"metadata":{"uid":"a',
    '{"metadata":{"ownerReferences":[{"controller":true,"uid":"\\q"}]}}',
    '{"metadata":{"generation":5',
    '{"metadata" {}}',
    '{"spec":{"x":1}"metadata":{}}',
  ];
  for (const text of malformed) {
    assert.equal(project(new Extractor([]), text), EXTRACTION_MALFORMED, text);
  }
});

test('random objects, orders and paths agree with JSON.parse', () => {
  const paths = [
    'spec',
    'spec.name',
    'spec.a\\.b/c',
    'status.phase',
    'metadata.labels.ü',
    'metadata.name',
    'items.uid',
  ];
  for (let seed = 1; seed <= 1500; seed++) {
    const random = new Seeded(seed);
    const object = randomObject(random);
    const fields = paths.filter(() => random.chance(0.4));
    const text = writeJson(object, random, random.chance(0.5) ? COMPACT : ODD);
    assert.deepEqual(project(new Extractor(fields), text), expected(object, fields), `seed ${seed}: ${text}`);
  }
});

const METADATA_KEYS = [
  'name',
  'uid',
  'generation',
  'deletionTimestamp',
  'labels',
  'ownerReferences',
  'managedFields',
];

function randomObject(random: Seeded): Json {
  const metadata: { [key: string]: Json } = {};
  for (const key of random.shuffle(METADATA_KEYS)) {
    if (random.chance(0.8))
      metadata[key] = key === 'ownerReferences' ? randomOwners(random) : randomJson(random, 3);
  }
  const object: { [key: string]: Json } = {};
  for (const key of random.shuffle(['metadata', 'spec', 'status', 'items', 'kind'])) {
    object[key] = key === 'metadata' ? metadata : randomJson(random, 4);
  }
  return object;
}

function randomOwners(random: Seeded): Json {
  return Array.from({ length: random.below(4) }, () => {
    const members: [string, Json][] = [
      ['controller', random.chance(0.3)],
      ['uid', random.chance(0.8) ? `o${random.below(9)}` : null],
      ['name', 'x'],
    ];
    return Object.fromEntries(random.shuffle(members));
  });
}

/** Extracts as `project` does, with the head that a reflector passes. */
function projectBehindVersion(extractor: Extractor, text: string): Json | number {
  const { bytes, start, end } = embed(text);
  const spans = new KeySpans();
  const metadata = findPath(bytes, start, end, 'metadata');
  assert.ok(metadata && scanMetadata(bytes, metadata.start, end, spans) && spans.isStandardOrder);
  const { uidStart, uidEnd, resourceVersionEnd } = spans;
  const prefix = { uidStart: uidStart - 1, uidEnd: uidEnd + 1, versionEnd: resourceVersionEnd + 1 };
  const out = new Uint8Array(100_000);
  const outEnd = extractor.project(bytes, start, end, out, 7, prefix);
  return outEnd < 0 ? outEnd : (JSON.parse(Buffer.from(out.slice(7, outEnd)).toString('utf8')) as Json);
}

test("an object in Go's order gives the same fields from behind the resourceVersion as from its beginning", () => {
  const fieldSets = [[], FIELDS, ['status'], ['metadata.name'], ['kind'], ['metadata'], ['metadata.uid']];
  for (const fields of [...fieldSets, ['metadata.managedFields'], ['metadata.namespace']]) {
    const extractor = new Extractor(fields);
    for (const spec of [podObject(3), podObject(4, { deletionTimestamp: '2026-11-20T00:00:00Z' })]) {
      for (const indent of [0, 2]) {
        const text = JSON.stringify(spec, null, indent);
        assert.deepEqual(projectBehindVersion(extractor, text), expected(spec, fields), fields.join());
      }
    }
  }
});

test("members behind the resourceVersion of an object in Go's order may be missing, duplicate or malformed", () => {
  const head = '{"kind":"Pod","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"1"';
  const extractor = new Extractor(['status.phase']);
  const read = (rest: string): string => JSON.stringify(projectBehindVersion(extractor, head + rest));
  assert.equal(read('}}'), '["u",null,null,null,null,null]');
  assert.equal(read(',"uid":"v","name":"b"},"metadata":{"labels":{}}}'), '["u",null,null,null,null,null]');
  assert.equal(read(',"labels":{"a":"b"}},"status":{"phase":"x"}}'), '["u",null,null,null,{"a":"b"},"x"]');
  for (const malformed of [',"labels":{"a":b}}}', ',}}', '},"status":']) {
    assert.equal(read(malformed), String(EXTRACTION_MALFORMED), malformed);
  }
});
