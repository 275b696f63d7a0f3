/** The end of objects and namespaces, as far as a server without a controller manager decides it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Fixture, ok, refused } from './fixture.ts';
import type { Target } from './target.ts';

export function lifecycleSemantics(target: () => Promise<Target>): void {
  describe('a namespace that is being deleted', () => {
    const fixture = Fixture.use(target);

    it('is marked, and stays while a finalizer keeps one of its objects', async () => {
      const metadata = { name: 'held', finalizers: ['example.com/hold'] };
      await fixture.post(fixture.configMaps(), { metadata });
      const path = `/api/v1/namespaces/${fixture.namespace}`;
      const marked = ok(await fixture.client.delete(path));
      assert.equal(marked.kind, 'Namespace');
      assert.notEqual(marked.metadata.deletionTimestamp, undefined);
      assert.equal(marked.metadata.deletionGracePeriodSeconds, undefined);
      assert.equal((marked.status as { phase: string }).phase, 'Terminating');
      assert.deepEqual(marked.spec, { finalizers: ['kubernetes'] });
      const again = ok(await fixture.client.delete(path));
      assert.equal(again.metadata.deletionTimestamp, marked.metadata.deletionTimestamp);
    });

    it('refuses new objects with 403 and a cause', async () => {
      const metadata = { name: 'held', finalizers: ['example.com/hold'] };
      await fixture.post(fixture.configMaps(), { metadata });
      ok(await fixture.client.delete(`/api/v1/namespaces/${fixture.namespace}`));
      const answer = await fixture.client.post(fixture.configMaps(), { metadata: { name: 'late' } });
      const why = `configmaps "late" is forbidden: unable to create new content in namespace ${fixture.namespace} because it is being terminated`;
      refused(answer, 403, why, 'Forbidden');
      const message = `namespace ${fixture.namespace} is being terminated`;
      assert.deepEqual(answer.body.details, {
        name: 'late',
        kind: 'configmaps',
        causes: [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }],
      });
    });

    it('is none of the three that every cluster has', async () => {
      for (const name of ['default', 'kube-system', 'kube-public']) {
        const answer = await fixture.client.delete(`/api/v1/namespaces/${name}`);
        refused(answer, 403, `namespaces "${name}" is forbidden: this namespace may not be deleted`);
      }
    });
  });

  describe('a new namespace', () => {
    const fixture = Fixture.use(target);

    it('is active, has a finalizer in its spec, and its name as a label', async () => {
      const { spec, status, metadata } = await fixture.get(`/api/v1/namespaces/${fixture.namespace}`);
      assert.deepEqual(spec, { finalizers: ['kubernetes'] });
      assert.deepEqual(status, { phase: 'Active' });
      assert.deepEqual(metadata.labels, { 'kubernetes.io/metadata.name': fixture.namespace });
    });
  });

  describe('a namespace', () => {
    const fixture = Fixture.use(target);

    it('keeps its label and its finalizers, which only `/finalize` changes', async () => {
      const path = `/api/v1/namespaces/${fixture.namespace}`;
      const patched = await fixture.patch(path, { metadata: { labels: null }, spec: { finalizers: [] } });
      assert.deepEqual(patched.metadata.labels, { 'kubernetes.io/metadata.name': fixture.namespace });
      assert.deepEqual(patched.spec, { finalizers: ['kubernetes'] });
      const finalizers = ['example.com/hold', 'kubernetes'];
      const body = { metadata: { name: fixture.namespace }, spec: { finalizers } };
      assert.deepEqual((await fixture.put(`${path}/finalize`, body)).spec, { finalizers });
    });
  });

  describe('DELETE with a propagation policy', () => {
    const fixture = Fixture.use(target);

    for (const [policy, finalizer] of [
      ['Foreground', 'foregroundDeletion'],
      ['Orphan', 'orphan'],
    ] as const) {
      it(`${policy} answers with the object and the finalizer of the garbage collector`, async () => {
        await fixture.create('owner');
        const options = { propagationPolicy: policy };
        const marked = ok(await fixture.client.delete(fixture.configMap('owner'), options));
        assert.equal(marked.kind, 'ConfigMap');
        assert.deepEqual(marked.metadata.finalizers, [finalizer]);
        assert.notEqual(marked.metadata.deletionTimestamp, undefined);
      });
    }

    it('also counts as a parameter', async () => {
      await fixture.create('owner');
      const path = `${fixture.configMap('owner')}?propagationPolicy=Foreground`;
      assert.deepEqual(ok(await fixture.client.delete(path)).metadata.finalizers, ['foregroundDeletion']);
    });

    it('is not needed by a Job, which leaves its pods behind', async () => {
      const template = {
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example.com/app:1' }] },
      };
      const path = `/apis/batch/v1/namespaces/${fixture.namespace}/jobs`;
      await fixture.post(path, { metadata: { name: 'job' }, spec: { template } });
      const marked = ok(await fixture.client.delete(`${path}/job`));
      assert.ok(marked.metadata.finalizers?.includes('orphan'));
    });
  });

  describe('an object that is being deleted', () => {
    const fixture = Fixture.use(target);

    it('gets no new finalizers, and keeps those that remain', async () => {
      const metadata = { name: 'held', finalizers: ['example.com/a', 'example.com/b'] };
      await fixture.post(fixture.configMaps(), { metadata });
      ok(await fixture.client.delete(fixture.configMap('held')));
      const more = { metadata: { finalizers: ['example.com/a', 'example.com/c'] } };
      const answer = await fixture.client.mergePatch(fixture.configMap('held'), more);
      const message =
        /metadata\.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers \[\]string\{"example\.com\/c"\}$/;
      refused(answer, 422, message);
      const fewer = { metadata: { finalizers: ['example.com/b'] } };
      const left = await fixture.patch(fixture.configMap('held'), fewer);
      assert.deepEqual(left.metadata.finalizers, ['example.com/b']);
    });

    it('has a new generation when its kind has generations', async () => {
      const spec = { containers: [{ name: 'main', image: 'example.com/app:1' }] };
      const metadata = { name: 'held', finalizers: ['example.com/hold'] };
      await fixture.post(fixture.pods(), { metadata, spec });
      const marked = ok(await fixture.client.delete(fixture.pod('held')));
      assert.equal(marked.metadata.generation, 2);
    });
  });

  describe('a SelfSubjectAccessReview', () => {
    const fixture = Fixture.use(target);

    it('answers whether the caller may do it, and is not stored', async () => {
      const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
      const resourceAttributes = { verb: 'list', resource: 'pods', namespace: fixture.namespace };
      const answer = await fixture.client.post(path, { spec: { resourceAttributes } });
      assert.equal(answer.status, 201);
      assert.equal(answer.body.kind, 'SelfSubjectAccessReview');
      assert.deepEqual(answer.body.spec, { resourceAttributes });
      assert.deepEqual(answer.body.status, { allowed: true });
      assert.equal((await fixture.client.get(path)).status, 405);
    });
  });
}
