/** Kinds that are followed in some namespaces, which may come and go. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NotCachedError } from '../../../../src/controller/index.ts';
import { settled } from '../../../../src/tools/apiserver/testing/index.ts';
import { failRequests } from '../../tools/apiserver/fail-requests.ts';
import { HeldHandler, Lines, NODE, POD, Scene, pod, rejection, soon, turns } from './scene.ts';

function keys(list: { readonly items: readonly { readonly key: string }[] }): string[] {
  return list.items.map(({ key }) => key);
}

const OPTION = { code: 'ERR_KUBELOOM_OPTION' };

describe('a set of namespaces', () => {
  for (const threads of [0, 2]) {
    test(`has one informer each, read and delivered as one (threads ${threads})`, async () => {
      await using scene = await Scene.start(threads);
      await scene.create('pods', pod('y', 'b'), pod('x', 'a'), pod('x', 'c'), pod('w', 'b'));
      const cache = scene.cache({ namespaces: ['b', 'a'] });
      await using pods = await cache.informerFor(POD, { signal: soon() });
      assert.deepEqual(cache.namespaces(POD), ['a', 'b']);
      assert.deepEqual(keys(pods.list()), ['a/x', 'b/w', 'b/y']);
      assert.deepEqual(keys(pods.list({ namespace: 'b' })), ['b/w', 'b/y']);
      const told = new Lines();
      const registration = pods.addEventHandler(told);
      await registration.hasSyncedChecker.done;
      assert.equal(told.lines.length, 3);
      await scene.create('pods', pod('z', 'a'), pod('z', 'c'));
      await told.count(4);
      await settled(cache, { signal: soon() });
      assert.equal(told.lines.at(-1), 'add a/z');
      const paths = (await scene.requests()).map(({ path }) => path);
      assert.deepEqual(paths.toSorted(), ['/api/v1/namespaces/a/pods', '/api/v1/namespaces/b/pods']);
    });
  }

  test('reads of other namespaces throw NotCachedError', async () => {
    await using scene = await Scene.start();
    const cache = scene.cache({ namespaces: ['a'] });
    await using pods = await cache.informerFor(POD);
    assert.equal(pods.get('a/x'), undefined);
    for (const read of [
      () => pods.get('c/x'),
      () => pods.list({ namespace: 'c' }),
      () => pods.list({ fieldSelector: 'metadata.namespace=c' }),
    ]) {
      assert.throws(read, {
        code: 'ERR_KUBELOOM_NOT_CACHED',
        message: /namespace c is not cached, only a$/,
      });
    }
  });

  test('does not affect cluster-scoped kinds, for which the option of the kind is refused', async () => {
    await using scene = await Scene.start();
    await scene.create('nodes', { metadata: { name: 'n' } });
    const cache = scene.cache({ namespaces: ['a'] });
    await using nodes = await cache.informerFor(NODE);
    assert.ok(nodes.get('n'));
    assert.throws(() => nodes.list({ namespace: 'a' }), OPTION);
    assert.throws(() => nodes.get('a/n'), { code: 'ERR_KUBELOOM_KEY' });
    assert.equal((await rejection(cache.addNamespaces(NODE, ['b']))).code, 'ERR_KUBELOOM_OPTION');
    assert.throws(() => scene.cache({ byKind: [{ of: NODE, namespaces: ['a'] }] }), OPTION);
  });

  test('calls a handler for a single change at a time, over all namespaces', async () => {
    await using scene = await Scene.withPods(pod('x', 'a'), pod('x', 'b'), pod('y', 'a'), pod('y', 'b'));
    const cache = scene.cache({ namespaces: ['a', 'b'] });
    await using pods = await cache.informerFor(POD);
    let inside = 0;
    let calls = 0;
    const registration = pods.addEventHandler({
      onAdd: async ({ object }) => {
        assert.equal(++inside, 1);
        await turns(3);
        assert.ok(object);
        inside--;
        calls++;
      },
    });
    await registration.hasSyncedChecker.done;
    assert.equal(calls, 4);
    assert.deepEqual(scene.errors, []);
  });
});

test('a call that waits for a call of another namespace is dropped when the handle is released', async () => {
  await using scene = await Scene.withPods(pod('x', 'a'), pod('x', 'b'));
  const cache = scene.cache({ namespaces: ['a', 'b'] });
  const pods = await cache.informerFor(POD);
  using held = new HeldHandler();
  pods.addEventHandler(held);
  await held.begun;
  await turns();
  const releasing = pods.release();
  held.gate.open();
  await releasing;
  assert.equal(held.lines.length, 1);
});

describe('addNamespaces', () => {
  test('while running: present objects come as an initial list, and all namespaces are read together', async () => {
    await using scene = await Scene.withPods(pod('x', 'a'), pod('x', 'b'), pod('x', 'c'));
    const cache = scene.cache({ byKind: [{ of: POD, namespaces: ['b'] }] });
    await cache.indexField(POD, 'spec.nodeName');
    await using pods = await cache.informerFor(POD);
    await using metadata = await cache.informerFor(POD, { view: 'metadata' });
    const [told, shown] = [new Lines(), new Lines()];
    const registration = pods.addEventHandler(told);
    metadata.addEventHandler(shown);
    await told.count(1);
    await registration.hasSyncedChecker.done;
    await cache.addNamespaces(POD, ['c', 'a'], { signal: soon() });
    assert.ok(registration.hasSynced(), 'never false again');
    assert.deepEqual(cache.namespaces(POD), ['a', 'b', 'c']);
    assert.deepEqual(keys(pods.list({ fieldSelector: 'spec.nodeName=' })), ['a/x', 'b/x', 'c/x']);
    await Promise.all([told.count(3), shown.count(3)]);
    assert.equal(told.lines[0], 'add b/x initial');
    assert.deepEqual(told.lines.slice(1).toSorted(), ['add a/x initial', 'add c/x initial']);
    assert.deepEqual(Object.keys(shown.shown.at(-1)?.object as object), ['kind', 'apiVersion', 'metadata']);
    assert.equal((await scene.requests('/pods')).length, 3);
    await using later = await cache.informerFor(POD);
    assert.equal(later.list().items.length, 3);
  });

  test('C166 all or none: when one cannot be followed in time, nothing has changed', async () => {
    await using scene = await Scene.withPods(pod('x', 'a'), pod('x', 'b'), pod('x', 'c'));
    const cache = scene.cache({ namespaces: ['a'] });
    await using pods = await cache.informerFor(POD);
    const told = new Lines();
    pods.addEventHandler(told);
    await told.count(1);
    await failRequests(scene.server, 403, 'always', { path: '/namespaces/c/' });
    const end = new AbortController();
    const adding = rejection(cache.addNamespaces(POD, ['b', 'c'], { signal: end.signal }));
    const isThere = ({ name }: { readonly name: string }): boolean => name.includes('namespace b');
    while (!cache.informers.some((one) => isThere(one) && one.hasSynced())) await turns();
    while (scene.errors.length === 0) await turns();
    assert.throws(() => pods.get('b/x'), NotCachedError, 'not before all of them');
    const twice = await rejection(cache.addNamespaces(POD, ['b']));
    assert.match(twice.message, /already cached or being added: b/);
    end.abort(new Error('enough'));
    const error = await adding;
    assert.equal(error.code, 'ERR_KUBELOOM_NOT_SYNCED');
    assert.match(error.message, /namespace c\): .*403/);
    assert.deepEqual(cache.namespaces(POD), ['a']);
    assert.equal(cache.informers.length, 1);
    assert.throws(() => pods.get('b/x'), NotCachedError);
    assert.deepEqual(told.lines, ['add a/x initial']);
    await scene.server.healFaults();
    await cache.addNamespaces(POD, ['b', 'c'], { signal: soon() });
    await told.count(3);
  });

  test('rejects wrong names, and kinds without a handle or with all namespaces', async () => {
    await using scene = await Scene.start();
    const some = scene.cache({ namespaces: ['a'] });
    assert.throws(() => some.namespaces(POD), NotCachedError);
    assert.equal((await rejection(some.addNamespaces(POD, ['b']))).code, 'ERR_KUBELOOM_NOT_CACHED');
    await using _some = await some.informerFor(POD);
    for (const names of [['a'], ['B'], [''], ['b', 'b'], 'b' as never]) {
      assert.equal((await rejection(some.addNamespaces(POD, names))).code, 'ERR_KUBELOOM_OPTION');
    }
    assert.equal(some.informers.length, 1);
    const all = scene.cache();
    await using _all = await all.informerFor(POD);
    assert.match((await rejection(all.addNamespaces(POD, ['b']))).message, /all namespaces/);
    assert.deepEqual(all.namespaces(POD), []);
  });

  test('of a kind with metadata only starts a metadata informer, and whole objects later come for all namespaces', async () => {
    await using scene = await Scene.withPods(pod('x', 'a'), pod('x', 'b'));
    const cache = scene.cache({ namespaces: ['a'] });
    await using metadata = await cache.informerFor(POD, { view: 'metadata' });
    const told = new Lines();
    metadata.addEventHandler(told);
    await cache.addNamespaces(POD, ['b'], { signal: soon() });
    await using pods = await cache.informerFor(POD, { signal: soon() });
    assert.deepEqual(keys(pods.list()), ['a/x', 'b/x']);
    assert.equal(cache.informers.length, 2);
    await settled(cache, { signal: soon() });
    assert.deepEqual(told.lines.toSorted(), ['add a/x initial', 'add b/x initial']);
  });
});

describe('removeNamespaces', () => {
  test('C166 ends the watch, and handlers receive its objects as deleted with unknown final state', async () => {
    await using scene = await Scene.withPods(pod('x', 'a'), pod('x', 'b'), pod('y', 'b'));
    const cache = scene.cache({ namespaces: ['a', 'b'] });
    await using pods = await cache.informerFor(POD);
    await using metadata = await cache.informerFor(POD, { view: 'metadata' });
    const [told, shown] = [new Lines(), new Lines()];
    pods.addEventHandler(told);
    metadata.addEventHandler(shown);
    await Promise.all([told.count(3), shown.count(3)]);
    await cache.removeNamespaces(POD, ['b']);
    assert.deepEqual(told.lines.slice(3), ['gone b/x', 'gone b/y']);
    assert.deepEqual(shown.lines.slice(3), ['gone b/x', 'gone b/y']);
    assert.throws(() => pods.get('b/x'), NotCachedError);
    assert.deepEqual(keys(pods.list()), ['a/x']);
    assert.equal(cache.informers.length, 1);
    while ((await scene.server.watches()).length > 1) await turns();
    await scene.create('pods', pod('z', 'b'), pod('z', 'a'));
    await told.count(6);
    assert.equal(told.lines.at(-1), 'add a/z');
    await cache.addNamespaces(POD, ['b'], { signal: soon() });
    await told.count(9);
    assert.equal(pods.list().items.length, 5);
  });

  test('C166 delivers the pending notifications of a slow handler before the deletions', async () => {
    await using scene = await Scene.withPods(pod('w', 'a'), pod('x', 'b'), pod('y', 'b'));
    const cache = scene.cache({ namespaces: ['a', 'b'] });
    await using pods = await cache.informerFor(POD);
    using held = new HeldHandler();
    pods.addEventHandler(held);
    await held.begun;
    const removing = cache.removeNamespaces(POD, ['b']);
    await turns();
    assert.equal(held.lines.length, 1);
    held.gate.open();
    await removing;
    const ofB = held.lines.filter((line) => !line.endsWith(' w'));
    assert.deepEqual(ofB, ['add x', 'add y', 'gone x', 'gone y']);
  });

  test('refuses a namespace that is not cached, and the last one', async () => {
    await using scene = await Scene.start();
    const cache = scene.cache({ namespaces: ['a', 'b'] });
    await using _pods = await cache.informerFor(POD);
    for (const names of [['c'], ['a', 'c'], ['a', 'b']]) {
      assert.equal((await rejection(cache.removeNamespaces(POD, names))).code, 'ERR_KUBELOOM_OPTION');
    }
    assert.equal(cache.informers.length, 2);
  });

  test('of a namespace that never synced ends the waits for it without an error', async () => {
    await using scene = await Scene.start();
    await failRequests(scene.server, 403, 'always', { path: '/namespaces/b/' });
    const cache = scene.cache({ namespaces: ['a', 'b'] });
    const waiting = cache.informerFor(POD, { signal: soon() });
    while (scene.errors.length === 0) await turns();
    await cache.removeNamespaces(POD, ['b']);
    await using pods = await waiting;
    assert.deepEqual(pods.list().items, []);
  });
});
