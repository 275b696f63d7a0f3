/** Single situations of a cache export: limits, deaths with much to release, and what a slow thread makes of the main thread. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { SharedProcessor } from '../../../../src/replica/deliver/processor-listener.ts';
import { CacheExports } from '../../../../src/replica/store/cache-exports.ts';
import { seededRandom } from '../../shared/ring/random.ts';
import { settled } from '../../replica/deliver/listener-scene.ts';
import { at } from '../../replica/store/objects.ts';
import { ScriptedReplica } from '../../replica/store/scripted-replica.ts';
import { ReaderTwin } from './reader-twin.ts';

const STATES_BYTES = 4096;

interface Scene {
  readonly main: ScriptedReplica;
  readonly join: (heldBytesMax?: number) => ReaderTwin;
}

function scene(): Scene {
  const processor = new SharedProcessor();
  const main = new ScriptedReplica({ listener: processor, fields: ['spec.nodeName'] });
  const { owner, replica } = main;
  const cacheExports = new CacheExports(owner.table, () => undefined);
  owner.readers = cacheExports;
  main.relist();
  const join = (heldBytesMax?: number): ReaderTwin =>
    new ReaderTwin(
      { owner, replica, processor, cacheExports },
      seededRandom(1),
      STATES_BYTES,
      () => undefined,
      heldBytesMax,
    );
  return { main, join };
}

async function level(reader: ReaderTwin): Promise<void> {
  for (let turns = 0; turns < 10_000 && !reader.isLevel; turns++) {
    reader.deliver(Infinity);
    await settled();
    reader.read(Infinity, Infinity);
  }
  reader.deliver(Infinity);
  reader.read(Infinity, Infinity);
  reader.checkErrors();
}

test('C212 C261 an object whose fields or version do not fit into the ring reaches the thread whole', async () => {
  const { main, join } = scene();
  const reader = join();
  const labels = { long: 'x'.repeat(20 * STATES_BYTES), other: 'é' };
  main.put({ ...at('small', 1), labels: { app: 'web' } });
  main.put({ ...at('large', 2), labels });
  main.put(at('next', 3));
  await level(reader);
  main.put({ ...at('large', 4), labels: { ...labels, other: 'changed' } });
  main.put(at('versioned', `v${'é'.repeat(10 * STATES_BYTES)}`));
  await level(reader);
  const seen = reader.indexer
    .list()
    .map(({ key, uid, labels: own, resourceVersion }) => [key, uid, own, resourceVersion]);
  const known = main.indexer
    .list()
    .map(({ key, uid, labels: own, resourceVersion }) => [key, uid, own, resourceVersion]);
  assert.deepEqual(seen, known);
  assert.deepEqual(reader.indexer.getByKey('large')?.labels, { ...labels, other: 'changed' });
  assert.equal(reader.replica.live.resourceVersion, main.replica.live.resourceVersion);
  reader.kill();
  reader.release();
  assert.equal(reader.rows, 0);
});

test("C212 the objects of a thread stay readable after the thread's informer ended, even if the main thread moves them", async () => {
  const { main, join } = scene();
  const { owner, indexer } = main;
  const reader = join();
  const text = 'x'.repeat(1024);
  for (let number = 0; number < 400; number++)
    main.put({ ...at(`pod-${number}`, number + 1), spec: { text } });
  await level(reader);
  main.put({ ...at('large', 500), labels: { long: 'x'.repeat(STATES_BYTES) } });
  main.remove({ ...at('large', 501) });
  await level(reader);
  reader.remove();
  for (let round = 0; round < 3; round++) for (const _ of owner.packed.round());
  assert.ok(owner.packed.slabs.liveBytes > 0, 'nothing was packed');
  for (let turn = 0; turn < 20; turn++) await level(reader);
  const bytesOf = (entries: readonly { bytes(): Buffer }[]): string[] =>
    entries.map((entry) => entry.bytes().toString());
  assert.deepEqual(bytesOf(reader.indexer.list()), bytesOf(indexer.list()));
  assert.equal(reader.rows, 400);
});

test('C212 a thread that does not read is a slow handler: its notifications wait, and the bytes of old states are counted', () => {
  const { main, join } = scene();
  const reader = join();
  for (let version = 1; version <= 200; version++) main.put(at('a', version));
  reader.deliver(Infinity);
  const { notifications, bytes } = reader.listener.backlog;
  assert.ok(notifications > 100 && bytes > 0, `${notifications} notifications, ${bytes} bytes`);
  assert.ok(reader.listener.heldBytes > bytes);
  assert.equal(reader.listener.isReady, false, 'a call waits for room in the ring');
});

test('C212 a thread that was far behind receives a list in place of its notifications, and ends with the same objects', async () => {
  const { main, join } = scene();
  const reader = join();
  await level(reader);
  for (let version = 1; version <= 400; version++) main.put(at(`pod-${version % 5}`, version));
  main.remove(at('pod-0', 401));
  reader.deliver(Infinity);
  while (reader.listener.coalesce(16)) reader.listener.release();
  assert.ok(reader.listener.pendingNotifications <= 2);
  await level(reader);
  assert.ok(reader.listener.coalesced > 100);
  assert.deepEqual(
    reader.indexer
      .list()
      .map(({ key, resourceVersion }) => `${key}@${resourceVersion}`)
      .sort(),
    ['pod-1@396', 'pod-2@397', 'pod-3@398', 'pod-4@399'],
  );
  assert.equal(reader.rows, 4);
});

test('C212 C297 the notifications of a thread that does not read are two lists at most, however many changes and relists come', async () => {
  const { main, join } = scene();
  const reader = join();
  const { listener } = reader;
  main.put(at('a', 1));
  await level(reader);
  const { slabs } = main.owner;
  let most = 0;
  for (let version = 2; version < 3000; version += 4) {
    main.put(at('a', version));
    main.put(at(`new-${version}`, version + 1));
    main.remove(at(`new-${version}`, version + 2));
    if (version % 5 === 0) main.relist(at('a', version + 3));
    reader.deliver(Infinity);
    while (listener.coalesce(1024) || listener.release());
    while (main.dispose());
    most = Math.max(most, slabs.liveBytes);
    assert.ok(listener.pendingNotifications <= 2);
  }
  assert.ok(most < 64 * STATES_BYTES, `${most} bytes`);
  await level(reader);
  assert.equal(reader.indexer.list().length, 1);
  assert.equal(reader.indexer.lastStoreSyncResourceVersion(), main.replica.live.resourceVersion);
  assert.equal(reader.rows, 1);
});

test('C206 C212 a thread that falls behind while everything is deleted ends with an empty cache, wherever its ring is full', async () => {
  for (let count = 1; count <= 40; count++) {
    const { main, join } = scene();
    for (let number = 0; number < count; number++) main.put(at(`pod-${number}`, number + 1));
    const reader = join(Infinity);
    reader.deliver(Infinity);
    for (let number = 0; number < count; number++) main.remove(at(`pod-${number}`, count + number + 1));
    while (reader.listener.coalesce(16)) reader.listener.release();
    await level(reader);
    assert.deepEqual(reader.indexer.listKeys(), [], `of ${count} objects`);
    assert.equal(reader.indexer.lastStoreSyncResourceVersion(), main.indexer.lastStoreSyncResourceVersion());
  }
});

test('C211 C218 a thread whose handler was removed receives the end behind its last change, and no version of later', async () => {
  const { main, join } = scene();
  const reader = join();
  await level(reader);
  main.put(at('a', 1));
  main.put(at('b', 2));
  reader.remove();
  for (let version = 3; version <= 6; version++) {
    main.put(at('a', version));
    reader.deliver(Infinity);
    reader.read(Infinity, Infinity);
  }
  assert.equal(reader.stopped, 'no error');
  assert.equal(reader.indexer.lastStoreSyncResourceVersion(), '2');
  assert.deepEqual(reader.indexer.listKeys(), ['a', 'b']);
});

test('C212 C297 the call of a removed handler ends, even if the thread does not read, and keeps no record for the ring', async () => {
  const { main, join } = scene();
  const reader = join();
  for (let version = 1; version <= 200; version++) main.put(at('a', version));
  reader.deliver(Infinity);
  assert.equal(reader.listener.isIdle, false, 'no call waits for room');
  reader.remove();
  await settled();
  while (reader.listener.release());
  await reader.listener.ended;
  const before = reader.rows;
  for (let version = 201; version <= 400; version++) {
    main.put(at('a', version));
    reader.deliver(Infinity);
  }
  assert.equal(reader.rows, before);
  while (reader.stopped === undefined) {
    reader.read(1, 1);
    reader.link.runOnce();
  }
  const version = Number(reader.indexer.lastStoreSyncResourceVersion());
  assert.ok(version < 200, `${version}`);
  assert.equal(reader.indexer.list()[0]?.resourceVersion, String(version));
});

test('C296 old states that a thread has not returned count as its backlog, and above its share changes wait', async () => {
  const { main, join } = scene();
  const text = 'x'.repeat(3000);
  const reader = join(8192);
  await level(reader);
  for (let version = 1; version <= 20; version++) main.put({ ...at('a', version), spec: { text } });
  reader.deliver(Infinity);
  // The ring has room for all of them: only the bytes are too many.
  const { notifications } = reader.listener.backlog;
  assert.ok(notifications >= 14, `${notifications} wait`);
  assert.ok(reader.listener.heldBytes > 20 * text.length, `${reader.listener.heldBytes} bytes count`);
  assert.ok(reader.rows <= 6, `${reader.rows} states`);
  await level(reader);
  assert.equal(reader.indexer.list()[0]?.resourceVersion, '20');
  assert.equal(reader.listener.heldBytes, 0);
  assert.equal(reader.rows, 1);
});

test('C206 C212 at most two marks of lists wait for room, and the thread ends with the last list', async () => {
  const { main, join } = scene();
  const reader = join();
  for (let version = 1; version <= 100; version++) main.put(at('a', version));
  main.remove(at('a', 101));
  for (let list = 0; list < 50; list++) main.relist();
  main.relist(at('b', 200));
  await level(reader);
  assert.deepEqual(reader.indexer.listKeys(), ['b']);
  assert.equal(reader.rows, 1);
});

test('C213 the references of a thread that has ended are dropped in steps', async () => {
  const { main, join } = scene();
  const reader = join();
  for (let number = 0; number < 3000; number++) main.put(at(`pod-${number}`, number + 1));
  await level(reader);
  assert.equal(reader.rows, 3000);
  reader.kill();
  let steps = 0;
  while (reader.link.release()) steps++;
  assert.ok(steps >= 2, `${steps} steps`);
  assert.equal(reader.rows, 0);
  main.relist();
  assert.ok(main.dispose());
});
