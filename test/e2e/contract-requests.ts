/**
 * Clauses of the contract about lists, watches and their failures, against a real server. A proxy records the
 * requests; the answers are the server's own.
 */
import assert from 'node:assert/strict';
import { waitForCacheSync } from '../../src/index.ts';
import { RecordingHandler } from '../kit/recording-handler.ts';
import { TemporaryFolder } from '../kit/temporary-folder.ts';
import type { Verdict } from './contract-proxy.ts';
import { ServerScene, cached, controlPlane, test } from './contract-scene.ts';

test('C51 C85 C86 a watch that the server ends after a bookmark resumes from there without a list', async (scene) => {
  const asked: number[] = [];
  scene.proxy.rule = ({ isWatch, query }) => {
    asked.push(Number(query.get('timeoutSeconds')));
    assert.equal(query.get('allowWatchBookmarks'), isWatch ? 'true' : null);
    // The server ends it this early, after a bookmark.
    if (isWatch && asked.length < 4) query.set('timeoutSeconds', '4');
    return 'forward';
  };
  const informer = scene.informer();
  const handler = await scene.watched(informer);
  const elsewhere = await scene.create('elsewhere', {}, 'default');
  await scene.until(() => asked.length === 2);
  await scene.create('a');
  await scene.until(() => asked.length === 3);
  await scene.create('b');
  await handler.count(2);
  assert.deepEqual(handler.names, ['add a', 'add b']);
  assert.deepEqual(scene.codes(), []);
  assert.ok(
    asked.every((seconds) => seconds >= 300 && seconds < 600),
    String(asked),
  );
  assert.equal(new Set(asked).size > 1, true);
  const [, second] = scene.proxy.requests;
  assert.ok(
    scene.proxy.requests.slice(1).every(({ isStreamingList, isWatch }) => isWatch && !isStreamingList),
  );
  // Nothing has changed in this namespace: only a bookmark can have brought another version.
  assert.ok(Number(second?.query.get('resourceVersion')) >= Number(elsewhere));
});

test('C60 a stopped informer has no open watch and sends no request', async (scene) => {
  const informer = scene.informer();
  await scene.watched(informer);
  assert.equal(scene.proxy.openRequests.length, 1);
  await informer.shutdown();
  await scene.until(() => scene.proxy.openRequests.length === 0);
  const { length } = scene.proxy.requests;
  await scene.create('a');
  assert.equal(scene.proxy.requests.length, length);
});

test('C78 the first request is a streaming list, which continues as the watch', async (scene) => {
  await scene.create('a');
  const informer = scene.informer();
  const handler = await scene.watched(informer);
  await scene.create('b');
  await handler.count(2);
  const answers = scene.proxy.requests.map(({ isStreamingList, status }) => [isStreamingList, status]);
  assert.deepEqual(answers, [[true, 200]]);
});

test('C80 C81 C83 a list that the server cannot answer at its version continues in pages of the newest version', async (scene) => {
  await scene.createAll('a', 'b', 'c', 'd', 'e');
  scene.proxy.rule = ({ query }, index) => {
    // This server has not reached the version, and says so in its own words.
    if (index === 0) query.set('resourceVersion', '99999999999');
    return 'forward';
  };
  const informer = scene.informer({
    list: { watchList: 'off', pageSize: 2 },
    backoff: { initialMs: 60_000, maxMs: 60_000 },
  });
  await scene.watched(informer);
  assert.deepEqual(cached(informer), (await scene.list()).lines);
  const [first, ...lists] = scene.proxy.requests.filter(({ isWatch }) => !isWatch);
  assert.deepEqual([first?.status, first?.query.get('limit')], [504, '2']);
  assert.deepEqual(
    lists.map(({ query, status }) => [
      status,
      query.get('limit'),
      query.get('resourceVersion'),
      query.has('continue'),
    ]),
    [
      [200, '2', null, false],
      [200, '2', null, true],
      [200, '2', null, true],
    ],
  );
  const other = scene.informer({ list: { watchList: 'off' } });
  await scene.watched(other);
  const versions = scene.proxy.requests
    .filter(({ isWatch }) => !isWatch)
    .map(({ query }) => query.get('resourceVersion'));
  assert.equal(versions.at(-1), '0');
});

test('C84 a streaming list that breaks off has no effect, and the informer begins it again', async (scene) => {
  await scene.createAll('a', 'b', 'c');
  let cachedThen: readonly string[] = ['unknown'];
  scene.proxy.rule = ({ isStreamingList }, index) => {
    assert.ok(isStreamingList);
    if (index === 1) cachedThen = cached(informer);
    return index === 0 ? 1500 : 'forward';
  };
  const informer = scene.informer();
  const handler = await scene.watched(informer);
  assert.deepEqual(cachedThen, []);
  assert.deepEqual(handler.names, ['add a', 'add b', 'add c']);
});

test('C2 C54 C87 an informer waits for a server that is down, and then receives every missed change', async (scene) => {
  await scene.createAll('a', 'b');
  const informer = scene.informer();
  const handler = await scene.watched(informer);
  scene.proxy.goDown();
  await scene.until(() => scene.codes().length > 0);
  const code = scene.errors[0]?.code;
  await scene.remove('a');
  await scene.label('b', { changed: 'yes' });
  await scene.create('c');
  scene.proxy.comeUp();
  await handler.count(6);
  const caughtUp = ['update a', 'delete a', 'update b', 'add c'];
  assert.deepEqual(handler.names, ['add a', 'add b', ...caughtUp]);
  assert.deepEqual(cached(informer), (await scene.list()).lines);
  assert.match(code ?? '', /^ERR_KUBELOOM_(UNREACHABLE|CONNECTION)/);
  assert.equal(scene.proxy.requests.filter(({ isStreamingList }) => isStreamingList).length, 1);
});

