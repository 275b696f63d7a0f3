/** Updates without a change: resyncs, and objects that a relist found unchanged. */
import assert from 'node:assert/strict';
import { RecordingHandler, configurationWasUsed, pod, put, test } from './scene.ts';

/** The shortest period. */
const RESYNC = { resyncPeriodMs: 1000 } as const;

test('C12 an object that a relist found unchanged is an update with the same entry twice', async (scene) => {
  await scene.put(pod('same'), pod('changed'));
  const { informer, handler } = await scene.watching();
  await scene.relisted(informer, put(pod('changed', { a: 'b' })));
  await handler.count(4);
  assert.deepEqual(handler.names.slice(2), ['update changed', 'update same']);
  assert.deepEqual([handler.calls[2]?.isSame, handler.calls[3]?.isSame], [false, true]);
});

test('C12 C13 C43 a resync delivers the cache without a request to the server, and only to the handlers that are due', async (scene) => {
  const informer = scene.informer();
  const due = new RecordingHandler();
  const never = new RecordingHandler();
  await scene.put(pod('a'), pod('b'));
  informer.addEventHandler(never);
  await scene.watched(informer, due, RESYNC);
  await scene.server.waitForWatches(1);
  const requests = (await scene.server.requests()).length;
  await due.count(4);
  assert.equal((await scene.server.requests()).length, requests);
  assert.deepEqual(due.names.slice(2, 4), ['update a', 'update b']);
  assert.ok(due.calls.slice(2).every(({ isSame }) => isSame));
  // After a tick, a handler without a period receives no unchanged objects, not even from a relist.
  await scene.relisted(informer, put(pod('b', { a: 'b' })));
  await never.count(3);
  await scene.put(pod('last'));
  await never.until(() => never.names.at(-1) === 'add last');
  assert.deepEqual(never.names, ['add a', 'add b', 'update b', 'add last']);
  assert.ok(never.calls.every(({ isSame }) => !isSame));
});

test('C13 C44 C45 a resync begins after the first list, and delivers no object that was deleted since', async (scene) => {
  const informer = scene.informer(RESYNC);
  const held = scene.gate();
  const handler = new RecordingHandler(({ type, key }) =>
    type === 'update' && key === 'default/a' ? held.opened : undefined,
  );
  const others = new RecordingHandler();
  informer.addEventHandler(others, { resyncPeriodMs: 0 });
  await scene.put(pod('a'), pod('b'), pod('c'));
  await scene.watched(informer, handler);
  assert.deepEqual(handler.names, ['add a', 'add b', 'add c']);
  await handler.count(4);
  await scene.remove('b');
  await scene.put(pod('c', { step: '2' }));
  await others.count(5);
  held.open();
  await handler.count(7);
  assert.deepEqual(handler.names.slice(3, 7), ['update a', 'update c', 'delete b', 'update c']);
  assert.deepEqual([handler.calls[4]?.isSame, handler.calls[6]?.isSame], [true, false]);
  assert.deepEqual(others.names, ['add a', 'add b', 'add c', 'delete b', 'update c']);
});

test('C13 relists do not delay a resync, however frequent', async (scene) => {
  const informer = scene.informer();
  const handler = new RecordingHandler();
  await scene.put(pod('a'));
  await scene.watched(informer, handler, RESYNC);
  // Every relist finds the only object changed, so an update without a change comes from the resync.
  for (let step = 0; !handler.calls.some(({ isSame }) => isSame); step++) {
    await scene.relisted(informer, put(pod('a', { step: `${step}` })));
  }
  assert.ok(handler.calls.length > 3);
});

configurationWasUsed();
