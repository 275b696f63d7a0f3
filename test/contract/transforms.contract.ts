/** Transforms run first and once, and a failure does no harm. */
import assert from 'node:assert/strict';
import type { V1Pod } from '@kubernetes/client-node';
import { Lister, drop, label, ownerUid, resources, transformModule } from '../../src/index.ts';
import type { InformerOptions, Transform } from '../../src/index.ts';
import { list, wirePod } from '../kit/scripted-server.ts';
import { RecordingHandler, configurationWasUsed, pod, start, test } from './scene.ts';
import { decorate, disguise, failOnBad, mark, rename } from './user-module.ts';

const MODULE = new URL('./user-module.js', import.meta.url).href;

const MARKING: readonly (readonly [string, Transform<V1Pod>])[] = [
  ['module', transformModule(MODULE, 'mark')],
  ['plain', mark],
];

for (const [kind, transform] of MARKING) {
  test(`C16 C48 a ${kind} transform runs before cache, fields, indices and handlers, exactly once`, async () => {
    for (const watchList of ['auto', 'off'] as const) {
      await using scene = await start();
      const informer = scene.informer({
        transform,
        list: { watchList },
        indexers: { marks: label('marks') },
      });
      const seen: unknown[] = [];
      informer.addEventHandler({
        onAdd: ({ labels, object }) => void seen.push(labels['marks'], object.spec),
      });
      const handler = new RecordingHandler();
      await scene.put(pod('listed'));
      await scene.watched(informer, handler);
      await scene.put(pod('watched'));
      await handler.count(2);
      await scene.until(() => seen.length === 4);
      assert.deepEqual(seen, ['1', undefined, '1', undefined]);
      assert.deepEqual(informer.getIndexer().indexKeys('marks', '1'), ['default/listed', 'default/watched']);
      for (const { object, uid } of informer.getStore().list()) {
        assert.deepEqual([object.spec, object.metadata?.labels?.['marks']], [undefined, '1']);
        assert.equal(object.metadata?.uid, uid);
      }
      assert.deepEqual(scene.errors, []);
    }
  });
}

test('C16 dropped paths are in no object, no bytes and no deletion', async (scene) => {
  const informer = scene.informer({ transform: drop('spec.containers', 'metadata.uid.nothing') });
  const deleted: unknown[] = [];
  informer.addEventHandler({ onDelete: ({ object }) => void deleted.push(object.spec) });
  const handler = new RecordingHandler();
  await scene.put(pod('a'));
  await scene.watched(informer, handler);
  const entry = informer.getStore().getByKey('default/a');
  assert.deepEqual(entry?.object.spec, { nodeName: 'node-1' });
  assert.doesNotMatch(String(entry?.bytes()), /containers/);
  await scene.remove('a');
  await handler.count(2);
  await scene.until(() => deleted.length === 1);
  assert.deepEqual(deleted, [{ nodeName: 'node-1' }]);
});

const MANAGED = [
  { manager: 'kubelet', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} },
];

function managed(name: string): V1Pod {
  const object = pod(name);
  return { ...object, metadata: { ...object.metadata, managedFields: MANAGED } };
}

const WITHOUT_MANAGED_FIELDS: readonly (readonly [string, InformerOptions<V1Pod>])[] = [
  ['drop()', { transform: drop('metadata.managedFields', 'spec.containers') }],
  ['the metadata view', { view: 'metadata' }],
  ['the metadata view with drop()', { view: 'metadata', transform: drop('metadata.annotations') }],
];

for (const [what, options] of WITHOUT_MANAGED_FIELDS) {
  for (const watchList of ['auto', 'off'] as const) {
    test(`C326 C327 ${what} has no managedFields, which a server that can leaves out (watchList ${watchList})`, async (scene) => {
      await scene.put(managed('listed'));
      const { informer, handler } = await scene.watching({ ...options, list: { watchList } });
      await scene.put(managed('watched'));
      await handler.count(2);
      for (const entry of informer.getStore().list())
        assert.doesNotMatch(String(entry.bytes()), /managedFields/);
      assert.equal(informer.stats().managedFieldsSupport, 'dropped');
    });
  }
}

for (const [what, options] of WITHOUT_MANAGED_FIELDS) {
  test(`C326 C327 ${what} has no managedFields that a server sends nevertheless`, async (scene) => {
    const sent = (name: string, version: string): object =>
      Object.assign(wirePod(name, version), {
        metadata: { name, namespace: 'default', resourceVersion: version, managedFields: MANAGED },
      });
    const { informer } = await scene.followed(
      (request, number) => {
        if (number === 0) request.answer(200, list('5', [sent('listed', '5')]));
        if (number === 1) request.send({ type: 'ADDED', object: sent('watched', '6') });
      },
      { ...options, list: { watchList: 'off' } },
    );
    await scene.until(() => informer.lastSyncResourceVersion() === '6');
    for (const entry of informer.getStore().list())
      assert.doesNotMatch(String(entry.bytes()), /managedFields/);
    assert.equal(informer.stats().managedFieldsSupport, 'sent');
  });
}

