/** Tests of the metadata of an object without managedFields: the same values for every writer and order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metadataText } from '../../../../src/kube/json/drop.ts';
import { embed } from './objects.ts';
import { ODD, type Json, randomJson, writeJson } from './random-json.ts';
import { Seeded } from './seeded.ts';

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

test("Go's output is cut before managedFields, and their content is not parsed", () => {
  const object = { kind: 'Pod', apiVersion: 'v1', metadata: { ...GO, managedFields: MANAGED }, spec: {} };
  assert.deepEqual(metadataOf(JSON.stringify(object)), GO);
  const broken = JSON.stringify(object).replace(/\[\{"manager.*/, '[}{');
  assert.deepEqual(metadataOf(broken), GO);
});

test('in any other order the members after managedFields stay', () => {
  const { name, uid, resourceVersion, creationTimestamp, labels } = GO;
  const orders: Record<string, unknown>[] = [
    { managedFields: MANAGED, name, uid, resourceVersion, creationTimestamp, labels },
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
