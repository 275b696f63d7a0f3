/** Indices: all kinds of index functions, when they can be added, and the results of queries. */
import assert from 'node:assert/strict';
import { field, indexModule, label, ownerUid } from '../../src/index.ts';
import { RecordingHandler, configurationWasUsed, pod, test } from './scene.ts';

const MODULE = new URL('./user-module.js', import.meta.url).href;

test('C73 all kinds of indices find the same objects, also after changes, and the index namespace always exists', async (scene) => {
  const informer = scene.informer({
    indexers: {
      app: label('app'),
      node: field('spec.nodeName'),
      owner: ownerUid(),
      image: indexModule(MODULE, 'byImage'),
      plain: (entry) => [`${entry.name.length}`, entry.object.spec?.nodeName ?? ''],
    },
  });
  const indexer = informer.getIndexer();
  const handler = new RecordingHandler();
  const owned = pod('owned', { app: 'web' });
  const ownerReferences = [
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'owner-1', controller: true },
  ];
  await scene.put(pod('a', { app: 'web' }), { ...owned, metadata: { ...owned.metadata, ownerReferences } });
  await scene.watched(informer, handler);
  const both = ['default/a', 'default/owned'];
  assert.deepEqual(indexer.indexKeys('app', 'web'), both);
  assert.deepEqual(indexer.indexKeys('node', 'node-1'), ['default/a']);
  assert.deepEqual(indexer.indexKeys('owner', 'owner-1'), ['default/owned']);
  assert.deepEqual(indexer.indexKeys('image', 'registry/app:1'), both);
  assert.deepEqual(indexer.indexKeys('plain', '5'), ['default/owned']);
  assert.deepEqual(indexer.indexKeys('plain', 'node-1'), ['default/a']);
  assert.deepEqual(indexer.indexKeys('namespace', 'default'), both);
  const [first] = indexer.byIndex('plain', '1');
  assert.ok(first);
  const indexed = indexer.index('app', first).map(({ key }) => key);
  assert.deepEqual(indexed, both);
  await scene.put(pod('a', { app: 'db' }));
  await scene.remove('owned');
  await handler.count(4);
  assert.deepEqual(indexer.indexKeys('app', 'web'), []);
  assert.deepEqual(indexer.indexKeys('app', 'db'), ['default/a']);
  assert.deepEqual(indexer.indexKeys('image', 'registry/app:1'), ['default/a']);
  assert.deepEqual(indexer.indexKeys('owner', 'owner-1'), []);
});

test('C74 indexers that are added later cover the cached objects and all later ones', async (scene) => {
  const informer = scene.informer({ fields: ['spec.nodeName'] });
  informer.addIndexers({ early: indexModule(MODULE, 'byImage') });
  const indexer = informer.getIndexer();
  const handler = new RecordingHandler();
  await scene.put(pod('a', { app: 'web' }), pod('b', { app: 'db' }));
  await scene.watched(informer, handler);
  assert.deepEqual(indexer.indexKeys('early', 'registry/app:1'), ['default/a', 'default/b']);
  informer.addIndexers({ app: label('app'), node: field('spec.nodeName'), plain: ({ name }) => [name] });
  assert.deepEqual(indexer.indexKeys('app', 'web'), ['default/a']);
  assert.deepEqual(indexer.indexKeys('node', 'node-1'), ['default/a', 'default/b']);
  assert.deepEqual(indexer.indexKeys('plain', 'b'), ['default/b']);
  await scene.put(pod('c', { app: 'web' }), pod('a', { app: 'db' }));
  await handler.count(4);
  assert.deepEqual(indexer.indexKeys('app', 'web'), ['default/c']);
  assert.deepEqual(indexer.indexKeys('plain', 'c'), ['default/c']);
  const tooLate = { code: 'ERR_KUBELOOM_STARTED' };
  assert.throws(() => informer.addIndexers({ phase: field('status.phase') }), tooLate);
  assert.throws(() => informer.addIndexers({ image: indexModule(MODULE, 'byImage') }), tooLate);
  assert.throws(() => indexer.byIndex('phase', 'Running'), { code: 'ERR_KUBELOOM_NO_INDEX' });
});

test('C75 one existing name rejects all indexers of the same call', async (scene) => {
  const informer = scene.informer({ indexers: { app: label('app') } });
  const indexer = informer.getIndexer();
  const conflict = { code: 'ERR_KUBELOOM_INDEXER_CONFLICT', message: /indexer conflict: app/ };
  assert.throws(() => informer.addIndexers({ fresh: label('fresh'), app: label('other') }), conflict);
  await scene.put(pod('a', { app: 'web', other: 'no', fresh: 'no' }));
  await scene.synced(informer);
  assert.throws(() => indexer.addIndexers({ app: label('other'), fresh: label('fresh') }), conflict);
  const names = (): string[] => Object.keys(indexer.getIndexers()).toSorted();
  assert.deepEqual(names(), ['app', 'namespace']);
  Reflect.deleteProperty(indexer.getIndexers(), 'app');
  assert.deepEqual(names(), ['app', 'namespace']);
  assert.throws(() => indexer.byIndex('fresh', 'no'), { code: 'ERR_KUBELOOM_NO_INDEX' });
  assert.deepEqual(indexer.listIndexFuncValues('app'), ['web']);
});

test('C76 indexKeys returns sorted keys, values without objects are absent, and an unknown index is an error', async (scene) => {
  const { informer, handler } = await scene.watching({ indexers: { app: label('app') } });
  const indexer = informer.getIndexer();
  await scene.put(pod('c', { app: 'x' }), pod('a', { app: 'x' }), pod('b', { app: 'y' }), pod('none'));
  await handler.count(4);
  assert.deepEqual(indexer.indexKeys('app', 'x'), ['default/a', 'default/c']);
  assert.deepEqual(indexer.listIndexFuncValues('app').toSorted(), ['x', 'y']);
  await scene.remove('b');
  await handler.count(5);
  assert.deepEqual(indexer.listIndexFuncValues('app'), ['x']);
  assert.deepEqual(indexer.byIndex('app', 'y'), []);
  assert.deepEqual(indexer.listIndexFuncValues('unknown'), []);
  const unknown = { code: 'ERR_KUBELOOM_NO_INDEX', message: /^index unknown does not exist/ };
  assert.throws(() => indexer.byIndex('unknown', 'x'), unknown);
  assert.throws(() => indexer.indexKeys('unknown', 'x'), unknown);
});

test('C77 an index function that throws is reported, and the object is in the cache and in the other indices', async (scene) => {
  const informer = scene.informer({
    indexers: {
      fragile: ({ name }) => {
        if (name === 'bad') throw new Error('thrown by the index function');
        return [name];
      },
      app: label('app'),
    },
  });
  const indexer = informer.getIndexer();
  const handler = new RecordingHandler();
  await scene.put(pod('bad', { app: 'web' }), pod('good', { app: 'web' }));
  await scene.watched(informer, handler);
  assert.deepEqual(handler.names, ['add bad', 'add good']);
  assert.deepEqual(indexer.indexKeys('app', 'web'), ['default/bad', 'default/good']);
  assert.deepEqual(indexer.listIndexFuncValues('fragile'), ['good']);
  await scene.reported('ERR_KUBELOOM_INDEX_FUNCTION');
  assert.match(scene.errors[0]?.message ?? '', /fragile.*default\/bad/);
});

configurationWasUsed();
