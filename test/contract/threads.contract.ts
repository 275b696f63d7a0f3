/** Caches in other threads. Both ends are in this thread, so that the tests see both; worker threads are in test/unit/thread. */
import assert from 'node:assert/strict';
import type { V1Pod } from '@kubernetes/client-node';
import { label } from '../../src/index.ts';
import type { CachedObject, SharedIndexInformer } from '../../src/index.ts';
import { SharedCache, openCache } from '../../src/thread/index.ts';
import type { ThreadCache, ThreadInformer } from '../../src/thread/index.ts';
import {
  RecordingHandler,
  configurationWasUsed,
  deletion,
  pod,
  pods as manyPods,
  put,
  test,
  turns,
} from './scene.ts';
import { HANG_MS } from '../kit/hang.ts';

interface Types extends Readonly<Record<string, unknown>> {
  readonly pods: V1Pod;
}

/** The other end of an informer's cache, with a handler. */
class Attached implements AsyncDisposable {
  readonly shared: SharedCache;
  readonly cache: ThreadCache<Types>;
  readonly pods: ThreadInformer<V1Pod>;
  readonly handler: RecordingHandler;

  private constructor(shared: SharedCache, cache: ThreadCache<Types>, handler: RecordingHandler) {
    this.shared = shared;
    this.cache = cache;
    this.pods = cache.informer('pods');
    this.handler = handler;
    this.pods.addEventHandler(handler);
  }

  static async to(
    informer: SharedIndexInformer<V1Pod>,
    handler: RecordingHandler = new RecordingHandler(),
  ): Promise<Attached> {
    const shared = new SharedCache({ pods: informer });
    const attached = new Attached(shared, await openCache<Types>(shared.port()), handler);
    await attached.pods.waitForSync();
    return attached;
  }

  /**
   * Asserts that the cache contains the same objects, byte for byte, as the main thread's cache, which does not change
   * during the check.
   */
  async assertEquals(informer: SharedIndexInformer<V1Pod>): Promise<void> {
    await this.pods.waitForResourceVersion(informer.lastSyncResourceVersion());
    assert.deepEqual(contents(this.pods), contents(informer));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cache.close();
    await this.shared.close();
  }
}

/** Returns the objects, sorted: a thread that joined late may list them in another order. */
function contents(informer: Pick<ThreadInformer<V1Pod>, 'getIndexer'>): readonly string[] {
  const entries = informer.getIndexer().list();
  return entries.map((entry) => `${entry.key}@${entry.resourceVersion} ${String(entry.bytes())}`).sort();
}

const LOAD = {
  rate: 'max',
  durationMs: HANG_MS,
  eventsMax: 800,
  mix: { update: 0.6, create: 0.2, delete: 0.2 },
} as const;

test('C205 a thread’s handler receives every change once in the server’s order, and its cache is the main thread’s, byte for byte', async (scene) => {
  await scene.populate(50);
  const informer = scene.informer({ indexers: { app: label('app') } });
  await scene.watched(informer, new RecordingHandler());
  await using thread = await Attached.to(informer);
  const from = Number(informer.lastSyncResourceVersion());
  const { toRevision } = await scene.server.load(LOAD);
  await scene.until(() => Number(informer.lastSyncResourceVersion()) >= toRevision);
  await thread.handler.reached(toRevision);
  assert.deepEqual(thread.handler.lines.slice(50), await scene.history(from));
  await thread.assertEquals(informer);
  const values = informer.getIndexer().listIndexFuncValues('app');
  assert.deepEqual(thread.pods.getIndexer().listIndexFuncValues('app').sort(), [...values].sort());
});

test('C206 a relist replaces the whole cache of a thread at once, and the thread receives deletions as tombstones', async (scene) => {
  const generation = (number: number): V1Pod[] =>
    Array.from({ length: 600 }, (_, at) => pod(`pod-${at + number * 200}`, { generation: `${number}` }));
  await scene.put(...generation(1));
  const { informer } = await scene.watching({ indexers: { generation: label('generation') } });
  await using thread = await Attached.to(informer);
  const indexer = thread.pods.getIndexer();
  const mixed: string[] = [];
  const look = (): void => {
    const values = indexer.listIndexFuncValues('generation');
    if (values.length !== 1 || indexer.size !== 600) mixed.push(`${indexer.size} of ${values.join()}`);
  };
  const looking = setInterval(look, 0);
  thread.pods.addEventHandler(new RecordingHandler(look));
  const gone = generation(1)
    .slice(0, 200)
    .map(({ metadata }) => deletion(metadata?.name ?? ''));
  await scene.relisted(informer, ...gone, ...generation(2).map(put));
  await thread.assertEquals(informer);
  await thread.handler.count(1400);
  clearInterval(looking);
  assert.deepEqual(mixed, []);
  const calls = thread.handler.calls.slice(600);
  const order = calls.map(({ type }) => type);
  assert.deepEqual(order, [
    ...Array.from({ length: 200 }, () => 'delete'),
    ...Array.from({ length: 400 }, () => 'update'),
    ...Array.from({ length: 200 }, () => 'add'),
  ]);
  assert.ok(calls.slice(0, 200).every(({ isFinalStateUnknown }) => isFinalStateUnknown));
});

