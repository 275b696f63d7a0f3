/** Identity of objects, the order in which a handler receives changes, and deletions. */
import assert from 'node:assert/strict';
import { label } from '../../src/index.ts';
import { bookmark, event } from '../kit/scripted-server.ts';
import { RecordingHandler, configurationWasUsed, deletion, pod, put, test } from './scene.ts';
import { HANG_MS } from '../kit/hang.ts';

const MIX = { update: 0.8, create: 0.1, delete: 0.1 };

test('C1 a deletion and a new creation while no watch is open are one update with two uids', async (scene) => {
  await scene.put(pod('a'));
  const { informer, handler } = await scene.watching();
  await scene.relisted(informer, deletion('a'), { type: 'create', resource: 'pods', object: pod('a') });
  await handler.count(2);
  const update = handler.calls[1];
  assert.deepEqual(handler.names, ['add a', 'update a']);
  assert.notEqual(update?.oldUid, update?.uid);
  assert.equal(update?.oldUid, handler.calls[0]?.uid);
  assert.equal(informer.getStore().size, 1);
});

test('C1 objects with the same name in two namespaces are different', async (scene) => {
  const informer = scene.informer();
  await scene.put(pod('a', {}, 'one'), pod('a', {}, 'two'));
  await scene.synced(informer);
  assert.deepEqual(informer.getStore().listKeys(), ['one/a', 'two/a']);
});

test('C2 C3 the cache converges after every end of a watch, and no object returns to an older state', async (scene) => {
  await scene.populate(60);
  const { informer, handler } = await scene.watching();
  const { server } = scene;
  const breaks = [
    () => server.dropWatches({ how: 'close' }),
    () => server.dropWatches({ how: 'reset' }),
    () => server.dropWatches({ how: 'resetMidLine' }),
    () => server.expireWatches(),
    () => server.restart(),
  ];
  for (const [round, breakWatch] of breaks.entries()) {
    await server.waitForWatches(1);
    const load = server.load({ rate: 4000, durationMs: HANG_MS, eventsMax: 400, seed: round + 1, mix: MIX });
    await breakWatch();
    const { toRevision } = await load;
    await scene.until(() => Number(informer.lastSyncResourceVersion()) >= toRevision);
    await scene.assertEqualsServer(informer);
  }
  await scene.until(() => handler.calls.length > 100);
  handler.assertOnlyForward();
});

test("C3 a handler receives a subsequence of the server's states of each object", async (scene) => {
  const from = await scene.server.revision();
  await scene.put(pod('a', { step: '0' }));
  const { informer, handler } = await scene.watching();
  for (let step = 1; step <= 20; step++) {
    const object = pod('a', { step: `${step}` });
    if (step % 7 === 0) await scene.relisted(informer, put(object));
    else await scene.put(object);
  }
  await handler.reached(await scene.server.revision());
  const { versions: received } = handler;
  const history = Array.from(await scene.server.log('pods', from), ([revision]) => String(revision));
  const delivered = history.filter((version) => received.includes(version));
  assert.deepEqual(received, delivered);
  for (const [at, { oldVersion }] of handler.calls.entries()) {
    if (at > 0) assert.equal(oldVersion, received[at - 1]);
  }
});

test("C4 C7 a handler receives the changes of all objects in the server's order, each once", async (scene) => {
  await scene.populate(100);
  const from = await scene.server.revision();
  const watching = await scene.watching();
  const load = { rate: 'max', durationMs: HANG_MS, eventsMax: 1_500, mix: MIX } as const;
  const { toRevision } = await scene.server.load(load);
  await scene.assertHistory(watching, from, toRevision);
  // The load is as fast as the server can send: on a busy machine the recorder is slow, which is no loss.
  const lost = scene.errors.filter(({ code }) => code !== 'ERR_KUBELOOM_SLOW_HANDLER');
  assert.deepEqual(lost, []);
});

test('C24 the changes of a relist arrive at one position: deletions first, then the others in the order of the list', async (scene) => {
  await scene.put(pod('b'), pod('d'), pod('f'), pod('h'));
  const { informer, handler } = await scene.watching();
  await scene.relisted(
    informer,
    put(pod('g')),
    deletion('f'),
    put(pod('d', { new: 'yes' })),
    put(pod('a')),
    deletion('b'),
  );
  await handler.count(4 + 6);
  const [first = '', second = '', ...others] = handler.names.slice(4);
  assert.deepEqual([first, second].toSorted(), ['delete b', 'delete f']);
  assert.deepEqual(others, ['add a', 'update d', 'add g', 'update h']);
  await scene.put(pod('z'));
  await handler.count(11);
  assert.equal(handler.names.at(-1), 'add z');
});

