/** Options by kind and namespace, and what they inherit. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { InformersMap } from '../../../../src/controller/index.ts';
import { drop } from '../../../../src/index.ts';
import type { InformersMapOptions } from '../../../../src/controller/index.ts';
import type { KubeObject, ResourceRef } from '../../../../src/index.ts';
import { CacheOptions, INHERITED } from '../../../../src/informer/map/map-options.ts';
import { NODE, POD, Scene, pod, rejection } from './scene.ts';
import { PODS } from '../../../kit/objects.ts';

const NODES: ResourceRef = { group: '', version: 'v1', resource: 'nodes', kind: 'Node', isNamespaced: false };

describe('inheritance', () => {
  const cut = drop('spec');
  const values = {
    labelSelector: ['ns=kind', 'kind', 'ns=cache', 'cache'],
    fieldSelector: ['metadata.name=1', 'metadata.name=2', 'metadata.name=3', 'metadata.name=4'],
    transform: [cut, (object: KubeObject) => object, drop('status'), drop('data')],
  } as const;
  const empty = { labelSelector: '', fieldSelector: '', transform: null };

  /** Places in the order of precedence, of which the first `unset` say nothing. */
  function at(
    option: (typeof INHERITED)[number],
    unset: number,
    given: readonly unknown[],
  ): InformersMapOptions {
    const [nsKind = {}, kind = {}, nsCache = {}, cache = {}] = given.map((value, place) =>
      place < unset ? {} : { [option]: value },
    );
    return {
      ...cache,
      namespaces: { a: nsCache },
      byKind: [{ of: POD, ...kind, namespaces: { a: nsKind } }],
    };
  }

  for (const option of INHERITED) {
    test(`of ${option}: the namespace of the kind, the kind, the namespace, the cache`, () => {
      const given = values[option];
      for (const unset of [0, 1, 2, 3]) {
        const resolved = new CacheOptions(at(option, unset, given)).resolve(PODS);
        assert.equal(resolved.optionsOf('a')[option], given[unset]);
      }
      const nothing = new CacheOptions(at(option, 4, given)).resolve(PODS);
      assert.equal(Object.hasOwn(nothing.optionsOf('a'), option), false);
    });

    test(`of ${option} ends with an empty value`, () => {
      const given = values[option].map((value, place) => (place === 1 ? empty[option] : value));
      const resolved = new CacheOptions(at(option, 1, given)).resolve(PODS);
      assert.equal(Object.hasOwn(resolved.optionsOf('a'), option), false);
    });
  }

  test('of namespaces: absent means the namespaces of the cache, empty means all', () => {
    const namespaces = ['a', 'b'];
    const of = (byKind: InformersMapOptions['byKind'] = []): readonly string[] =>
      new CacheOptions({ namespaces, byKind }).resolve(PODS).namespaces;
    assert.deepEqual(of(), ['a', 'b']);
    assert.deepEqual(of([{ of: POD }]), ['a', 'b']);
    assert.deepEqual(of([{ of: POD, namespaces: [] }]), ['']);
    assert.deepEqual(of([{ of: POD, namespaces: { c: {} } }]), ['c']);
    assert.deepEqual(of([{ of: { kind: 'Pod', group: 'other' }, namespaces: ['c'] }]), ['a', 'b']);
    assert.deepEqual(of([{ of: { resource: 'pods', version: 'v2' }, namespaces: ['c'] }]), ['a', 'b']);
    assert.deepEqual(new CacheOptions({ namespaces }).resolve(NODES).namespaces, ['']);
  });

  test("of a namespace's options affects neither cluster-scoped kinds nor other namespaces", () => {
    const options = new CacheOptions({
      labelSelector: 'all',
      namespaces: { a: { labelSelector: 'only-a' } },
    });
    assert.equal(options.resolve(NODES).optionsOf('').labelSelector, 'all');
    assert.equal(options.resolve(PODS).optionsOf('a').labelSelector, 'only-a');
    const added = options.resolve(PODS).optionsOf('b');
    assert.deepEqual([added.labelSelector, added.namespace], ['all', 'b']);
  });
});

describe('options', () => {
  test('select and transform what is followed, kind by kind and namespace by namespace', async () => {
    await using scene = await Scene.start();
    await scene.create(
      'pods',
      pod('x', 'a', { nodeName: 'n1' }, { labels: { app: 'web' } }),
      pod('y', 'a', { nodeName: 'n1' }),
      pod('x', 'b', { nodeName: 'n1' }, { labels: { app: 'web' } }),
      pod('y', 'b', { nodeName: 'n2' }),
    );
    await scene.create('nodes', { metadata: { name: 'n' } });
    const cache = scene.cache({
      labelSelector: 'app=web',
      namespaces: { a: {}, b: { labelSelector: '', fieldSelector: 'spec.nodeName=n2' } },
      byKind: [
        { of: { kind: 'Pod' }, transform: drop('spec'), resyncPeriodMs: 60_000 },
        { of: NODE, labelSelector: '' },
      ],
    });
    await using pods = await cache.informerFor(POD);
    await using nodes = await cache.informerFor(NODE);
    assert.deepEqual(
      pods.list().items.map(({ key }) => key),
      ['a/x', 'b/y'],
    );
    assert.equal(Object.hasOwn(pods.require('a/x').object, 'spec'), false);
    assert.equal(nodes.list().items.length, 1);
    const queries = (await scene.requests('/pods')).map(({ path, query }) => ({
      path,
      selectors: [query['labelSelector'], query['fieldSelector']],
    }));
    assert.deepEqual(
      new Set(queries),
      new Set([
        { path: '/api/v1/namespaces/a/pods', selectors: ['app=web', undefined] },
        { path: '/api/v1/namespaces/b/pods', selectors: [undefined, 'spec.nodeName=n2'] },
      ]),
    );
  });

  test('that are wrong are refused when the cache is made', async () => {
    await using scene = await Scene.start();
    const make = (options: InformersMapOptions) => () => scene.cache(options);
    const selector = { code: 'ERR_KUBELOOM_SELECTOR' };
    const option = { code: 'ERR_KUBELOOM_OPTION' };
    assert.throws(make({ labelSelector: 'a in' }), selector);
    assert.throws(make({ fieldSelector: 'x' }), selector);
    assert.throws(make({ byKind: [{ of: POD, labelSelector: 'a in' }] }), selector);
    assert.throws(make({ byKind: [{ of: POD, namespaces: { a: { fieldSelector: 'x' } } }] }), selector);
    assert.throws(make({ namespaces: { a: { labelSelector: ',' } } }), selector);
    assert.throws(make({ labelSelector: 7 as never }), option);
    assert.throws(make({ transform: 7 as never }), option);
    assert.throws(make({ namespaces: ['Not a name'] }), option);
    assert.throws(make({ namespaces: ['a', 'a'] }), option);
    assert.throws(make({ namespaces: 7 as never }), option);
    assert.throws(make({ byKind: [{ of: 'pods' as never }] }), option);
    assert.throws(make({ byKind: [{ of: POD, resyncPeriodMs: -1 }] }), option);
    assert.throws(make({ name: 7 as never }), option);
    assert.throws(() => new InformersMap(undefined as never), option);
  });

  test('that contradict each other are refused when the kind is asked for', async () => {
    await using scene = await Scene.start();
    const twice = scene.cache({ byKind: [{ of: POD }, { of: { resource: 'pods' } }] });
    assert.match((await rejection(twice.informerFor(POD))).message, /byKind has pods twice/);
    assert.deepEqual(twice.informers, []);
  });
});
