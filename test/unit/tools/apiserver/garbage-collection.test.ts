/** Objects whose owners are gone, by the policies of kube-controller-manager's garbage collector, without its delays. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import { Client } from '../../../semantics/client.ts';
import type { Body } from '../../../semantics/client.ts';
import { ok } from '../../../semantics/fixture.ts';

interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly blockOwnerDeletion?: boolean;
}

interface Given {
  readonly owners?: readonly Owner[];
  readonly finalizers?: readonly string[];
}

function ownerOf({ metadata }: Body, more: Partial<Owner> = {}): Owner {
  return { apiVersion: 'v1', kind: 'ConfigMap', name: metadata.name, uid: metadata.uid, ...more };
}

const blockerOf = (owner: Body): Owner => ownerOf(owner, { blockOwnerDeletion: true });

describe('the garbage collector', () => {
  let server: EmbeddedApiServer;
  let client: Client;
  let number = 0;
  let namespace = '';

  before(async () => {
    server = await startEmbeddedApiServer({ isolation: 'none', tls: false, token: '' });
    client = new Client({ url: server.url, token: '', ca: '' });
  });
  beforeEach(async () => {
    namespace = `gc-${number++}`;
    ok(await client.post('/api/v1/namespaces', { metadata: { name: namespace } }));
  });
  after(() => server.close());

  function path(name = '', resource = 'configmaps'): string {
    return `/api/v1/namespaces/${namespace}/${resource}${name === '' ? '' : `/${name}`}`;
  }

  async function create(name: string, { owners = [], finalizers = [] }: Given = {}): Promise<Body> {
    return ok(await client.post(path(), { metadata: { name, ownerReferences: owners, finalizers } }));
  }

  function remove(name: string, propagationPolicy?: string): ReturnType<Client['delete']> {
    return client.delete(path(name), propagationPolicy === undefined ? undefined : { propagationPolicy });
  }

  async function names(): Promise<string[]> {
    return ok(await client.get(path())).items.map(({ metadata }) => metadata.name);
  }

  async function owners(name: string): Promise<unknown> {
    const { metadata } = ok(await client.get(path(name)));
    return (metadata as { ownerReferences?: readonly Owner[] }).ownerReferences?.map((owner) => owner.name);
  }

  it('deletes the dependents of a deleted object, and their dependents', async () => {
    const root = await create('root');
    const child = await create('child', { owners: [ownerOf(root)] });
    await create('grandchild', { owners: [ownerOf(child)] });
    await create('other');
    ok(await remove('root'));
    assert.deepEqual(await names(), ['other']);
  });

  it('keeps an object while one of its owners is there, without the reference to the other', async () => {
    const first = await create('first');
    const second = await create('second');
    await create('child', { owners: [ownerOf(first), ownerOf(second)] });
    ok(await remove('first'));
    assert.deepEqual(await owners('child'), ['second']);
    ok(await remove('second'));
    assert.deepEqual(await names(), []);
  });

  it('leaves the dependents of an orphaning deletion, without the reference', async () => {
    const root = await create('root');
    await create('child', { owners: [ownerOf(root)] });
    ok(await remove('root', 'Orphan'));
    assert.deepEqual(await names(), ['child']);
    assert.equal(await owners('child'), undefined);
  });

  it('deletes dependents first when asked to, and waits for those that block', async () => {
    const root = await create('root');
    await create('blocking', { owners: [blockerOf(root)], finalizers: ['example.com/hold'] });
    await create('free', { owners: [ownerOf(root)] });
    const marked = ok(await remove('root', 'Foreground'));
    assert.deepEqual(marked.metadata.finalizers, ['foregroundDeletion']);
    assert.deepEqual(await names(), ['blocking', 'root']);
    ok(await client.mergePatch(path('blocking'), { metadata: { finalizers: null } }));
    assert.deepEqual(await names(), []);
  });

  it('goes on with a foreground deletion when a dependent no longer blocks it', async () => {
    const root = await create('root');
    await create('blocking', { owners: [blockerOf(root)], finalizers: ['example.com/hold'] });
    ok(await remove('root', 'Foreground'));
    ok(await client.mergePatch(path('blocking'), { metadata: { ownerReferences: null } }));
    assert.deepEqual(await names(), ['blocking']);
  });

  it('deletes a tree from its leaves in the foreground', async () => {
    const root = await create('root');
    const child = await create('child', { owners: [blockerOf(root)] });
    await create('leaf', { owners: [blockerOf(child)] });
    const from = await server.revision();
    ok(await remove('root', 'Foreground'));
    const log = (await server.log('configmaps', from)).toArray();
    const deleted = log.flatMap(([, type, key]) => (type === 'DELETED' ? [key] : []));
    const upwards = ['leaf', 'child', 'root'].map((name) => `${namespace}/${name}`);
    assert.deepEqual(deleted, upwards);
  });

  it('deletes a circle of owners in the foreground', async () => {
    const root = await create('root');
    const child = await create('child', { owners: [blockerOf(root)] });
    const ownerReferences = [blockerOf(child)];
    ok(await client.mergePatch(path('root'), { metadata: { ownerReferences } }));
    ok(await remove('root', 'Foreground'));
    assert.deepEqual(await names(), []);
  });

  it('collects an object whose owner does not exist, has another uid, or is in another namespace', async () => {
    const elsewhere = ok(
      await client.post('/api/v1/namespaces/default/configmaps', { metadata: { name: `away-${number}` } }),
    );
    const root = await create('root');
    for (const owner of [
      ownerOf(root, { name: 'absent' }),
      ownerOf(root, { uid: crypto.randomUUID() }),
      ownerOf(elsewhere),
    ]) {
      ok(await client.post(path(), { metadata: { name: 'x', ownerReferences: [owner] } }));
      assert.deepEqual(await names(), ['root']);
    }
  });

  it('collects an object that gets an absent owner by an update', async () => {
    const root = await create('root');
    await create('x');
    const ownerReferences = [ownerOf(root, { name: 'absent' })];
    ok(await client.mergePatch(path('x'), { metadata: { ownerReferences } }));
    assert.deepEqual(await names(), ['root']);
  });

  it('leaves an object whose owner is of an unknown kind, or namespaced while the object is not', async () => {
    const root = await create('root');
    await create('unknown', { owners: [ownerOf(root, { kind: 'Mystery' })] });
    assert.deepEqual(await names(), ['root', 'unknown']);
    const metadata = { name: `node-${number}`, ownerReferences: [ownerOf(root)] };
    ok(await client.post('/api/v1/nodes', { metadata }));
    ok(await client.get(`/api/v1/nodes/node-${number}`));
  });

  it('accepts absent owners from the control API, until an owner with that uid is deleted', async () => {
    const root = await create('root');
    const child = (name: string, owner: Owner): object => ({
      metadata: { name, namespace, ownerReferences: [owner] },
    });
    await server.apply([
      { type: 'create', resource: 'configmaps', object: child('phantom', ownerOf(root, { uid: 'none' })) },
      { type: 'create', resource: 'configmaps', object: child('real', ownerOf(root)) },
      { type: 'delete', resource: 'configmaps', namespace, name: 'root' },
    ]);
    assert.deepEqual(await names(), ['phantom']);
  });

  it('leaves the pods of a deleted Job, unless the request says otherwise', async () => {
    const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
    const spec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] };
    for (const [name, policy, left] of [
      ['kept', undefined, 1],
      ['collected', 'Background', 0],
    ] as const) {
      const job = ok(await client.post(jobs, { metadata: { name }, spec: { template: { spec } } }));
      const owner = ownerOf(job, { apiVersion: 'batch/v1', kind: 'Job' });
      ok(await client.post(path('', 'pods'), { metadata: { name, ownerReferences: [owner] }, spec }));
      ok(await client.delete(`${jobs}/${name}`, policy && { propagationPolicy: policy }));
      assert.equal((await client.get(`${jobs}/${name}`)).status, 404);
      const pods = ok(await client.get(path('', 'pods'))).items.filter(
        ({ metadata }) => metadata.name === name,
      );
      assert.equal(pods.length, left);
    }
  });
});
