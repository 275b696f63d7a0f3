/** Shapes of objects: extracted fields, indexes, transforms of each kind, big and broken objects. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { drop, field, indexModule, label, ownerUid, transformModule } from '../../../../src/index.ts';
import type { InformerOptions, Transform } from '../../../../src/index.ts';
import { Harness, Recorder, VARIANTS, pod } from './harness.ts';

const MODULE = new URL('./user-module.js', import.meta.url).href;

for (const variant of VARIANTS) {
  const title = `(threads ${variant.threads}, ${variant.codec})`;

  test(`every kind of index finds the same objects, also after changes ${title}`, async () => {
    await using harness = await Harness.start(variant);
    const informer = harness.informer({
      fields: ['status.phase'],
      indexers: {
        app: label('app'),
        node: field('spec.nodeName'),
        owner: ownerUid(),
        image: indexModule(MODULE, 'byImage'),
        plain: (entry) => [`${entry.name.length}`],
      },
    });
    const recorder = new Recorder();
    informer.addEventHandler(recorder);
    const owned = pod('owned', { app: 'web' });
    const ownerReferences = [
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'owner-1', controller: true },
    ];
    const metadata = { ...owned.metadata, ownerReferences };
    await harness.server.apply([
      { type: 'create', resource: 'pods', object: pod('a', { app: 'web' }) },
      { type: 'create', resource: 'pods', object: { ...owned, metadata } },
    ]);
    await harness.synced(informer);
    const indexer = informer.getIndexer();
    assert.deepEqual(indexer.indexKeys('app', 'web'), ['default/a', 'default/owned']);
    assert.deepEqual(indexer.indexKeys('node', 'node-1'), ['default/a']);
    assert.deepEqual(indexer.indexKeys('owner', 'owner-1'), ['default/owned']);
    assert.deepEqual(indexer.indexKeys('image', 'registry/app:1'), ['default/a', 'default/owned']);
    assert.deepEqual(indexer.indexKeys('plain', '5'), ['default/owned']);
    assert.deepEqual(indexer.indexKeys('namespace', 'default'), ['default/a', 'default/owned']);
    assert.equal(indexer.getByKey('default/a')?.fields['spec.nodeName'], 'node-1');

    await harness.server.apply([{ type: 'put', resource: 'pods', object: pod('a', { app: 'db' }) }]);
    await recorder.until(() => recorder.seen.length === 3);
    assert.deepEqual(indexer.indexKeys('app', 'web'), ['default/owned']);
    assert.deepEqual(indexer.indexKeys('app', 'db'), ['default/a']);
    indexer.addIndexers({ later: label('app') });
    assert.deepEqual(indexer.indexKeys('later', 'db'), ['default/a']);
    assert.throws(() => indexer.addIndexers({ app: label('app') }), {
      code: 'ERR_KUBELOOM_INDEXER_CONFLICT',
    });
    assert.throws(() => indexer.byIndex('nothing', 'x'), { code: 'ERR_KUBELOOM_NO_INDEX' });
    assert.deepEqual(harness.errors, []);
  });

  const strip = (object: V1Pod): V1Pod => {
    delete object.spec;
    object.metadata = { ...object.metadata, labels: { app: 'transformed' } };
    return object;
  };
  const transforms: readonly (readonly [string, Transform<V1Pod>, boolean])[] = [
    ['drop', drop('spec'), false],
    ['module', transformModule(MODULE, 'strip'), true],
    ['plain', strip, true],
  ];
  for (const [name, transform, relabels] of transforms) {
    test(`C16 a ${name} transform comes before storage, fields and indexes ${title}`, async () => {
      await using harness = await Harness.start(variant);
      const informer = harness.informer({ transform, indexers: { app: label('app') } });
      const recorder = new Recorder();
      informer.addEventHandler(recorder);
      await harness.server.apply([
        { type: 'create', resource: 'pods', object: pod('listed', { app: 'web' }) },
      ]);
      await harness.synced(informer);
      await harness.server.apply([
        { type: 'create', resource: 'pods', object: pod('watched', { app: 'web' }) },
      ]);
      await recorder.until(() => recorder.seen.length === 2);
      const app = relabels ? 'transformed' : 'web';
      const indexer = informer.getIndexer();
      assert.deepEqual(indexer.indexKeys('app', app), ['default/listed', 'default/watched']);
      for (const entry of indexer.list()) {
        assert.equal(entry.object.spec, undefined);
        assert.equal(entry.labels['app'], app);
        assert.equal(entry.object.metadata?.uid, entry.uid);
      }
      assert.deepEqual(harness.errors, []);
    });
  }

  const failing: readonly (readonly [string, Transform<V1Pod>])[] = [
    ['module', transformModule(MODULE, 'fail')],
    [
      'plain',
      () => {
        throw new Error('no');
      },
    ],
  ];
  for (const [name, transform] of failing) {
    test(`C16 when a ${name} transform throws the object is stored as received and reported ${title}`, async () => {
      await using harness = await Harness.start(variant);
      const informer = harness.informer({ transform });
      await harness.server.apply([{ type: 'create', resource: 'pods', object: pod('a') }]);
      await harness.synced(informer);
      assert.equal(informer.getStore().getByKey('default/a')?.object.spec?.nodeName, 'node-1');
      assert.equal(harness.errors.length, 1);
      assert.match(String(harness.errors[0]), /default\/a/);
      assert.equal((harness.errors[0] as { code?: string }).code, 'ERR_KUBELOOM_TRANSFORM');
    });
  }

  test(`a module that cannot be loaded ends run() with a coded error ${title}`, async () => {
    await using harness = await Harness.start(variant);
    for (const name of ['missing', 'notAFunction']) {
      const options: InformerOptions<V1Pod> = { transform: transformModule(MODULE, name) };
      await assert.rejects(harness.informer(options).run(), { code: 'ERR_KUBELOOM_MODULE' });
    }
  });

  test(`C22 objects of megabytes arrive in order, one above the limit by identity only ${title}`, async () => {
    const bytesMax = 64 * 2 ** 20;
    await using harness = await Harness.start(variant, {
      requestBytesMax: bytesMax,
      historyBytesMax: 2 ** 30,
    });
    const informer = harness.informer();
    const recorder = new Recorder();
    informer.addEventHandler(recorder);
    await harness.synced(informer);
    const big = (name: string, megabytes: number): V1Pod => {
      const object = pod(name);
      object.metadata = { ...object.metadata, annotations: { filler: 'é'.repeat(megabytes * 2 ** 19) } };
      return object;
    };
    const objects = [pod('a'), big('b', 3), pod('c'), big('d', 7), big('e', 10), pod('f')];
    await harness.server.apply(objects.map((object) => ({ type: 'create', resource: 'pods', object })));
    await recorder.until(() => recorder.seen.length === objects.length);
    assert.deepEqual(
      recorder.seen.map(({ key }) => key),
      objects.map((object) => `default/${object.metadata?.name}`),
    );
    const store = informer.getStore();
    for (const [name, megabytes] of [
      ['b', 3],
      ['d', 7],
    ] as const) {
      const filler = store.getByKey(`default/${name}`)?.object.metadata?.annotations?.['filler'];
      assert.equal(filler?.length, megabytes * 2 ** 19);
    }
    const beyond = store.getByKey('default/e');
    assert.equal(beyond?.resourceVersion, recorder.seen[4]?.resourceVersion);
    assert.throws(() => beyond?.object, { code: 'ERR_KUBELOOM_OBJECT_TOO_LARGE' });
  });
}
