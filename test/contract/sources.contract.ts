/** A program's own ListerWatcher instead of a server, and the testing kit, which uses a ListerWatcher. */
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import type { ListOptions, ListerWatcher, Watch, WatchEvent } from '../../src/index.ts';
import { FakeControllerSource, settled } from '../../src/tools/apiserver/testing/index.ts';
import { FakeWatch } from '../../src/tools/apiserver/testing/fake-controller-source.ts';
import { RecordingHandler, configurationWasUsed, pod, test, turns } from './scene.ts';

/** Lists fixed objects; the test controls the watches. */
class Source implements ListerWatcher<V1Pod> {
  readonly isWatchListUnsupported = true;
  readonly versions: string[] = [];
  readonly watches: FakeWatch<V1Pod>[] = [];
  /** Numbers of the stopped watches. */
  readonly stopped: Set<number> = new Set();
  items: V1Pod[] = [];
  version = '10';

  async list(): Promise<{ metadata: { resourceVersion: string }; items: V1Pod[] }> {
    return { metadata: { resourceVersion: this.version }, items: this.items };
  }

  async watch({ resourceVersion = '' }: ListOptions): Promise<Watch<V1Pod>> {
    const number = this.watches.length;
    const watch: FakeWatch<V1Pod> = new FakeWatch(0, () => void this.stopped.add(number));
    this.versions.push(resourceVersion);
    this.watches.push(watch);
    return watch;
  }
}

function at(name: string, resourceVersion: string): V1Pod {
  const object = pod(name);
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}

function event(type: WatchEvent<V1Pod>['type'], name: string, version: string): WatchEvent<V1Pod> {
  return { type, object: at(name, version) };
}

test('C131 the pipeline reads a ListerWatcher like a server: list, events, and a relist after a loss', async (scene) => {
  const source = new FakeControllerSource<V1Pod>();
  source.add(pod('b'));
  source.add(pod('a'));
  const informer = scene.sourced(source);
  const handler = new RecordingHandler();
  await scene.watched(informer, handler);
  source.modify(pod('b', { app: 'web' }));
  source.delete(pod('a'));
  await settled(informer);
  source.addDropWatch(pod('lost'));
  await settled(informer);
  assert.equal(informer.getStore().getByKey('default/lost'), undefined);
  source.resetWatch();
  await settled(informer);
  assert.deepEqual(handler.lines, [
    'add default/a@2',
    'add default/b@1',
    'update default/b@3',
    'delete default/a@4',
    'update default/b@3',
    'add default/lost@5',
  ]);
  assert.equal(handler.calls.at(-1)?.isInInitialList, false);
  assert.equal(informer.getStore().getByKey('default/b')?.object.metadata?.labels?.['app'], 'web');
});

test('C72 objects of a ListerWatcher with slashes in their names are skipped, and no other informer is affected', async (scene) => {
  const source = new Source();
  const named = (name: string, namespace: string): V1Pod => {
    const object = at('b', '3');
    return { ...object, metadata: { ...object.metadata, name, namespace } };
  };
  source.items = [named('b', 'a'), named('a/b', ''), named('z', 'x/y'), named('y/z', 'x'), at('c', '4')];
  const informer = scene.sourced(source);
  const neighbour = new Source();
  neighbour.items = [at('n', '5')];
  const neighbours = scene.sourced(neighbour);
  await scene.synced(informer);
  await scene.synced(neighbours);
  await scene.until(() => source.watches.length === 1 && neighbour.watches.length === 1);
  source.watches[0]?.send({ type: 'ADDED', object: named('c/d', 'default') });
  source.watches[0]?.send(event('ADDED', 'e', '12'));
  neighbour.watches[0]?.send(event('ADDED', 'm', '12'));
  await Promise.all([informer.waitForResourceVersion('12'), neighbours.waitForResourceVersion('12')]);
  assert.deepEqual(informer.getStore().listKeys(), ['a/b', 'default/c', 'default/e']);
  assert.deepEqual(neighbours.getStore().listKeys(), ['default/n', 'default/m']);
  await scene.reported(...Array.from({ length: 4 }, () => 'ERR_KUBELOOM_UNEXPECTED_OBJECT'));
});

