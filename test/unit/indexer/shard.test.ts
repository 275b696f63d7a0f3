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
  const twin = new ShardTwin();
  await twin.attach({ fields: ['spec.nodeName', 'status.reason'] });
  const json = pod('web', '17', { labels: { app: 'web' }, generation: 3 });
  twin.object({ kind: DeltaKind.Added, namespace: 'default', name: 'web', resourceVersion: '17', json });
  twin.settle();
  const added = twin.main.last;
  assert.equal(added.key, 'default/web');
  assert.equal(added.flags, NEW);
  assert.equal(added.kind, DeltaKind.Added);
  assert.equal(added.resourceVersion, 17);
  assert.deepEqual(added.projection, ['uid-web', 3, null, null, { app: 'web' }, 'node-1', null]);
  assert.equal(added.bytes.toString(), json);
  const next = pod('web', 'abc');
  twin.object({
    kind: DeltaKind.Modified,
    namespace: 'default',
    name: 'web',
    resourceVersion: 'abc',
    json: next,
  });
  twin.settle();
  assert.equal(twin.main.last.flags, NotificationFlag.ResourceVersionText);
  assert.equal(twin.main.last.resourceVersion, 'abc');
  assert.equal(twin.main.last.id, added.id);
  assert.equal(twin.main.last.bytes.toString(), next);
});

test('records in the ring are not taken before they are committed', async () => {
  const twin = new ShardTwin();
  await twin.attach();
  twin.offerObject({ kind: DeltaKind.Added, name: 'a', resourceVersion: '1', json: pod('a', '1') });
  twin.publishUncommitted();
  assert.equal(twin.shard.hasWork(), false);
  assert.equal(twin.work(), 0);
  assert.equal(twin.merge(), 0);
  twin.commit();
  assert.equal(twin.work(), 1);
  assert.equal(twin.merge(), 1);
});

test('inFlight names the sequence that the shard works on, and recordsMax bounds a call', async () => {
  const twin = new ShardTwin({ sequence: 2 ** 32 - 3 });
  await twin.attach();
  for (const name of ['a', 'b', 'c', 'd']) {
    twin.offerObject({ kind: DeltaKind.Added, name, resourceVersion: '1', json: pod(name, '1') });
  }
  twin.commit();
  assert.equal(twin.work(3), 3);
  assert.equal(twin.inFlight.load(), 0);
  assert.equal(twin.consumed.load(), 0);
  assert.equal(twin.work(3), 1);
  assert.equal(twin.inFlight.load(), 1);
  assert.equal(twin.merge(), 4);
});

test('a shard without records finishes the sequences of other shards', async () => {
  const twin = new ShardTwin({ sequence: 2 ** 32 - 2 });
  await twin.attach();
  twin.skipSequence();
  twin.offerObject({ kind: DeltaKind.Added, name: 'a', resourceVersion: '1', json: pod('a', '1') });
  twin.skipSequence();
  twin.skipSequence();
  twin.settle();
  assert.equal(twin.consumed.load(), 2);
});

test('a deletion of an unknown key is passed on with the key, and its id is free again', async () => {
  const twin = new ShardTwin();
  await twin.attach();
  const deletion = { kind: DeltaKind.Deleted, namespace: 'n', resourceVersion: '5' };
  twin.object({ ...deletion, name: 'ghost', json: pod('ghost', '5') });
  twin.object({ ...deletion, name: 'other', json: pod('other', '6') });
  twin.settle();
  assert.deepEqual(
    twin.main.history.map(({ key, flags, id, kind }) => ({ key, flags, id, kind })),
    [
      { key: 'n/ghost', flags: NEW, id: 0, kind: DeltaKind.Deleted },
      { key: 'n/other', flags: NEW, id: 0, kind: DeltaKind.Deleted },
    ],
  );
  assert.equal(twin.main.replica.size, 0);
});

test('control records are answered with copies, bookmarks included', async () => {
  const twin = new ShardTwin();
  await twin.attach();
  twin.control(DeltaKind.ReplaceBegin, 1);
  twin.control(DeltaKind.ReplaceEnd, 1, '99');
  twin.control(DeltaKind.Bookmark, 0, '100');
  twin.settle();
  assert.equal(twin.main.merged, 3);
});

