/** Behaviour that only kubeloom's ListWatch has; differential.test.ts compares the rest with client-node. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, describe, test } from 'node:test';
import * as clientNode from '@kubernetes/client-node';
import type { KubernetesObject, V1Pod } from '@kubernetes/client-node';
import * as dropIn from '../../../src/client-node/index.ts';
import { startEmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import { InformerThreads } from '../../../src/index.ts';
import { collectGarbage } from '../../kit/collect-garbage.ts';
import { kubeConfigOf } from '../../kit/scene.ts';
import { deliverMany } from './scenario.ts';
import { clientOf } from './stage.ts';
import type { Client } from './stage.ts';

const threads = new InformerThreads({ indexerThreads: 0 });
const OPTIONS = { threads, backoff: { initialMs: 1, maxMs: 1 } };
const kubeloom: Client = clientOf(clientNode, threads);
after(() => threads.close());

const PATH = '/api/v1/pods';
const watch = { config: new clientNode.KubeConfig() };
const CLUSTER = { name: 'c', server: 'http://127.0.0.1:1', skipTLSVerify: true };
watch.config.loadFromClusterAndUser(CLUSTER, { name: 'u' });

async function never(): Promise<never> {
  throw new Error('the list function is not called');
}

/** Constructs a ListWatch of this path, or with these selectors and options. */
const listWatch = (path = PATH, ...more: readonly unknown[]): unknown =>
  new dropIn.ListWatch(path, watch, never, false, ...(more as [string]));

