/** The protocol of a shard: its input, its answers and their order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeltaFlag, DeltaKind } from '../../../src/shared/record/delta.ts';
import { NotificationFlag } from '../../../src/shared/record/notification.ts';
import { ShardTwin } from './shard-twin.ts';

const NEW = NotificationFlag.NewKey;

function pod(name: string, version: string, extra: object = {}): string {
  const metadata = { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: version, ...extra };
  return JSON.stringify({
    kind: 'Pod',
    metadata,
    spec: { nodeName: 'node-1' },
    status: { phase: 'Running' },
  });
}

test('an object is a pointer into the log with its extracted fields, and the key is sent once', async () => {
  const twin = await ShardTwin.attached({ fields: ['spec.nodeName', 'status.reason'] });
  const json = pod('web', '17', { labels: { app: 'web' }, generation: 3 });
  twin.deliver({ kind: DeltaKind.Added, namespace: 'default', name: 'web', resourceVersion: '17', json });
  const added = twin.main.last;
  assert.equal(added.key, 'default/web');
  assert.equal(added.flags, NEW);
  assert.equal(added.kind, DeltaKind.Added);
  assert.equal(added.resourceVersion, 17);
  assert.deepEqual(added.extracted, ['uid-web', 3, null, null, { app: 'web' }, 'node-1', null]);
  assert.equal(added.bytes.toString(), json);
  const next = pod('web', 'abc');
  twin.deliver({ namespace: 'default', name: 'web', resourceVersion: 'abc', json: next });
  assert.equal(twin.main.last.flags, NotificationFlag.ResourceVersionText);
  assert.equal(twin.main.last.resourceVersion, 'abc');
  assert.equal(twin.main.last.id, added.id);
  assert.equal(twin.main.last.bytes.toString(), next);
});

test('records in the ring are not taken before they are committed', async () => {
  const twin = await ShardTwin.attached();
  twin.offerObject({ name: 'a' });
  twin.publishUncommitted();
  assert.equal(twin.shard.hasWork(), false);
  assert.equal(twin.work(), 0);
  assert.equal(twin.merge(), 0);
  twin.commit();
  assert.equal(twin.work(), 1);
  assert.equal(twin.merge(), 1);
});

test('recordsMax bounds a call', async () => {
  const twin = await ShardTwin.attached({}, { sequence: 2 ** 32 - 3 });
  for (const name of ['a', 'b', 'c', 'd']) twin.offerObject({ name });
  twin.commit();
  assert.equal(twin.work(3), 3);
  assert.equal(twin.consumed.load(), 0);
  assert.equal(twin.work(3), 1);
  assert.equal(twin.merge(), 4);
});

test('a shard without records finishes the sequences of other shards', async () => {
  const twin = await ShardTwin.attached({}, { sequence: 2 ** 32 - 2 });
  twin.skipSequence();
  twin.offerObject({ name: 'a' });
  twin.skipSequence();
  twin.skipSequence();
  twin.settle();
  assert.equal(twin.consumed.load(), 2);
});

test('a deletion of an unknown key is passed on with the key, and its id is free again', async () => {
  const twin = await ShardTwin.attached();
  const deletion = { kind: DeltaKind.Deleted, namespace: 'n', resourceVersion: '5' };
  twin.object({ ...deletion, name: 'ghost', json: pod('ghost', '5') });
  twin.deliver({ ...deletion, name: 'other', json: pod('other', '6') });
  assert.deepEqual(
    twin.main.history.map(({ key, flags, id, kind }) => ({ key, flags, id, kind })),
    [
      { key: 'n/ghost', flags: NEW, id: 0, kind: DeltaKind.Deleted },
      { key: 'n/other', flags: NEW, id: 0, kind: DeltaKind.Deleted },
    ],
  );
  assert.equal(twin.main.replica.size, 0);
});

test('an object of a detached informer is answered with nothing', async () => {
  const twin = await ShardTwin.attached();
  const json = pod('a', '1');
  twin.object({ kind: DeltaKind.Added, name: 'a', resourceVersion: '1', json });
  twin.control(DeltaKind.Detach);
  twin.deliver({ kind: DeltaKind.Added, name: 'b', resourceVersion: '2', json });
  assert.equal(twin.main.history.length, 1);
  assert.equal(twin.main.merged, 3);
});

test('an object over the size limit passes with a flag and its identity, in every codec', async () => {
  for (const codec of ['json', 'msgpack'] as const) {
    const twin = await ShardTwin.attached({ codec, drop: ['metadata.uid'] });
    const json = pod('big', '8');
    const flags = DeltaFlag.TooLarge;
    twin.deliver({ kind: DeltaKind.Added, name: 'big', resourceVersion: '8', json, flags });
    assert.equal(twin.main.last.flags, NEW | NotificationFlag.TooLarge);
    assert.deepEqual(twin.main.last.extracted, ['uid-big', null, null, null, null]);
    assert.equal(twin.main.last.bytes.toString(), json);
  }
});

test('malformed objects pass as received, with a flag and one terminal record each', async () => {
  const broken = ['{"metadata":{"name":"a"', '[1]', '{"metadata":{"labels":{"a":tru}}}', ''];
  // The fields of the last one can be extracted; only parsing finds the error.
  const late = '{"metadata":{"name":"a","uid":"u"},"spec":[1,}';
  for (const spec of [{}, { codec: 'msgpack' }, { drop: ['spec.x'] }] as const) {
    const twin = await ShardTwin.attached({ fields: ['spec'], ...spec });
    for (const [version, json] of [...broken, late].entries()) {
      twin.deliver({ kind: DeltaKind.Modified, name: 'a', resourceVersion: `${version}`, json });
      assert.equal(twin.main.last.bytes.toString(), json);
      const flags = twin.main.last.flags & ~NEW;
      assert.equal(flags, NotificationFlag.Malformed, `${JSON.stringify(spec)} ${json}`);
    }
  }
});

const AS_RECEIVED = [
  {
    title: 'a raw informer handles only keys, whatever the bytes are',
    spec: { isRaw: true, fields: ['spec.nodeName'], codec: 'msgpack' },
    json: 'not JSON',
    flags: NEW,
    fields: undefined,
  },
  {
    title: 'an object that is found malformed late is restored as received, including dropped paths',
    spec: { codec: 'msgpack', drop: ['gone'] },
    json: '{"metadata":{"name":"a","uid":"u"},"gone":1,"spec":tru}',
    flags: NEW | NotificationFlag.Malformed,
    fields: ['u', null, null, null, null],
  },
  {
    title: 'malformed JSON outside the needed parts is not searched for',
    spec: {},
    json: '{"metadata":{"name":"a","uid":"u"},"spec":{"a":tru}}',
    flags: NEW,
    fields: ['u', null, null, null, null],
  },
] as const;

for (const { title, spec, json, flags, fields } of AS_RECEIVED) {
  test(title, async () => {
    const twin = await ShardTwin.attached(spec);
    twin.deliver({ name: 'a', json });
    assert.equal(twin.main.last.flags, flags);
    assert.deepEqual(twin.main.last.extracted, fields);
    assert.equal(twin.main.last.bytes.toString(), json);
  });
}

test('C261 texts that do not fit into a record are sent before it, whole, and the object after them', async () => {
  const labels = Object.fromEntries(
    Array.from({ length: 300 }, (_, index) => [`label-${index}`, 'é'.repeat(20)]),
  );
  const json = JSON.stringify({
    metadata: { name: 'a', uid: 'u', labels },
    spec: { a: 'y'.repeat(50_000), b: 1 },
  });
  for (const codec of ['json', 'msgpack'] as const) {
    const twin = await ShardTwin.attached({ codec, fields: ['spec.a', 'spec.b'] }, { outBytes: 16384 });
    const version = 'v'.repeat(30_000);
    twin.deliver({ kind: DeltaKind.Added, namespace: 'n', name: 'a', resourceVersion: version, json });
    const { extracted, resourceVersion, key, bytes } = twin.main.last;
    assert.deepEqual(extracted, ['u', null, null, null, labels, 'y'.repeat(50_000), 1]);
    assert.equal(resourceVersion, version);
    assert.equal(key, 'n/a');
    if (codec === 'json') assert.equal(bytes.toString(), json);
    assert.deepEqual(twin.main.warnings, []);
  }
});

test('C263 a version with escapes is read as its text, also when that is a number', async () => {
  const twin = await ShardTwin.attached({});
  const json = '{"metadata":{"name":"a","uid":"u"}}';
  twin.deliver({ name: 'a', resourceVersion: String.raw`1\u0037`, json });
  assert.equal(twin.main.last.resourceVersion, 17);
  twin.deliver({ name: 'b', resourceVersion: String.raw`a\/b`, json });
  assert.equal(twin.main.last.resourceVersion, 'a/b');
});
