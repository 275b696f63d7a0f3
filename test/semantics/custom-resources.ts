/** CustomResourceDefinitions, their deletion, and the subresources and versions of what they define. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { brief } from './client.ts';
import type { Body } from './client.ts';
import { DEFINITIONS, Definitions, SPEC, causes, isTrue, text, version } from './definitions.ts';
import { Fixture, ok } from './fixture.ts';
import type { Target } from './target.ts';

const SCALE = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
};

export function customResourceSemantics(target: () => Promise<Target>): void {
  definitionSemantics(target);
  subresourceSemantics(target);
  versionSemantics(target);
}

function definitionSemantics(target: () => Promise<Target>): void {
  describe('a CustomResourceDefinition', () => {
    const fixture = Fixture.use(target, 'together');
    const definitions = new Definitions(fixture);
    before(() => definitions.establish('widgets', 'Widget', [version('v1', { storage: true })]));
    after(() => definitions.removeAll('widgets'));

    it('is accepted: names, conditions and stored versions are in its status', async () => {
      const { spec, status } = await fixture.get(definitions.path('widgets'));
      const names = {
        plural: 'widgets',
        kind: 'Widget',
        singular: 'widget',
        listKind: 'WidgetList',
        shortNames: ['wx'],
      };
      assert.deepEqual(spec?.['names'], names);
      assert.deepEqual(spec?.['conversion'], { strategy: 'None' });
      const { acceptedNames, storedVersions } = status as Record<string, unknown>;
      assert.deepEqual(acceptedNames, names);
      assert.deepEqual(storedVersions, ['v1']);
      assert.ok(isTrue(status, 'NamesAccepted'));
    });

    it('makes its resource discovered, with its names', async () => {
      const { body } = await definitions.until(
        `/apis/${definitions.group}/v1`,
        ({ status }) => status === 200,
      );
      const { resources = [] } = body as { resources?: readonly Record<string, unknown>[] };
      const [widgets] = resources;
      assert.equal(widgets?.['name'], 'widgets');
      assert.equal(widgets?.['singularName'], 'widget');
      assert.equal(widgets?.['kind'], 'Widget');
      assert.deepEqual(widgets?.['shortNames'], ['wx']);
    });

    it('without a schema, with another name, or without a storage version is 422', async () => {
      const bad = definitions.definition('gadgets', 'Gadget', [{ name: 'v1', served: true, storage: false }]);
      const answer = await fixture.client.post(DEFINITIONS, { ...bad, metadata: { name: 'wrong' } });
      const found = causes(answer).join('\n');
      assert.match(
        found,
        /metadata\.name: Invalid value: "wrong": must be spec\.names\.plural\+"\."\+spec\.group/,
      );
      assert.match(found, /spec\.versions\[0\]\.schema\.openAPIV3Schema: Required value/);
      assert.match(
        found,
        /spec\.versions: Invalid value: .*: must have exactly one version marked as storage version/,
      );
    });

    it('keeps its scope', async () => {
      const path = definitions.path('widgets');
      const answer = await fixture.client.mergePatch(path, { spec: { scope: 'Cluster' } });
      assert.deepEqual(causes(answer), [
        'FieldValueInvalid spec.scope: Invalid value: "Cluster": field is immutable',
      ]);
    });

    it('that is deleted takes its objects with it, ends their watches, and is no longer served', async () => {
      const once = new Definitions(fixture);
      await once.establish('gizmos', 'Gizmo', [version('v1', { storage: true })]);
      const created = ok(await once.create('Gizmo', 'a', { replicas: 1 }));
      const from = created.metadata.resourceVersion;
      const stream = await fixture.watch(`${once.objects('gizmos')}?watch=1&resourceVersion=${from}`);
      const marked = ok(await fixture.client.delete(once.path('gizmos')));
      assert.notEqual(marked.metadata.deletionTimestamp, undefined);
      assert.deepEqual(marked.metadata.finalizers, ['customresourcecleanup.apiextensions.k8s.io']);
      assert.equal(brief(await stream.next()), 'DELETED a');
      await stream.ended;
      await once.until(once.path('gizmos'), ({ status }) => status === 404);
      await once.until(once.objects('gizmos'), ({ status }) => status === 404);
    });
  });
}

function subresourceSemantics(target: () => Promise<Target>): void {
  describe('the subresources of a custom resource', () => {
    const fixture = Fixture.use(target, 'together');
    const definitions = new Definitions(fixture);
    const spec = { replicas: 1 };
    const object = (kind: string, name: string): object =>
      definitions.object(kind, { metadata: { name }, spec, status: { replicas: 7 } });
    before(async () => {
      const subresources = { status: {}, scale: SCALE };
      await definitions.establish('widgets', 'Widget', [version('v1', { storage: true, subresources })]);
      await definitions.establish('gadgets', 'Gadget', [version('v1', { storage: true })]);
    });
    after(() => definitions.removeAll('widgets', 'gadgets'));

    it('status is written only through /status, and only then', async () => {
      const created = await fixture.post(definitions.objects('widgets'), object('Widget', 'a'));
      assert.equal(created.status, undefined);
      const path = definitions.objects('widgets', 'a');
      const patch = { status: { replicas: 3 }, spec: { replicas: 4 } };
      const written = await fixture.patch(`${path}/status`, patch);
      assert.deepEqual(written.status, { replicas: 3 });
      assert.equal(written.spec?.['replicas'], 1);
      assert.equal(written.metadata.generation, 1);
      const main = await fixture.patch(path, patch);
      assert.equal(main.spec?.['replicas'], 4);
      assert.equal(main.metadata.generation, 2);
      const invalid = await fixture.client.mergePatch(`${path}/status`, { status: { replicas: 'x' } });
      assert.equal(invalid.status, 422);
    });

    it('without them, status is a field like others, and the generation counts its changes', async () => {
      const created = await fixture.post(definitions.objects('gadgets'), object('Gadget', 'a'));
      assert.deepEqual(created.status, { replicas: 7 });
      assert.equal(created.metadata.generation, 1);
      const path = definitions.objects('gadgets', 'a');
      const labelled = await fixture.patch(path, { metadata: { labels: { a: 'b' } } });
      assert.equal(labelled.metadata.generation, 1);
      const changed = await fixture.patch(path, { status: { replicas: 8 } });
      assert.equal(changed.metadata.generation, 2);
      assert.equal((await fixture.client.get(`${path}/status`)).status, 404);
      assert.equal((await fixture.client.get(`${path}/scale`)).status, 404);
    });

    it('scale shows the replicas and writes them', async () => {
      await fixture.post(definitions.objects('widgets'), object('Widget', 'scaled'));
      const path = definitions.objects('widgets', 'scaled');
      const status = { replicas: 5, selector: 'app=x' };
      await fixture.patch(`${path}/status`, { status });
      const scale = await fixture.get(`${path}/scale`);
      assert.equal(scale.kind, 'Scale');
      assert.equal(scale.apiVersion, 'autoscaling/v1');
      assert.equal(scale.metadata.name, 'scaled');
      assert.deepEqual(scale.spec, { replicas: 1 });
      assert.deepEqual(scale.status, status);
      const { metadata } = scale;
      const of = (replicas: number): object => ({
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata,
        spec: { replicas },
      });
      const put = await fixture.put(`${path}/scale`, of(2));
      assert.deepEqual(put.spec, { replicas: 2 });
      const patched = await fixture.patch(`${path}/scale`, { spec: { replicas: 3 } });
      assert.deepEqual(patched.spec, { replicas: 3 });
      const stored = await fixture.get(path);
      assert.equal(stored.spec?.['replicas'], 3);
      assert.equal(stored.metadata.generation, 3);
      const stale = await fixture.client.put(`${path}/scale`, of(4));
      assert.equal(stale.status, 409);
      const large = await fixture.client.mergePatch(`${path}/scale`, { spec: { replicas: 99 } });
      assert.equal(large.status, 422);
    });

    it('are discovered', async () => {
      const { body } = await fixture.client.get(`/apis/${definitions.group}/v1`);
      const { resources = [] } = body as { resources?: readonly Record<string, unknown>[] };
      const names = resources.map(({ name }) => String(name)).sort();
      assert.deepEqual(names, ['gadgets', 'widgets', 'widgets/scale', 'widgets/status']);
      const scale = resources.find(({ name }) => name === 'widgets/scale');
      const { group, version, kind } = scale ?? {};
      assert.deepEqual([group, version, kind], ['autoscaling', 'v1', 'Scale']);
    });
  });
}

function versionSemantics(target: () => Promise<Target>): void {
  describe('a custom resource in several versions', () => {
    const fixture = Fixture.use(target, 'together');
    const definitions = new Definitions(fixture);
    const extra = { properties: { spec: { ...SPEC, properties: { ...SPEC.properties, extra: text } } } };
    const wider = { openAPIV3Schema: { type: 'object', ...extra } };
    before(() =>
      definitions.establish('widgets', 'Widget', [
        version('v1beta1', { storage: true }),
        version('v1', { schema: wider }),
        version('v1alpha1', { served: false }),
      ]),
    );
    after(() => definitions.removeAll('widgets'));
    const seen = ({ apiVersion, spec }: Body): unknown => [apiVersion?.split('/')[1], spec];

    it('has the apiVersion of the request, and the fields of the version that is stored', async () => {
      ok(await definitions.create('Widget', 'a', { replicas: 1, extra: 'lost' }));
      const kept = { replicas: 1, size: 'small' };
      const read = async (name: string): Promise<Body> =>
        await fixture.get(definitions.objects('widgets', 'a', name));
      assert.deepEqual(seen(await read('v1beta1')), ['v1beta1', kept]);
      assert.deepEqual(seen(await read('v1')), ['v1', kept]);
      const { metadata } = await read('v1');
      assert.equal(metadata.resourceVersion, (await read('v1beta1')).metadata.resourceVersion);
      const list = await fixture.get(definitions.objects('widgets'));
      assert.deepEqual(list.items.map(seen), [['v1', kept]]);
      assert.equal((await fixture.client.get(definitions.objects('widgets', 'a', 'v1alpha1'))).status, 404);
    });

    it('is watched in each version, whatever version is written', async () => {
      const start = await fixture.get(definitions.objects('widgets'));
      const query = `?watch=1&resourceVersion=${start.metadata.resourceVersion}`;
      const streams = [];
      for (const name of ['v1', 'v1beta1']) {
        streams.push(await fixture.watch(`${definitions.objects('widgets', '', name)}${query}`));
      }
      ok(await definitions.create('Widget', 'b', { replicas: 2 }, 'v1beta1'));
      ok(await fixture.client.delete(definitions.objects('widgets', 'b', 'v1')));
      const events = await Promise.all(streams.map((stream) => stream.take(2)));
      assert.deepEqual(
        events.map((pair) =>
          pair.map((event) => `${event.object.apiVersion?.split('/')[1]} ${brief(event)}`),
        ),
        [
          ['v1 ADDED b', 'v1 DELETED b'],
          ['v1beta1 ADDED b', 'v1beta1 DELETED b'],
        ],
      );
    });

    it('is discovered with the stable version as the preferred one', async () => {
      const { body } = await fixture.client.get(`/apis/${definitions.group}`);
      const { versions, preferredVersion } = body as unknown as {
        versions: readonly { version: string }[];
        preferredVersion: { version: string };
      };
      const served = versions.map((entry) => entry.version);
      assert.deepEqual(served, ['v1', 'v1beta1']);
      assert.equal(preferredVersion.version, 'v1');
    });

    it('refuses an object of another version than that of the URL', async () => {
      const apiVersion = `${definitions.group}/v1beta1`;
      const body = { apiVersion, kind: 'Widget', metadata: { name: 'c' }, spec: { replicas: 1 } };
      const answer = await fixture.client.post(definitions.objects('widgets'), body);
      assert.equal(answer.status, 400);
    });
  });
}
