/**
 * The table of built-in resources against the discovery of a real kube-apiserver, with defaults and with
 * everything switched on; and factories over all served resources.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { MetadataInformerFactory, builtInResources } from '../../src/client-go/index.ts';
import { SharedInformerFactory, drop } from '../../src/index.ts';
import type { ResourceRef } from '../../src/index.ts';
import { HANG_MS } from '../kit/hang.ts';
import { RecordingHandler } from '../kit/recording-handler.ts';
import { clusterOfTests } from './control-plane.ts';
import type { ControlPlane } from './control-plane.ts';
import { getText } from './get-text.ts';

const CONFIG_MAP = { group: '', version: 'v1', resource: 'configmaps' };
/** Alpha and beta versions, and resources behind feature gates, which no server has by default. */
const EVERYTHING = ['--runtime-config=api/all=true', '--feature-gates=AllAlpha=true,AllBeta=true'];

interface Discovered {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

interface Groups {
  readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
}

async function getJson<T>(controlPlane: ControlPlane, path: string): Promise<T> {
  return JSON.parse(await getText(controlPlane, path)) as T;
}

/** All served versions: `apps/v1`, `v1`. */
async function servedVersions(controlPlane: ControlPlane): Promise<string[]> {
  const { groups } = await getJson<Groups>(controlPlane, '/apis');
  return ['v1', ...groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => groupVersion))];
}

/** The resources that can be listed and watched. */
async function servedResources(controlPlane: ControlPlane): Promise<ResourceRef[]> {
  const found: ResourceRef[] = [];
  for (const groupVersion of await servedVersions(controlPlane)) {
    const path = groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`;
    const { resources } = await getJson<{ resources: readonly Discovered[] }>(controlPlane, path);
    const [version = '', group = ''] = groupVersion.split('/').toReversed();
    for (const { name, kind, namespaced, verbs } of resources) {
      if (!verbs.includes('list') || !verbs.includes('watch')) continue;
      found.push({ group, version, resource: name, kind, isNamespaced: namespaced });
    }
  }
  return found;
}

function lines(resources: readonly ResourceRef[]): string[] {
  return resources
    .map(
      ({ group, version, resource, kind, isNamespaced }) =>
        `${group}/${version} ${resource}: ${kind}, ${isNamespaced ? 'namespaced' : 'cluster-scoped'}`,
    )
    .toSorted();
}

for (const [title, apiServerFlags] of [
  ['with defaults', []],
  ['with everything switched on', EVERYTHING],
] as const) {
  describe(`a real kube-apiserver ${title}`, () => {
    const cluster = clusterOfTests({ apiServerFlags });
    let served: ResourceRef[];

    before(async () => {
      served = await servedResources(cluster().controlPlane);
    });

    test('serves only resources of the table, with the same kind and scope', () => {
      const known = new Set(lines(builtInResources()));
      assert.ok(served.length > 40);
      const missing = lines(served).filter((line) => !known.has(line));
      assert.deepEqual(missing, []);
    });

    test('has every row of the table whose version it serves', () => {
      const versions = new Set(served.map(({ group, version }) => `${group}/${version}`));
      const known = new Set(lines(served));
      const rows = builtInResources().filter(({ group, version }) => versions.has(`${group}/${version}`));
      const foreign = lines(rows).filter((line) => !known.has(line));
      assert.deepEqual(foreign, []);
    });

    test('serves all its resources to one factory at once', async () => {
      const { kubeConfig, threads } = cluster();
      await using factory = new SharedInformerFactory(kubeConfig, { threads });
      for (const resource of served) factory.forResource(resource);
      factory.start();
      await factory.waitForCacheSync({ signal: AbortSignal.timeout(HANG_MS) });
      assert.equal(factory.informers.length, served.length);
      assert.ok(factory.core.v1.namespaces.lister.get('default'));
    });

    for (const watchList of ['auto', 'off'] as const) {
      test(`sends metadata only to a metadata factory, watchList ${watchList}`, async () => {
        const { api, kubeConfig, threads } = cluster();
        const namespace = 'default';
        const write = (name: string): Promise<unknown> =>
          api.createNamespacedConfigMap({ namespace, body: { metadata: { name }, data: { a: 'b' } } });
        await write(`${watchList}-listed`);
        const options = { threads, list: { watchList }, namespace };
        await using factory = new MetadataInformerFactory(kubeConfig, {
          ...options,
          tweakListOptions: (asked) => ({ ...asked, fieldSelector: 'metadata.name!=kube-root-ca.crt' }),
        });
        const { informer, lister } = factory.forResource(CONFIG_MAP);
        const handler = new RecordingHandler();
        informer.addEventHandler(handler);
        factory.start();
        await factory.waitForCacheSync({ signal: AbortSignal.timeout(HANG_MS) });
        await write(`${watchList}-watched`);
        await handler.until(() => handler.names.includes(`add ${watchList}-watched`));
        assert.ok(lister.list().length >= 2);
        for (const { object } of lister.list()) {
          assert.deepEqual(Object.keys(object).toSorted(), ['apiVersion', 'kind', 'metadata']);
          assert.equal(object.kind, 'PartialObjectMetadata');
          assert.ok(object.metadata.uid);
          assert.equal(object.metadata.managedFields, undefined);
        }
        assert.match(String(informer.stats().managedFieldsSupport), /^(dropped|sent)$/);
      });

      test(`takes drop=metadata.managedFields whether it knows the parameter or not, watchList ${watchList}`, async () => {
        const { kubeConfig, threads } = cluster();
        const transform = drop('metadata.managedFields');
        await using factory = new SharedInformerFactory(kubeConfig, {
          threads,
          list: { watchList },
          transform,
        });
        const { informer, lister } = factory.core.v1.namespaces;
        factory.start();
        await factory.waitForCacheSync({ signal: AbortSignal.timeout(HANG_MS) });
        assert.equal(lister.get('default')?.object.status?.phase, 'Active');
        assert.equal(lister.get('default')?.object.metadata?.managedFields, undefined);
        assert.match(String(informer.stats().managedFieldsSupport), /^(dropped|sent)$/);
      });
    }
  });
}
