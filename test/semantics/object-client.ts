/** The client of objects against any server: what it sends is what a cluster understands, and what it reads is what happened. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { KubeStatusError, ObjectClient, applied, retryOnConflict } from '../../src/controller/index.ts';
import { resources } from '../../src/index.ts';
import type { WireOf } from '../../src/index.ts';
import { Fixture } from './fixture.ts';
import type { Target } from './target.ts';

type Deployment = WireOf<'apps', 'v1', 'Deployment'>;

const { deployments } = resources.apps.v1;
const { configMaps } = resources.core.v1;

export function objectClientSemantics(target: () => Promise<Target>): void {
  describe('ObjectClient', () => {
    const fixture = Fixture.use(target);
    let client: ObjectClient;

    beforeEach(() => {
      const { url, token, ca } = fixture.target;
      const source = { server: url, token, ...(ca === '' ? {} : { ca }) };
      client = new ObjectClient(source, { fieldManager: 'kubeloom', onWarning: () => undefined });
    });

    const metadata = (name: string): { readonly name: string; readonly namespace: string } => ({
      name,
      namespace: fixture.namespace,
    });

    const wanted = (
      replicas: number | undefined,
      image = 'app:1',
    ): Parameters<typeof client.apply<Deployment>>[1] => ({
      metadata: { ...metadata('web'), labels: { app: 'web' } },
      spec: {
        ...(replicas === undefined ? {} : { replicas }),
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'app', image, ports: [{ containerPort: 80 }] }] },
        },
      },
    });

    it('applies, owns fields, meets conflicts, takes fields over, and removes what it no longer applies', async () => {
      assert.equal(applied(wanted(2), undefined), false);
      const first = await client.apply(deployments, wanted(2));
      assert.equal(first.spec?.replicas, 2);
      assert.equal(applied(wanted(2), first), true);
      assert.equal(applied(wanted(2), first, { fieldManager: 'other' }), false);
      assert.equal(applied(wanted(3), first), false);
      assert.equal(applied(wanted(undefined), first), false);
      const again = await client.apply(deployments, wanted(2));
      assert.equal(again.metadata?.resourceVersion, first.metadata?.resourceVersion);
      await assert.rejects(client.apply(deployments, wanted(5), { fieldManager: 'scaler' }), (error) => {
        assert.ok(error instanceof KubeStatusError);
        assert.equal(error.code, 'ERR_KUBELOOM_APPLY_CONFLICT');
        assert.deepEqual(error.conflicts, [
          { field: '.spec.replicas', manager: 'kubeloom', subresource: '' },
        ]);
        return true;
      });
      const forced = await client.apply(deployments, wanted(5), { fieldManager: 'scaler', force: true });
      assert.equal(forced.spec?.replicas, 5);
      const left = await client.apply(deployments, wanted(undefined, 'app:1'));
      assert.equal(left.spec?.replicas, 5);
      const { labels } =
        (
          await client.apply(configMaps, {
            metadata: { ...metadata('labelled'), labels: { a: '1', b: '2' } },
          })
        ).metadata ?? {};
      assert.deepEqual(labels, { a: '1', b: '2' });
      const fewer = await client.apply(configMaps, {
        metadata: { ...metadata('labelled'), labels: { a: '1' } },
      });
      assert.deepEqual(fewer.metadata?.labels, { a: '1' });
    });

    it('patches in three ways', async () => {
      const key = `${fixture.namespace}/web`;
      await client.apply(deployments, wanted(2));
      const strategic = { spec: { template: { spec: { containers: [{ name: 'sidecar', image: 's:1' }] } } } };
      const merged = await client.patch(deployments, key, strategic, { type: 'strategic' });
      assert.deepEqual(merged.spec?.template.spec?.containers.map(({ name }) => name).toSorted(), [
        'app',
        'sidecar',
      ]);
      const paused = await client.patch(deployments, key, { spec: { paused: true } });
      assert.equal(paused.spec?.paused, true);
      const { resourceVersion = '' } = paused.metadata ?? {};
      const operations = [
        { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
        { op: 'remove', path: '/spec/paused' },
      ] as const;
      assert.equal(
        (await client.patch(deployments, key, operations, { type: 'json' })).spec?.paused,
        undefined,
      );
      await assert.rejects(client.patch(deployments, key, operations, { type: 'json' }), {
        code: 'ERR_KUBELOOM_INVALID',
      });
    });

    it('lists pages of one snapshot, and deletes the collection that selectors select', async () => {
      const names = Array.from({ length: 7 }, (_, index) => `page-${index}`);
      for (const name of names)
        await client.create(configMaps, { metadata: { ...metadata(name), labels: { page: 'yes' } } });
      const selection = { namespace: fixture.namespace, labelSelector: 'page=yes' };
      const pages = [];
      for await (const page of client.list(configMaps, { ...selection, limit: 3 })) {
        pages.push(page);
        // A later object is not of the snapshot.
        if (pages.length === 1)
          await client.create(configMaps, { metadata: { ...metadata('page-8'), labels: { page: 'yes' } } });
      }
      const listed = pages.flatMap(({ items }) => items.map(({ metadata: { name } = {} }) => name));
      assert.deepEqual(listed, names);
      assert.equal(new Set(pages.map((page) => page.metadata.resourceVersion)).size, 1);
      assert.deepEqual([pages.length, pages[0]?.items[0]?.kind], [3, 'ConfigMap']);
      await client.deleteCollection(configMaps, { ...selection, dryRun: true });
      const { value: counted } = await client.list(configMaps, selection).next();
      assert.equal(counted?.items.length, 8);
      await client.deleteCollection(configMaps, selection);
      for await (const { items } of client.list(configMaps, selection)) assert.deepEqual(items, []);
    });

    it('continues an expired list in a newer state, if that is allowed', async () => {
      for (const name of ['old-1', 'old-2', 'old-3'])
        await client.create(configMaps, { metadata: metadata(name) });
      const read = async (allowInconsistent: boolean): Promise<number> => {
        let count = 0;
        for await (const { items } of client.list(configMaps, {
          namespace: fixture.namespace,
          limit: 1,
          allowInconsistent,
        })) {
          count += items.length;
          if (count > 1) continue;
          await fixture.create(`new-${String(allowInconsistent)}`);
          await fixture.target.forgetHistory();
        }
        return count;
      };
      await assert.rejects(read(false), { code: 'ERR_KUBELOOM_GONE' });
      assert.ok((await read(true)) >= 3);
    });

    it('creates or updates, and wins over other writers after conflicts', async () => {
      const key = `${fixture.namespace}/counter`;
      const increment = (): Promise<unknown> =>
        retryOnConflict(
          () =>
            client.createOrUpdate(configMaps, key, (object) => {
              object.data = { count: String(Number(object.data?.['count'] ?? 0) + 1) };
            }),
          { attempts: 100 },
        );
      await increment();
      await Promise.all(Array.from({ length: 8 }, increment));
      assert.deepEqual((await client.get(configMaps, key)).data, { count: '9' });
      const { metadata: { uid = '', resourceVersion = '' } = {} } = await client.get(configMaps, key);
      await assert.rejects(client.delete(configMaps, key, { uid: 'other' }), {
        code: 'ERR_KUBELOOM_CONFLICT',
      });
      await client.delete(configMaps, key, { uid, resourceVersion });
    });
  });
}
