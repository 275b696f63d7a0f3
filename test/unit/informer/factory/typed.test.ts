/** The typed factory: informers as data, made once, shared by all who ask. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { SharedIndexInformer, SharedInformerFactory, field } from '../../../../src/index.ts';
import { builtInResources } from '../../../../src/client-go/index.ts';
import type { BuiltInInformers, GenericInformer, Lister, ResourceRef, Wire } from '../../../../src/index.ts';
import { FakeControllerSource } from '../../../../src/tools/apiserver/testing/index.ts';
import { POD, Scene, THREADS, WIDGET, keys, object, synced } from './scene.ts';

type Equal<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** Compiles only for what is true of the types. */
function proven(...claims: readonly true[]): void {
  assert.ok(claims.every(Boolean));
}

/** Never called. */
function replicas(factory: SharedInformerFactory): number | undefined {
  return factory.apps.v1.deployments.lister.namespace('x').get('y')?.object.spec?.replicas;
}

describe('the types of the typed factory', () => {
  test('are the types of the wire', () => {
    const number: Equal<ReturnType<typeof replicas>, number | undefined> = true;
    type Pods = SharedInformerFactory['core']['v1']['pods'];
    const informer: Equal<Pods['informer'], SharedIndexInformer<Wire<V1Pod>>> = true;
    const lister: Equal<Pods['lister'], Lister<Wire<V1Pod>>> = true;
    proven(number, informer, lister);
  });

  test('have every group of the table', () => {
    const all: Equal<Pick<SharedInformerFactory, keyof BuiltInInformers>, BuiltInInformers> = true;
    proven(all);
  });
});

