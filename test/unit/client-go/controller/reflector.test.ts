/** Tests of the generic reflector: client-go's reflector_test.go, row by row, on a fake clock. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { Reflector } from '../../../../src/client-go/controller/reflector.ts';
import type { WatchEvent } from '../../../../src/kube/lister-watcher.ts';
import { RecordingStore, ReflectorScene, settle, started } from './scene.ts';
import {
  ScriptedListerWatcher,
  ScriptedWatch,
  added,
  bookmark,
  deleted,
  errorEvent,
  modified,
  pod,
  podList,
  statusThrown,
} from './scripted-lister-watcher.ts';
import type { Pod } from './scripted-lister-watcher.ts';

const LIST_FIRST = 'LIST {"resourceVersion":"0","limit":500}';
const watchAt = (rv: string): string => `WATCH {"allowWatchBookmarks":true,"resourceVersion":"${rv}"}`;

test('A list at "0" in pages, then a watch from its version, fill the store', async () => {
  const scene = await new ReflectorScene().run(podList(1, [pod('foo')]));
  assert.deepEqual(scene.source.take(), [LIST_FIRST, watchAt('1')]);
  await scene.send(modified('foo', 2), added('bar', 3), added('baz', 4), deleted('bar', 5));
  const writes = 'replace [foo@1] at 1, update foo@2, add bar@3, add baz@4, delete bar';
  assert.equal(scene.store.take().join(', '), writes);
  assert.equal(scene.reflector.lastSyncResourceVersion(), '5');
  await scene.stop();
  assert.equal(scene.ending, 'returned');
});

test('An ERROR event stops the watch, and listAndWatch returns without an error', async () => {
  const scene = await listing().listAndWatch();
  await scene.send(errorEvent(500, 'Whatever'));
  assert.equal(scene.ending, 'returned');
  assert.equal(scene.source.watching.stops, 1);
  assert.ok(scene.source.signals.at(-1)?.aborted);
  assert.equal(scene.errors.length, 1);
  assert.equal(scene.clock.pending, 0);
});

test('C127 A reflector that is stopped during a watch returns and closes the watch', async () => {
  const scene = await listing().run();
  await scene.stop();
  assert.equal(scene.ending, 'returned');
  assert.equal(scene.source.watching.stops, 1);
  assert.equal(scene.clock.pending, 0);
});

test('A reflector stopped before it runs sends no request', async () => {
  const scene = listing();
  await scene.stop();
  await scene.run();
  assert.deepEqual(scene.source.calls, []);
  assert.equal(scene.ending, 'returned');
});

test('C127 A reflector that is stopped during a list returns at once, and does not store the later result', async () => {
  const scene = await new ReflectorScene().run();
  await scene.stop();
  assert.equal(scene.ending, 'returned');
  assert.ok(scene.source.signals[0]?.aborted);
  assert.deepEqual(scene.store.log, []);
});

test('A reflector that the store stops in the middle of a list requests no watch', async () => {
  const scene = listing();
  scene.store.onWrite = (): void => void scene.stop();
  await scene.run();
  assert.deepEqual(scene.source.calls, [LIST_FIRST]);
  assert.equal(scene.ending, 'returned');
});

test('C127 A watch that opens only after the stop is stopped, and its events are not read', async () => {
  let open: (watch: ScriptedWatch) => void = () => undefined;
  const late = new Promise<ScriptedWatch>((resolve) => (open = resolve));
  const source = new ScriptedListerWatcher();
  source.listAnswers.push(podList(1, []));
  const store = new RecordingStore();
  const slow = { isWatchListUnsupported: true, list: source.list.bind(source), watch: () => late };
  const stop = await started(new Reflector(slow, undefined, store));
  await stop();
  const watch = new ScriptedWatch().send(added('foo', 2));
  open(watch);
  await settle();
  assert.equal(watch.stops, 1);
  assert.deepEqual(store.log, ['replace [] at 1']);
});

test('Events of another type are skipped and reported: not stored, not counted, and their version is ignored', async () => {
  await using scene = await listing({ expectedType: { kind: 'Pod', apiVersion: 'v1' } }).run();
  const service = { ...pod('svc', 99), kind: 'Service' };
  const other = { ...pod('other', 98), apiVersion: 'v2' };
  await scene.send({ type: 'ADDED', object: service });
  assert.equal(scene.reflector.lastSyncResourceVersion(), '1');
  scene.source.watching.send(added('foo', 2), added('bar', 3), deleted('foo', 54), modified('bar', 55));
  await scene.send(added('baz', 32), { type: 'ADDED', object: other });
  assert.deepEqual(scene.store.contents(), ['bar@55', 'baz@32']);
  // The version of the last event, which is not the largest one.
  assert.equal(scene.reflector.lastSyncResourceVersion(), '32');
  assert.deepEqual(scene.errors, Array(2).fill('decode ERR_KUBELOOM_UNEXPECTED_OBJECT'));
});

test('An object of a wrong type is not an event: a watch with nothing else within a second is very short', async () => {
  await using scene = await listing({ expectedType: { kind: 'Pod' } }).run();
  scene.source.watching.send({ type: 'ADDED', object: { ...pod('svc', 9), kind: 'Service' } }).end();
  await settle();
  assert.deepEqual(scene.errors, [
    'decode ERR_KUBELOOM_UNEXPECTED_OBJECT',
    'watch ERR_KUBELOOM_VERY_SHORT_WATCH',
  ]);
  assert.equal(scene.reflector.phase, 'backing-off');
});

test('An event of an unknown type is reported and not stored; it counts and moves the version, as in client-go', async () => {
  await using scene = await listing().run();
  const stranger = { type: 'PATCHED', object: pod('a', 9) } as unknown as WatchEvent<Pod>;
  scene.source.watching.send(stranger).end();
  await settle();
  assert.deepEqual(scene.errors, ['decode ERR_KUBELOOM_MALFORMED_EVENT'], 'no very short watch');
  assert.equal(scene.reflector.lastSyncResourceVersion(), '9');
  assert.ok(!scene.store.contents().includes('a@9'));
});

test('C188 An event that is not an object, or without a kind, is reported without its content', async () => {
  const messages: string[] = [];
  await using scene = await listing({ watchErrorHandler: ({ message }) => messages.push(message) }).run();
  for (const object of ['hunter2', { kind: { password: 'hunter2' } }] as unknown[])
    await scene.send({ type: 'ADDED', object: object as Pod });
  assert.match(
    messages.join('\n'),
    /skipped it: string\n.* skipped it: an object without a kind and a name$/,
  );
});

test('A list error whose body is not JSON is an ordinary failure: the reflector continues', async () => {
  await using scene = new ReflectorScene();
  const body: Record<string, unknown> = {};
  body['self'] = body;
  scene.source.listAnswers.push(Object.assign(new Error('no disk'), { httpStatus: 500, body }));
  await scene.run();
  assert.deepEqual(scene.errors, ['list ERR_KUBELOOM_INTERNAL']);
  assert.equal(scene.ending, undefined);
});

test('Tables are rejected: a list that is one is an error, in a watch they are skipped', async () => {
  const table = { ...podList(9, []), kind: 'Table', apiVersion: 'meta.k8s.io/v1' };
  await using scene = await new ReflectorScene().listAndWatch(table, podList(1, []));
  assert.equal(scene.ending, 'ERR_KUBELOOM_UNEXPECTED_OBJECT');
  await scene.listAndWatch();
  for (const apiVersion of ['meta.k8s.io/v1', 'meta.k8s.io/v1beta1', 'custom.group/v1']) {
    await scene.send({ type: 'ADDED', object: { ...pod(apiVersion, 7), kind: 'Table', apiVersion } });
  }
  assert.deepEqual(scene.store.contents(), ['custom.group/v1@7']);
});

test('Iterations on one store: each lists at the last version, and the store follows', async () => {
  await using scene = new ReflectorScene();
  const { source } = scene;
  source.listAnswers.push(podList(1, []));
  await scene.listAndWatch();
  source.watching.send(added('foo', 2), added('bar', 3), errorEvent(410, 'Expired'));
  await settle();
  assert.deepEqual(scene.store.contents(), ['bar@3', 'foo@2']);
  assert.equal(scene.ending, 'returned');

  source.listAnswers.push(podList(3, [pod('foo', 2), pod('bar', 3)]));
  await scene.listAndWatch();
  source.watching.send(deleted('foo', 4), added('qux', 5), errorEvent(410, 'Expired'));
  await settle();
  source.listAnswers.push(new Error('a list error'));
  await scene.listAndWatch();
  assert.equal(scene.ending, 'ERR_KUBELOOM_LISTER_WATCHER');

  source.listAnswers.push(podList(5, [pod('bar', 3), pod('qux', 5)]));
  source.watchAnswers.push(statusThrown(403, 'Forbidden'));
  await scene.listAndWatch();
  assert.equal(scene.ending, 'ERR_KUBELOOM_FORBIDDEN');
  assert.deepEqual(scene.store.contents(), ['bar@3', 'qux@5']);

  source.listAnswers.push(podList(5, [pod('bar', 3), pod('qux', 5)]));
  await scene.listAndWatch();
  source.watching.send(added('baz', 6));
  await settle();
  assert.deepEqual(scene.store.contents(), ['bar@3', 'baz@6', 'qux@5']);
  const versions = source.calls
    .filter((call) => call.startsWith('LIST'))
    .map((call) => /"(\d+)"/.exec(call)?.[1]);
  assert.deepEqual(versions, ['0', '3', '5', '5', '5']);
});

test('C123 When replace of the store fails, the reflector lists again after a delay, and the version stays', async () => {
  await using scene = new ReflectorScene();
  scene.source.listAnswers.push(podList(10, [pod('foo')]), podList(11, [pod('foo')]));
  scene.store.onWrite = (write): void => {
    if (write.endsWith('at 10')) throw new Error('no room');
  };
  await scene.run();
  assert.deepEqual(scene.errors, ['list ERR_KUBELOOM_STORE_WRITE']);
  assert.equal(scene.reflector.lastSyncResourceVersion(), '');
  assert.deepEqual(scene.source.take(), [LIST_FIRST]);
  await scene.advance(800);
  assert.equal(scene.reflector.lastSyncResourceVersion(), '11');
});

test('listAndWatch throws when the store rejects the list', async () => {
  const scene = listing();
  scene.store.onWrite = (): void => {
    throw new Error('no room');
  };
  await scene.listAndWatch();
  assert.equal(scene.ending, 'ERR_KUBELOOM_STORE_WRITE');
});

test('One signal may stop many reflectors: Node warns of no leak, and no listener remains on it', async () => {
  const warnings: string[] = [];
  const onWarning = (warning: Error): unknown => warnings.push(warning.name);
  process.on('warning', onWarning);
  const stop = new AbortController();
  const running = Array.from({ length: 12 }, () =>
    new Reflector(new ScriptedListerWatcher(), undefined, new RecordingStore()).run({ signal: stop.signal }),
  );
  await settle();
  stop.abort();
  await Promise.all(running);
  process.off('warning', onWarning);
  assert.deepEqual(warnings, []);
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
});

test('An event that the store rejects is reported, and the watch continues', async () => {
  await using scene = await listing().run();
  scene.store.onWrite = (write): void => {
    if (write.startsWith('add foo') || write.startsWith('bookmark')) throw new Error('refused');
  };
  await scene.send(added('foo', 2), added('bar', 3), bookmark(4));
  assert.deepEqual(scene.errors, ['store ERR_KUBELOOM_STORE_WRITE', 'store ERR_KUBELOOM_STORE_WRITE']);
  assert.deepEqual(scene.store.contents(), ['bar@3']);
  assert.equal(scene.reflector.lastSyncResourceVersion(), '4');
});

test('Items of a list that are not objects are reported and skipped, and a value without items is not a list', async () => {
  const scene = new ReflectorScene();
  const broken: readonly ReturnType<typeof pod>[] = JSON.parse(JSON.stringify([pod('foo'), null, 'text']));
  scene.source.listAnswers.push(podList(3, broken), JSON.parse('{"kind":"Pod","metadata":{}}'));
  await scene.listAndWatch();
  assert.deepEqual(scene.store.take(), ['replace [foo@1] at 3']);
  assert.deepEqual(scene.errors, ['decode ERR_KUBELOOM_UNEXPECTED_OBJECT']);
  await scene.send(errorEvent(410, 'Gone'));
  await scene.listAndWatch();
  assert.equal(scene.ending, 'ERR_KUBELOOM_MALFORMED_RESPONSE');
  assert.deepEqual(scene.store.contents(), ['foo@1']);
});

test('A list whose items are null is empty', async () => {
  await using scene = new ReflectorScene();
  scene.source.listAnswers.push(JSON.parse('{"metadata":{"resourceVersion":"5"},"items":null}'));
  await scene.run();
  assert.deepEqual(scene.store.log, ['replace [] at 5']);
});

test('Running twice at once is a coded error; one run after the other is not', async () => {
  const scene = await listing().run();
  const { reflector, signal } = scene;
  await assert.rejects(reflector.run({ signal }), { code: 'ERR_KUBELOOM_STARTED' });
  await assert.rejects(reflector.listAndWatch({ signal }), { code: 'ERR_KUBELOOM_STARTED' });
  await scene.stop();
  scene.source.listAnswers.push(podList(2, []));
  const stop = await started(reflector);
  assert.equal(reflector.lastSyncResourceVersion(), '2');
  await stop();
});

test('Name and type description appear in messages', () => {
  const describe = (expectedType?: { kind: string; apiVersion?: string }): string =>
    new Reflector(new ScriptedListerWatcher(), expectedType, new RecordingStore()).typeDescription;
  assert.equal(describe(), '<unspecified>');
  assert.equal(describe({ kind: 'Pod' }), 'Pod');
  assert.equal(describe({ kind: 'Deployment', apiVersion: 'apps/v1' }), 'apps/v1, Kind=Deployment');
  const named = new Reflector(new ScriptedListerWatcher(), { kind: 'Pod' }, new RecordingStore());
  assert.equal(named.name, 'Reflector Pod');
  assert.equal(named.phase, 'stopped');
});

test('The store receives the position of the watch', async () => {
  await using scene = new ReflectorScene();
  const seen: string[] = [];
  Object.assign(scene.store, { updateResourceVersion: (rv: string) => seen.push(rv) });
  await scene.run(podList(10, []));
  await scene.send(added('foo', 10), modified('foo', 20), bookmark(30), deleted('foo', 40));
  assert.deepEqual(seen, ['10', '20', '30', '40']);
});

test('C124 While a watch without a start version may send synthetic events, the version is held back', async () => {
  await using scene = await new ReflectorScene().run(podList('', []));
  assert.equal(scene.source.calls[1], 'WATCH {"allowWatchBookmarks":true}');
  await scene.send(added('foo', 30), added('bar', 20));
  assert.deepEqual(scene.store.contents(), ['bar@20', 'foo@30']);
  assert.equal(scene.reflector.lastSyncResourceVersion(), '');
  await scene.send(modified('bar', 31), added('baz', 32));
  assert.equal(scene.reflector.lastSyncResourceVersion(), '32');
});

function listing(options: ConstructorParameters<typeof ReflectorScene>[0] = {}): ReflectorScene {
  const scene = new ReflectorScene(options);
  scene.source.listAnswers.push(podList(1, []));
  return scene;
}