for (const [way, options] of [
  ['a streaming list', {}],
  ['a list in pages', { list: { watchList: 'off', pageSize: 7 } }],
] as const) {
  test(`C25 the objects of ${way} arrive in its order`, async (scene) => {
    const names = Array.from({ length: 60 }, (_, index) => `pod-${(index * 37) % 60}`);
    await scene.put(...names.map((name) => pod(name)));
    // A server returns no pages for version 0; let it fail.
    await scene.failRequests(410);
    const { informer, handler } = await scene.watching(options);
    names.sort();
    const order = names.map((name) => `default/${name}`);
    const adds = names.map((name) => `add ${name}`);
    assert.deepEqual(handler.names, adds);
    assert.deepEqual(informer.getStore().listKeys(), order);
  });
}

test('C26 the cache has the objects that the selectors and the namespace select, and adds and deletes them as they change', async (scene) => {
  await scene.put(
    pod('in', { app: 'a' }, 'web'),
    pod('out', { app: 'c' }, 'web'),
    pod('never', { app: 'a' }, 'web'),
    pod('in', { app: 'a' }, 'other'),
  );
  const { informer, handler } = await scene.watching({
    namespace: 'web',
    labelSelector: 'app in (a,b)',
    fieldSelector: 'metadata.name!=never',
  });
  assert.deepEqual(informer.getStore().listKeys(), ['web/in']);
  await scene.put(pod('out', { app: 'b' }, 'web'), pod('in', { app: 'c' }, 'web'), pod('x', { app: 'b' }));
  await scene.put(pod('last', { app: 'a' }, 'web'));
  await handler.until(() => handler.names.at(-1) === 'add last');
  assert.deepEqual(handler.names, ['add in', 'add out', 'delete in', 'add last']);
  assert.deepEqual(informer.getStore().listKeys(), ['web/out', 'web/last']);
});

test('C27 objects have kind and apiVersion, from a list and from a watch', async (scene) => {
  await scene.put(pod('listed'));
  const { informer, handler } = await scene.watching({ list: { watchList: 'off' } });
  await scene.put(pod('watched'));
  await handler.count(2);
  for (const name of ['listed', 'watched']) {
    const object = informer.getStore().getByKey(`default/${name}`)?.object;
    assert.deepEqual([object?.kind, object?.apiVersion, object?.metadata?.name], ['Pod', 'v1', name]);
  }
});

test('C14 a deletion delivers the last state that the server sent, and the object leaves the cache', async (scene) => {
  const informer = scene.informer({ indexers: { app: label('app') } });
  const last: unknown[] = [];
  const handler = new RecordingHandler();
  informer.addEventHandler({
    onDelete: (deleted) => void last.push(deleted.key, deleted.object.metadata?.labels?.['app']),
  });
  await scene.put(pod('a', { app: 'web' }), pod('b'));
  await scene.watched(informer, handler);
  const version = await scene.remove('a');
  await handler.count(3);
  const { type, isFinalStateUnknown, version: received } = handler.calls[2] ?? {};
  assert.deepEqual([type, isFinalStateUnknown, received], ['delete', false, version]);
  await scene.until(() => last.length === 2);
  assert.deepEqual(last, ['default/a', 'web']);
  assert.equal(informer.getStore().getByKey('default/a'), undefined);
  assert.deepEqual(informer.getStore().listKeys(), ['default/b']);
  assert.deepEqual(informer.getIndexer().byIndex('app', 'web'), []);
});

test('C46 a deletion that a relist found says so and has the last known state', async (scene) => {
  const informer = scene.informer();
  const last: unknown[] = [];
  const handler = new RecordingHandler();
  informer.addEventHandler({
    onDelete: (deleted) =>
      void last.push(deleted.finalStateUnknown, deleted.name, deleted.object.spec?.nodeName),
  });
  const [known] = await scene.put(pod('a'));
  await scene.watched(informer, handler);
  await scene.relisted(informer, put(pod('a', { unseen: 'yes' })), deletion('a'));
  await handler.count(2);
  const { isFinalStateUnknown, version } = handler.calls[1] ?? {};
  assert.deepEqual([isFinalStateUnknown, version], [true, known]);
  await scene.until(() => last.length === 3);
  assert.deepEqual(last, [true, 'a', 'node-1']);
});

test('C47 a deletion of an unknown object is delivered', async (scene) => {
  const { informer, handler } = await scene.followed((request) => {
    if (!request.isStreamingList) return;
    request.send(bookmark('9', true), event('DELETED', 'unseen', '10'), event('ADDED', 'b', '11'));
  });
  await handler.until(() => handler.names.at(-1) === 'add b');
  assert.deepEqual(handler.lines, ['delete default/unseen@10', 'add default/b@11']);
  assert.deepEqual(informer.getStore().listKeys(), ['default/b']);
});

configurationWasUsed();