describe('the typed factory', () => {
  test('has every built-in resource under its group and version', async () => {
    await using scene = await Scene.start(0);
    const factory = scene.typed();
    const found: ResourceRef[] = [];
    const groups: Readonly<Record<string, unknown>> = { ...factory };
    for (const group of Object.values(groups).filter((value) => typeof value === 'object')) {
      for (const resources of Object.values(group as Record<string, object>)) {
        for (const generic of Object.values(resources) as GenericInformer<unknown>[]) {
          found.push(generic.informer.resource);
        }
      }
    }
    assert.deepEqual(found, builtInResources());
    assert.equal(factory.informers.length, found.length);
  });

  test('requests an informer when `informer` or `lister` is read, not before', async () => {
    await using scene = await Scene.start(0);
    const factory = scene.typed();
    const { deployments } = factory.apps.v1;
    assert.deepEqual(factory.informers, []);
    const { lister } = deployments;
    assert.throws(() => lister.list(), { code: 'ERR_KUBELOOM_NOT_STARTED' });
    assert.deepEqual(factory.informers, [deployments.informer]);
  });

  for (const threads of THREADS) {
    test(`C156 gives every caller the same informer, with one watch (threads ${threads})`, async () => {
      await using scene = await Scene.start(threads);
      await scene.create('pods', object('a'), object('b', 'other'));
      const factory = scene.typed();
      const { informer, lister } = factory.core.v1.pods;
      const generic = factory.forResource(POD);
      assert.equal(generic.informer, informer);
      assert.equal(generic.lister, lister);
      assert.equal(factory.informerFor(POD), informer);
      assert.equal(
        factory.informerFor(POD, () => assert.fail('it exists')),
        informer,
      );
      assert.equal(factory.core.v1.pods.informer, informer);
      factory.start();
      factory.start();
      await synced(factory);
      assert.deepEqual(keys(lister.list()), ['default/a', 'other/b']);
      assert.equal(generic.lister.namespace('other').get('b')?.object.kind, 'Pod');
      assert.equal((await scene.requests('/api/v1/pods')).length, 1);
      assert.equal((await scene.server.watches()).length, 1);
    });
  }

  test('C162 refuses a resource that is not built in, unless kind and scope are given', async () => {
    await using scene = await Scene.start(0);
    await scene.create('widgets.example.com', object('w'));
    const factory = scene.typed();
    const unknown = {
      code: 'ERR_KUBELOOM_UNKNOWN_RESOURCE',
      message: /no informer found for widgets\.example\.com/,
    };
    assert.throws(() => factory.forResource(WIDGET), unknown);
    assert.throws(() => factory.forResource({ ...WIDGET, kind: 'Widget' }), unknown);
    assert.throws(() => factory.forResource({ ...WIDGET, isNamespaced: true }), unknown);
    assert.throws(() => factory.informerFor({ ...POD, version: 'v2' }), { code: unknown.code });
    assert.deepEqual(factory.informers, []);
    const { informer } = factory.forResource({ ...WIDGET, kind: 'Widget', isNamespaced: true });
    assert.equal(factory.forResource(WIDGET).informer, informer, 'it is known now');
    await synced(factory);
    assert.deepEqual(keys(informer.getStore().list()), ['default/w']);
  });

  test('refuses a kind or scope that the resource has not, and names that are none', async () => {
    await using scene = await Scene.start(0);
    const factory = scene.typed();
    const refused = { code: 'ERR_KUBELOOM_OPTION' };
    assert.throws(() => factory.forResource({ ...POD, kind: 'Node' }), refused);
    assert.throws(() => factory.forResource({ ...POD, isNamespaced: false }), refused);
    assert.throws(() => factory.forResource({ ...POD, resource: '' }), refused);
    assert.throws(() => factory.forResource({ ...POD, version: 'apps/v1' }), refused);
    assert.deepEqual(factory.informers, []);
    factory.forResource({ ...POD, kind: 'Pod', isNamespaced: true });
    assert.throws(() => factory.forResource({ ...POD, kind: 'Node' }), refused, 'also of one that is there');
    const dynamic = scene.dynamic();
    dynamic.forResource({ ...WIDGET, kind: 'Widget', isNamespaced: true });
    assert.throws(() => dynamic.forResource({ ...WIDGET, kind: 'Gadget' }), refused, 'the first answer');
    assert.throws(() => dynamic.forResource({ ...POD, kind: 'Node' }), refused, 'the table of resources');
  });

  test('lets the first to ask make the informer, with what all informers of the factory have', async () => {
    await using scene = await Scene.withPods(object('a', 'web'), object('b', 'other'));
    const factory = scene.typed({ namespace: 'web', defaultResyncMs: 77_000 });
    let resyncPeriodMs: number | undefined;
    const informer = factory.informerFor<Wire<V1Pod>>(POD, (source, resource, options) => {
      ({ resyncPeriodMs } = options);
      const indexers = { size: field('spec.size') };
      return new SharedIndexInformer(source, resource, { ...options, indexers });
    });
    assert.equal(factory.core.v1.pods.informer, informer);
    assert.equal(resyncPeriodMs, 77_000);
    await synced(factory);
    assert.deepEqual(keys(informer.getIndexer().byIndex('size', '1')), ['web/a']);
  });

  test('does not keep an informer that could not be made', async () => {
    await using scene = await Scene.start(0);
    const factory = scene.typed();
    const broken = (): never => {
      throw new Error('broken');
    };
    assert.throws(() => factory.informerFor(POD, broken), /broken/);
    assert.deepEqual(factory.informers, []);
    assert.ok(factory.core.v1.pods.informer);
  });

  test('takes functions in the place of a server, with the changes of tweakListOptions', async () => {
    await using scene = await Scene.start(0);
    const source = new FakeControllerSource();
    source.add({ metadata: { name: 'a', namespace: 'default' } });
    const asked: string[] = [];
    const factory = new SharedInformerFactory(
      (resource, namespace) => {
        asked.push(`${resource.resource} ${namespace}`);
        return source;
      },
      scene.options({ namespace: 'default', tweakListOptions: (options) => ({ ...options, limit: 3 }) }),
    );
    const { lister } = factory.core.v1.pods;
    await synced(factory);
    assert.deepEqual(asked, ['pods default']);
    assert.ok(source.requests.length > 0);
    assert.ok(source.requests.every(({ options }) => options.limit === 3));
    assert.deepEqual(keys(lister.list()), ['default/a']);
    await factory.shutdown();
    assert.equal((await scene.server.requests()).length, 0);
  });

  test('rejects invalid options at once', async () => {
    await using scene = await Scene.start(0);
    const refused = { code: 'ERR_KUBELOOM_OPTION' };
    const wrong: readonly object[] = [
      { defaultResyncMs: -1 },
      { customResync: { pods: -1 } },
      { customResync: { pods: 'often' } },
      {
        customResync: new Map<unknown, number>([
          [POD, 1],
          ['pods.v1.', 2],
        ]),
      },
      { name: 7 },
      { codec: 'xml' },
    ];
    for (const options of wrong) {
      assert.throws(() => scene.typed(options), refused, JSON.stringify(options));
    }
    assert.throws(() => new SharedInformerFactory(undefined as never), refused);
  });
});
