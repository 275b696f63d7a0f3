/** Joining late, having synced, and waiting for it. */
import assert from 'node:assert/strict';
import { Lister, transformModule, waitForCacheSync } from '../../src/index.ts';
import { bookmark, event } from '../kit/scripted-server.ts';
import { PODS, RecordingHandler, configurationWasUsed, pod, put, test, turns } from './scene.ts';
import { HANG_MS } from '../kit/hang.ts';

test('C9 a handler that joins during changes receives each object once and then every change', async (scene) => {
  await scene.populate(200);
  const { informer, handler: first } = await scene.watching();
  const load = { rate: 5000, durationMs: HANG_MS, eventsMax: 1500 };
  const loading = scene.server.load(load);
  await first.count(500);
  const late = new RecordingHandler();
  informer.addEventHandler(late);
  await loading;
  // On a slow machine the first load may be over when the handler joins.
  const { toRevision } = await scene.server.load({ ...load, eventsMax: 100 });
  await Promise.all([first.reached(toRevision), late.reached(toRevision)]);
  const initial = late.calls.filter(({ isInInitialList }) => isInInitialList);
  assert.equal(initial.length, 200);
  assert.equal(new Set(initial.map(({ key }) => key)).size, 200);
  const cut = Math.max(...initial.map(({ version }) => Number(version)));
  const expected = first.lines.filter((_, at) => Number(first.calls[at]?.version) > cut);
  assert.deepEqual(late.lines.slice(200), expected);
});

test('C9 C38 objects that change or are deleted before a late handler receives them are delivered in their old state', async (scene) => {
  await scene.put(pod('a'), pod('b'), pod('c'));
  const { informer, handler: first } = await scene.watching();
  const held = scene.gate();
  const late = new RecordingHandler(({ key }) => (key === 'default/a' ? held.opened : undefined));
  informer.addEventHandler(late);
  await late.count(1);
  await scene.put(pod('b', { step: '2' }));
  await scene.remove('c');
  await scene.put(pod('d'));
  await first.count(6);
  held.open();
  await late.count(6);
  const versions = first.lines;
  assert.deepEqual(late.lines.slice(0, 3).toSorted(), versions.slice(0, 3).toSorted());
  assert.deepEqual(late.lines.slice(3), versions.slice(3));
  assert.equal(first.calls.length, 6);
});

test('C10 isInInitialList is true for the first list and for a join, and otherwise false', async (scene) => {
  await scene.put(pod('first'));
  const { informer, handler } = await scene.watching();
  await scene.put(pod('watched'));
  await handler.count(2);
  await scene.relisted(informer, put(pod('relisted')));
  await handler.until(() => handler.names.includes('add relisted'));
  const late = new RecordingHandler();
  informer.addEventHandler(late);
  await late.count(3);
  const adds = handler.calls.filter(({ type }) => type === 'add');
  const known = adds.map(({ key, isInInitialList }) => [key, isInInitialList]);
  assert.deepEqual(known, [
    ['default/first', true],
    ['default/watched', false],
    ['default/relisted', false],
  ]);
  assert.ok(late.calls.every(({ isInInitialList }) => isInInitialList));
});

test('C11 an informer has synced when the whole first list is in its cache, not before, and remains synced', async (scene) => {
  assert.equal(scene.informer().hasSynced(), false);
  const { server, informer, handler } = await scene.followed(() => undefined);
  const streaming = await server.request(0);
  streaming.send(event('ADDED', 'a', '5'), event('ADDED', 'b', '4'));
  // A reported event of an unknown type shows that everything before it was read.
  streaming.send({ type: 'STRANGE', object: {} });
  await scene.untilReported(() => scene.errors.length === 1);
  assert.deepEqual([informer.hasSynced(), informer.getStore().size, handler.calls.length], [false, 0, 0]);
  streaming.send(bookmark('9', true));
  await informer.waitForSync();
  assert.equal(informer.getStore().size, 2);
  streaming.end();
  await server.request(1);
  assert.equal(informer.hasSynced(), true);
});

