/** Three views of a kind, and one watch beneath them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { settled } from '../../../../src/tools/apiserver/testing/index.ts';
import { failRequests } from '../../tools/apiserver/fail-requests.ts';
import {
  CountingProxy,
  HeldHandler,
  Lines,
  POD,
  Scene,
  WIDGET,
  object,
  pod,
  rejection,
  soon,
  turns,
} from './scene.ts';

const LARGE = { containers: [{ name: 'c', image: 'x'.repeat(20_000) }], nodeName: 'n1' };

describe('views', () => {
  for (const threads of [0, 2]) {
    test(`C163 share one request and one copy of the bytes (threads ${threads})`, async () => {
      await using scene = await Scene.start(threads);
      await scene.create('pods', pod('x', 'a', LARGE));
      const cache = scene.cache();
      await using structured = await cache.informerFor(POD, { signal: soon() });
      await using again = await cache.informerFor('pods', { view: 'object' });
      await using metadata = await cache.informerFor({ resource: 'pods' }, { view: 'metadata' });
      assert.equal((await scene.requests()).length, 1, 'not even discovery');
      assert.equal(cache.informers.length, 1);
      assert.equal(structured.get('a/x'), again.get('a/x'), 'the same entry');
      const shown = metadata.require('a/x');
      assert.deepEqual(Object.keys(shown.object), ['kind', 'apiVersion', 'metadata']);
      assert.equal(shown.object.kind, 'Pod');
      assert.equal(shown.object.metadata, structured.require('a/x').metadata, 'nothing is kept twice');
      assert.equal(metadata.get('a/x'), shown);
      assert.ok(!shown.bytes().includes('xxxx'));
    });
  }

  test('C163 of metadata alone, only metadata travel; of all together, no more than whole objects once', async () => {
    await using scene = await Scene.withPods(
      ...Array.from({ length: 10 }, (_, at) => pod(`p${at}`, 'a', LARGE)),
    );
    await using narrow = await CountingProxy.start(scene);
    const metadataOnly = scene.cache({}, narrow.kubeConfig);
    await using metadata = await metadataOnly.informerFor(POD, { view: 'metadata' });
    assert.equal(metadata.list().items.length, 10);
    assert.ok(narrow.bytes > 0 && narrow.bytes < 20_000, `${narrow.bytes} bytes`);
    await metadataOnly.shutdown();

    await using wide = await CountingProxy.start(scene);
    const all = scene.cache({}, wide.kubeConfig);
    await using _one = await all.informerFor(POD);
    await using _two = await all.informerFor(POD, { view: 'object' });
    await using _three = await all.informerFor(POD, { view: 'metadata' });
    assert.ok(wide.bytes > 200_000 && wide.bytes < 250_000, `${wide.bytes} bytes`);
  });

  test('look alike as metadata, however the objects came', async () => {
    await using scene = await Scene.start();
    await scene.create(
      'widgets.example.com',
      object('w', 'a', { labels: { app: 'web' }, annotations: { note: 'n' } }),
    );
    const narrow = scene.cache();
    const wide = scene.cache();
    await using one = await narrow.informerFor(WIDGET, { view: 'metadata' });
    await using _full = await wide.informerFor(WIDGET);
    await using two = await wide.informerFor(WIDGET, { view: 'metadata' });
    const [a, b] = [one.require('a/w'), two.require('a/w')];
    assert.deepEqual(a.object, b.object);
    assert.equal(a.object.kind, 'Widget');
    assert.equal(a.object.apiVersion, 'example.com/v1');
    assert.deepEqual(JSON.parse(b.bytes().toString()), JSON.parse(JSON.stringify(b)));
    const copy = b.copy();
    copy.metadata.name = 'other';
    assert.equal(b.object.metadata.name, 'w');
    for (const shown of [a, b]) {
      assert.deepEqual({ ...shown.labels }, { app: 'web' });
      assert.equal(shown.uid, one.require('a/w').metadata.uid);
      assert.equal(shown.kept && shown.finalStateUnknown, false);
      assert.equal(shown.deletionTimestamp, undefined);
      assert.equal(shown.controllerUid, undefined);
      assert.deepEqual(shown.fields, {});
    }
  });

  test('of whole objects cannot be read while only metadata are followed', async () => {
    await using scene = await Scene.start();
    const cache = scene.cache();
    await using _metadata = await cache.informerFor(POD, { view: 'metadata' });
    assert.throws(() => cache.get(POD, 'a/x'), {
      code: 'ERR_KUBELOOM_NOT_CACHED',
      message: /only its metadata/,
    });
    assert.throws(() => cache.list(POD), { code: 'ERR_KUBELOOM_NOT_CACHED' });
    assert.equal(cache.get(POD, 'a/x', { view: 'metadata' }), undefined);
    assert.deepEqual(cache.list(POD, { view: 'metadata' }).items, []);
  });

  test('of unknown names are refused', async () => {
    await using scene = await Scene.start();
    const cache = scene.cache();
    const view = 'all' as 'object';
    const error = await rejection(cache.informerFor(POD, { view }));
    assert.equal(error.code, 'ERR_KUBELOOM_OPTION');
    assert.throws(() => cache.get(POD, 'a/x', { view }), { code: 'ERR_KUBELOOM_OPTION' });
  });
});

describe('from metadata to whole objects', () => {
  for (const threads of [0, 2]) {
    test(`C164 the metadata watch ends, and its handlers receive every change exactly once (threads ${threads})`, async () => {
      await using scene = await Scene.start(threads);
      await scene.create('pods', pod('x', 'a', LARGE), pod('y', 'a', LARGE));
      const cache = scene.cache();
      await using metadata = await cache.informerFor(POD, { view: 'metadata' });
      const told = new Lines();
      const registration = metadata.addEventHandler(told);
      await told.count(2);
      const before = metadata.require('a/x');
      await using structured = await cache.informerFor(POD, { signal: soon() });
      assert.equal(cache.informers.length, 1);
      assert.equal(metadata.require('a/y').object.metadata, structured.require('a/y').metadata);
      assert.equal(before.object.metadata.name, 'x', 'what was read stays');
      await scene.put('pods', pod('x', 'a', LARGE, { labels: { now: 'seen' } }));
      await told.count(3);
      await scene.remove('pods', 'a', 'y');
      await told.count(4);
      await settled(cache, { signal: soon() });
      assert.deepEqual(told.lines, ['add a/x initial', 'add a/y initial', 'update a/x', 'delete a/y']);
      assert.deepEqual(Object.keys(told.shown.at(-1)?.object as object), ['kind', 'apiVersion', 'metadata']);
      assert.ok(registration.hasSynced());
      // The server sees the end of the connection some time later.
      while ((await scene.server.watches()).length > 1) await turns();
      assert.equal((await scene.requests('/pods')).length, 2);
    });
  }

  test('C164 changes between the two watches are delivered as a difference', async () => {
    await using scene = await Scene.withPods(
      pod('gone', 'a'),
      pod('kept', 'a'),
      pod('new', 'a'),
      pod('same', 'a'),
    );
    const cache = scene.cache();
    await using metadata = await cache.informerFor(POD, { view: 'metadata' });
    const told = new Lines();
    metadata.addEventHandler(told);
    await told.count(4);
    // The metadata watch breaks and cannot come back; meanwhile the server moves on.
    await failRequests(scene.server, 'hang', 1, { path: '/pods', verb: 'watch' });
    await scene.server.dropWatches({ how: 'close' });
    while ((await scene.requests('/pods')).length < 2) await turns();
    await scene.remove('pods', 'a', 'gone');
    await scene.remove('pods', 'a', 'new');
    await scene.create('pods', pod('new', 'a'), pod('more', 'a'));
    await scene.put('pods', pod('kept', 'a', {}, { labels: { is: 'other' } }));
    await using _structured = await cache.informerFor(POD, { signal: soon() });
    await told.count(8);
    await settled(cache, { signal: soon() });
    assert.deepEqual(told.lines.slice(4).toSorted(), [
      'add a/more',
      'gone a/gone',
      'update a/kept',
      'update a/new',
    ]);
    assert.equal(told.lines[4], 'gone a/gone', 'deletions come first');
    await scene.remove('pods', 'a', 'more');
    await told.count(9);
    assert.equal(told.lines.at(-1), 'delete a/more');
  });

  test('a handler that is behind first receives pending notifications, and delays no other handler', async () => {
    await using scene = await Scene.withPods(pod('x', 'a'), pod('y', 'a'));
    const cache = scene.cache();
    await using metadata = await cache.informerFor(POD, { view: 'metadata' });
    using held = new HeldHandler();
    const slow = metadata.addEventHandler(held);
    const quick = new Lines();
    metadata.addEventHandler(quick);
    await quick.count(2);
    await using structured = await cache.informerFor(POD, { signal: soon() });
    await scene.create('pods', pod('z', 'a'));
    await scene.remove('pods', 'a', 'x');
    await quick.count(4);
    assert.deepEqual(held.lines, ['add x']);
    assert.ok(slow.backlog.notifications >= 2);
    assert.equal(slow.hasSynced(), false);
    assert.equal(structured.list().items.length, 2);
    held.gate.open();
    await slow.hasSyncedChecker.done;
    while (held.lines.length < 4) await turns();
    assert.deepEqual(held.lines, ['add x', 'add y', 'add z', 'delete x']);
  });

  test('ends when the last handle of whole objects is released', async () => {
    await using scene = await Scene.withPods(pod('x', 'a'));
    const cache = scene.cache();
    await using metadata = await cache.informerFor(POD, { view: 'metadata' });
    await failRequests(scene.server, 503, 'always', { path: '/pods' });
    const end = new AbortController();
    const waiting = rejection(cache.informerFor(POD, { signal: end.signal }));
    while (cache.informers.length < 2) await turns();
    assert.equal(metadata.list().items.length, 1, 'still read from what there is');
    end.abort(new Error('enough'));
    const error = await waiting;
    assert.equal(error.code, 'ERR_KUBELOOM_NOT_SYNCED');
    assert.match(error.message, /SharedIndexInformer pods/);
    await scene.server.healFaults();
    assert.equal(cache.informers.length, 1);
    await scene.create('pods', pod('y', 'a'));
    await settled(cache, { signal: soon() });
    assert.equal(metadata.list().items.length, 2);
    await using structured = await cache.informerFor(POD, { signal: soon() });
    assert.equal(structured.list().items.length, 2);
  });

  test('does not happen in reverse when the handle of whole objects is released', async () => {
    await using scene = await Scene.withPods(pod('x', 'a'));
    const cache = scene.cache();
    const structured = await cache.informerFor(POD);
    await using metadata = await cache.informerFor(POD, { view: 'metadata' });
    await structured.release();
    await scene.create('pods', pod('y', 'a'));
    await settled(cache, { signal: soon() });
    assert.equal(metadata.list().items.length, 2);
    assert.equal((await scene.requests('/pods')).length, 1);
  });
});
