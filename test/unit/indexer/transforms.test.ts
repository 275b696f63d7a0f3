/** Transforms and index modules on the shard: what is stored, what is reported, and how often they run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShardSpec } from '../../../src/shared/protocol.ts';
import { DeltaKind } from '../../../src/shared/record/delta.ts';
import { NotificationFlag } from '../../../src/shared/record/notification.ts';
import * as transforms from './modules/transforms.ts';
import { ShardTwin } from './shard-twin.ts';

const { Inline, Malformed, Msgpack, NewKey, TransformFailed } = NotificationFlag;
const URL_OF_TRANSFORMS = new URL('./modules/transforms.js', import.meta.url).href;

const CODECS = ['json', 'msgpack'] as const;

function module(name: string): { readonly url: string; readonly name: string } {
  return { url: URL_OF_TRANSFORMS, name };
}

function pod(name: string, extra: object = {}): Record<string, unknown> {
  const metadata = { name, uid: `uid-${name}`, resourceVersion: '4', labels: { app: name } };
  return { kind: 'Pod', metadata: { ...metadata, managedFields: [{ manager: 'kubectl' }] }, ...extra };
}

/** Sends one object through a fresh shard; returns flags, extracted fields and the stored object. */
async function store(spec: Partial<ShardSpec>, object: object, kind: DeltaKind = DeltaKind.Added) {
  const twin = new ShardTwin();
  const answer = await twin.attach(spec);
  assert.deepEqual(answer, { type: 'attached', informer: 1 });
  const { name } = (object as { metadata: { name: string } }).metadata;
  const json = JSON.stringify(object);
  twin.deliver({ kind, namespace: 'n', name, resourceVersion: '4', json });
  const { flags, extracted, bytes } = twin.main.last;
  const stored: unknown =
    flags & Msgpack ? twin.main.decoder.decode(bytes, 0, bytes.length) : JSON.parse(bytes.toString());
  const { warnings } = twin.main;
  return { flags: flags & ~(NewKey | Msgpack), extracted, stored, json, text: bytes.toString(), warnings };
}

test('drop cuts paths out of the bytes, and fields are extracted from the result', async () => {
  for (const codec of CODECS) {
    const drop = ['metadata.managedFields', 'metadata.labels'];
    const spec = { codec, drop, fields: ['metadata.managedFields', 'kind'] };
    const { stored, extracted, flags } = await store(spec, pod('a'));
    assert.deepEqual(stored, { kind: 'Pod', metadata: { name: 'a', uid: 'uid-a', resourceVersion: '4' } });
    assert.deepEqual(extracted, ['uid-a', null, null, null, null, null, 'Pod']);
    assert.equal(flags, Inline);
  }
});

test('an object without any dropped path stays in the log', async () => {
  const { flags, text, json } = await store({ drop: ['spec.absent'] }, pod('a'));
  assert.equal(flags, 0);
  assert.equal(text, json);
});

test('a module transform determines the stored object, for every kind of change, once per object', async () => {
  for (const codec of CODECS) {
    for (const kind of [DeltaKind.Added, DeltaKind.Modified, DeltaKind.Deleted, DeltaKind.Replaced]) {
      transforms.resetCalls();
      const spec = { codec, transformModule: module('trim') };
      const { stored, extracted, flags, warnings } = await store(spec, pod('a'), kind);
      assert.equal(transforms.calls, 1);
      assert.equal(flags, Inline);
      assert.deepEqual(stored, {
        kind: 'Pod',
        metadata: { name: 'a', uid: 'uid-a', resourceVersion: '4', labels: { app: 'a', trimmed: 'yes' } },
      });
      assert.deepEqual(extracted, ['uid-a', null, null, null, { app: 'a', trimmed: 'yes' }]);
      assert.deepEqual(warnings, []);
    }
  }
});

test('the result of a transform is stored as JSON writes it, in both codecs alike', async () => {
  for (const codec of CODECS) {
    const { stored } = await store({ codec, transformModule: module('dated') }, pod('a'));
    assert.deepEqual((stored as { spec: object }).spec, { at: '1970-01-01T00:00:00.000Z' });
  }
});

