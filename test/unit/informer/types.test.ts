/** The types that callers need not write. The compiler checks most of this file: `npm run check` fails otherwise. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  DynamicSharedInformerFactory,
  MetadataInformerFactory,
  ObjectOrMetadataInformerFactory,
  newSharedIndexInformer,
} from '../../../src/client-go/index.ts';
import {
  NAMESPACE_INDEX,
  SharedIndexInformer,
  SharedInformerFactory,
  field,
  label,
  resources,
} from '../../../src/index.ts';
import type {
  CachedObject,
  GenericInformer,
  InformerIndexer,
  KubeObject,
  PartialObjectMetadata,
  Wire,
} from '../../../src/index.ts';
import type { InformerHandle, InformersMap, KindLike } from '../../../src/controller/index.ts';
import type { ResourceQuery } from '../../../src/client-go/index.ts';
import type { V1Deployment, V1Node, V1Pod } from '@kubernetes/client-node';

type Pod = Wire<V1Pod>;
type Node = Wire<V1Node>;
type Deployment = Wire<V1Deployment>;
interface Widget {
  readonly spec: { readonly size: number };
}
type Equal<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

const { pods, nodes } = resources.core.v1;
const { deployments } = resources.apps.v1;
const CONNECTION = { server: 'http://127.0.0.1:1' };
const WIDGETS = { group: 'example.com', version: 'v1', resource: 'widgets' };

function proven(...facts: readonly true[]): void {
  assert.ok(facts.every(Boolean));
}

describe('a resource that carries its type', () => {
  test('gives it to the informers and listers of a factory', () => {
    const factory = new SharedInformerFactory(CONNECTION);
    const { informer, lister } = factory.forResource(pods);
    const dynamic = new DynamicSharedInformerFactory(CONNECTION).forResource(deployments);
    const ofInformer: Equal<typeof informer, SharedIndexInformer<Pod>> = true;
    const ofLister: Equal<ReturnType<typeof lister.list>, CachedObject<Pod>[]> = true;
    const ofDynamic: Equal<typeof dynamic, GenericInformer<Deployment>> = true;
    assert.equal(factory.informerFor(pods), factory.core.v1.pods.informer);
    const own = factory.informerFor(nodes, (source, ref, options) => {
      const indexers = { pod: ({ object }: CachedObject<Node>) => [object.spec?.podCIDR ?? ''] };
      return new SharedIndexInformer(source, ref, { ...options, indexers });
    });
    const ofOwn: Equal<typeof own, SharedIndexInformer<Node>> = true;
    proven(ofInformer, ofLister, ofDynamic, ofOwn);
  });

  test('gives metadata in a factory of metadata, for any type', () => {
    const metadata = new MetadataInformerFactory(CONNECTION);
    const both = new ObjectOrMetadataInformerFactory(new SharedInformerFactory(CONNECTION), metadata);
    const ofMetadata: Equal<
      ReturnType<typeof metadata.forResource>,
      GenericInformer<PartialObjectMetadata>
    > = true;
    const [one, other, unknown] = [
      metadata.forResource(pods),
      both.forResource(pods),
      both.forResource(WIDGETS),
    ];
    const ofPods: Equal<typeof one, GenericInformer<PartialObjectMetadata>> = true;
    const ofBoth: Equal<typeof other, GenericInformer<Pod>> = true;
    const ofUnknown: Equal<typeof unknown, GenericInformer<PartialObjectMetadata>> = true;
    proven(ofMetadata, ofPods, ofBoth, ofUnknown);
  });

  test('is not needed: other resources are objects of any kind, or what the caller claims', () => {
    const dynamic = new DynamicSharedInformerFactory(CONNECTION);
    const query: ResourceQuery = WIDGETS;
    const [any, claimed] = [dynamic.forResource(query), dynamic.forResource<Widget>(WIDGETS)];
    const ofAny: Equal<typeof any, GenericInformer<KubeObject>> = true;
    const ofClaim: Equal<typeof claimed, GenericInformer<Widget>> = true;
    // @ts-expect-error -- pods are no widgets
    const wrong: GenericInformer<Widget> = dynamic.forResource<Widget>(pods);
    assert.ok(wrong);
    proven(ofAny, ofClaim);
  });

  test('gives it to the handles and reads of a cache of kinds', () => {
    const calls = (cache: InformersMap, kind: KindLike): unknown => {
      const handle = cache.informerFor(pods);
      const ofHandle: Equal<typeof handle, Promise<InformerHandle<Pod>>> = true;
      const partial = cache.informerFor(pods, { view: 'metadata' });
      const ofPartial: Equal<typeof partial, Promise<InformerHandle<PartialObjectMetadata>>> = true;
      const one = cache.get(pods, 'web/a');
      const ofOne: Equal<typeof one, CachedObject<Pod> | undefined> = true;
      const [first] = cache.list(deployments).items;
      const ofFirst: Equal<typeof first, CachedObject<Deployment> | undefined> = true;
      const any = cache.get(kind, 'web/a');
      const ofAny: Equal<typeof any, CachedObject<KubeObject> | undefined> = true;
      return [ofHandle, ofPartial, ofOne, ofFirst, ofAny];
    };
    assert.equal(typeof calls, 'function');
  });
});

describe('names of indexes', () => {
  const noIndex = { code: 'ERR_KUBELOOM_NO_INDEX' };

  test('in the options of an informer are those that its queries accept, with the namespace’s', () => {
    const indexers = {
      app: label('app'),
      node: field('spec.nodeName'),
      name: ({ name }: { name: string }) => [name],
    };
    const informer = new SharedIndexInformer(CONNECTION, pods, { indexers });
    const cached = informer.getIndexer();
    const byName: Equal<typeof cached, InformerIndexer<Pod, 'app' | 'node' | 'name'>> = true;
    proven(byName);
    for (const name of ['app', 'node', 'name', NAMESPACE_INDEX] as const) {
      assert.deepEqual(cached.byIndex(name, 'x'), []);
      assert.equal(cached.countByIndex(name, 'x'), 0);
    }
    // @ts-expect-error -- no such index
    assert.throws(() => cached.byIndex('typo', 'x'), noIndex);
    // @ts-expect-error -- no such index
    assert.throws(() => cached.indexKeys('typo', 'x'), noIndex);
    // @ts-expect-error -- no such index
    assert.deepEqual(cached.listIndexFuncValues('typo'), []);
    const made = newSharedIndexInformer(CONNECTION, pods, 0, { app: label('app') }).getIndexer();
    // @ts-expect-error -- no such index
    assert.throws(() => made.byIndex('node', 'x'), noIndex);
  });

  test('that are added later are those that the returned indexer accepts', () => {
    const { informer } = new SharedInformerFactory(CONNECTION).core.v1.pods;
    const byApp = informer.addIndexers({
      app: label('app'),
      plain: ({ object }) => [object.spec?.nodeName ?? ''],
    });
    assert.deepEqual([...byApp.byIndex('app', 'x'), ...byApp.byIndex('plain', 'x')], []);
    // @ts-expect-error -- no such index
    assert.throws(() => byApp.byIndex('typo', 'x'), noIndex);
    assert.equal(byApp, informer.getIndexer());
  });

  test('are any text where the caller names the type of the objects only, or none are given', () => {
    const named = new SharedIndexInformer<Pod>(CONNECTION, pods, { indexers: { app: label('app') } });
    const dynamic: string = 'app';
    assert.deepEqual(named.getIndexer().byIndex(dynamic, 'x'), []);
    const typed = new SharedIndexInformer(CONNECTION, pods, { indexers: { app: label('app') } });
    const untyped: SharedIndexInformer<Pod> = typed;
    assert.deepEqual(untyped.getIndexer().byIndex(dynamic, 'x'), []);
    const without = new SharedIndexInformer(CONNECTION, pods);
    assert.throws(() => without.getIndexer().byIndex(dynamic, 'x'), noIndex);
  });
});