test('C39 a registration has synced when all calls of its initial list have returned', async (scene) => {
  await scene.put(pod('a'), pod('b'));
  const informer = scene.informer();
  const held = scene.gate();
  const handler = new RecordingHandler(({ key }) => (key === 'default/b' ? held.opened : undefined));
  const registration = informer.addEventHandler(handler);
  await scene.synced(informer);
  await handler.count(2);
  assert.deepEqual([informer.hasSynced(), registration.hasSynced()], [true, false]);
  held.open();
  await informer.waitForSync({ registration });
  assert.equal(registration.hasSynced(), true);
});

test('C40 a handler that throws on its initial list syncs', async (scene) => {
  await scene.put(pod('a'), pod('b'));
  const throwing = new RecordingHandler(() => {
    throw new Error('always');
  });
  const { handler, registration } = await scene.watching({}, throwing);
  assert.equal(registration.hasSynced(), true);
  assert.equal(handler.calls.length, 2);
});

test('C41 an informer of an empty collection and a handler that joins it sync', async (scene) => {
  const { informer, registration: early } = await scene.watching();
  const late = informer.addEventHandler(new RecordingHandler());
  await informer.waitForSync({ registration: late });
  assert.deepEqual([early.hasSynced(), late.hasSynced(), informer.getStore().size], [true, true, 0]);
});

test('C42 an aborted wait rejects with one error that names what is missing and why', async (scene) => {
  const good = scene.informer();
  const bad = scene.informer({ fieldSelector: 'a=b' });
  await scene.synced(good);
  void scene.run(bad);
  const abort = new AbortController();
  const waiting = waitForCacheSync([good, bad], { signal: abort.signal });
  await scene.untilReported(() => scene.errors.length > 0);
  abort.abort();
  const message = /^not synced: pods \(all namespaces\): .*: .*field label not supported: a/;
  await assert.rejects(waiting, { code: 'ERR_KUBELOOM_NOT_SYNCED', message });
  assert.doesNotMatch(String(bad.lastError), /not synced/);
  const alone = bad.waitForSync({ signal: AbortSignal.abort('over') });
  await assert.rejects(alone, { code: 'ERR_KUBELOOM_NOT_SYNCED', message, cause: 'over' });
});

test("C42 the first line of a wait's error contains the reason why the informer ended", async (scene) => {
  const informer = scene.informer({ transform: transformModule('file:///there/is/none.js') });
  const run = assert.rejects(scene.run(informer), { code: 'ERR_KUBELOOM_MODULE' });
  await assert.rejects(waitForCacheSync([informer]), {
    code: 'ERR_KUBELOOM_NOT_SYNCED',
    message: /^not synced: pods \(all namespaces\): stopped: .*none\.js/,
  });
  await run;
});

test('C203 a lister of an informer that was never started throws, and its store is empty', async (scene) => {
  const informer = scene.informer();
  const lister = new Lister(informer.getIndexer(), PODS);
  const notStarted = {
    code: 'ERR_KUBELOOM_NOT_STARTED',
    message:
      /^pods \(all namespaces\) cannot be read: it was not started; call run\(\), or start\(\) of its factory/,
  };
  for (const read of [
    () => lister.list(),
    () => lister.get('a'),
    () => lister.require('a'),
    () => lister.scan(),
    () => lister.namespace('default').list(),
    () => lister.namespace('default').get('a'),
  ])
    assert.throws(read, notStarted);
  assert.deepEqual(informer.getStore().list(), []);
  await scene.put(pod('a'));
  await scene.synced(informer);
  assert.equal(lister.list().length, 1);
  await informer.shutdown();
  assert.equal(lister.list().length, 1);
});

test('C203 a wait for an informer that does not run is reported once and continues', async (scene) => {
  const informer = scene.informer();
  const abort = new AbortController();
  const waits = [informer.waitForSync(), informer.waitForSync()];
  const code = 'ERR_KUBELOOM_NOT_STARTED';
  const aborted = assert.rejects(informer.waitForSync({ signal: abort.signal }), { code, cause: 'over' });
  await turns();
  assert.deepEqual(scene.codes(), [code]);
  abort.abort('over');
  await aborted;
  await scene.synced(informer);
  await Promise.all(waits);
});

test('C203 a wait that begins just before the start is not reported', async (scene) => {
  const informer = scene.informer();
  const waiting = informer.waitForSync();
  void scene.run(informer);
  await waiting;
  await turns();
  assert.deepEqual(scene.codes(), []);
});

configurationWasUsed();
