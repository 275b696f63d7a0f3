/** Types of requests, mostly by compiling: a field that the kind does not have is an error of the compiler in every write. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ObjectClient } from '../../../../src/controller/index.ts';
import type { ApplyConfiguration, Condition, MergePatch, Sent } from '../../../../src/controller/index.ts';
import { resources } from '../../../../src/index.ts';
import type { KubeObject, ResourceOf, ResourceRef } from '../../../../src/index.ts';

/** A custom resource as the examples write one: its index signature takes any field. */
interface Bucket extends KubeObject {
  readonly spec: { readonly gibibytes: number; readonly tags?: Readonly<Record<string, string>> };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

const kind = { group: 'storage.example.com', version: 'v1', resource: 'buckets', kind: 'Bucket' };
const buckets: ResourceOf<Bucket> = { ...kind, isNamespaced: true };
/** A kind without a type. */
const things: ResourceRef = { ...buckets, resource: 'things', kind: 'Thing' };
const { deployments } = resources.apps.v1;
const { pods, configMaps } = resources.core.v1;
const KEY = 'default/a';
const metadata = { name: 'a', namespace: 'default' };
const client = new ObjectClient({ server: 'http://127.0.0.1:1' }, { fieldManager: 'test' });
const STRATEGIC = { type: 'strategic' } as const;
const selector = { matchLabels: { app: 'a' } };
const template = { spec: { containers: [{ name: 'app', image: 'app:1' }] } };

/** Never called: the compiler judges the calls. */
const CALLS: readonly (() => unknown)[] = [
  () => client.create(deployments, { metadata, spec: { selector, template, replicas: 1 } }),
  // @ts-expect-error -- misspelt
  () => client.create(deployments, { metadata, spec: { selector, template, replica: 1 } }),
  // @ts-expect-error -- misspelt at the top level
  () => client.create(configMaps, { metadata, dta: {} }),
  // @ts-expect-error -- misspelt in a custom resource
  () => client.create(buckets, { metadata, spec: { gibibyte: 1 } }),
  // @ts-expect-error -- misspelt at the top level of a custom resource
  () => client.create(buckets, { metadata, spec: { gibibytes: 1 }, stats: {} }),
  () => client.create(buckets, { metadata, spec: { gibibytes: 1, tags: { any: 'name' } } }),
  () => client.create(things, { metadata, spec: { anything: 1 }, whatever: true }),

  async () => client.update(buckets, { ...(await client.get(buckets, KEY)), spec: { gibibytes: 2 } }),
  async () => client.update(buckets, await client.get(buckets, KEY)),
  // @ts-expect-error -- misspelt
  async () => client.update(buckets, { ...(await client.get(buckets, KEY)), spce: { gibibytes: 2 } }),
  // @ts-expect-error -- not a number
  () => client.update(buckets, { metadata, spec: { gibibytes: '2' } }),
  // @ts-expect-error -- misspelt
  () => client.updateStatus(buckets, { metadata, spec: { gibibytes: 1 }, status: { condition: [] } }),

  () => client.patch(deployments, KEY, { spec: { replicas: 3, paused: null } }),
  () => client.patch(pods, KEY, { metadata: { labels: { gone: null, app: 'a' } } }),
  // @ts-expect-error -- misspelt
  () => client.patch(deployments, KEY, { spec: { replica: 3 } }),
  // @ts-expect-error -- misspelt at the top level
  () => client.patch(deployments, KEY, { sepc: { replicas: 3 } }),
  () => client.patch(buckets, KEY, { spec: { tags: { old: null } } }),
  // @ts-expect-error -- misspelt
  () => client.patch(buckets, KEY, { spec: { tag: {} } }),
  // @ts-expect-error -- misspelt at the top level
  () => client.patch(buckets, KEY, { statsu: {} }),
  () => client.patch(things, KEY, { anything: { at: 'all' } }),
  () => client.patchStatus(buckets, KEY, { status: { conditions: [] } }),
  // @ts-expect-error -- misspelt
  () => client.patchStatus(buckets, KEY, { status: { condition: [] } }),
  // @ts-expect-error -- misspelt
  () => client.patchStatus(deployments, KEY, { status: { replica: 1 } }),
  () => client.patch(pods, KEY, { spec: { containers: [{ name: 'old', $patch: 'delete' }] } }, STRATEGIC),
  // @ts-expect-error -- no such directive
  () => client.patch(pods, KEY, { spec: { containers: [{ name: 'old', $path: 'x' }] } }, STRATEGIC),
  // @ts-expect-error -- a merge patch replaces the list, and a container has a name
  () => client.patch(pods, KEY, { spec: { containers: [{ image: 'a' }] } }),
  () => client.patch(pods, KEY, [{ op: 'remove', path: '/spec/nodeName' }], { type: 'json' }),
  // @ts-expect-error -- no such operation
  () => client.patch(pods, KEY, [{ op: 'delete', path: '/spec/nodeName' }], { type: 'json' }),
  // @ts-expect-error -- operations are a JSON patch
  () => client.patch(pods, KEY, [{ op: 'remove', path: '/spec/nodeName' }]),
  // @ts-expect-error -- no such type
  () => client.patch(pods, KEY, {}, { type: 'apply' }),

  () => client.apply(deployments, { metadata, spec: { replicas: 3 } }),
  () =>
    client.apply(deployments, { metadata, spec: { template: { spec: { containers: [{ name: 'app' }] } } } }),
  // @ts-expect-error -- misspelt
  () => client.apply(deployments, { metadata, spec: { replica: 3 } }),
  // @ts-expect-error -- misspelt deep within
  () => client.apply(pods, { metadata, spec: { containers: [{ nam: 'app' }] } }),
  // @ts-expect-error -- an apply names its object
  () => client.apply(deployments, { spec: { replicas: 3 } }),
  () => client.apply(buckets, { metadata, spec: {} }),
  // @ts-expect-error -- misspelt
  () => client.apply(buckets, { metadata, spec: { gibibyte: 3 } }),
  // @ts-expect-error -- misspelt at the top level
  () => client.apply(buckets, { metadata, spce: {} }),
  () => client.apply(things, { metadata, spec: { anything: 1 } }),

  () => client.update(deployments, { metadata, spec: { replicas: 2 } }, { subresource: 'scale' }),
  // @ts-expect-error -- a scale has no selector there
  () => client.update(deployments, { metadata, spec: { selector } }, { subresource: 'scale' }),
  () =>
    client.create(pods, { metadata, deleteOptions: { gracePeriodSeconds: 0 } }, { subresource: 'eviction' }),
  // @ts-expect-error -- misspelt
  () => client.create(pods, { metadata, deleteOption: {} }, { subresource: 'eviction' }),
  async () => (await client.get(deployments, KEY, { subresource: 'scale' })).spec?.replicas?.toFixed(),
  async () => (await client.get(deployments, KEY, { subresource: 'status' })).spec?.template.spec,
  // @ts-expect-error -- a scale has no template
  async () => (await client.get(deployments, KEY, { subresource: 'scale' })).spec?.template,

  () => client.createOrUpdate(configMaps, KEY, (object) => (object.data = { a: '1' })),
  // @ts-expect-error -- misspelt
  () => client.createOrUpdate(configMaps, KEY, (object) => (object.dta = { a: '1' })),
  async () => {
    for await (const { items } of client.list(buckets)) return items[0]?.spec.gibibytes.toFixed();
    return undefined;
  },
  // @ts-expect-error -- no such option
  () => client.list(buckets, { shardSelector: '' }),
  // @ts-expect-error -- no such option
  () => client.deleteCollection(buckets, { namespace: 'a', shardSelector: '' }),
];

describe('the types of requests', () => {
  it('refuse a field that the kind does not have, in each write, also for a custom resource that extends KubeObject', () => {
    assert.ok(CALLS.length > 50);
  });

  it('take objects that a program builds in functions', () => {
    const labelled = (name: string): Sent<Bucket> => ({
      metadata: { name, namespace: 'a' },
      spec: { gibibytes: 1 },
    });
    const wanted: ApplyConfiguration<Bucket> = { metadata, spec: { gibibytes: 1 } };
    const patch: MergePatch<Bucket> = { spec: { tags: null } };
    const calls = [
      () => client.create(buckets, labelled('a')),
      () => client.apply(buckets, wanted),
      () => client.patch(buckets, KEY, patch),
    ];
    assert.equal(calls.length, 3);
  });
});
