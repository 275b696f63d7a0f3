/** The streaming list of the generic reflector, and the check of what it brought. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newStore } from '../../src/cache/indexed-store.ts';
import { metaNamespaceKeyFunc } from '../../src/cache/keys.ts';
import { Reflector } from '../../src/controller/reflector.ts';
import { ReflectorScene, settle } from './reflector-scene.ts';
import type { Pod } from './scripted-lister-watcher.ts';
import {
  added,
  bookmark,
  deleted,
  errorEvent,
  modified,
  pod,
  podList,
  statusThrown,
} from './scripted-lister-watcher.ts';

const STREAM =
  'WATCH {"allowWatchBookmarks":true,"sendInitialEvents":true,"resourceVersionMatch":"NotOlderThan"}';
const streaming = (options: ConstructorParameters<typeof ReflectorScene>[0] = {}): ReflectorScene =>
  new ReflectorScene({ isStreaming: true, ...options });

test('One watch is asked for and nothing is listed; the end bookmark makes the list of it', async () => {
  const scene = await streaming().run();
  assert.deepEqual(scene.source.calls, [STREAM]);
  scene.source.watching.send(added('foo', 1), bookmark(1, 'true'), modified('foo', 2), added('bar', 3));
  scene.source.watching.send(added('baz', 4), added('qux', 5), added('zoo', 6));
  await settle();
  assert.deepEqual(scene.store.contents(), ['bar@3', 'baz@4', 'foo@2', 'qux@5', 'zoo@6']);
  assert.equal(scene.store.take()[0], 'replace [foo@1] at 1');
  assert.deepEqual(scene.source.calls, [STREAM]);
  assert.equal(scene.reflector.lastSyncResourceVersion(), '6');
  assert.equal(scene.reflector.phase, 'watching');
  await scene.stop();
});

test('C122 Until the end bookmark nothing is stored and there is no version, also after other bookmarks', async () => {
  const scene = await streaming().run();
  assert.equal(scene.reflector.lastSyncResourceVersion(), '');
  scene.source.watching.send(added('foo', 1), added('bar', 2), bookmark(7), bookmark(8, 'false'));
  await settle();
  assert.equal(scene.reflector.lastSyncResourceVersion(), '');
  assert.deepEqual(scene.store.log, []);
  scene.source.watching.send(modified('foo', 3), deleted('bar', 4), bookmark(9, 'true'));
  await settle();
  assert.equal(scene.reflector.lastSyncResourceVersion(), '9');
  assert.deepEqual(scene.store.log, ['replace [foo@3] at 9']);
  await scene.stop();
});

test('C122 The list is in the order in which the server sent it', async () => {
  const scene = await streaming().run();
  scene.source.watching.send(
    added('c', 3),
    added('a', 1),
    added('b', 2),
    modified('c', 4),
    bookmark(4, 'true'),
  );
  await settle();
  assert.deepEqual(scene.store.log, ['replace [c@4 a@1 b@2] at 4']);
  await scene.stop();
});

test('C122 The transform of the destination sees every object once', async () => {
  const seen: string[] = [];
  const transformer = (object: Pod): Pod => {
    seen.push(`${object.metadata.name}@${object.metadata.resourceVersion}`);
    return { ...object, metadata: { ...object.metadata, labels: { transformed: 'yes' } } };
  };
  const store = newStore<Pod>(metaNamespaceKeyFunc, { transformer });
  const scene = streaming();
  const controller = new AbortController();
  const running = new Reflector(scene.source, undefined, store, { clock: scene.clock }).run(
    controller.signal,
  );
  await settle();
  scene.source.watching.send(added('foo', 1), added('bar', 2), bookmark(2, 'true'), modified('foo', 3));
  await settle();
  assert.deepEqual(seen, ['foo@1', 'bar@2', 'foo@3']);
  assert.ok(store.list().every(({ metadata }) => metadata.labels?.['transformed'] === 'yes'));
  controller.abort();
  await running;
});

test('Streaming lists are not tried where the ListerWatcher cannot have them, nor where they are off', async () => {
  const unsupported = await new ReflectorScene().run();
  const off = await new ReflectorScene({ isStreaming: true, watchList: 'off' }).run();
  const unsaid = streaming();
  Reflect.deleteProperty(unsaid.source, 'isWatchListUnsupported');
  await unsaid.run();
  for (const scene of [unsupported, off]) assert.match(scene.source.calls[0] ?? '', /^LIST/);
  assert.deepEqual(unsaid.source.calls, [STREAM]);
  for (const scene of [unsupported, off, unsaid]) await scene.stop();
});

test('A server that refuses the streaming list is listed in this iteration; the next tries to stream again', async () => {
  const scene = streaming();
  scene.source.watchAnswers.push(statusThrown(422, 'Invalid'));
  scene.source.listAnswers.push(podList(5, [pod('foo', 5)]));
  await scene.run();
  assert.deepEqual(scene.source.take(), [
    STREAM,
    'LIST {"resourceVersion":"0","limit":500}',
    'WATCH {"allowWatchBookmarks":true,"resourceVersion":"5"}',
  ]);
  assert.deepEqual(scene.errors, []);
  scene.source.watching.send(errorEvent(410, 'Expired'));
  await settle();
  await scene.advance(800);
  assert.match(scene.source.take()[0] ?? '', /sendInitialEvents/);
  await scene.stop();
});

test('A stream that is closed before its end begins anew; nothing of the first is stored', async () => {
  const scene = await streaming().run();
  scene.source.watching.send(added('old', 1)).end();
  await settle();
  assert.deepEqual(scene.source.calls, [STREAM, STREAM]);
  scene.source.watching.send(added('new', 2), bookmark(2, 'true'));
  await settle();
  assert.deepEqual(scene.store.log, ['replace [new@2] at 2']);
  await scene.stop();
});

test('A stream that is refused for now is waited for within the iteration, and a stop ends the waiting', async () => {
  const scene = streaming();
  scene.source.watchAnswers.push(new Error('ECONNREFUSED'), statusThrown(429, 'TooManyRequests'));
  await scene.listAndWatch();
  await scene.advance(800);
  assert.equal(scene.reflector.phase, 'backing-off');
  assert.deepEqual(scene.source.calls, [STREAM, STREAM]);
  assert.equal(scene.ending, undefined);
  await scene.stop();
  assert.equal(scene.ending, 'returned');
  assert.equal(scene.clock.pending, 0);
});

test('Without its end for half a quiet minute the stream is given up for a list; what it waits for is not put off by silence', async () => {
  const scene = await streaming().run();
  scene.source.listAnswers.push(podList(5, []));
  await scene.advance(29_000);
  scene.source.watching.send(added('foo', 1));
  await settle();
  await scene.advance(29_000);
  assert.equal(scene.source.calls.length, 1);
  await scene.advance(1000);
  assert.deepEqual(scene.errors, ['watch ERR_KUBELOOM_NO_END_BOOKMARK']);
  assert.match(scene.source.calls[1] ?? '', /^LIST/);
  assert.equal(scene.source.watches[0]?.stops, 1);
  await scene.stop();
});

test('After the end bookmark, and where none was asked for, silence is no reason for a list', async () => {
  const scene = await streaming().run();
  scene.source.watching.send(bookmark(1, 'true'));
  await settle();
  const plain = new ReflectorScene();
  plain.source.listAnswers.push(podList(1, []));
  await plain.run();
  for (const quiet of [scene, plain]) {
    await quiet.advance(100_000);
    assert.deepEqual(quiet.errors, []);
    assert.equal(quiet.source.watches.length, 1);
    await quiet.stop();
  }
});

test('A stop while the list streams leaves the store as it was', async () => {
  const scene = await streaming().listAndWatch();
  scene.source.watching.send(added('foo', 1));
  await settle();
  await scene.stop();
  assert.equal(scene.ending, 'returned');
  assert.deepEqual(scene.store.log, []);
});

test('An object without a name in a streaming list is reported and left out', async () => {
  const scene = await streaming().run();
  const nameless: Pod = JSON.parse('{"kind":"Pod","metadata":{"resourceVersion":"3"}}');
  scene.source.watching.send({ type: 'ADDED', object: nameless }, added('foo', 1), bookmark(3, 'true'));
  await settle();
  assert.deepEqual(scene.errors, ['store ERR_KUBELOOM_KEY']);
  assert.deepEqual(scene.store.log, ['replace [foo@1] at 3']);
  await scene.stop();
});

test('C118 The check lists at exactly the version that was streamed, and is content with the same in another order', async () => {
  const scene = await streaming({ checkConsistency: true }).run();
  // What the destination does to the objects plays no role.
  scene.store.replace = (items): void => {
    for (const item of items) Object.assign(item.metadata, { labels: { changed: 'yes' } });
  };
  const { kind: _kind, apiVersion: _apiVersion, ...bare } = pod('foo', 1);
  scene.source.listAnswers.push(podList(4, [pod('qux', 3), bare, pod('bar', 2)]));
  scene.source.watching.send(added('foo', 1), added('bar', 2), added('qux', 3), bookmark(4, 'true'));
  scene.source.watching.send(added('baz', 5));
  await settle();
  assert.equal(scene.source.calls[1], 'LIST {"resourceVersion":"4","resourceVersionMatch":"Exact"}');
  assert.deepEqual(scene.errors, []);
  assert.equal(scene.source.calls.length, 2);
  await scene.stop();
});

test('C118 A difference found by the check is reported, and answered by a list of the most recent state', async () => {
  for (const listed of [
    [pod('foo', 1)],
    [pod('foo', 1), pod('bar', 9)],
    [pod('foo', 1), pod('bar', 2), pod('zoo', 3)],
  ]) {
    const scene = await streaming({ checkConsistency: true }).run();
    scene.source.listAnswers.push(podList(4, listed), podList(6, [pod('foo', 6)]));
    scene.source.watching.send(added('foo', 1), added('bar', 2), bookmark(4, 'true'));
    await settle();
    assert.deepEqual(scene.errors, ['watch ERR_KUBELOOM_INCONSISTENT_LIST']);
    assert.equal(scene.source.calls[2], 'LIST {"limit":500}');
    assert.deepEqual(scene.store.contents(), ['foo@6']);
    await scene.stop();
  }
});

test('The check tries again every second until the list succeeds, the version is gone, which is reported, or it is stopped', async () => {
  const scene = await streaming({ checkConsistency: true }).run();
  const failure = (): Error => new Error('not now');
  scene.source.listAnswers.push(failure(), failure(), failure(), failure(), podList(4, [pod('foo', 1)]));
  scene.source.watching.send(added('foo', 1), bookmark(4, 'true'));
  await settle();
  for (let second = 0; second < 9; second++) await scene.advance(1000);
  assert.equal(scene.source.calls.filter((call) => call.includes('Exact')).length, 5);
  assert.deepEqual(scene.errors, []);
  await scene.stop();

  const gone = await streaming({ checkConsistency: true }).run();
  gone.source.listAnswers.push(statusThrown(410, 'Expired'));
  gone.source.watching.send(bookmark(4, 'true'));
  await settle();
  await gone.advance(5000);
  assert.equal(gone.source.calls.length, 2);
  assert.deepEqual(gone.errors, ['list ERR_KUBELOOM_CONSISTENCY_UNCHECKED']);
  gone.source.listAnswers.push(failure());
  await gone.stop();

  const stopped = await streaming({ checkConsistency: true }).run();
  stopped.source.listAnswers.push(failure());
  stopped.source.watching.send(bookmark(4, 'true'));
  await settle();
  await stopped.stop();
  assert.equal(stopped.clock.pending, 0);
});

test('The check gives up after five lists that failed, and says so', async () => {
  const scene = await streaming({ checkConsistency: true }).run();
  for (let count = 0; count < 9; count++) scene.source.listAnswers.push(new Error('not now'));
  scene.source.watching.send(added('foo', 1), bookmark(4, 'true'));
  await settle();
  for (let second = 0; second < 20; second++) await scene.advance(1000);
  assert.equal(scene.source.calls.filter((call) => call.includes('Exact')).length, 5);
  assert.deepEqual(scene.errors, ['list ERR_KUBELOOM_CONSISTENCY_UNCHECKED']);
  assert.equal(scene.reflector.phase, 'watching');
  await scene.stop();
});

test('There is no check of a list, nor of a stream without a version to check', async () => {
  const listed = new ReflectorScene({ checkConsistency: true });
  listed.source.listAnswers.push(podList(1, []));
  await listed.run();
  const streamed = await streaming({ checkConsistency: true }).run();
  streamed.source.watching.send(bookmark(0, 'true'));
  await settle();
  for (const scene of [listed, streamed]) {
    assert.ok(!scene.source.calls.some((call) => call.includes('Exact')));
    await scene.stop();
  }
});
