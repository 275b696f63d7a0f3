/** Deletion of namespaces: their contents go first, finalizers are honoured, watches see everything. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import { WIDGETS } from '../../../kit/objects.ts';
import { Client, brief } from '../../../semantics/client.ts';
import { ok } from '../../../semantics/fixture.ts';

describe('a deleted namespace', () => {
  let server: EmbeddedApiServer;
  let client: Client;
  let number = 0;
  let name = '';

  before(async () => {
    server = await startEmbeddedApiServer({ isolation: 'none', tls: false, token: '', resources: [WIDGETS] });
    client = new Client({ url: server.url, token: '', ca: '' });
  });
  beforeEach(async () => {
    name = `ns-${number++}`;
    ok(await client.post('/api/v1/namespaces', { metadata: { name } }));
  });
  after(() => server.close());

  const inside = (resource = 'configmaps'): string => `/api/v1/namespaces/${name}/${resource}`;

  it('is gone with its objects of every kind, and leaves the objects of other namespaces', async () => {
    ok(await client.post(inside(), { metadata: { name: 'a' } }));
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    ok(await client.post(inside('pods'), { metadata: { name: 'p' }, spec }));
    ok(
      await client.post(`/apis/example.com/v1/namespaces/${name}/widgets`, {
        apiVersion: 'example.com/v1',
        kind: 'Widget',
        metadata: { name: 'w' },
      }),
    );
    const other = '/api/v1/namespaces/default/configmaps';
    ok(await client.post(other, { metadata: { name } }));
    const from = await server.revision();
    const stream = await client.watch(`/api/v1/namespaces?watch=1&resourceVersion=${from}`);
    ok(await client.delete(`/api/v1/namespaces/${name}`));
    const events = (await stream.take(2)).map((event) => brief(event));
    assert.deepEqual(events, [`MODIFIED ${name}`, `DELETED ${name}`]);
    stream.close();
    assert.equal((await client.get(`/api/v1/namespaces/${name}`)).status, 404);
    for (const resource of ['configmaps', 'pods', 'widgets.example.com']) {
      const keys = [...(await server.state(resource)).keys()];
      const left = keys.filter((key) => key.startsWith(`${name}/`));
      assert.deepEqual(left, []);
    }
    ok(await client.get(`${other}/${name}`));
    ok(await client.post('/api/v1/namespaces', { metadata: { name } }));
  });

  it('waits for the finalizers of its objects', async () => {
    const metadata = { name: 'held', finalizers: ['example.com/hold'] };
    ok(await client.post(inside(), { metadata }));
    ok(await client.post(inside(), { metadata: { name: 'free' } }));
    ok(await client.delete(`/api/v1/namespaces/${name}`));
    const list = ok(await client.get(inside()));
    assert.deepEqual(
      list.items.map((item) => [item.metadata.name, item.metadata.deletionTimestamp !== undefined]),
      [['held', true]],
    );
    ok(await client.mergePatch(`${inside()}/held`, { metadata: { finalizers: null } }));
    assert.equal((await client.get(`/api/v1/namespaces/${name}`)).status, 404);
  });

  it('waits for finalizers of its own', async () => {
    ok(
      await client.mergePatch(`/api/v1/namespaces/${name}`, {
        metadata: { finalizers: ['example.com/hold'] },
      }),
    );
    ok(await client.delete(`/api/v1/namespaces/${name}`));
    const { spec } = ok(await client.get(`/api/v1/namespaces/${name}`));
    assert.deepEqual(spec, { finalizers: [] });
    ok(await client.mergePatch(`/api/v1/namespaces/${name}`, { metadata: { finalizers: null } }));
    assert.equal((await client.get(`/api/v1/namespaces/${name}`)).status, 404);
  });

  it('also loses objects that the control API creates during the deletion', async () => {
    const metadata = { name: 'held', namespace: name, finalizers: ['example.com/hold'] };
    await server.apply([
      { type: 'create', resource: 'configmaps', object: { metadata } },
      { type: 'delete', resource: 'namespaces', name },
      { type: 'create', resource: 'configmaps', object: { metadata: { name: 'late', namespace: name } } },
    ]);
    const names = ok(await client.get(inside())).items.map((item) => item.metadata.name);
    assert.deepEqual(names, ['held']);
  });
});
