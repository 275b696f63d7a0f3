/**
 * The clauses of the contract that concern the server, against a real one. Those of objects, cache and
 * handlers are here; those of requests are in contract-requests.ts. contract-clauses.ts lists them, and says
 * why the others are not among them.
 */
import assert from 'node:assert/strict';
import { test as plainTest } from 'node:test';
import type { V1ConfigMap } from '@kubernetes/client-node';
import { SharedIndexInformer, resources } from '../../src/index.ts';
import type { ResourceRef } from '../../src/index.ts';
import { FakeClock } from '../../src/tools/apiserver/testing/index.ts';
import { readClauses } from '../contract/clauses.ts';
import { RecordingHandler } from '../kit/recording-handler.ts';
import { NOT_OF_THE_SERVER, OF_THE_SERVER } from './contract-clauses.ts';
import { cached, citedClauses, controlPlane, test } from './contract-scene.ts';
import './contract-requests.ts';
import { PlainWatch } from './plain-watch.ts';

const LISTS = ['auto', 'off'] as const;

plainTest('every clause that concerns the server has a test here, and every other one has a reason', () => {
  const all = readClauses().map(({ number }) => number);
  const judged = [...OF_THE_SERVER, ...NOT_OF_THE_SERVER.keys()];
  const twice = judged.filter((number, index) => judged.indexOf(number) !== index);
  assert.deepEqual(twice, []);
  const unknown = judged.filter((number) => !all.includes(number));
  assert.deepEqual(unknown, []);
  const newest = Math.max(...judged.map((number) => Number(number.slice(1))));
  const unjudged = all.filter((number) => Number(number.slice(1)) <= newest && !judged.includes(number));
  assert.deepEqual(unjudged, []);
  assert.deepEqual(citedClauses(), new Set(OF_THE_SERVER));
});

for (const watchList of LISTS) {
  test(`C10 C11 C25 C27 the first list is delivered in its order, with kinds, as initial (watchList ${watchList})`, async (scene) => {
    await scene.createAll('c', 'a', 'b', 'e', 'd');
    const { version, lines } = await scene.list();
    const informer = scene.informer({ list: { watchList } });
    const handler = await scene.watched(informer);
    assert.deepEqual(cached(informer), lines);
    assert.deepEqual(handler.names, ['add a', 'add b', 'add c', 'add d', 'add e']);
    assert.ok(handler.calls.every(({ isInInitialList }) => isInInitialList));
    await scene.create('later');
    await handler.count(6);
    assert.equal(handler.calls[5]?.isInInitialList, false);
    for (const { object } of informer.getStore().list()) {
      assert.deepEqual([object.kind, object.apiVersion], ['Pod', 'v1']);
    }
    assert.ok(Number(informer.lastSyncResourceVersion()) > Number(version));
  });

  test(`C11 C41 an informer of an empty collection syncs (watchList ${watchList})`, async (scene) => {
    const informer = scene.informer({ list: { watchList } });
    const handler = await scene.watched(informer);
    assert.deepEqual([informer.hasSynced(), cached(informer), handler.names], [true, [], []]);
  });
}

test('C3 C4 C7 C14 a handler receives the same changes as a plain watch, one by one', async (scene) => {
  const informer = scene.informer();
  const handler = await scene.watched(informer);
  const { version } = await scene.list();
  const plain = new PlainWatch(controlPlane(), `/api/v1/namespaces/${scene.namespace}/pods`, version);
  const names = Array.from({ length: 20 }, (_, index) => `pod-${index}`);
  const life = async (name: string): Promise<void> => {
    await scene.create(name);
    await scene.label(name, { round: '1' });
    await scene.label(name, { round: '2' });
    await scene.remove(name);
  };
  await Promise.all(names.map(life));
  const last = await scene.create('last');
  await plain.reached(Number(last));
  await handler.until(() => handler.calls.at(-1)?.version === last);
  plain.close();
  assert.ok(plain.lines.length >= 81);
  assert.deepEqual(handler.lines, plain.lines);
});

test('C14 a deletion delivers the final state with the version of the deletion', async (scene) => {
  const informer = scene.informer();
  const deleted: unknown[] = [];
  informer.addEventHandler({
    onDelete(pod) {
      assert.ok(!pod.finalStateUnknown);
      deleted.push([pod.object.metadata?.labels, Number(pod.resourceVersion) > Number(labelled)]);
      deleted.push(informer.getStore().getByKey(pod.key));
    },
  });
  const created = await scene.create('a');
  await scene.watched(informer);
  const labelled = await scene.label('a', { final: 'yes' });
  await scene.remove('a');
  await scene.until(() => deleted.length > 0);
  assert.ok(Number(labelled) > Number(created));
  assert.deepEqual(deleted, [[{ final: 'yes' }, true], undefined]);
});

