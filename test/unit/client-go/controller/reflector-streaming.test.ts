/** Tests of the streaming list of the generic reflector, and of the checks of its objects. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newStore } from '../../../../src/client-go/cache/indexed-store.ts';
import { metaNamespaceKeyFunc } from '../../../../src/kube/keys.ts';
import { Reflector } from '../../../../src/client-go/controller/reflector.ts';
import { ReflectorScene, settle, started } from './scene.ts';
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

test('A streaming list is one watch and no list; at its end bookmark its objects are stored at once', async () => {
  await using scene = await streaming().run();
  assert.deepEqual(scene.source.calls, [STREAM]);
  scene.source.watching.send(added('foo', 1), bookmark(1, 'true'), modified('foo', 2), added('bar', 3));
  await scene.send(added('baz', 4), added('qux', 5), added('zoo', 6));
  assert.deepEqual(scene.store.contents(), ['bar@3', 'baz@4', 'foo@2', 'qux@5', 'zoo@6']);
  assert.equal(scene.store.take()[0], 'replace [foo@1] at 1');
  assert.deepEqual(scene.source.calls, [STREAM]);
  assert.equal(scene.reflector.lastSyncResourceVersion(), '6');
  assert.equal(scene.reflector.phase, 'watching');
});

test('C122 Before the end bookmark of a streaming list, the store has neither objects nor a version', async () => {
  await using scene = await streaming().run();
  assert.equal(scene.reflector.lastSyncResourceVersion(), '');
  await scene.send(added('foo', 1), added('bar', 2), bookmark(7), bookmark(8, 'false'));
  assert.equal(scene.reflector.lastSyncResourceVersion(), '');
  assert.deepEqual(scene.store.log, []);
  await scene.send(modified('foo', 3), deleted('bar', 4), bookmark(9, 'true'));
  assert.equal(scene.reflector.lastSyncResourceVersion(), '9');
  assert.deepEqual(scene.store.log, ['replace [foo@3] at 9']);
});

test('C122 A streaming list is stored in the order in which the server sent it', async () => {
  await using scene = await streaming().run();
  await scene.send(added('c', 3), added('a', 1), added('b', 2), modified('c', 4), bookmark(4, 'true'));
  assert.deepEqual(scene.store.log, ['replace [c@4 a@1 b@2] at 4']);
});

test('C122 The store transforms every object of a streaming list once', async () => {
  const seen: string[] = [];
  const transformer = (object: Pod): Pod => {
    seen.push(`${object.metadata.name}@${object.metadata.resourceVersion}`);
    return { ...object, metadata: { ...object.metadata, labels: { transformed: 'yes' } } };
  };
  const store = newStore<Pod>(metaNamespaceKeyFunc, { transformer });
  const scene = streaming();
  const stop = await started(new Reflector(scene.source, undefined, store, { clock: scene.clock }));
  await scene.send(added('foo', 1), added('bar', 2), bookmark(2, 'true'), modified('foo', 3));
  assert.deepEqual(seen, ['foo@1', 'bar@2', 'foo@3']);
  assert.ok(store.list().every(({ metadata }) => metadata.labels?.['transformed'] === 'yes'));
  await stop();
});

test('Streaming lists are not tried where the ListerWatcher does not support them, nor where they are off', async () => {
  const unsupported = await new ReflectorScene().run();
  const off = await new ReflectorScene({ isStreaming: true, watchList: 'off' }).run();
  const unsaid = streaming();
  Reflect.deleteProperty(unsaid.source, 'isWatchListUnsupported');
  await unsaid.run();
  for (const scene of [unsupported, off]) assert.match(scene.source.calls[0] ?? '', /^LIST/);
  assert.deepEqual(unsaid.source.calls, [STREAM]);
  for (const scene of [unsupported, off, unsaid]) await scene.stop();
});

test('When a server rejects the streaming list, this iteration lists; the next tries to stream again', async () => {
  await using scene = streaming();
  scene.source.watchAnswers.push(statusThrown(422, 'Invalid'));
  await scene.run(podList(5, [pod('foo', 5)]));
  assert.deepEqual(scene.source.take(), [
    STREAM,
    'LIST {"resourceVersion":"0","limit":500}',
    'WATCH {"allowWatchBookmarks":true,"resourceVersion":"5"}',
  ]);
  assert.deepEqual(scene.errors, []);
  await scene.send(errorEvent(410, 'Expired'));
  await scene.advance(800);
  assert.match(scene.source.take()[0] ?? '', /sendInitialEvents/);
});

test('A stream that is closed before its end starts again; no object of the first is stored', async () => {
  await using scene = await streaming().run();
  scene.source.watching.send(added('old', 1)).end();
  await settle();
  assert.deepEqual(scene.source.calls, [STREAM, STREAM]);
  await scene.send(added('new', 2), bookmark(2, 'true'));
  assert.deepEqual(scene.store.log, ['replace [new@2] at 2']);
});

test('A stream that is rejected temporarily is retried within the iteration, and a stop ends the delay', async () => {
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

test('After half a minute of silence before its end a stream is replaced by a list; delays do not count as silence', async () => {
  await using scene = await streaming().run();
  scene.source.listAnswers.push(podList(5, []));
  await scene.advance(29_000);
  await scene.send(added('foo', 1));
  await scene.advance(29_000);
  assert.equal(scene.source.calls.length, 1);
  await scene.advance(1000);
  assert.deepEqual(scene.errors, ['watch ERR_KUBELOOM_NO_END_BOOKMARK']);
  assert.match(scene.source.calls[1] ?? '', /^LIST/);
  assert.equal(scene.source.watches[0]?.stops, 1);
});

test('After the end bookmark, and where none was requested, silence does not lead to a list', async () => {
  const scene = await streaming().run();
  await scene.send(bookmark(1, 'true'));
  const plain = await new ReflectorScene().run(podList(1, []));
  for (const quiet of [scene, plain]) {
    await quiet.advance(100_000);
    assert.deepEqual(quiet.errors, []);
    assert.equal(quiet.source.watches.length, 1);
    await quiet.stop();
  }
});

test('A stop during a streaming list leaves the store unchanged', async () => {
  const scene = await streaming().listAndWatch();
  await scene.send(added('foo', 1));
  await scene.stop();
  assert.equal(scene.ending, 'returned');
  assert.deepEqual(scene.store.log, []);
});

test('An object without a name in a streaming list is reported and left out', async () => {
  await using scene = await streaming().run();
  const nameless: Pod = JSON.parse('{"kind":"Pod","metadata":{"resourceVersion":"3"}}');
  await scene.send({ type: 'ADDED', object: nameless }, added('foo', 1), bookmark(3, 'true'));
  assert.deepEqual(scene.errors, ['store ERR_KUBELOOM_KEY']);
  assert.deepEqual(scene.store.log, ['replace [foo@1] at 3']);
});
