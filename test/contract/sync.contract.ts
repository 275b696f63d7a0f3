/** Joining late, having synced, and waiting for it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lister, transformModule, waitForCacheSync } from '../../src/index.ts';
import type { KubeloomError, NotSyncedError } from '../../src/index.ts';
import { configurationWasUsed } from './configuration.ts';
import { PODS, Scene, Witness, pod, turns } from './scene.ts';
import { bookmark, event } from './scripted-server.ts';

test('C9 a handler that joins during changes receives each object once and then every change', async () => {
  await using scene = await Scene.start();
  await scene.populate(200);
  const informer = scene.informer();
  const first = new Witness();
  await scene.watched(informer, first);
  const load = scene.server.load({ rate: 5000, durationMs: 300 });
  await first.count(500);
  const late = new Witness();
  informer.addEventHandler(late);
  const { toRevision } = await load;
  const hasAll = (witness: Witness): boolean => Number(witness.calls.at(-1)?.version) >= toRevision;
  await late.until(() => hasAll(late));
  await first.until(() => hasAll(first));
  const initial = late.calls.filter(({ isInInitialList }) => isInInitialList);
  assert.equal(initial.length, 200);
  assert.equal(new Set(initial.map(({ key }) => key)).size, 200);
  const cut = Math.max(...initial.map(({ version }) => Number(version)));
  const expected = first.lines.filter((_, at) => Number(first.calls[at]?.version) > cut);
  assert.deepEqual(late.lines.slice(200), expected);
});

test('C9 C38 objects that change or are deleted before a late handler receives them are delivered in their old state', async () => {
  await using scene = await Scene.start();
  await scene.put(pod('a'), pod('b'), pod('c'));
  const informer = scene.informer();
  const first = new Witness();
  await scene.watched(informer, first);
  const held = scene.gate();
  const late = new Witness(({ key }) => (key === 'default/a' ? held.opened : undefined));
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

test('C10 isInInitialList is true for the first list and for a join, and otherwise false', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer();
  const witness = new Witness();
  await scene.put(pod('first'));
  await scene.watched(informer, witness);
  await scene.put(pod('watched'));
  await witness.count(2);
  await scene.relisted(informer, { type: 'put', resource: 'pods', object: pod('relisted') });
  const isTold = (): boolean => witness.names.includes('add relisted');
  await witness.until(isTold);
  const late = new Witness();
  informer.addEventHandler(late);
  await late.count(3);
  const adds = witness.calls.filter(({ type }) => type === 'add');
  assert.deepEqual(
    adds.map(({ key, isInInitialList }) => [key, isInInitialList]),
    [
      ['default/first', true],
      ['default/watched', false],
      ['default/relisted', false],
    ],
  );
  assert.deepEqual(
    late.calls.map(({ isInInitialList }) => isInInitialList),
    [true, true, true],
  );
});

test('C11 an informer has synced when the whole first list is in its cache, not before, and remains synced', async () => {
  await using scene = await Scene.start();
  const { server, informer } = await scene.scripted(() => undefined);
  assert.equal(informer.hasSynced(), false);
  const witness = new Witness();
  informer.addEventHandler(witness);
  void scene.run(informer);
  const streaming = await server.request(0);
  streaming.send(event('ADDED', 'a', '5'), event('ADDED', 'b', '4'));
  // A reported event of an unknown type shows that everything before it was read.
  streaming.send({ type: 'STRANGE', object: {} });
  await scene.untilReported(() => scene.errors.length === 1);
  assert.deepEqual([informer.hasSynced(), informer.getStore().size, witness.calls.length], [false, 0, 0]);
  streaming.send(bookmark('9', true));
  await informer.waitForSync();
  assert.equal(informer.getStore().size, 2);
  streaming.end();
  await server.request(1);
  assert.equal(informer.hasSynced(), true);
});

test('C39 a registration has synced when all calls of its initial list have returned', async () => {
  await using scene = await Scene.start();
  await scene.put(pod('a'), pod('b'));
  const informer = scene.informer();
  const held = scene.gate();
  const witness = new Witness(({ key }) => (key === 'default/b' ? held.opened : undefined));
  const registration = informer.addEventHandler(witness);
  await scene.synced(informer);
  await witness.count(2);
  assert.deepEqual([informer.hasSynced(), registration.hasSynced()], [true, false]);
  held.open();
  await informer.waitForSync(undefined, registration);
  assert.equal(registration.hasSynced(), true);
});

test('C40 a handler that throws on its initial list syncs', async () => {
  await using scene = await Scene.start();
  await scene.put(pod('a'), pod('b'));
  const informer = scene.informer();
  const witness = new Witness(() => {
    throw new Error('always');
  });
  const registration = await scene.watched(informer, witness);
  assert.equal(registration.hasSynced(), true);
  assert.equal(witness.calls.length, 2);
});

test('C41 an informer of an empty collection syncs, and so does a handler that joins it', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer();
  const early = await scene.watched(informer, new Witness());
  const late = informer.addEventHandler(new Witness());
  await informer.waitForSync(undefined, late);
  assert.deepEqual([early.hasSynced(), late.hasSynced(), informer.getStore().size], [true, true, 0]);
});

test('C42 an aborted wait rejects with one error that names what is missing and why', async () => {
  await using scene = await Scene.start();
  const good = scene.informer();
  const bad = scene.informer({ fieldSelector: 'a=b' });
  await scene.synced(good);
  void scene.run(bad);
  const abort = new AbortController();
  const waiting = waitForCacheSync(abort.signal, good, bad);
  await scene.untilReported(() => scene.errors.length > 0);
  abort.abort();
  await assert.rejects(waiting, (error: KubeloomError) => {
    assert.equal(error.code, 'ERR_KUBELOOM_NOT_SYNCED');
    assert.match(error.message, /^not synced: pods \(all namespaces\): .*: .*field label not supported: a/);
    return true;
  });
  assert.doesNotMatch(String(bad.lastError), /not synced/);
  const alone = bad.waitForSync(AbortSignal.abort('over'));
  await assert.rejects(alone, (error: NotSyncedError) => {
    assert.deepEqual([error.code, error.cause], ['ERR_KUBELOOM_NOT_SYNCED', 'over']);
    assert.match(error.message, /^not synced: pods \(all namespaces\): .*: .*field label not supported: a/);
    return true;
  });
});

test("C42 the first line of a wait's error contains the reason why the informer ended", async () => {
  await using scene = await Scene.start();
  const informer = scene.informer({ transform: transformModule('file:///there/is/none.js') });
  const run = assert.rejects(scene.run(informer), { code: 'ERR_KUBELOOM_MODULE' });
  await assert.rejects(waitForCacheSync(undefined, informer), {
    code: 'ERR_KUBELOOM_NOT_SYNCED',
    message: /^not synced: pods \(all namespaces\): stopped: .*none\.js/,
  });
  await run;
});

test('C203 a lister of an informer that was never started throws, and its store is empty', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer();
  const lister = new Lister(informer.getIndexer(), PODS);
  const notStarted = {
    code: 'ERR_KUBELOOM_NOT_STARTED',
    message: 'pods (all namespaces) cannot be read: it was not started, call run()',
  };
  for (const read of [
    () => lister.list(),
    () => lister.get('a'),
    () => lister.require('a'),
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

test('C203 a wait for an informer that does not run is reported once and continues', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer();
  const abort = new AbortController();
  const waits = [informer.waitForSync(), informer.waitForSync()];
  const aborted = assert.rejects(informer.waitForSync(abort.signal), {
    code: 'ERR_KUBELOOM_NOT_STARTED',
    cause: 'over',
  });
  await turns();
  assert.deepEqual(
    scene.errors.map(({ code }) => code),
    ['ERR_KUBELOOM_NOT_STARTED'],
  );
  abort.abort('over');
  await aborted;
  await scene.synced(informer);
  await Promise.all(waits);
});

test('C203 a wait that begins just before the start is not reported', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer();
  const waiting = informer.waitForSync();
  void scene.run(informer);
  await waiting;
  await turns();
  assert.deepEqual(
    scene.errors.map(({ code }) => code),
    [],
  );
});

configurationWasUsed();