describe('kubeloom/client-node', () => {
  test('has every export of client-node, its own informers, and the conversion of models', () => {
    const names = (module: object): string[] => Object.keys(module).toSorted();
    assert.deepEqual(
      names(dropIn),
      [...names(clientNode), 'ListWatchError', 'fromModel', 'toModel'].toSorted(),
    );
    const own = names(dropIn).filter((name) => Reflect.get(dropIn, name) !== Reflect.get(clientNode, name));
    assert.deepEqual(own, ['ListWatch', 'ListWatchError', 'fromModel', 'makeInformer', 'toModel']);
  });

  test('is found by its name', async () => {
    const name: string = 'kubeloom/client-node';
    assert.deepEqual(Object.keys((await import(name)) as object), Object.keys(dropIn));
  });

  test('refuses arguments that it cannot use when it is constructed', () => {
    const selector = { code: 'ERR_KUBELOOM_SELECTOR' };
    const option = (message: RegExp): object => ({ code: 'ERR_KUBELOOM_OPTION', message });
    assert.throws(() => listWatch('/some/path'), option(/cannot be watched/));
    assert.throws(() => listWatch('/api/v1/namespaces/web/nodes'), option(/cluster-scoped/));
    assert.throws(() => listWatch(PATH, 'a in'), selector);
    assert.throws(() => listWatch(PATH, '', 'a'), selector);
    const unwatched = (): unknown => new dropIn.ListWatch(PATH, null as never, never, false);
    assert.throws(unwatched, option(/watch must be client-node's Watch/));
    const delayFn = { delayFn: () => Promise.resolve() };
    assert.throws(() => listWatch(PATH, '', '', delayFn), option(/have no "delayFn"/));
    assert.throws(() => listWatch(PATH, '', '', { list: { pageSize: -1 } }), option(/list\.pageSize/));
    const informer = dropIn.makeInformer(watch.config, PATH, never);
    assert.throws(() => informer.on('add', undefined as never), option(/the callback must be a function/));
  });

  test('reserves no threads before it starts', async () => {
    for (const indexerThreads of [0, 1]) {
      assert.ok(listWatch(PATH, '', '', { threads: { indexerThreads } }));
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  test('sends the selectors of its arguments and of its path, with list and watch', async () => {
    await using stage = await kubeloom();
    const { kubeConfig, world } = stage;
    const path = '/api/v1/namespaces/web/pods?labelSelector=a%3Db&fieldSelector=spec.nodeName%3Dn';
    const informer = dropIn.makeInformer<V1Pod>(kubeConfig, path, never, 'c=d', 'metadata.name=e', OPTIONS);
    await informer.start();
    await world.watching();
    await informer.stop();
    const selected = '/api/v1/namespaces/web/pods a=b,c=d spec.nodeName=n,metadata.name=e';
    assert.deepEqual(world.requests, [`list ${selected}`, `watch ${selected}`]);
  });

  test('resolves start() when stop() comes first, and starts anew at once', async () => {
    await using stage = await kubeloom();
    const { informer, world } = stage;
    world.put('a');
    const first = informer.start();
    const stopped = informer.stop();
    const second = informer.start();
    await Promise.all([first, stopped, second]);
    assert.deepEqual(await stage.settled(), ['connect', 'add a']);
  });

  test('can be stopped by a callback', async () => {
    await using stage = await kubeloom();
    const { informer, world } = stage;
    const stopped = new Promise<void>((resolve) => {
      informer.on('add', () => void informer.stop().then(resolve));
    });
    world.put('a');
    world.put('b');
    await informer.start();
    await stopped;
    assert.deepEqual(stage.lines, ['connect', 'add a']);
  });

  test('calls no callback after a callback has stopped it, and the next start delivers the rest', async () => {
    await using stage = await kubeloom();
    const { informer, world, lines } = stage;
    for (const name of ['a', 'b', 'c']) world.put(name);
    await informer.start();
    await informer.stop();
    for (const name of ['a', 'b']) world.remove(name);
    for (const name of ['d', 'e']) world.put(name);
    const stop = (): void => void informer.stop();
    for (const verb of ['delete', 'add'] as const) {
      lines.length = 0;
      informer.on(verb, stop);
      await informer.start();
      assert.equal(lines.at(-1)?.split(' ', 1)[0], verb);
      informer.off(verb, stop);
    }
    lines.length = 0;
    await informer.start();
    assert.deepEqual(await stage.settled(), ['connect', 'add e']);
    assert.deepEqual(stage.names(), ['c', 'd', 'e']);
  });

  test('delivers the state before when the last state of a deleted object cannot be read', async () => {
    await using stage = await kubeloom({ restarts: false });
    const { informer, world } = stage;
    world.put('a');
    await informer.start();
    await world.watching();
    const annotations = { tooLong: 'x'.repeat(2 ** 23) };
    const metadata = { name: 'a', namespace: 'default', resourceVersion: '100', annotations };
    world.send({ type: 'DELETED', object: { kind: 'Pod', apiVersion: 'v1', metadata } });
    await stage.seen('delete a');
    assert.deepEqual(
      (stage.errors as readonly { code: string }[]).map(({ code }) => code),
      ['ERR_KUBELOOM_OBJECT_TOO_LARGE'],
    );
    assert.equal(stage.objects.at(-1)?.metadata?.resourceVersion, '11');
    assert.deepEqual(informer.list(), []);
  });

  test('returns the object of a recent callback, later an equal object, and the same object as long as it is held', async () => {
    await using stage = await kubeloom();
    const { informer, world, objects } = stage;
    for (const name of ['read', 'unread']) world.put(name, { spec: { nodeName: 'n' } });
    await informer.start();
    const [read, unread] = objects;
    assert.equal(informer.get('read', 'default'), read);
    await deliverMany(stage);
    assert.equal(informer.get('read', 'default'), read);
    const found = informer.get('unread', 'default');
    assert.notEqual(found, unread);
    assert.deepEqual(found, unread);
    assert.deepEqual(informer.list('default').slice(0, 2), [read, found]);
    assert.equal(informer.list('default')[1], found);
  });

  test('keeps no object in memory that no part of the program holds: it is made anew from the bytes', async () => {
    await using stage = await kubeloom();
    const { informer, world, objects } = stage;
    world.put('a', { spec: { nodeName: 'n' } });
    await informer.start();
    await deliverMany(stage);
    const [delivered] = objects.splice(0).map((object) => new WeakRef(object));
    await collectGarbage();
    assert.equal(delivered?.deref() === undefined, true);
    assert.equal(informer.get('a', 'default')?.spec?.nodeName, 'n');
  });

  test('keeps no object of the run before in memory', async () => {
    await using stage = await kubeloom();
    const { informer, world, objects } = stage;
    world.put('a');
    await informer.start();
    await informer.stop();
    await informer.start();
    const [delivered] = objects.splice(0).map((object) => new WeakRef(object));
    await collectGarbage();
    assert.equal(delivered?.deref() === undefined, true);
    assert.equal(informer.get('a', 'default')?.metadata?.name, 'a');
  });

  test('keeps objects that are read again and again, within the budget of the cache of parsed objects', async () => {
    await using stage = await kubeloom();
    const { informer, world, objects } = stage;
    world.put('a');
    await informer.start();
    await deliverMany(stage);
    objects.length = 0;
    const read = new WeakRef(informer.get('a', 'default') ?? {});
    await deliverMany(stage);
    await collectGarbage();
    assert.equal(informer.get('a', 'default'), read.deref());
  });

  test('has the last states, after a stop, of objects whose later changes were not delivered', async () => {
    await using stage = await kubeloom();
    const { informer, world } = stage;
    for (const name of ['a', 'b']) world.put(name, { spec: { nodeName: 'first' } });
    await informer.start();
    informer.on('update', () => void informer.stop());
    world.put('a', { spec: { nodeName: 'second' } });
    world.put('b', { spec: { nodeName: 'second' } });
    await stage.seen('update a');
    await informer.stop();
    assert.deepEqual(stage.lines.slice(-1), ['update a']);
    assert.deepEqual(
      informer.list().map(({ spec }) => spec?.nodeName),
      ['second', 'first'],
    );
  });

  test('warns of errors when there is no callback for them, and of callbacks for errors that throw', async () => {
    await using stage = await kubeloom();
    const informer = dropIn.makeInformer<V1Pod>(stage.kubeConfig, PATH, never, '', '', OPTIONS);
    stage.world.refuse('list', 403);
    const unheard = once(process, 'warning');
    await informer.start();
    const [warning] = (await unheard) as [Error & { code: string }];
    assert.equal(warning.code, 'ERR_KUBELOOM_FORBIDDEN');
    informer.on('error', () => {
      throw new Error('of the callback');
    });
    const thrown = once(process, 'warning');
    await stage.world.watching();
    stage.world.cut();
    assert.equal(((await thrown) as [Error])[0].message, 'of the callback');
    await informer.stop();
  });

  test('reports a callback that throws with its verb', async () => {
    await using stage = await kubeloom({ restarts: false });
    const cause = new Error('of the callback');
    stage.informer.on('connect', () => {
      throw cause;
    });
    await stage.informer.start();
    const [error] = stage.errors as [Error & { code: string }];
    assert.equal(error.code, 'ERR_KUBELOOM_HANDLER');
    assert.equal(error.message, "a callback for 'connect' threw: of the callback");
    assert.equal(error.cause, cause);
  });

  test('delivers the JSON of the wire when the installed client-node has no model', async () => {
    const apiVersion = 'scheduling.k8s.io/v1alpha1';
    await using stage = await kubeloom({
      path: `/apis/${apiVersion}/workloads`,
      kind: 'Workload',
      apiVersion,
    });
    stage.world.put('a');
    await stage.informer.start();
    assert.equal(stage.objects[0]?.constructor, Object);
    assert.equal(stage.objects[0]?.kind, 'Workload');
  });
});

describe('on the embedded apiserver, with streaming lists', () => {
  test('it delivers the history that client-node delivers', async () => {
    await using server = await startEmbeddedApiServer();
    const kubeConfig = kubeConfigOf(server);
    const put = (namespace: string, name: string, value: string) => {
      const object = { metadata: { namespace, name }, data: { value } };
      return server.apply([{ type: 'put', resource: 'configmaps', object }]);
    };
    const remove = (namespace: string, name: string) =>
      server.apply([{ type: 'delete', resource: 'configmaps', namespace, name }]);
    for (const name of ['a', 'b', 'c']) await put('one', name, '1');
    await put('two', 'a', '1');
    const api = kubeConfig.makeApiClient(clientNode.CoreV1Api);
    const list = () => api.listConfigMapForAllNamespaces();
    const path = '/api/v1/configmaps';
    const theirs = clientNode.makeInformer(kubeConfig, path, list);
    const ours = dropIn.makeInformer(kubeConfig, path, list, '', '', OPTIONS);
    const recordings = [theirs, ours].map((informer) => recorded(informer));
    await Promise.all([theirs.start(), ours.start()]);
    await server.waitForWatches(2);
    // The server runs in this thread, so no request can come between these calls: both informers must list again.
    const expired = server.expireWatches();
    const removals = [remove('one', 'c'), remove('two', 'a')];
    await Promise.all([put('one', 'b', '2'), ...removals, put('three', 'a', '1'), expired]);
    await server.waitForWatches(2);
    await put('one', 'a', '2');
    await remove('three', 'a');
    await put('two', 'last', '1');
    const [expected, found] = await Promise.all(recordings.map(({ ended }) => ended));
    assert.deepEqual(found, expected);
    assert.equal(found?.filter((line) => line.startsWith('add')).length, 6);
    assert.deepEqual(valuesOf(ours.list()), valuesOf(theirs.list()));
    await Promise.all([theirs, ours].map((informer) => informer.stop()));
  });
});

function valuesOf(objects: readonly clientNode.V1ConfigMap[]): string[] {
  return objects.map((object) => `${keyOf(object)} ${object.data?.['value']}`);
}

function keyOf({ metadata }: KubernetesObject): string {
  return `${metadata?.namespace}/${metadata?.name}`;
}

/** Records the events; `ended` resolves with them after the object `last`. */
function recorded(informer: clientNode.Informer<clientNode.V1ConfigMap>): {
  readonly ended: Promise<string[]>;
} {
  const lines: string[] = [];
  informer.on('connect', () => lines.push('connect'));
  informer.on('error', () => undefined);
  const ended = new Promise<string[]>((resolve) => {
    for (const verb of ['add', 'update', 'delete'] as const) {
      informer.on(verb, (object) => {
        lines.push(`${verb} ${keyOf(object)} ${object.data?.['value']}`);
        if (object.metadata?.name === 'last') resolve(lines);
      });
    }
  });
  return { ended };
}
