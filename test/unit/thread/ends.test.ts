/** Wrong uses of a port, and the ends of an opened cache, with both ends in this thread. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { SharedCache } from '../../../src/thread/index.ts';
import { settled } from '../../../src/tools/apiserver/testing/index.ts';
import { openCache } from '../../../src/thread/index.ts';
import type { CachePort } from '../../../src/thread/index.ts';
import { Scene, pod } from '../informer/scene.ts';
import type { Pod } from '../informer/scene.ts';

interface Types extends Readonly<Record<string, unknown>> {
  readonly pods: Pod;
}

test('C215 a cache is not shared before its informer runs, nor without an informer', async () => {
  await using scene = new Scene();
  const informer = scene.informer();
  assert.throws(() => new SharedCache({ pods: informer }).port(), {
    code: 'ERR_KUBELOOM_NOT_STARTED',
    message: /was not started; call run\(\)/,
  });
  assert.throws(() => new SharedCache({}), { code: 'ERR_KUBELOOM_OPTION' });
  assert.throws(() => new SharedCache({ pods: {} as never }), {
    code: 'ERR_KUBELOOM_OPTION',
    message: /pods/,
  });
});

test('C215 a value that is not a port, and a name that is not an informer, are refused', async () => {
  await assert.rejects(openCache({} as CachePort), { code: 'ERR_KUBELOOM_OPTION', message: /port\(\)/ });
  await assert.rejects(openCache({ kubeloomCache: 99 } as unknown as CachePort), {
    code: 'ERR_KUBELOOM_OPTION',
    message: /same version/,
  });
  await using scene = new Scene();
  const informer = scene.informer();
  await scene.started(informer);
  await using cache = new SharedCache({ pods: informer });
  await using opened = await openCache<Readonly<Record<string, unknown>>>(cache.port());
  assert.throws(() => opened.informer('nodes'), { code: 'ERR_KUBELOOM_OPTION', message: /pods/ });
});

for (const [title, hasListened] of [
  ['a port that the main thread closed cannot be opened', true],
  [
    'a port is refused that closed before the thread could listen: a thread opens it after its own imports',
    false,
  ],
] as const) {
  test(`C214 ${title}`, async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    await scene.started(informer);
    const cache = new SharedCache({ pods: informer });
    const port = cache.port();
    const [end] = port.transferList;
    const closed = hasListened ? undefined : once(end, 'close');
    await cache.close();
    await closed;
    assert.throws(() => cache.port(), { code: 'ERR_KUBELOOM_STOPPED' });
    await assert.rejects(openCache(port), {
      code: 'ERR_KUBELOOM_STOPPED',
      message: /the main thread closed the shared cache/,
    });
  });
}

test('C214 the close of the main thread ends waits and reads in the thread, after the pending calls', async () => {
  await using scene = new Scene();
  scene.source.add(pod('a'));
  const informer = scene.informer();
  await scene.started(informer);
  const cache = new SharedCache({ pods: informer });
  const opened = await openCache<Types>(cache.port());
  const pods = opened.informer('pods');
  const names: string[] = [];
  pods.addEventHandler({ onAdd: (added) => names.push(added.object.metadata.name) });
  await pods.waitForSync();
  const waiting = assert.rejects(pods.waitForResourceVersion('999999'), { code: 'ERR_KUBELOOM_STOPPED' });
  const [entry] = pods.lister.list();
  await cache.close();
  await waiting;
  assert.deepEqual(names, ['a']);
  assert.ok(pods.isStopped());
  assert.equal(entry?.name, 'a');
  assert.throws(() => entry?.copy(), { code: 'ERR_KUBELOOM_STOPPED' });
  assert.throws(() => pods.addEventHandler({ onAdd: () => undefined }), { code: 'ERR_KUBELOOM_STOPPED' });
  assert.equal(informer.stats().handlers.length, 0);
});

test('C215 indexes that are data come with the cache, and functions are added in the thread', async () => {
  await using scene = new Scene();
  scene.source.add(pod('a', { app: 'web' }));
  const informer = scene.informer({
    indexers: { app: { index: 'label', label: 'app' }, own: (entry) => [entry.name] },
  });
  await scene.started(informer);
  await using cache = new SharedCache({ pods: informer });
  await using opened = await openCache<Types>(cache.port());
  const pods = opened.informer('pods');
  await pods.waitForSync();
  const indexer = pods.getIndexer();
  assert.deepEqual(indexer.indexKeys('app', 'web'), ['ns/a']);
  assert.throws(() => indexer.indexKeys('own', 'a'), { code: 'ERR_KUBELOOM_NO_INDEX' });
  indexer.addIndexers({ own: (entry) => [entry.object.metadata.name] });
  assert.deepEqual(indexer.indexKeys('own', 'a'), ['ns/a']);
  assert.throws(() => indexer.addIndexers({ node: { index: 'field', path: 'spec.nodeName' } }), {
    code: 'ERR_KUBELOOM_STARTED',
    message: /spec\.nodeName/,
  });
});

const ENDS = ['informer', 'threads', 'shared cache', 'cache of the thread'] as const;

function orders<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item) =>
    orders(items.filter((other) => other !== item)).map((rest) => [item, ...rest]),
  );
}

test('C213 C214 informer, threads, shared cache and the cache of a thread end in any order, with changes pending', async () => {
  for (const order of orders(ENDS)) {
    await using scene = new Scene();
    for (let number = 0; number < 5; number++) scene.source.add(pod(`pod-${number}`));
    const informer = scene.informer();
    // It ends with an error when the threads are closed first.
    const run = informer.run().catch((error: unknown) => error);
    await settled(informer);
    const shared = new SharedCache({ pods: informer });
    const opened = await openCache<Types>(shared.port());
    const pods = opened.informer('pods');
    await pods.waitForSync();
    const waiting = assert.rejects(pods.waitForResourceVersion('999999'), { code: 'ERR_KUBELOOM_STOPPED' });
    const end: Readonly<Record<(typeof ENDS)[number], () => Promise<void>>> = {
      informer: () => informer.shutdown(),
      threads: () => scene.threads.close(),
      'shared cache': () => shared.close(),
      'cache of the thread': () => opened.close(),
    };
    for (const part of order) {
      scene.source.modify(pod('pod-1', { before: part }));
      await end[part]();
    }
    await Promise.all([waiting, run]);
    assert.equal(shared.threads + shared.exportedStates, 0, order.join());
    assert.equal(informer.stats().handlers.length, 0, order.join());
    assert.throws(() => pods.lister.list()[0]?.copy(), { code: 'ERR_KUBELOOM_STOPPED' });
  }
});
