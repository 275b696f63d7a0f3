/** Waiting and queries of a program: versions, several informers at once, health, listers, writes to the cache. */
import assert from 'node:assert/strict';
import { Lister, waitFor } from '../../src/index.ts';
import type { Borrowed, CachedObject, HealthChange } from '../../src/index.ts';
import { FakeClock } from '../../src/tools/apiserver/testing/index.ts';
import type { V1Pod } from '@kubernetes/client-node';
import { labelSelectorAsSelector } from '../../src/kube/label-selector.ts';
import { bookmark, event, status } from '../kit/scripted-server.ts';
import { PODS, RecordingHandler, configurationWasUsed, pod, put, test } from './scene.ts';

test('C144 waiting for a version ends when the write is in the cache, before or after the start', async (scene) => {
  const informer = scene.informer();
  const [, first = ''] = await scene.put(pod('a'), pod('b'));
  const early = informer.waitForResourceVersion(first);
  await scene.synced(informer);
  await early;
  assert.equal(informer.getStore().getByKey('default/b')?.resourceVersion, first);
  const [second = ''] = await scene.put(pod('b', { step: '2' }));
  await informer.waitForResourceVersion(second);
  assert.equal(informer.getStore().getByKey('default/b')?.labels['step'], '2');
  const removed = await scene.remove('a');
  await informer.waitForResourceVersion(removed);
  assert.deepEqual(informer.getStore().listKeys(), ['default/b']);
  const relisted = informer.waitForResourceVersion(String(Number(removed) + 1));
  await scene.relisted(informer, put(pod('c')));
  await relisted;
  await informer.waitForResourceVersion(second, { signal: AbortSignal.abort() });
});

test('C144 a bookmark ends the wait, and so does a signal or the end of the informer', async (scene) => {
  const { server, informer } = await scene.scripted(
    (request, number) => number === 0 && request.send(event('ADDED', 'a', '5'), bookmark('9', true)),
  );
  await scene.synced(informer);
  const bookmarked = informer.waitForResourceVersion('15');
  (await server.request(0)).send(bookmark('20'));
  await bookmarked;
  assert.equal(informer.lastSyncResourceVersion(), '20');
  const abort = new AbortController();
  const aborted = assert.rejects(informer.waitForResourceVersion('99', { signal: abort.signal }), {
    message: 'enough',
  });
  const stopped = assert.rejects(informer.waitForResourceVersion('99'), { code: 'ERR_KUBELOOM_STOPPED' });
  abort.abort(new Error('enough'));
  await aborted;
  await informer.shutdown();
  await stopped;
  await assert.rejects(informer.waitForResourceVersion(''), { code: 'ERR_KUBELOOM_RESOURCE_VERSION' });
});

test('C145 waitFor names what is missing and why, and counts informers that have synced despite the abort', async (scene) => {
  const [good, bad] = [scene.informer(), scene.informer({}, 'http://127.0.0.1:1')];
  await scene.put(pod('a'));
  await scene.synced(good);
  void scene.run(bad).catch(() => undefined);
  await scene.until(() => bad.lastError !== undefined);
  const signal = AbortSignal.abort();
  await waitFor('controller', { signal }, good.hasSyncedChecker);
  await assert.rejects(waitFor('controller', { signal }, good.hasSyncedChecker, bad.hasSyncedChecker), {
    code: 'ERR_KUBELOOM_NOT_SYNCED',
    message: /^controller: not synced: SharedIndexInformer pods: .*127\.0\.0\.1:1/,
    synced: [good.hasSyncedChecker.name],
  });
});

test('C146 an informer whose server is gone reports once that it is stale and once that it has recovered', async (scene) => {
  const clock = new FakeClock();
  const informer = scene.informer({ watch: { staleAfterMs: 1000 }, clock });
  const changes: HealthChange[] = [];
  const stopListening = informer.onHealth((change) => void changes.push(change));
  await scene.put(pod('a'));
  await scene.synced(informer);
  await scene.until(() => informer.health.state === 'connected');
  await scene.failRequests(500, 'always');
  await scene.server.dropWatches({ how: 'close' });
  await scene.until(() => informer.health.state === 'disconnected');
  clock.advance(999);
  assert.equal(changes.length, 0);
  clock.advance(1);
  assert.equal(changes.length, 1);
  clock.advance(5000);
  const states = changes.map(({ type, health }) => [type, health.state, health.isStale]);
  assert.deepEqual(states, [['stale', 'disconnected', true]]);
  await scene.server.healFaults();
  await scene.until(() => informer.health.state === 'connected');
  const types = changes.map(({ type }) => type);
  assert.deepEqual(types, ['stale', 'recovered']);
  assert.equal(informer.health.isStale, false);
  stopListening();
  clock.advance(5000);
  assert.deepEqual([informer.health.isStale, changes.length], [true, 2]);
});

