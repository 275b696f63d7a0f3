/** CustomResourceDefinitions that change, and those of the control API. What a real server does as well is in test/semantics. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer, ObjectLike } from '../../../../src/tools/apiserver/testing/index.ts';
import { Client, brief } from '../../../semantics/client.ts';
import type { Body } from '../../../semantics/client.ts';
import { ok, refused } from '../../../semantics/fixture.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

interface Version {
  readonly name: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly properties?: object;
}

function definition(plural: string, kind: string, ...versions: readonly Version[]): ObjectLike {
  const spec = {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural, kind },
    versions: versions.map(({ name, served = true, storage = true, properties = {} }) => {
      const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties } } };
      return { name, served, storage, schema: { openAPIV3Schema }, subresources: { status: {} } };
    }),
  };
  return { metadata: { name: `${plural}.example.com` }, spec };
}

const size = { type: 'string' };

describe('a CustomResourceDefinition', () => {
  let server: EmbeddedApiServer;
  let client: Client;

  before(async () => {
    server = await startEmbeddedApiServer({ isolation: 'none', tls: false, token: '' });
    client = new Client({ url: server.url, token: '', ca: '' });
  });
  after(() => server.close());

  const path = (plural: string, version = 'v1', name = ''): string =>
    `/apis/example.com/${version}/namespaces/default/${plural}${name === '' ? '' : `/${name}`}`;
  /** Creates the definition, or replaces the one that exists. */
  const put = async (object: ObjectLike): Promise<void> => {
    const one = `${DEFINITIONS}/${object.metadata?.name ?? ''}`;
    const { status, body } = await client.get(one);
    const { resourceVersion } = status === 200 ? body.metadata : {};
    const metadata = { ...object.metadata, resourceVersion };
    ok(await (status === 200 ? client.put(one, { ...object, metadata }) : client.post(DEFINITIONS, object)));
  };

  const create = async (kind: string, name: string, spec: object, version = 'v1'): Promise<Body> =>
    ok(
      await client.post(path(`${kind.toLowerCase()}s`, version), {
        apiVersion: `example.com/${version}`,
        kind,
        metadata: { name },
        spec,
      }),
    );

  it('of the control API is served when apply() resolves', async () => {
    const object = definition('apples', 'Apple', { name: 'v1', properties: { size } });
    await server.apply([
      { type: 'create', resource: 'customresourcedefinitions.apiextensions.k8s.io', object },
    ]);
    assert.equal((await client.get(path('apples'))).status, 200);
    await server.apply([
      {
        type: 'create',
        resource: 'apples.example.com',
        object: { metadata: { name: 'a' }, spec: { size: 's' } } as ObjectLike,
      },
    ]);
    const invalid = { metadata: { name: 'b' }, spec: { size: 1 } } as ObjectLike;
    await assert.rejects(
      server.apply([{ type: 'create', resource: 'apples.example.com', object: invalid }]),
      {
        code: 'ERR_KUBELOOM_REJECTED',
        message: /^Apple\.example\.com "b" is invalid: spec\.size: Invalid value: "integer": /,
      },
    );
  });

  it('that has new defaults shows them in the objects that exist, whose versions stay', async () => {
    await put(definition('pears', 'Pear', { name: 'v1', properties: { size } }));
    const created = await create('Pear', 'a', {});
    await put(definition('pears', 'Pear', { name: 'v1', properties: { size: { ...size, default: 'm' } } }));
    const { spec, metadata } = ok(await client.get(path('pears', 'v1', 'a')));
    assert.deepEqual(spec, { size: 'm' });
    assert.equal(metadata.resourceVersion, created.metadata.resourceVersion);
  });

  it('can get a version, move the storage to it, and lose the old one with its watches', async () => {
    const old = { name: 'v1beta1', properties: { size } };
    await put(definition('plums', 'Plum', old));
    await create('Plum', 'a', { size: 's' }, 'v1beta1');
    const next = { name: 'v1', properties: { size, color: { type: 'string', default: 'blue' } } };
    await put(definition('plums', 'Plum', { ...old, storage: false }, next));
    const { spec } = ok(await client.get(path('plums', 'v1', 'a')));
    assert.deepEqual(spec, { size: 's', color: 'blue' });
    const { status } = ok(await client.get(`${DEFINITIONS}/plums.example.com`));
    assert.deepEqual((status as { storedVersions: string[] }).storedVersions, ['v1beta1', 'v1']);
    const stream = await client.watch(`${path('plums', 'v1beta1')}?watch=1`);
    await create('Plum', 'b', { color: 'red' });
    assert.deepEqual((await stream.take(2)).map(brief), ['ADDED a', 'ADDED b']);
    const stored = { status: { storedVersions: ['v1'] } };
    ok(await client.mergePatch(`${DEFINITIONS}/plums.example.com/status`, stored));
    await put(definition('plums', 'Plum', next));
    await stream.ended;
    assert.equal((await client.get(path('plums', 'v1beta1'))).status, 404);
    const items = ok(await client.get(path('plums'))).items;
    const colors = items.map(({ spec }) => spec?.['color']);
    assert.deepEqual(colors, ['blue', 'red']);
  });

  it('keeps its objects in a version that is stored and not served', async () => {
    const stored = { name: 'v1', served: false };
    await put(definition('limes', 'Lime', stored, { name: 'v2', storage: false, properties: { size } }));
    await create('Lime', 'a', { size: 's' }, 'v2');
    const { apiVersion, spec } = ok(await client.get(path('limes', 'v2', 'a')));
    assert.deepEqual([apiVersion, spec], ['example.com/v2', {}]);
    assert.equal((await client.get(path('limes', 'v1', 'a'))).status, 404);
  });

  it('takes over a resource that was registered without a schema, and no built-in one', async () => {
    const resource = { group: 'example.com', version: 'v1', resource: 'nuts', kind: 'Nut', namespaced: true };
    await server.registerResource({ ...resource, custom: true });
    await create('Nut', 'a', {});
    await put(definition('nuts', 'Nut', { name: 'v1', properties: { size: { ...size, default: 'm' } } }));
    assert.deepEqual(ok(await client.get(path('nuts', 'v1', 'a'))).spec, { size: 'm' });
    const { spec } = definition('leases', 'Lease', { name: 'v1' }) as { spec: object };
    const annotations = { 'api-approved.kubernetes.io': 'unapproved, a test' };
    const metadata = { name: 'leases.coordination.k8s.io', annotations };
    const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
    ok(await client.post(leases, { metadata: { name: 'a' }, spec: { holderIdentity: 'b' } }));
    ok(await client.post(DEFINITIONS, { metadata, spec: { ...spec, group: 'coordination.k8s.io' } }));
    const { status } = ok(await client.get(`${DEFINITIONS}/${metadata.name}`));
    const { conditions } = status as { conditions: { type: string; reason: string }[] };
    const approval = conditions.find(({ type }) => type === 'KubernetesAPIApprovalPolicyConformant');
    assert.equal(approval?.reason, 'UnapprovedAnnotation');
    ok(await client.delete(`${DEFINITIONS}/${metadata.name}`));
    assert.deepEqual(ok(await client.get(`${leases}/a`)).spec, { holderIdentity: 'b' });
  });

  it('that is deleted refuses new objects until the finalizers of the old ones are gone', async () => {
    await put(definition('figs', 'Fig', { name: 'v1' }));
    const metadata = { name: 'held', finalizers: ['example.com/hold'] };
    ok(await client.post(path('figs'), { apiVersion: 'example.com/v1', kind: 'Fig', metadata, spec: {} }));
    ok(await client.delete(`${DEFINITIONS}/figs.example.com`));
    const late = await client.post(path('figs'), {
      apiVersion: 'example.com/v1',
      kind: 'Fig',
      metadata: { name: 'late' },
      spec: {},
    });
    refused(late, 405, /create not allowed while custom resource definition is terminating/);
    ok(await client.mergePatch(path('figs', 'v1', 'held'), { metadata: { finalizers: null } }));
    assert.equal((await client.get(path('figs'))).status, 404);
    assert.equal((await client.get(`${DEFINITIONS}/figs.example.com`)).status, 404);
    await put(definition('figs', 'Fig', { name: 'v1' }));
    assert.deepEqual(ok(await client.get(path('figs'))).items, []);
  });

  it('with a schema that is not structural, or a pattern that Go cannot read, is refused', async () => {
    for (const [properties, expected] of [
      [{ a: {} }, /properties\[spec\]\.properties\[a\]\.type: Required value: must not be empty/],
      [{ a: { type: 'text' } }, /\.type: Unsupported value: "text": supported values: "array", /],
      [
        { a: { type: 'string', pattern: '^(?!a)' } },
        /pattern: .* but isn't: error parsing regexp: invalid or/,
      ],
      [
        { a: { type: 'object', properties: { b: size }, additionalProperties: size } },
        /additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive/,
      ],
    ] as const) {
      const answer = await client.post(DEFINITIONS, definition('bads', 'Bad', { name: 'v1', properties }));
      refused(answer, 422, expected);
    }
  });
});