test('C9 C10 a late handler receives the cached objects and then every change, each once', async (scene) => {
  const informer = scene.informer();
  const first = await scene.watched(informer);
  const names = Array.from({ length: 30 }, (_, index) => `pod-${index + 10}`);
  const writing = scene.createAll(...names);
  await first.count(10);
  const late = new RecordingHandler();
  const atJoin = informer.getStore().list().length;
  informer.addEventHandler(late);
  await writing;
  await Promise.all([first.count(names.length), late.count(names.length)]);
  assert.deepEqual(
    late.names,
    names.map((name) => `add ${name}`),
  );
  const initial = late.calls.map(({ isInInitialList }) => isInInitialList);
  assert.deepEqual(
    initial,
    names.map((_, index) => index < atJoin),
  );
});

test('C15 C29 a handler receives the same entry as the store and every query', async (scene) => {
  const informer = scene.informer();
  const seen: boolean[] = [];
  informer.addEventHandler({
    onAdd: (pod) => void seen.push(informer.getStore().getByKey(pod.key) === pod),
    onUpdate: (old, pod) => void seen.push(informer.getStore().getByKey(pod.key) === pod, old !== pod),
  });
  await scene.watched(informer);
  await scene.create('a');
  await scene.until(() => seen.length === 1);
  await scene.label('a', { changed: 'yes' });
  await scene.until(() => seen.length === 3);
  assert.deepEqual(seen, [true, true, true]);
  const [entry] = informer.getStore().list();
  assert.equal(informer.getIndexer().byIndex('namespace', scene.namespace)[0], entry);
});

test('C26 an object that begins to match a label selector is added, and one that ceases to match is deleted', async (scene) => {
  await scene.create('in', { app: 'web' });
  await scene.create('out', { app: 'db' });
  const informer = scene.informer({ labelSelector: 'app=web' });
  const handler = await scene.watched(informer);
  await scene.label('out', { app: 'web' });
  await scene.label('in', { app: 'db' });
  await handler.count(3);
  assert.deepEqual(handler.names, ['add in', 'add out', 'delete in']);
  assert.deepEqual(informer.getStore().listKeys(), [`${scene.namespace}/out`]);
});

test('C26 the cache has the objects that a field selector and a namespace select', async (scene) => {
  await scene.createAll('a', 'b');
  await scene.create('b', {}, 'default');
  const informer = scene.informer({ fieldSelector: 'metadata.name=b' });
  const handler = await scene.watched(informer);
  await scene.createAll('c');
  await scene.remove('b');
  await handler.count(3);
  assert.deepEqual(handler.names, ['add b', 'update b', 'delete b']);
  assert.ok(handler.calls.every(({ key }) => key === `${scene.namespace}/b`));
});

test('C17 C52 C144 the cache contains a write when the wait for its version has ended', async (scene) => {
  const informer = scene.informer();
  assert.equal(informer.lastSyncResourceVersion(), '');
  await scene.watched(informer);
  for (const round of ['1', '2', '3']) {
    const version = await scene.create(`pod-${round}`);
    await informer.waitForResourceVersion(version, { signal: scene.patience });
    const entry = informer.getStore().getByKey(`${scene.namespace}/pod-${round}`);
    assert.equal(entry?.resourceVersion, version);
    assert.ok(Number(informer.lastSyncResourceVersion()) >= Number(version));
    assert.equal(informer.lastSyncResourceVersion(), informer.getStore().lastStoreSyncResourceVersion());
  }
});

test('C43 a resync delivers the cache without a request to the server', async (scene) => {
  const clock = new FakeClock();
  const informer = scene.informer({ clock, resyncPeriodMs: 10_000 });
  await scene.create('a');
  const handler = await scene.watched(informer);
  const { length } = scene.proxy.requests;
  clock.advance(10_000);
  await handler.count(2);
  assert.equal(handler.calls[1]?.isSame, true);
  assert.equal(scene.proxy.requests.length, length);
});

test('C69 an object of a megabyte arrives complete', async (scene) => {
  const { namespace } = scene;
  const { source } = scene.informer();
  const ref: ResourceRef = resources.core.v1.configMaps;
  await using informer = new SharedIndexInformer<V1ConfigMap>(source, ref, {
    threads: scene.threads,
    namespace,
  });
  scene.run(informer);
  await informer.waitForSync({ signal: scene.patience });
  const text = 'ü0'.repeat(340_000);
  const body = { metadata: { name: 'big' }, data: { text } };
  const { metadata } = await scene.api.createNamespacedConfigMap({ namespace, body });
  await informer.waitForResourceVersion(metadata?.resourceVersion ?? '', { signal: scene.patience });
  assert.equal(informer.getStore().getByKey(`${namespace}/big`)?.object.data?.['text'], text);
});