test('C148 a write to a shared object throws at once and is reported with key and stack', async (scene) => {
  const informer = scene.informer({ debug: { retainChecks: 'strict' } });
  const handler = new RecordingHandler();
  const write = ({ object }: { readonly object: V1Pod }): void => void (object.spec!.nodeName = 'mine');
  informer.addEventHandler({ onAdd: (added) => write(added) });
  await scene.put(pod('a'));
  await scene.watched(informer, handler);
  await scene.untilReported(() => scene.errors.length > 0);
  const reported = scene.errors.map(({ code, context }) => [code, context.key]);
  assert.deepEqual(reported, [['ERR_KUBELOOM_MUTATION', 'default/a']]);
  assert.match(scene.errors[0]?.stack ?? '', /at write .*waiting\.contract/);
  const entry = informer.getStore().getByKey('default/a');
  assert.ok(entry);
  assert.throws(() => write(entry), TypeError);
  assert.equal(entry.object.spec?.nodeName, 'node-1');
});

test('C155 listers answer by selector, namespace and name without parsing, and throw a 404', async (scene) => {
  const informer = scene.informer();
  await scene.put(
    pod('web', { app: 'web', tier: 'front' }, 'one'),
    pod('db', { app: 'db' }, 'one'),
    pod('web', { app: 'web' }, 'two'),
  );
  await scene.synced(informer);
  const lister = new Lister<V1Pod>(informer.getIndexer(), PODS);
  const keys = (entries: readonly CachedObject<V1Pod>[]): string[] =>
    entries.map(({ key }) => key).toSorted();
  assert.deepEqual(keys(lister.list()), ['one/db', 'one/web', 'two/web']);
  assert.deepEqual(keys(lister.list('app in (web,db),!tier')), ['one/db', 'two/web']);
  assert.deepEqual(keys(lister.list(labelSelectorAsSelector({ matchLabels: { tier: 'front' } }))), [
    'one/web',
  ]);
  assert.deepEqual(keys(lister.list(labelSelectorAsSelector(undefined))), []);
  assert.throws(() => lister.list('app in web'), { code: 'ERR_KUBELOOM_SELECTOR' });
  assert.deepEqual(keys(lister.namespace('one').list('app=web')), ['one/web']);
  assert.equal(lister.namespace('two').get('db'), undefined);
  assert.deepEqual(lister.namespace('three').list(), []);
  assert.equal(lister.get('web'), undefined, 'a namespaced object has no name without its namespace');
  assert.equal(lister.namespace('two').require('web'), informer.getStore().getByKey('two/web'));
  const missing = { code: 'ERR_KUBELOOM_NOT_FOUND', httpStatus: 404, message: 'pods "db" not found' };
  assert.throws(() => lister.namespace('two').require('db'), missing);
});

test('C204 a scan yields one snapshot, each object until the next is asked for, and lets other tasks run', async (scene) => {
  const informer = scene.informer({ debug: { retainChecks: 'strict' } });
  const names = Array.from({ length: 200 }, (_, index) => `pod-${1000 + index}`);
  await scene.put(...names.map((name) => pod(name, { step: 'before' })));
  const handler = new RecordingHandler();
  await scene.watched(informer, handler);
  const lister = new Lister<V1Pod>(informer.getIndexer(), PODS);
  const found: string[] = [];
  const lent: Borrowed<V1Pod>[] = [];
  for await (const entry of lister.scan('step=before')) {
    if (found.length === 0) {
      await scene.put(
        ...names.slice(100).map((name) => pod(name, { step: 'after' })),
        pod('new', { step: 'before' }),
      );
      await scene.remove('pod-1150');
      await handler.count(302);
    }
    found.push(`${entry.name} ${entry.object.metadata?.labels?.['step']}`);
    lent.push(entry);
  }
  assert.deepEqual(
    found.toSorted(),
    names.map((name) => `${name} before`),
  );
  assert.throws(() => lent[0]?.object, { code: 'ERR_KUBELOOM_BORROW_EXPIRED' });
  assert.equal(lister.list('step=before').length, 101);
  assert.throws(() => lister.scan('step in before'), { code: 'ERR_KUBELOOM_SELECTOR' });
});

test('C113 rejected credentials are renewed once, and the request is repeated at once', async (scene) => {
  for (const refusals of [1, 2]) {
    const { server, informer } = await scene.scripted(
      (request, number) => {
        if (number < refusals) request.answer(401, status(401, 'Unauthorized'));
        else request.send(event('ADDED', 'a', '5'), bookmark('9', true));
      },
      // A retry with a backoff would not happen within the test.
      refusals === 1 ? { backoff: { initialMs: 3_600_000, maxMs: 3_600_000 } } : {},
    );
    await scene.synced(informer);
    assert.equal(server.requests.length, refusals + 1);
    await scene.reported(...(refusals === 1 ? [] : ['ERR_KUBELOOM_UNAUTHORIZED']));
  }
});

configurationWasUsed();
