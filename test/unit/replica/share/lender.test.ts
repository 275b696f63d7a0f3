/** Single situations of a lender: limits, deaths with much to release, and what a slow thread makes of the main thread. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { SharedProcessor } from '../../../../src/replica/deliver/processor-listener.ts';
import { Lending } from '../../../../src/replica/share/lending.ts';
import { seededRandom } from '../../shared/ring/random.ts';
import { settled } from '../deliver/listener-scene.ts';
import { at } from '../store/objects.ts';
import { ScriptedReplica } from '../store/scripted-replica.ts';
import { ReaderTwin } from './reader-twin.ts';

const STATES_BYTES = 4096;

interface Scene {
  readonly main: ScriptedReplica;
  readonly join: () => ReaderTwin;
}

function scene(): Scene {
  const processor = new SharedProcessor();
  const main = new ScriptedReplica({ listener: processor, fields: ['spec.nodeName'] });
  const { owner, replica } = main;
  const lending = new Lending(owner.table, () => undefined);
  owner.readers = lending;
  main.relist();
  const join = (): ReaderTwin =>
    new ReaderTwin({ owner, replica, processor, lending }, seededRandom(1), STATES_BYTES, () => undefined);
  return { main, join };
}

async function level(reader: ReaderTwin): Promise<void> {
  for (let turns = 0; turns < 10_000 && !reader.isLevel; turns++) {
    reader.lend(Infinity);
    await settled();
    reader.read(Infinity, Infinity);
  }
  reader.link.turn();
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

test('C212 what a thread has stays readable, wherever the main thread moves it', async () => {
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
  reader.lend(Infinity);
  const { notifications, bytes } = reader.lent.backlog;
  assert.ok(notifications > 100 && bytes > 0, `${notifications} notifications, ${bytes} bytes`);
  assert.ok(reader.lent.heldBytes > bytes);
  assert.equal(reader.lent.isReady, false, 'a call waits for room in the ring');
});

test('C212 a thread that was far behind receives the merged notifications, and has the same objects then', async () => {
  const { main, join } = scene();
  const reader = join();
  await level(reader);
  for (let version = 1; version <= 400; version++) main.put(at(`pod-${version % 5}`, version));
  main.remove(at('pod-0', 401));
  reader.lend(Infinity);
  while (reader.lent.coalesce(16));
  await level(reader);
  assert.ok(reader.lent.coalesced > 100);
  assert.deepEqual(
    reader.indexer
      .list()
      .map(({ key, resourceVersion }) => `${key}@${resourceVersion}`)
      .sort(),
    ['pod-1@396', 'pod-2@397', 'pod-3@398', 'pod-4@399'],
  );
  assert.equal(reader.rows, 4);
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
