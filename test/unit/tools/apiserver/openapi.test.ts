/** The OpenAPI documents, and the reviews and versions that kubectl needs besides. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import { Client } from '../../../semantics/client.ts';
import { ok } from '../../../semantics/fixture.ts';

interface Schema {
  readonly description?: string;
  readonly allOf?: readonly { readonly $ref: string }[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly 'x-kubernetes-group-version-kind'?: readonly object[];
}

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly requestBody?: { readonly content: object } }>>>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

describe('a document of OpenAPI', () => {
  let server: EmbeddedApiServer;
  let client: Client;

  before(async () => {
    server = await startEmbeddedApiServer({ isolation: 'none', tls: false, token: '' });
    client = new Client({ url: server.url, token: '', ca: '' });
    const spec = { type: 'object', description: 'The wish.', properties: { size: { type: 'integer' } } };
    const openAPIV3Schema = { type: 'object', description: 'A thing.', properties: { spec } };
    const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } };
    const names = { plural: 'foos', kind: 'Foo' };
    const body = { group: 'example.com', scope: 'Namespaced', names, versions: [version] };
    const definition = { metadata: { name: 'foos.example.com' }, spec: body };
    ok(await client.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition));
  });
  after(() => server.close());

  const documentOf = async (prefix: string): Promise<Document> =>
    ok(await client.get(`/openapi/v3/${prefix}`)) as unknown as Document;

  it('exists for each group and version', async () => {
    const { paths } = ok(await client.get('/openapi/v3')) as unknown as Document;
    for (const prefix of ['api/v1', 'apis/apps/v1', 'apis/example.com/v1', 'apis/autoscaling/v1'])
      assert.ok(paths[prefix], prefix);
    assert.equal((await client.get('/openapi/v3/apis/absent/v1')).status, 404);
  });

  it('contains every schema to which a schema refers, and none of the rules of the table', async () => {
    const document = await documentOf('apis/apps/v1');
    const text = JSON.stringify(document);
    for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g))
      assert.ok(document.components.schemas[name], name);
    assert.doesNotMatch(text, /"(?:go|omitempty|refused|absent|number)":/);
    const kinds = document.components.schemas['apps.v1.Deployment']?.['x-kubernetes-group-version-kind'];
    assert.deepEqual(kinds, [{ group: 'apps', version: 'v1', kind: 'Deployment' }]);
  });

  it('names the patches that a resource accepts', async () => {
    const typesAt = async (prefix: string, path: string): Promise<string[]> =>
      Object.keys((await documentOf(prefix)).paths[path]?.['patch']?.requestBody?.content ?? {});
    const strategic = 'application/strategic-merge-patch+json';
    const built = await typesAt('api/v1', '/api/v1/namespaces/{namespace}/pods/{name}');
    assert.ok(built.includes(strategic));
    const custom = await typesAt(
      'apis/example.com/v1',
      '/apis/example.com/v1/namespaces/{namespace}/foos/{name}',
    );
    assert.deepEqual([custom.length, custom.includes(strategic)], [3, false]);
  });

  it('describes a custom kind as its definition does, and the fields of every object', async () => {
    const { Foo } = Object.fromEntries(
      Object.entries((await documentOf('apis/example.com/v1')).components.schemas).map(([name, schema]) => [
        name.split('.').at(-1) ?? '',
        schema,
      ]),
    );
    assert.deepEqual([Foo?.description, Foo?.properties?.['spec']?.description], ['A thing.', 'The wish.']);
    assert.match(Foo?.properties?.['kind']?.description ?? '', /REST resource/);
    assert.match(Foo?.properties?.['metadata']?.allOf?.[0]?.$ref ?? '', /ObjectMeta$/);
  });
});

describe('a review of the caller', () => {
  it('tells who the caller is, and that the caller may do everything', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none', tls: false, token: '' });
    const client = new Client({ url: server.url, token: '', ca: '' });
    const statusOf = async (path: string): Promise<string> =>
      JSON.stringify(ok(await client.post(`/apis/${path}`, { spec: {} })).status);
    assert.match(await statusOf('authentication.k8s.io/v1/selfsubjectreviews'), /"username":"admin"/);
    assert.match(await statusOf('authorization.k8s.io/v1/selfsubjectrulesreviews'), /"resources":\["\*"\]/);
    assert.match(await statusOf('authorization.k8s.io/v1/selfsubjectaccessreviews'), /"allowed":true/);
  });
});

describe('an autoscaler', () => {
  it('has two versions, of which the first has a target for the use of CPU', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none', tls: false, token: '' });
    const client = new Client({ url: server.url, token: '', ca: '' });
    const path = (version: number, name = ''): string =>
      `/apis/autoscaling/v${version}/namespaces/default/horizontalpodautoscalers${name}`;
    const scaleTargetRef = { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' };
    const spec = { scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage: 70 };
    const created = ok(await client.post(path(1), { metadata: { name: 'a' }, spec }));
    assert.deepEqual(created.spec, { ...spec, minReplicas: 1 });
    const second = ok(await client.get(path(2, '/a')));
    const target = { type: 'Utilization', averageUtilization: 70 };
    const metrics = [{ type: 'Resource', resource: { name: 'cpu', target } }];
    assert.deepEqual(second.spec, { scaleTargetRef, maxReplicas: 3, minReplicas: 1, metrics });
    ok(await client.mergePatch(path(1, '/a'), { spec: { targetCPUUtilizationPercentage: 50 } }));
    assert.match(JSON.stringify(ok(await client.get(path(2, '/a'))).spec), /"averageUtilization":50/);
    const first = await client.get('/apis/autoscaling');
    assert.match(first.text, /"preferredVersion":\{"groupVersion":"autoscaling\/v2"/);
    ok(await client.delete(path(1, '/a')));
    assert.equal((await client.get(path(2, '/a'))).status, 404);
  });
});