test('an object of a detached informer is answered with nothing', async () => {
  const twin = new ShardTwin();
  await twin.attach();
  const json = pod('a', '1');
  twin.object({ kind: DeltaKind.Added, name: 'a', resourceVersion: '1', json });
  twin.control(DeltaKind.Detach);
  twin.object({ kind: DeltaKind.Added, name: 'b', resourceVersion: '2', json });
  twin.settle();
  assert.equal(twin.main.history.length, 1);
  assert.equal(twin.main.merged, 3);
});

test('a raw informer handles only keys, whatever the bytes are', async () => {
  const twin = new ShardTwin();
  await twin.attach({ isRaw: true, fields: ['spec.nodeName'], codec: 'msgpack' });
  twin.object({ kind: DeltaKind.Added, name: 'a', resourceVersion: '1', json: 'not JSON' });
  twin.settle();
  assert.equal(twin.main.last.flags, NEW);
  assert.equal(twin.main.last.projection, undefined);
  assert.equal(twin.main.last.bytes.toString(), 'not JSON');
});

test('an object over the size limit passes with a flag and its identity, in every codec', async () => {
  for (const codec of ['json', 'msgpack'] as const) {
    const twin = new ShardTwin();
    await twin.attach({ codec, drop: ['metadata.uid'] });
    const json = pod('big', '8');
    const flags = DeltaFlag.TooLarge;
    twin.object({ kind: DeltaKind.Added, name: 'big', resourceVersion: '8', json, flags });
    twin.settle();
    assert.equal(twin.main.last.flags, NEW | NotificationFlag.TooLarge);
    assert.deepEqual(twin.main.last.projection, ['uid-big', null, null, null, null]);
    assert.equal(twin.main.last.bytes.toString(), json);
  }
});

test('malformed objects pass as received, with a flag and one terminal record each', async () => {
  const broken = ['{"metadata":{"name":"a"', '[1]', '{"metadata":{"labels":{"a":tru}}}', ''];
  // The fields of the last one can be extracted; only parsing finds the error.
  const late = '{"metadata":{"name":"a","uid":"u"},"spec":[1,}';
  for (const spec of [{}, { codec: 'msgpack' }, { drop: ['spec.x'] }] as const) {
    const twin = new ShardTwin();
    await twin.attach({ fields: ['spec'], ...spec });
    for (const [version, json] of [...broken, late].entries()) {
      twin.object({ kind: DeltaKind.Modified, name: 'a', resourceVersion: `${version}`, json });
      twin.settle();
      assert.equal(twin.main.last.bytes.toString(), json);
      assert.equal(
        twin.main.last.flags & ~NEW,
        NotificationFlag.Malformed,
        `${JSON.stringify(spec)} ${json}`,
      );
    }
  }
});

test('an object that is found malformed late is restored as received, including dropped paths', async () => {
  const json = '{"metadata":{"name":"a","uid":"u"},"gone":1,"spec":tru}';
  const twin = new ShardTwin();
  await twin.attach({ codec: 'msgpack', drop: ['gone'] });
  twin.object({ kind: DeltaKind.Added, name: 'a', resourceVersion: '1', json });
  twin.settle();
  assert.equal(twin.main.last.flags, NEW | NotificationFlag.Malformed);
  assert.equal(twin.main.last.bytes.toString(), json);
});

test('malformed JSON outside the needed parts is not searched for', async () => {
  const twin = new ShardTwin();
  await twin.attach();
  const json = '{"metadata":{"name":"a","uid":"u"},"spec":{"a":tru}}';
  twin.object({ kind: DeltaKind.Added, name: 'a', resourceVersion: '1', json });
  twin.settle();
  assert.equal(twin.main.last.flags, NEW);
});

test('extracted fields that do not fit into a record are sent without declared fields, and reported', async () => {
  const twin = new ShardTwin({ outBytes: 16384 });
  await twin.attach({ fields: ['spec.a', 'spec.b'] });
  const json = JSON.stringify({
    metadata: { name: 'a', uid: 'u', labels: { app: 'x' } },
    spec: { a: 'y'.repeat(5000), b: 1 },
  });
  twin.object({ kind: DeltaKind.Added, namespace: 'n', name: 'a', resourceVersion: '1', json });
  twin.settle();
  assert.deepEqual(twin.main.last.projection, ['u', null, null, null, { app: 'x' }, null, null]);
  assert.equal(twin.main.last.bytes.toString(), json);
  const [warning] = twin.main.warnings;
  assert.equal(warning?.code, 'ERR_KUBELOOM_PROJECTION_TOO_LARGE');
  assert.equal(warning?.key, 'n/a');
});
