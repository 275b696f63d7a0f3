/** Metadata only, over the wire; and the factory that takes metadata of what is not built in. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { V1ObjectMeta } from '@kubernetes/client-node';
import { ObjectOrMetadataInformerFactory } from '../../../../src/client-go/index.ts';
import type { MetadataInformerFactory } from '../../../../src/client-go/index.ts';
import type { PartialObjectMetadata, SharedIndexInformer, Wire } from '../../../../src/index.ts';
import { settled } from '../../../../src/tools/apiserver/testing/index.ts';
import type { ObjectLike } from '../../../../src/tools/apiserver/testing/index.ts';
import { POD, SECRET, Scene, THREADS, WIDGET, keys, object, synced } from './scene.ts';

type Equal<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

function secret(name: string, labels: Record<string, string> = {}): ObjectLike {
  return {
    metadata: { name, namespace: 'default', labels },
    data: { key: 'x'.repeat(10_000) },
  };
}

/** Never called. */
function secretsOf(factory: MetadataInformerFactory): SharedIndexInformer<PartialObjectMetadata> {
  return factory.forResource(SECRET).informer;
}

describe('the metadata factory', () => {
  test('has the types of metadata', () => {
    const metadata: Equal<PartialObjectMetadata['metadata'], Wire<V1ObjectMeta>> = true;
    assert.ok(metadata && secretsOf);
  });

  for (const threads of THREADS) {
    for (const watchList of ['auto', 'off'] as const) {
      const title = `(threads ${threads}, watchList ${watchList})`;

      test(`C161 receives and holds metadata and nothing else ${title}`, async () => {
        await using scene = await Scene.start(threads);
        await scene.create('secrets', secret('a', { app: 'web' }), secret('b'));
        await scene.create('widgets.example.com', object('w'));
        const factory = scene.metadata({ list: { watchList } });
        const secrets = factory.forResource(SECRET);
        const widgets = factory.forResource(WIDGET);
        const seen: string[] = [];
        secrets.informer.addEventHandler({
          onAdd: ({ key }) => seen.push(`add ${key}`),
          onUpdate: (_before, { key, metadata }) => seen.push(`update ${key} ${metadata.labels?.['app']}`),
          onDelete: ({ key }) => seen.push(`delete ${key}`),
        });
        await synced(factory);
        assert.deepEqual(keys(secrets.lister.list('app=web')), ['default/a']);
        await scene.server.apply([
          { type: 'create', resource: 'secrets', object: secret('c') },
          { type: 'update', resource: 'secrets', object: secret('b', { app: 'db' }) },
          { type: 'delete', resource: 'secrets', name: 'a', namespace: 'default' },
        ]);
        await settled(factory);
        assert.deepEqual(seen.slice(2), ['add default/c', 'update default/b db', 'delete default/a']);
        assert.deepEqual(keys(secrets.lister.list()), ['default/b', 'default/c']);
        for (const { object: whole } of [...secrets.lister.list(), ...widgets.lister.list()]) {
          assert.deepEqual(Object.keys(whole).toSorted(), ['apiVersion', 'kind', 'metadata']);
          assert.equal(whole.kind, 'PartialObjectMetadata');
          assert.equal(whole.apiVersion, 'meta.k8s.io/v1');
          assert.ok(whole.metadata.uid);
        }
        assert.deepEqual(scene.errors, []);
        const lists = (await scene.requests('/api/v1/secrets')).filter(({ watch }) => !watch);
        assert.equal(lists.length, watchList === 'auto' ? 0 : 1);
      });
    }
  }
});

describe('the object-or-metadata factory', () => {
  test('has whole objects of resources that the typed factory knows, and metadata of all others', async () => {
    await using scene = await Scene.start(0);
    const other = { ...WIDGET, resource: 'gadgets' };
    await scene.server.registerResource({
      ...other,
      kind: 'Gadget',
      namespaced: true,
      custom: true,
    });
    await scene.create('pods', object('p'));
    await scene.create('widgets.example.com', object('w'));
    await scene.create('gadgets.example.com', object('g'));
    const typed = scene.typed();
    const metadata = scene.metadata();
    const factory = new ObjectOrMetadataInformerFactory(typed, metadata);
    const gadgets = typed.forResource({ ...other, kind: 'Gadget', isNamespaced: true });
    const pods = factory.forResource(POD);
    const widgets = factory.forResource(WIDGET);
    assert.equal(pods.informer, typed.core.v1.pods.informer, 'it is shared');
    assert.equal(factory.forResource(other).informer, gadgets.informer);
    assert.equal(widgets.informer, metadata.forResource(WIDGET).informer);
    assert.equal(factory.informers.length, 3);
    await synced(factory);
    const kinds = (generic: typeof pods): unknown[] =>
      generic.lister.list().map((entry) => entry.object.kind);
    assert.deepEqual(kinds(pods), ['Pod']);
    assert.deepEqual(kinds(widgets), ['PartialObjectMetadata']);
    assert.ok('spec' in (gadgets.lister.list()[0]?.object ?? {}));
    assert.equal((await scene.requests('/api/v1/pods')).length, 1);
    await factory.shutdown();
    assert.ok(typed.core.v1.pods.informer.isStopped() && widgets.informer.isStopped());
    assert.throws(() => factory.forResource({ ...WIDGET, resource: 'gizmos' }), {
      code: 'ERR_KUBELOOM_STOPPED',
    });
  });
});