test('C207 a thread that attaches while objects change has one state, and every later change once', async (scene) => {
  await scene.populate(200);
  const { informer } = await scene.watching();
  const from = Number(informer.lastSyncResourceVersion());
  const attached = new AbortController();
  const writeUntilAttached = async (): Promise<void> => {
    for (let step = 0; step < 10 || !attached.signal.aborted; step++) {
      await scene.put(...manyPods(20, { step: `${step}` }));
      await turns(1);
    }
  };
  const written = writeUntilAttached();
  await using first = await Attached.to(informer);
  await using second = await Attached.to(informer);
  attached.abort();
  await written;
  await scene.put(pod('last'));
  const toRevision = await scene.server.revision();
  await scene.until(() => Number(informer.lastSyncResourceVersion()) >= toRevision);
  const history = await scene.history(from);
  for (const thread of [first, second]) {
    await thread.assertEquals(informer);
    const { handler } = thread;
    await handler.reached(toRevision);
    const initial = handler.calls.findLastIndex(({ isInInitialList }) => isInInitialList) + 1;
    assert.ok(initial >= 200);
    const later = handler.lines.slice(initial);
    assert.deepEqual(later, history.slice(history.length - later.length));
    handler.assertOnlyForward();
  }
});

test('C208 no synchronous call in a thread changes its cache or calls its handlers', async (scene) => {
  await scene.populate(50);
  const { informer } = await scene.watching();
  const moves: string[] = [];
  let looks = 0;
  let pods: ThreadInformer<V1Pod> | undefined;
  const look = (): void => {
    if (!pods || looks++ > 200) return;
    const before = pods.lastSyncResourceVersion();
    const other = new RecordingHandler();
    const registration = pods.addEventHandler(other);
    for (const entry of pods.lister.list()) void entry.object;
    pods.removeEventHandler(registration);
    if (pods.lastSyncResourceVersion() !== before || other.calls.length > 0) moves.push(before);
  };
  await using thread = await Attached.to(informer, new RecordingHandler(look));
  ({ pods } = thread);
  const { toRevision } = await scene.server.load({ ...LOAD, mix: { update: 1, create: 0, delete: 0 } });
  await thread.handler.reached(toRevision);
  assert.ok(looks > 0);
  assert.deepEqual(moves, []);
});

test('C209 an entry in a thread is readable as on the main thread, even when the main thread moves or frees the memory', async (scene) => {
  const { informer } = await scene.watching();
  // Not in a list, whose items are packed before they arrive: these are packed, and so moved, later.
  await scene.put(...manyPods(100, { step: '0' }, { padding: 'x'.repeat(500) }));
  const listedAt = await scene.server.revision();
  await scene.until(() => Number(informer.lastSyncResourceVersion()) >= listedAt);
  await using thread = await Attached.to(informer);
  const { pods } = thread;
  let late: CachedObject<V1Pod> | undefined;
  const retained: CachedObject<V1Pod>[] = [];
  pods.addEventHandler({
    onUpdate: (previous, current) => {
      late ??= current as CachedObject<V1Pod>;
      if (retained.length < 100) retained.push(previous.retain());
    },
  });
  const listed = pods.lister.list();
  const expected = listed.map(({ key, resourceVersion }) => `${key}@${resourceVersion}`);
  for (let step = 1; step <= 10; step++)
    await scene.put(...manyPods(100, { step: `${step}` }, { padding: `${step}`.repeat(500) }));
  const revision = await scene.server.revision();
  await scene.until(() => Number(informer.lastSyncResourceVersion()) >= revision);
  await thread.assertEquals(informer);
  await thread.handler.count(1100);
  assert.throws(() => late?.object, { code: 'ERR_KUBELOOM_BORROW_EXPIRED' });
  assert.deepEqual(
    listed.map(({ object }) => `${object.metadata?.namespace}/${object.metadata?.name}`),
    listed.map(({ key }) => key),
  );
  assert.ok(listed.every(({ object }) => object.metadata?.labels?.['step'] === '0'));
  assert.ok(retained.length === 100 && retained.every((entry) => entry.object.metadata?.uid === entry.uid));
  const versions = listed.map(({ object, key }) => `${key}@${object.metadata?.resourceVersion}`);
  assert.deepEqual(versions, expected);
});

test('C210 waits in a thread are for its own cache, and end with the informer', async (scene) => {
  await scene.put(pod('a'));
  const { informer } = await scene.watching();
  await using thread = await Attached.to(informer);
  const { pods } = thread;
  const [version = ''] = await scene.put(pod('b'));
  await pods.waitForResourceVersion(version);
  assert.equal(pods.lister.list().length, 2);
  const gate = scene.gate();
  const registration = pods.addEventHandler(new RecordingHandler(() => gate.opened));
  await assert.rejects(pods.waitForSync({ signal: AbortSignal.abort(), registration }), {
    code: 'ERR_KUBELOOM_NOT_SYNCED',
  });
  gate.open();
  await pods.waitForSync({ registration });
  const behind = pods.health.handlers.map(({ notifications }) => notifications);
  assert.deepEqual(behind, [0, 0]);
  assert.equal(pods.health.state, 'synced');
  const waiting = assert.rejects(pods.waitForResourceVersion('999999999'), { code: 'ERR_KUBELOOM_STOPPED' });
  await informer.shutdown();
  await waiting;
  await scene.until(() => pods.health.state === 'stopped');
  assert.equal(pods.lister.list().length, 2, 'the last state stays readable');
});

test('C211 a bookmark gives a thread’s cache the new version when nothing else has changed', async (scene) => {
  await scene.put(pod('a', { app: 'web' }));
  const { informer } = await scene.watching({ labelSelector: 'app=web' });
  await using thread = await Attached.to(informer);
  const [version = ''] = await scene.put(pod('other'));
  await scene.server.sendBookmarks();
  await thread.pods.waitForResourceVersion(version);
  await thread.assertEquals(informer);
  assert.deepEqual(thread.handler.names, ['add a']);
});

configurationWasUsed();