test('C327 a function that transforms the metadata view receives managedFields', async (scene) => {
  await scene.put(managed('listed'));
  const managers: unknown[] = [];
  const transform = (object: V1Pod): V1Pod => {
    managers.push(object.metadata?.managedFields?.[0]?.manager);
    return object;
  };
  const { informer } = await scene.watching({ view: 'metadata', transform });
  assert.deepEqual(managers, ['kubelet']);
  assert.equal(informer.stats().managedFieldsSupport, undefined);
});

const DECORATING: readonly (readonly [string, Transform<V1Pod>])[] = [
  ['module', transformModule(MODULE, 'decorate')],
  ['plain', decorate],
];

for (const [kind, transform] of DECORATING) {
  test(`C16 C73 C155 C261 what a ${kind} transform adds behind managedFields is in labels, fields, owners and indexes`, async (scene) => {
    const metadata = {
      name: 'a',
      namespace: 'default',
      uid: 'u',
      resourceVersion: '5',
      creationTimestamp: 't',
    };
    const sent = { ...wirePod('a', '5'), metadata: { ...metadata, managedFields: MANAGED } };
    const { informer } = await scene.followed(
      (request, number) => number === 0 && request.answer(200, list('5', [sent])),
      {
        transform,
        list: { watchList: 'off' },
        fields: ['metadata.annotations.note'],
        indexers: { team: label('team'), owner: ownerUid() },
      },
    );
    await scene.until(() => informer.hasSynced());
    const store = informer.getIndexer();
    const [entry] = store.list();
    assert.deepEqual(
      [entry?.labels['team'], entry?.fields['metadata.annotations.note'], entry?.controllerUid],
      ['x', 'y', 'owner'],
    );
    assert.deepEqual(
      [store.indexKeys('team', 'x'), store.indexKeys('owner', 'owner')],
      [['default/a'], ['default/a']],
    );
    assert.equal(new Lister<V1Pod>(store, resources.core.v1.pods).list('team=x').length, 1);
    assert.equal(entry?.object.metadata?.labels?.['team'], 'x');
    assert.deepEqual(scene.errors, []);
  });
}

const FAILING: readonly (readonly [string, Transform<V1Pod>])[] = [
  ['module', transformModule(MODULE, 'failOnBad')],
  ['plain', failOnBad],
];

for (const [kind, transform] of FAILING) {
  for (const watchList of ['auto', 'off'] as const) {
    test(`C49 an object whose ${kind} transform fails is stored as received and reported (watchList ${watchList})`, async () => {
      await using scene = await start();
      await scene.put(pod('bad'), pod('good'));
      const { informer, handler } = await scene.watching({ transform, list: { watchList } });
      const store = informer.getStore();
      assert.equal(store.getByKey('default/bad')?.object.spec?.nodeName, 'node-3');
      assert.equal(store.getByKey('default/good')?.object.spec, undefined);
      await scene.put(pod('bad', { step: '2' }));
      await handler.count(3);
      assert.equal(store.getByKey('default/bad')?.labels['step'], '2');
      await scene.reported('ERR_KUBELOOM_TRANSFORM', 'ERR_KUBELOOM_TRANSFORM');
      for (const { message, context } of scene.errors) {
        assert.match(message, /refused by the transform/);
        assert.equal(context.key, 'default/bad');
      }
    });
  }
}

for (const [kind, transform] of [
  ['module', transformModule(MODULE, 'rename')],
  ['plain', rename],
  ['module toJSON of a', transformModule(MODULE, 'disguise')],
  ['plain toJSON of a', disguise],
] as readonly (readonly [string, Transform<V1Pod>])[]) {
  test(`C50 a ${kind} transform that changes an object's identity fails`, async (scene) => {
    const informer = scene.informer({ transform });
    await scene.put(pod('a'));
    await scene.synced(informer);
    assert.deepEqual(informer.getStore().listKeys(), ['default/a']);
    assert.equal(informer.getStore().getByKey('default/a')?.object.metadata?.name, 'a');
    await scene.reported('ERR_KUBELOOM_TRANSFORM');
  });
}

test('C50 drop() of an identifying field is rejected at construction, and drop() of any other field is accepted', async (scene) => {
  const refused = [
    'metadata',
    'metadata.name',
    'metadata.namespace',
    'metadata.uid',
    'metadata.resourceVersion',
  ];
  for (const path of refused) {
    assert.throws(() => scene.informer({ transform: drop('spec', path) }), {
      code: 'ERR_KUBELOOM_OPTION',
      message: new RegExp(`got "drop\\('${path}'\\)"`),
    });
  }
  for (const path of ['metadata.managedFields', 'metadata.uid.nothing', 'name', 'spec.metadata.name']) {
    scene.informer({ transform: drop(path) });
  }
});

configurationWasUsed();
