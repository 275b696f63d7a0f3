/** Compares the adapter of docs/examples with the informer of client-node that it replaces. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CoreV1Api, KubeConfig, V1ConfigMap, makeInformer } from '@kubernetes/client-node';
import type { Informer, ObjectCache } from '@kubernetes/client-node';
import { makeInformerCompat } from '../../../../docs/examples/client-node-adapter.ts';
import { startEmbeddedApiServer } from '../../../../src/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../../src/apiserver/testing/index.ts';
import { failRequests } from '../../apiserver/fail-requests.ts';

const OPTIONS = { threads: { shards: 0 }, backoff: { initialMs: 1, maxMs: 1 } };
const LAST = 'last';

type Both = Informer<V1ConfigMap> & ObjectCache<V1ConfigMap>;

/** Records an informer's events in order; `ended` resolves after the object named LAST. */
function record(informer: Both) {
  const told: string[] = [];
  const ended = new Promise<void>((resolve) => {
    for (const verb of ['add', 'update', 'delete'] as const) {
      informer.on(verb, ({ metadata, data }) => {
        told.push(`${verb} ${metadata?.namespace}/${metadata?.name} ${data?.['value']}`);
        if (metadata?.name === LAST) resolve();
      });
    }
  });
  return { told, ended };
}

describe('the adapter for client-node', () => {
  let server: EmbeddedApiServer;
  let kubeConfig: KubeConfig;
  const open: Both[] = [];

  before(async () => {
    server = await startEmbeddedApiServer();
    kubeConfig = new KubeConfig();
    kubeConfig.loadFromString(server.kubeConfigYaml);
  });

  after(async () => {
    for (const informer of open) await informer.stop();
    await server.close();
  });

  function path(namespace: string): string {
    return `/api/v1/namespaces/${namespace}/configmaps`;
  }

  function adapted(namespace: string, labelSelector?: string): Both {
    const informer = makeInformerCompat<V1ConfigMap>(
      kubeConfig,
      path(namespace),
      undefined,
      labelSelector,
      OPTIONS,
    );
    open.push(informer);
    return informer;
  }

  async function put(namespace: string, name: string, value: string, labels = {}): Promise<void> {
    const object = { metadata: { namespace, name, labels }, data: { value } };
    await server.apply([{ type: 'put', resource: 'configmaps', object }]);
  }

  test('delivers the same history and has the same objects', async () => {
    const namespace = 'same';
    await put(namespace, 'a', '1');
    await put(namespace, 'b', '1');
    const api = kubeConfig.makeApiClient(CoreV1Api);
    const theirs = makeInformer(kubeConfig, path(namespace), () =>
      api.listNamespacedConfigMap({ namespace }),
    );
    const ours = adapted(namespace);
    for (const informer of [ours, theirs]) informer.on('error', () => undefined);
    open.push(theirs);
    const [expected, found] = [record(theirs), record(ours)];
    await Promise.all([theirs.start(), ours.start()]);
    // Both list again, and deliver nothing for unchanged objects.
    await server.waitForWatches(2);
    await server.expireWatches();
    await server.waitForWatches(2);
    await put(namespace, 'a', '2');
    await server.apply([{ type: 'delete', resource: 'configmaps', namespace, name: 'b' }]);
    await put(namespace, 'c', '1');
    await put(namespace, LAST, '1');
    await Promise.all([expected.ended, found.ended]);
    assert.equal(found.told.length, 6);
    assert.deepEqual(found.told, expected.told);
    const names = (informer: Both) => informer.list(namespace).map(({ metadata }) => metadata?.name);
    assert.deepEqual(names(ours), names(theirs));
    assert.equal(ours.list().length, 3);
    assert.equal(ours.get('a', namespace)?.data?.['value'], '2');
    assert.equal(ours.get('b', namespace), undefined);
    assert.deepEqual(ours.list('elsewhere'), []);
  });

  test('delivers models, dates included, from the list and from the watch alike', async () => {
    const namespace = 'models';
    await put(namespace, 'listed', '1');
    const informer = adapted(namespace);
    const { ended } = record(informer);
    await informer.start();
    await put(namespace, LAST, '1');
    await ended;
    for (const name of ['listed', LAST]) {
      const object = informer.get(name, namespace);
      assert.ok(object instanceof V1ConfigMap);
      assert.ok(object.metadata?.creationTimestamp instanceof Date);
      assert.equal(object.kind, 'ConfigMap');
      assert.equal(informer.get(name, namespace), object);
    }
  });

  test('continues after an error, also when it is started again for it', async () => {
    const namespace = 'errors';
    await put(namespace, LAST, '1');
    const informer = adapted(namespace);
    const { told, ended } = record(informer);
    const restarts: Promise<void>[] = [];
    const connected = new Promise((resolve) => informer.on('connect', resolve));
    informer.on('error', () => restarts.push(informer.start()));
    await failRequests(server, 500, 3, { path: path(namespace) });
    await informer.start();
    await Promise.all([ended, connected, ...restarts]);
    assert.ok(restarts.length > 0);
    assert.deepEqual(told, [`add ${namespace}/${LAST} 1`]);
  });

  test('selects by label, and its callbacks can be removed', async () => {
    const namespace = 'selected';
    await put(namespace, 'other', '1');
    await put(namespace, LAST, '1', { app: 'web' });
    const informer = adapted(namespace, 'app=web');
    const { told, ended } = record(informer);
    const never = (): void => assert.fail('was removed');
    informer.on('change', never);
    informer.off('change', never);
    await informer.start();
    await ended;
    assert.deepEqual(told, [`add ${namespace}/${LAST} 1`]);
    assert.equal(informer.list().length, 1);
  });

  test('can be started again after it was stopped, and then delivers everything anew', async () => {
    const namespace = 'again';
    await put(namespace, 'a', '1');
    const informer = adapted(namespace);
    const { told, ended } = record(informer);
    await informer.start();
    await informer.stop();
    await put(namespace, LAST, '1');
    await informer.start();
    await ended;
    assert.deepEqual(told.slice(-2), [`add ${namespace}/a 1`, `add ${namespace}/${LAST} 1`]);
    assert.equal(informer.list().length, 2);
  });

  test('needs the resource of a custom resource, and delivers it in its JSON form', async () => {
    const widgets = { group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget' };
    await server.registerResource({ ...widgets, namespaced: true, custom: true });
    const object = { metadata: { namespace: 'default', name: 'w' }, spec: { default: 1 } };
    await server.apply([{ type: 'create', resource: 'widgets.example.com', object }]);
    const at = '/apis/example.com/v1/widgets';
    assert.throws(() => makeInformerCompat(kubeConfig, at), /say which with \{ resource \}/);
    const informer = makeInformerCompat(kubeConfig, at, undefined, undefined, {
      ...OPTIONS,
      resource: { ...widgets, isNamespaced: true },
    });
    const added = new Promise((resolve) => informer.on('add', resolve));
    await informer.start();
    const { spec } = (await added) as { spec: unknown };
    assert.deepEqual(spec, { default: 1 });
    await informer.stop();
  });
});
