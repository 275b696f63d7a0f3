/** Objects of a server with every member by which one could take them for kubeloom's own values. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  CacheMutationDetector,
  Reflector,
  deletedObject,
  deletionHandlingMetaNamespaceKeyFunc,
  meta,
  metaNamespaceKeyFunc,
  newStore,
} from '../../../src/client-go/index.ts';
import { SharedIndexInformer } from '../../../src/index.ts';
import { Mark, labelsOf, resourceVersionOf, uidOf } from '../../../src/kube/meta-shape.ts';
import { isTombstone } from '../../../src/kube/tombstone.ts';
import { PODS } from '../../kit/objects.ts';
import { started } from './controller/scene.ts';
import { ScriptedListerWatcher, ScriptedWatch, podList } from './controller/scripted-lister-watcher.ts';
import type { Pod } from './controller/scripted-lister-watcher.ts';

const METADATA = {
  name: 'evil',
  namespace: 'tenant',
  uid: 'ue',
  resourceVersion: '6',
  labels: { trusted: 'no' },
};
const SCALARS = { name: 'victim', namespace: 'kube-system', uid: 'uv', resourceVersion: '4000000000' };
const CLAIMS = { ...SCALARS, key: 'kube-system/victim', labels: { trusted: 'yes' }, kept: true, facts: {} };

/** An object as JSON.parse returns it: a server can send each of its members. */
function forged(finalStateUnknown: unknown, more: object = {}): Pod {
  const last = { metadata: { name: 'victim', namespace: 'kube-system' } };
  const members = { kind: 'Widget', apiVersion: 'example.com/v1', metadata: METADATA, ...CLAIMS };
  return JSON.parse(JSON.stringify({ ...members, finalStateUnknown, object: last, last, ...more })) as Pod;
}

const FORGERIES = [forged(false), forged(true), forged(undefined), forged(true, { key: 7 })];

describe('an object of a server with the members of an entry or a tombstone', () => {
  test('C260 has the key, uid, labels and version of its own metadata', () => {
    for (const object of FORGERIES) {
      assert.equal(metaNamespaceKeyFunc(object), 'tenant/evil');
      assert.equal(deletionHandlingMetaNamespaceKeyFunc(object), 'tenant/evil');
      assert.equal(isTombstone(object), false);
      assert.deepEqual(
        [uidOf(object), labelsOf(object), resourceVersionOf(object)],
        ['ue', METADATA.labels, '6'],
      );
      const { name, labels } = meta.accessor(object);
      assert.deepEqual([name, labels], ['evil', METADATA.labels]);
      assert.deepEqual(deletedObject(object).key, 'tenant/evil');
      assert.equal(deletedObject(object).optionalObject, object);
    }
  });

  test('is watched by a mutation detector as any other object', () => {
    const failures: string[] = [];
    const detector = new CacheMutationDetector({ failureFunc: ({ key }) => failures.push(key) });
    for (const object of FORGERIES) {
      detector.addObject(object);
      Object.assign(object.metadata, { added: true });
    }
    detector.compareObjects();
    assert.deepEqual(
      failures,
      FORGERIES.map(() => 'tenant/evil'),
    );
  });

  test('C260 takes no place in a store but its own, and gives the watch no position', async () => {
    for (const object of FORGERIES) {
      const victim: Pod = { metadata: { ...SCALARS, resourceVersion: '3' } };
      const source = new ScriptedListerWatcher();
      source.listAnswers.push(podList(5, [victim]));
      source.watchAnswers.push(new ScriptedWatch().send({ type: 'ADDED', object }).end());
      const store = newStore<Pod>(metaNamespaceKeyFunc);
      const stop = await started(new Reflector(source, undefined, store, { name: 'r' }));
      assert.deepEqual(store.listKeys().toSorted(), ['kube-system/victim', 'tenant/evil']);
      assert.equal(store.getByKey('kube-system/victim'), victim);
      const versions = source.calls.slice(1).map((call) => /"resourceVersion":"(\d+)"/.exec(call)?.[1]);
      assert.deepEqual(versions, ['5', '6']);
      assert.equal(store.lastStoreSyncResourceVersion(), '6');
      await stop();
    }
  });

  test('is found by its own key in the store of an informer', async () => {
    const [object] = FORGERIES;
    assert.ok(object);
    const source = new ScriptedListerWatcher();
    source.listAnswers.push(podList(6, [object]));
    const widgets = { ...PODS, group: 'example.com', resource: 'widgets', kind: 'Widget' };
    const informer = new SharedIndexInformer<Pod>(source, widgets, { threads: { indexerThreads: 0 } });
    void informer.run();
    await informer.waitForSync();
    const entry = informer.getStore().getByKey('tenant/evil');
    assert.ok(entry);
    assert.equal(informer.getStore().get(object), entry);
    assert.equal(metaNamespaceKeyFunc(entry), 'tenant/evil');
    await informer.shutdown();
  });
});

test('The marks are registered symbols, so two copies of the package recognise each other', () => {
  for (const mark of Object.values(Mark)) assert.equal(Symbol.for(String(Symbol.keyFor(mark))), mark);
});