test('C131 errors that a ListerWatcher throws are reported and retried, and an answer keeps its status', async (scene) => {
  const source = new FakeControllerSource<V1Pod>();
  source.add(pod('a'));
  source.listError = new Error('cable cut');
  const informer = scene.sourced(source);
  void scene.run(informer);
  await scene.untilReported(() => scene.codes().includes('ERR_KUBELOOM_LISTER_WATCHER'));
  source.listError = Object.assign(new Error('no'), { httpStatus: 403, reason: 'Forbidden' });
  await scene.untilReported(() => scene.codes().includes('ERR_KUBELOOM_FORBIDDEN'));
  source.listError = undefined;
  await settled(informer);
  assert.deepEqual(informer.getStore().listKeys(), ['default/a']);
});

test('C133 a watch is stopped when it has ended with an error and when the informer stops', async (scene) => {
  const source = new Source();
  const informer = scene.sourced(source);
  await scene.synced(informer);
  await scene.until(() => source.watches.length === 1);
  source.version = '20';
  const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
  source.watches[0]?.send({ type: 'ERROR', object: status });
  await scene.until(() => source.watches.length === 2);
  assert.deepEqual([source.versions, [...source.stopped]], [['10', '20'], [0]]);
  await informer.shutdown();
  await scene.until(() => source.stopped.has(1));
});

test('C134 an object or list without a resourceVersion from a ListerWatcher is reported and not stored', async (scene) => {
  const source = new Source();
  source.items = [at('good', '5'), at('bad', '')];
  const informer = scene.sourced(source);
  void scene.run(informer);
  const code = 'ERR_KUBELOOM_NO_RESOURCE_VERSION';
  await scene.untilReported(() => scene.codes().includes(code));
  assert.equal(informer.hasSynced(), false);
  source.items = [at('good', '5')];
  await informer.waitForSync();
  await scene.until(() => source.watches.length === 1);
  const before = scene.errors.length;
  source.watches[0]?.send({ type: 'ADDED', object: pod('late') });
  await scene.untilReported(() => scene.errors.length > before);
  assert.equal(scene.errors.at(-1)?.code, code);
  assert.match(scene.errors.at(-1)?.message ?? '', /default\/late/);
  await scene.until(() => source.watches.length === 2);
  source.watches[1]?.send(event('ADDED', 'later', '11'));
  await scene.until(() => informer.getStore().getByKey('default/later') !== undefined);
  assert.deepEqual(informer.getStore().listKeys().toSorted(), ['default/good', 'default/later']);
});

test('C135 settled waits for the store, for the promises of handlers, and for their writes', async (scene) => {
  const source = new FakeControllerSource<V1Pod>();
  source.add(pod('p', { step: '0' }));
  const informer = scene.sourced(source);
  let last = -1;
  const write = async (step: number): Promise<void> => {
    await turns(3);
    last = step;
    if (step < 4) source.modify(pod('p', { step: `${step + 1}` }));
  };
  informer.addEventHandler({
    onAdd: (added) => write(Number(added.labels['step'])),
    onUpdate: (_old, current) => write(Number(current.labels['step'])),
  });
  void scene.run(informer);
  await settled(informer);
  assert.equal(last, 4);
  assert.equal(informer.getStore().getByKey('default/p')?.labels['step'], '4');
});

test('C135 settled waits for everything that an embedded apiserver has sent', async (scene) => {
  const informer = scene.informer();
  const handler = new RecordingHandler(() => turns(3));
  informer.addEventHandler(handler);
  await scene.put(pod('a'));
  void scene.run(informer);
  await settled(informer);
  await scene.put(pod('b'), pod('c'));
  await settled(informer);
  assert.deepEqual(handler.names, ['add a', 'add b', 'add c']);
  await scene.assertEqualsServer(informer);
});

test("C136 a test's fake timers do not stop the pipeline", async (scene) => {
  const source = new FakeControllerSource<V1Pod>();
  const informer = scene.sourced(source);
  const handler = new RecordingHandler();
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate', 'Date'] });
  try {
    informer.addEventHandler(handler);
    void scene.run(informer);
    source.add(pod('a'));
    await settled(informer);
    source.modify(pod('a', { step: '2' }));
    await settled(informer);
    assert.equal(informer.getStore().getByKey('default/a')?.labels['step'], '2');
    assert.ok(handler.calls.length > 0);
    await informer[Symbol.asyncDispose]();
  } finally {
    mock.timers.reset();
  }
});

configurationWasUsed();
