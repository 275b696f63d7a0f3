/**
 * Errors: none stops an informer, and all are reported. And versions: how a program recognises the state of the cache.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { transformModule } from '../../src/index.ts';
import type { KubeloomError } from '../../src/index.ts';
import { RecordingHandler, WIDGETS, configurationWasUsed, pod, start, test } from './scene.ts';
import { HANG_MS } from '../kit/hang.ts';

const MODULE = new URL('./user-module.js', import.meta.url).href;

test('C17 the cache has the version of its last change, so a cache with the version of a write contains the write', async (scene) => {
  const informer = scene.informer();
  assert.equal(informer.lastSyncResourceVersion(), '');
  const store = informer.getStore();
  const ahead: string[] = [];
  const handler = new RecordingHandler(({ version, key }) => {
    const reached = Number(store.lastStoreSyncResourceVersion());
    if (reached < Number(version)) ahead.push(`${key}@${version} at ${reached}`);
  });
  await scene.watched(informer, handler);
  for (let round = 0; round < 30; round++) {
    const [version = ''] = await scene.put(pod('a', { round: `${round}` }));
    await handler.count(round + 1);
    assert.equal(store.lastStoreSyncResourceVersion(), version);
    assert.equal(store.getByKey('default/a')?.resourceVersion, version);
  }
  const gone = await scene.remove('a');
  await handler.count(31);
  assert.equal(store.lastStoreSyncResourceVersion(), gone);
  assert.equal(store.getByKey('default/a'), undefined);
  assert.deepEqual(ahead, []);
});

test('C51 a bookmark changes only the version', async () => {
  await using scene = await start({ server: { resources: [WIDGETS] } });
  await scene.put(pod('a'));
  const { informer, handler } = await scene.watching();
  const widget = { metadata: { name: 'w', namespace: 'default' } };
  const { revision } = await scene.server.apply([
    { type: 'create', resource: 'widgets.example.com', object: widget },
  ]);
  assert.ok(Number(informer.lastSyncResourceVersion()) < revision);
  await scene.server.waitForWatches(1);
  await scene.server.sendBookmarks();
  await scene.until(() => informer.lastSyncResourceVersion() === String(revision));
  assert.equal(handler.calls.length, 1);
});

test('C52 the two versions that an informer reports are always equal', async (scene) => {
  await scene.populate(50);
  const informer = scene.informer();
  const different: string[] = [];
  const look = (): void => {
    const cached = informer.getStore().lastStoreSyncResourceVersion();
    const last = informer.lastSyncResourceVersion();
    if (cached !== last) different.push(`${cached} ${last}`);
  };
  const looking = setInterval(look, 0);
  await scene.watched(informer, new RecordingHandler(look));
  const { toRevision } = await scene.server.load({ rate: 4000, durationMs: HANG_MS, eventsMax: 400 });
  await scene.until(() => Number(informer.lastSyncResourceVersion()) >= toRevision);
  clearInterval(looking);
  assert.deepEqual(different, []);
});

const ANSWERS: readonly (readonly [number, string, RegExp])[] = [
  [401, 'ERR_KUBELOOM_UNAUTHORIZED', /credentials/],
  [403, 'ERR_KUBELOOM_FORBIDDEN', /RBAC/],
  [404, 'ERR_KUBELOOM_NOT_FOUND', /CRD/],
  [500, 'ERR_KUBELOOM_INTERNAL', /log of the apiserver/],
  [429, 'ERR_KUBELOOM_TOO_MANY_REQUESTS', /waits and tries again/],
  [503, 'ERR_KUBELOOM_HTTP_STATUS', /tries again/],
];

for (const [httpStatus, code, advice] of ANSWERS) {
  test(`C18 C53 the answer ${httpStatus} is reported with ${code} and advice, and the informer continues`, async (scene) => {
    // Twice: after such an answer to a streaming list, the informer lists without a report.
    await scene.failRequests(httpStatus, 2);
    const informer = scene.informer();
    const handled: KubeloomError[] = [];
    informer.setWatchErrorHandler((error) => void handled.push(error));
    await scene.put(pod('a'));
    await scene.synced(informer);
    assert.deepEqual(informer.getStore().listKeys(), ['default/a']);
    const messages = scene.errors.map(({ message }) => message);
    assert.equal(scene.codes()[0], code);
    assert.match(messages[0] ?? '', advice);
    assert.match(messages[0] ?? '', new RegExp(`http://127.0.0.1:${scene.server.port}/api/v1/pods`));
    const handledMessages = handled.map(({ message }) => message);
    assert.deepEqual(handledMessages, messages);
    assert.equal(informer.lastError, handled.at(-1));
  });
}

test('C18 the answer 410 to list and watch does not stop an informer', async () => {
  await using scene = await start({ server: { expiredWatch: 'status' } });
  const { informer, handler } = await scene.watching({ list: { watchList: 'off' } });
  for (let round = 0; round < 3; round++) {
    await scene.server.waitForWatches(1);
    await scene.failRequests(410, 1, { verb: 'list' });
    const dropped = scene.server.dropWatches({ how: 'close' });
    const written = scene.put(pod(`${round}`));
    await scene.server.compact();
    await Promise.all([dropped, written]);
    await handler.until(() => handler.names.includes(`add ${round}`));
  }
  await scene.assertEqualsServer(informer);
  const expected = ['ERR_KUBELOOM_GONE', 'ERR_KUBELOOM_VERY_SHORT_WATCH'];
  assert.ok(scene.codes().every((code) => expected.includes(code)));
});

test('C54 an unreachable server is reported and retried', async (scene) => {
  const vacant = createServer().listen(0, '127.0.0.1');
  await once(vacant, 'listening');
  const { port } = vacant.address() as AddressInfo;
  await new Promise((resolve) => vacant.close(resolve));
  const informer = scene.informer({}, `http://127.0.0.1:${port}`);
  void scene.run(informer);
  await scene.untilReported(() => scene.errors.length > 1);
  assert.deepEqual(new Set(scene.codes()), new Set(['ERR_KUBELOOM_UNREACHABLE']));
  assert.match(scene.errors[0]?.message ?? '', /nothing listens there/);
  assert.equal(informer.isStopped(), false);
});

test('C55 a module that cannot be loaded ends run() with a coded error', async (scene) => {
  for (const name of ['missing', 'notAFunction']) {
    const informer = scene.informer({ transform: transformModule(MODULE, name) });
    await assert.rejects(informer.run(), { code: 'ERR_KUBELOOM_MODULE' });
    assert.equal(informer.isStopped(), true);
    await assert.rejects(informer.waitForSync(), { code: 'ERR_KUBELOOM_MODULE' });
  }
});

test('C55 threads that are closed under a running informer end its run() with a coded error', async () => {
  await using scene = await start({ threads: {} });
  const informer = scene.informer();
  const run = scene.run(informer);
  await informer.waitForSync();
  const rejected = assert.rejects(run, { code: 'ERR_KUBELOOM_STOPPED' });
  await scene.threads.close();
  await rejected;
  assert.equal(informer.isStopped(), true);
  await scene.reported('ERR_KUBELOOM_STOPPED');
});

test('C56 an error thrown by onError or the watch error handler stops nothing', async (scene) => {
  await scene.failRequests(500, 4);
  const informer = scene.informer({
    onError: () => {
      throw new Error('thrown by onError');
    },
  });
  informer.setWatchErrorHandler(() => {
    throw new Error('thrown by the watch error handler');
  });
  const warned = once(process, 'warning');
  await scene.put(pod('a'));
  await scene.synced(informer);
  assert.deepEqual(informer.getStore().listKeys(), ['default/a']);
  const [warning] = (await warned) as [Error];
  assert.match(warning.message, /onError threw/);
});

test('C57 an error without a listener becomes a process warning with its code', async (scene) => {
  await scene.failRequests(403, 2);
  const informer = scene.informer({}, '', false);
  const warned = once(process, 'warning');
  await scene.synced(informer);
  const [{ name, code, message }] = (await warned) as [Error & { readonly code?: string }];
  assert.deepEqual([name, code], ['KubeloomWarning', 'ERR_KUBELOOM_FORBIDDEN']);
  assert.match(message, /^pods \(all namespaces\): /);
});

configurationWasUsed();