test('C18 C42 C53 C113 the answers 401 and 403 are reported, and the informer retries with the current credentials', async (scene) => {
  await using folder = new TemporaryFolder();
  const tokenFile = folder.write('token', 'unknown');
  await scene.create('a');
  const informer = scene.informer({}, { authProvider: { name: 'tokenFile', config: { tokenFile } } });
  const handled: string[] = [];
  informer.setWatchErrorHandler((error) => void handled.push(error.code));
  const handler = new RecordingHandler();
  informer.addEventHandler(handler);
  scene.run(informer);
  await scene.until(() => scene.codes().includes('ERR_KUBELOOM_UNAUTHORIZED'));
  folder.write('token', controlPlane().unprivilegedToken);
  await scene.until(() => scene.codes().includes('ERR_KUBELOOM_FORBIDDEN'));
  const giveUp = AbortSignal.timeout(1);
  await assert.rejects(waitForCacheSync([informer], { signal: giveUp }), {
    message: /pods .*403|403.*pods|forbidden/i,
  });
  assert.equal(informer.lastError?.code, 'ERR_KUBELOOM_FORBIDDEN');
  assert.match(informer.lastError?.message ?? '', /\/api\/v1\/.*pods.*RBAC/s);
  folder.write('token', controlPlane().token);
  await handler.count(1);
  assert.ok(handled.includes('ERR_KUBELOOM_UNAUTHORIZED') && handled.includes('ERR_KUBELOOM_FORBIDDEN'));
});

test('C1 C2 C12 C24 C31 C46 C82 C88 C90 a compaction leads to one relist of the watch and to one list for expired pages', async (scene) => {
  await using other = await ServerScene.start();
  await scene.createAll('kept', 'gone-1', 'gone-2', 'again', 'changed');
  const informer = scene.informer();
  const keys = (): readonly string[] => informer.getStore().listKeys();
  const seenAtFirst: (readonly string[])[] = [];
  const handler = await scene.watched(informer, new RecordingHandler(() => seenAtFirst.push(keys())));
  const kept = informer.getStore().getByKey(`${scene.namespace}/kept`);
  const before = handler.calls.length;
  scene.proxy.goDown();
  await scene.until(() => scene.codes().length > 0);
  // First: during the changes there are at times too few pods for two pages.
  const assertRelisted = await pagesHeldUp(other, scene.namespace);
  await changeBehindItsBack(scene);
  await controlPlane().compact();
  scene.proxy.comeUp();
  await handler.count(before + 6);
  await scene.until(() => informer.phase === 'watching');
  assert.deepEqual(handler.names.slice(before, before + 2).toSorted(), ['delete gone-1', 'delete gone-2']);
  assert.ok(handler.calls.slice(before, before + 2).every(({ isFinalStateUnknown }) => isFinalStateUnknown));
  assert.deepEqual(handler.names.slice(before + 2), [
    'update again',
    'update changed',
    'update kept',
    'add new',
  ]);
  const [again, , same, added] = handler.calls.slice(before + 2);
  assert.notEqual(again?.oldUid, again?.uid);
  assert.equal(same?.isSame, true);
  assert.equal(added?.isInInitialList, false);
  // At the first call all of it has been done.
  assert.deepEqual(seenAtFirst[before], keys());
  assert.equal(informer.getStore().getByKey(`${scene.namespace}/kept`), kept);
  const { version, lines } = await scene.list();
  assert.deepEqual(cached(informer), lines);
  assert.ok(Number(informer.lastSyncResourceVersion()) <= Number(version));
  assert.ok(scene.codes().includes('ERR_KUBELOOM_GONE'), String(scene.codes()));
  await assertRelisted(lines);
});

/** Changes that the informer does not receive, because its connection is cut. */
async function changeBehindItsBack(scene: ServerScene): Promise<void> {
  await Promise.all(['gone-1', 'gone-2', 'again'].map((name) => scene.remove(name)));
  await scene.createAll('again', 'new');
  await scene.label('changed', { changed: 'yes' });
}

/**
 * Lets a second informer read one page of its list before history is forgotten. @returns a function that lets
 * it go on, and asserts that it gets all in one list
 */
async function pagesHeldUp(
  other: ServerScene,
  namespace: string,
): Promise<(lines: readonly string[]) => Promise<void>> {
  let goOn: () => void = () => undefined;
  const isGoingOn = new Promise<void>((resolve) => (goOn = resolve));
  let isHeld = false;
  other.proxy.rule = async ({ query }, index): Promise<Verdict> => {
    // From a server's cache everything comes in one page.
    if (index === 0) query.delete('resourceVersion');
    isHeld ||= query.has('continue');
    if (query.has('continue')) await isGoingOn;
    return 'forward';
  };
  const informer = other.informer({ list: { watchList: 'off', pageSize: 2 }, namespace });
  other.run(informer);
  await other.until(() => isHeld);
  return async (lines) => {
    goOn();
    await informer.waitForSync({ signal: other.patience });
    assert.deepEqual(cached(informer), lines);
    const lists = other.proxy.requests.filter(({ isWatch }) => !isWatch);
    const answers = lists.map(({ status, query }) => [status, query.has('continue')]);
    assert.deepEqual(answers, [
      [200, false],
      [410, true],
      [200, false],
    ]);
  };
}
