/** Listers over a running informer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lister } from '../../../src/informer/lister.ts';
import { labelSelectorAsSelector } from '../../../src/kube/label-selector.ts';
import { PODS, pod } from '../../kit/objects.ts';
import { Scene } from '../../kit/scene.ts';

const CONFIG_OF_NODES = { ...PODS, resource: 'nodes', kind: 'Node', isNamespaced: false };

test('C155 a lister answers by selector, by namespace and by name, and does not parse for it', async () => {
  await using scene = await Scene.start({ threads: { indexerThreads: 0 } });
  await scene.put(
    pod('web', { app: 'web', tier: 'front' }, 'a'),
    pod('db', { app: 'db' }, 'a'),
    pod('web', { app: 'web' }, 'b'),
  );
  const informer = scene.informer();
  await scene.synced(informer);
  const lister = new Lister(informer.getIndexer(), PODS);
  const keys = (found: readonly { readonly key: string }[]): string[] => found.map(({ key }) => key);
  assert.deepEqual(keys(lister.list()), ['a/db', 'a/web', 'b/web'], 'list order is the server’s');
  assert.deepEqual(keys(lister.list('app=web')), ['a/web', 'b/web']);
  assert.deepEqual(keys(lister.list('app in (web,db),!tier')), ['a/db', 'b/web']);
  assert.deepEqual(keys(lister.list(labelSelectorAsSelector({ matchLabels: { tier: 'front' } }))), ['a/web']);
  assert.deepEqual(keys(lister.list(labelSelectorAsSelector(undefined))), []);
  assert.deepEqual(new Set(keys(lister.namespace('a').list())), new Set(['a/db', 'a/web']));
  assert.deepEqual(keys(lister.byNamespace('b').list('app=web')), ['b/web']);
  assert.deepEqual(keys(lister.namespace('c').list()), []);
  assert.equal(lister.namespace('a').get('web'), informer.getIndexer().getByKey('a/web'));
  assert.equal(lister.namespace('b').get('db'), undefined);
  assert.equal(lister.get('web'), undefined, 'a namespaced object has no name without its namespace');
  assert.equal(lister.namespace('a').require('db').object.metadata?.labels?.['app'], 'db');
  assert.throws(() => lister.namespace('b').require('db'), {
    code: 'ERR_KUBELOOM_NOT_FOUND',
    httpStatus: 404,
    message: 'pods "db" not found',
  });
  assert.throws(() => lister.list('app in web'), { code: 'ERR_KUBELOOM_SELECTOR' });
});
test('a lister of a cluster-scoped resource finds by name, and says which group it did not find it in', () => {
  const store = { getByKey: () => undefined, select: () => [], async *scan() {} };
  const lister = new Lister(store, { ...CONFIG_OF_NODES, group: 'example.com' });
  assert.equal(lister.get('n'), undefined);
  assert.throws(() => lister.require('n'), { message: 'nodes.example.com "n" not found' });
  assert.throws(() => lister.namespace('').require('n'), { code: 'ERR_KUBELOOM_NOT_FOUND' });
});
