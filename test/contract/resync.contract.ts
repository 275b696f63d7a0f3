/** Updates without a change: resyncs, and objects that a relist found unchanged. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configurationWasUsed } from './configuration.ts';
import { Scene, Witness, pod } from './scene.ts';

/** The shortest period. */
const RESYNC = { resyncPeriodMs: 1000 } as const;

test('C12 an object that a relist found unchanged is an update with the same entry twice', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer();
  const witness = new Witness();
  await scene.put(pod('same'), pod('changed'));
  await scene.watched(informer, witness);
  await scene.relisted(informer, { type: 'put', resource: 'pods', object: pod('changed', { a: 'b' }) });
  await witness.count(4);
  const updates = witness.calls.slice(2);
  assert.deepEqual(
    updates.map(({ type, key, isSame }) => [type, key, isSame]),
    [
      ['update', 'default/changed', false],
      ['update', 'default/same', true],
    ],
  );
});

test('C12 C13 C43 a resync delivers the cache without a request to the server, and only to the handlers that are due', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer();
  const due = new Witness();
  const never = new Witness();
  await scene.put(pod('a'), pod('b'));
  informer.addEventHandler(never);
  await scene.watched(informer, due, RESYNC);
  await scene.server.waitForWatches(1);
  const requests = (await scene.server.requests()).length;
  await due.count(4);
  assert.equal((await scene.server.requests()).length, requests);
  const received = due.calls.slice(2);
  assert.deepEqual(
    received.map(({ type, key, isSame }) => [type, key, isSame]),
    [
      ['update', 'default/a', true],
      ['update', 'default/b', true],
    ],
  );
  // After a tick, a handler without a period receives no unchanged objects, not even from a relist.
  await scene.relisted(informer, { type: 'put', resource: 'pods', object: pod('b', { a: 'b' }) });
  await never.count(3);
  await scene.put(pod('last'));
  await never.until(() => never.names.at(-1) === 'add last');
  assert.deepEqual(never.names, ['add a', 'add b', 'update b', 'add last']);
  assert.ok(never.calls.every(({ isSame }) => !isSame));
});

test('C13 C44 C45 a resync begins after the first list, and delivers no object that was deleted since', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer(RESYNC);
  const held = scene.gate();
  const witness = new Witness(({ type, key }) =>
    type === 'update' && key === 'default/a' ? held.opened : undefined,
  );
  const others = new Witness();
  informer.addEventHandler(others, { resyncPeriodMs: 0 });
  await scene.put(pod('a'), pod('b'), pod('c'));
  await scene.watched(informer, witness);
  assert.deepEqual(witness.names, ['add a', 'add b', 'add c']);
  await witness.count(4);
  await scene.remove('b');
  await scene.put(pod('c', { step: '2' }));
  await others.count(5);
  held.open();
  await witness.count(7);
  assert.deepEqual(witness.names.slice(3, 7), ['update a', 'update c', 'delete b', 'update c']);
  assert.deepEqual([witness.calls[4]?.isSame, witness.calls[6]?.isSame], [true, false]);
  assert.deepEqual(others.names, ['add a', 'add b', 'add c', 'delete b', 'update c']);
});

test('C13 relists do not delay a resync, however frequent', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer();
  const witness = new Witness();
  await scene.put(pod('a'));
  await scene.watched(informer, witness, RESYNC);
  // Every relist finds the only object changed, so an update without a change comes from the resync.
  for (let step = 0; !witness.calls.some(({ isSame }) => isSame); step++) {
    await scene.relisted(informer, { type: 'put', resource: 'pods', object: pod('a', { step: `${step}` }) });
  }
  assert.ok(witness.calls.length > 3);
});

configurationWasUsed();