test('a transform that throws, returns no object or changes the identity leaves the object as received', async () => {
  const names = 'throws nothing text list promise circular renames moves reborn newer headless'.split(' ');
  for (const codec of CODECS) {
    for (const name of names) {
      const spec = { codec, transformModule: module('moody'), drop: ['metadata.managedFields'] };
      const { stored, extracted, flags, json, warnings } = await store(spec, pod(name));
      assert.deepEqual(stored, JSON.parse(json), `${codec} ${name}`);
      assert.equal(flags & ~Inline, TransformFailed);
      assert.deepEqual(extracted, [`uid-${name}`, null, null, null, { app: name }]);
      assert.equal(warnings.length, 1);
      assert.equal(warnings[0]?.code, 'ERR_KUBELOOM_TRANSFORM');
      assert.equal(warnings[0]?.key, `n/${name}`);
    }
    const fine = await store({ codec, transformModule: module('moody') }, pod('fine'));
    assert.equal(fine.flags, Inline);
  }
});

test('a transform does not receive a malformed object', async () => {
  const twin = await ShardTwin.attached({ transformModule: module('trim') });
  transforms.resetCalls();
  twin.deliver({ kind: DeltaKind.Added, name: 'a', resourceVersion: '1', json: '{"metadata":{},"a":tru}' });
  assert.equal(twin.main.last.flags, NewKey | Malformed);
  assert.equal(twin.main.last.bytes.toString(), '{"metadata":{},"a":tru}');
  assert.equal(transforms.calls, 0);
});

test('index modules receive the stored object, and their values follow the fields', async () => {
  for (const codec of CODECS) {
    const indexModules = [
      { index: 'image', ...module('byImage') },
      { index: 'node', ...module('byNode') },
    ];
    const spec = { nodeName: 'n1', containers: [{ image: 'b' }, { image: 'a' }, { image: 'b' }] };
    const { extracted, stored, json } = await store(
      { codec, fields: ['kind'], indexModules },
      pod('a', { spec }),
    );
    assert.deepEqual((extracted as unknown[]).slice(5), ['Pod', { image: ['b', 'a'], node: ['n1'] }]);
    assert.deepEqual(stored, JSON.parse(json), 'changes by an index function are not stored');
  }
});

test('C193 an object has no values of an index whose function throws, whatever its name, and those of the others', async () => {
  const indexModules = [
    { index: 'constructor', ...module('byNode') },
    { index: 'image', ...module('byImage') },
  ];
  for (const nodeName of ['bad', 'number', 'text', 'promise', undefined]) {
    const spec = { nodeName, containers: [{ image: 'a' }] };
    const { extracted, flags, warnings } = await store({ indexModules }, pod('a', { spec }));
    assert.deepEqual((extracted as unknown[])[5], { constructor: [], image: ['a'] });
    assert.equal(flags, 0);
    assert.equal(warnings.length, 1);
    assert.equal(warnings[0]?.code, 'ERR_KUBELOOM_INDEX_FUNCTION');
    assert.match(warnings[0]?.message ?? '', /^index function constructor failed/);
  }
});

test('reports wait with their object while the ring is full, and none is lost or repeated', async () => {
  const twin = new ShardTwin({ outBytes: 8192 });
  const indexModules = ['one', 'two', 'three'].map((index) => ({ index, ...module('byNode') }));
  await twin.attach({ transformModule: module('moody'), indexModules });
  for (let count = 0; count < 200; count++) {
    const json = JSON.stringify(pod('throws', { spec: { nodeName: 'bad' } }));
    twin.object({ kind: DeltaKind.Modified, name: 'throws', resourceVersion: `${count}`, json });
    if (count % 40 === 39) twin.settle();
  }
  twin.settle();
  assert.equal(twin.main.warnings.length, 4 * 200);
  assert.deepEqual(
    twin.main.warnings.slice(0, 4).map(({ message }) => /transform|one|two|three/.exec(message)?.[0]),
    ['transform', 'one', 'two', 'three'],
  );
});

test('a missing module or export fails the attachment with an error that names it', async () => {
  const cases = [
    [{ transformModule: module('absent') }, /has no export "absent".*a transform.*it exports .*byImage/],
    [{ transformModule: module('notAFunction') }, /exports no function as "notAFunction"/],
    [{ indexModules: [{ index: 'image', ...module('absent') }] }, /the index function of image/],
    [
      { transformModule: { url: 'file:///does/not/exist.js', name: 'x' } },
      /cannot load file:\/\/\/does\/not\/exist.js/,
    ],
  ] as const;
  for (const [spec, message] of cases) {
    const answer = await new ShardTwin().attach(spec);
    assert.ok(answer.type === 'attached' && answer.error);
    assert.equal(answer.error.code, 'ERR_KUBELOOM_MODULE');
    assert.match(answer.error.message, message);
  }
});
