/** The requests of writes: paths, media types, parameters, bodies; and what the client refuses to send. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KubeStatusError } from '../../../../src/controller/index.ts';
import { resources } from '../../../../src/index.ts';
import { RecordingServer, status } from './recording-server.ts';

const { deployments } = resources.apps.v1;
const { configMaps, pods, nodes, serviceAccounts } = resources.core.v1;
const KEY = 'default/web';
const PATH = '/apis/apps/v1/namespaces/default/deployments/web';
const STORED = { body: { kind: 'Deployment', metadata: { name: 'web', resourceVersion: '7' } } };
const WEB = { metadata: { name: 'web', namespace: 'default' }, spec: { replicas: 3 } };

describe('apply', () => {
  it('C380 is a PATCH of the apply media type with the field manager, force and the type of the object', async () => {
    await using server = await RecordingServer.start(() => STORED);
    const client = server.client();
    const answer = await client.apply(deployments, WEB, { fieldManager: 'shop', force: true });
    assert.equal(answer.metadata?.resourceVersion, '7');
    assert.deepEqual(server.last, {
      method: 'PATCH',
      path: PATH,
      query: { fieldManager: 'shop', force: 'true' },
      type: 'application/apply-patch+yaml',
      body: { ...WEB, apiVersion: 'apps/v1', kind: 'Deployment' },
    });
    await client.apply(deployments, WEB, { fieldManager: 'shop', force: false, subresource: 'status' });
    assert.deepEqual([server.last.path, server.last.query], [`${PATH}/status`, { fieldManager: 'shop' }]);
    const scale = { metadata: { name: 'web', namespace: 'default' }, spec: { replicas: 2 } };
    await client.apply(deployments, scale, { fieldManager: 'shop', subresource: 'scale' });
    assert.deepEqual(server.last.body, { ...scale, apiVersion: 'autoscaling/v1', kind: 'Scale' });
  });

  it('C380 takes the field manager of the client, and is refused without one', async () => {
    await using server = await RecordingServer.start(() => STORED);
    await assert.rejects(server.client().apply(deployments, WEB), {
      code: 'ERR_KUBELOOM_OPTION',
      message: /^an apply needs a fieldManager: pass it here, or once in the options of the client/,
    });
    assert.equal(server.requests.length, 0);
    const client = server.client({ fieldManager: 'shop' });
    await client.observed(() => undefined).apply(deployments, WEB);
    assert.deepEqual(server.last.query, { fieldManager: 'shop' });
    await client.apply(deployments, WEB, { fieldManager: 'other' });
    assert.deepEqual(server.last.query, { fieldManager: 'other' });
    await client.update(deployments, { ...WEB, spec: undefined } as never);
    assert.deepEqual(server.last.query, { fieldManager: 'shop' });
  });

  it('C381 has conflicts with a code, and names fields and managers', async () => {
    const replicas = '.spec.replicas';
    const image = '.spec.template.spec.containers[name="app"].image';
    const details = {
      causes: [
        [replicas, 'conflict with "kubectl" using apps/v1 at 2026-01-02T03:04:05Z'],
        [image, 'conflict with "a \\"b\\"" with subresource "scale" using apps/v1'],
      ].map(([field, message]) => ({ reason: 'FieldManagerConflict', message, field })),
    };
    const message = 'Apply failed with 2 conflicts';
    await using server = await RecordingServer.start(() => status(409, 'Conflict', { message, details }));
    const client = server.client({ fieldManager: 'shop' });
    await assert.rejects(client.apply(deployments, WEB), (error) => {
      assert.ok(error instanceof KubeStatusError);
      assert.equal(error.code, 'ERR_KUBELOOM_APPLY_CONFLICT');
      assert.deepEqual(error.conflicts, [
        { field: replicas, manager: 'kubectl', subresource: '' },
        { field: image, manager: 'a "b"', subresource: 'scale' },
      ]);
      assert.match(
        error.message,
        /409 Conflict: \.spec\.replicas is owned by "kubectl", .*\(scale\); leave these fields out of the applied object, or pass force: true/,
      );
      return true;
    });
    assert.equal(server.requests.length, 1);
  });
});

describe('writes', () => {
  it('C382 send patches of three types, each with its media type', async () => {
    await using server = await RecordingServer.start(() => STORED);
    const client = server.client();
    await client.patch(deployments, KEY, { spec: { replicas: null } });
    assert.equal(server.last.type, 'application/merge-patch+json');
    assert.deepEqual(server.last.body, { spec: { replicas: null } });
    const container = { name: 'app', image: 'app:2' };
    const containers = [container, { name: 'old', $patch: 'delete' }] as const;
    const strategic = { spec: { template: { spec: { containers } } } };
    await client.patch(deployments, KEY, strategic, { type: 'strategic' });
    assert.equal(server.last.type, 'application/strategic-merge-patch+json');
    assert.deepEqual(server.last.body, strategic);
    const operations = [
      { op: 'test', path: '/spec/replicas', value: 1 },
      { op: 'remove', path: '/spec/paused' },
    ] as const;
    await client.patch(deployments, KEY, operations, { type: 'json' });
    assert.deepEqual([server.last.type, server.last.body], ['application/json-patch+json', operations]);
  });

  it('C382 send dryRun, fieldManager and fieldValidation as parameters, a deletion in its body', async () => {
    await using server = await RecordingServer.start(() => STORED);
    const client = server.client();
    const options = { dryRun: true, fieldManager: 'shop', fieldValidation: 'Strict' } as const;
    const query = { dryRun: 'All', fieldManager: 'shop', fieldValidation: 'Strict' };
    const created = { ...WEB, spec: undefined } as never;
    await client.create(deployments, created, options);
    assert.deepEqual(server.last.query, query);
    await client.update(deployments, created, { ...options, dryRun: 'All' });
    assert.deepEqual(server.last.query, query);
    await client.updateStatus(deployments, created, options);
    assert.deepEqual(server.last.query, query);
    await client.patch(deployments, KEY, { spec: { replicas: 1 } }, options);
    assert.deepEqual(server.last.query, query);
    await client.patchStatus(deployments, KEY, { status: { replicas: 1 } }, { ...options, dryRun: false });
    assert.deepEqual(server.last.query, { fieldManager: 'shop', fieldValidation: 'Strict' });
    const preconditions = { uid: 'u', resourceVersion: '7' };
    const deletion = { propagationPolicy: 'Foreground', gracePeriodSeconds: 0 } as const;
    await client.delete(deployments, KEY, { ...deletion, ...preconditions, dryRun: true });
    const type = { kind: 'DeleteOptions', apiVersion: 'v1' };
    assert.deepEqual(server.last.body, { ...type, ...deletion, dryRun: ['All'], preconditions });
  });

  it('C383 reach subresources by name, with the body’s own type', async () => {
    await using server = await RecordingServer.start(() => ({ body: { spec: { replicas: 4 } } }));
    const client = server.client();
    const { spec } = await client.get(deployments, KEY, { subresource: 'scale' });
    assert.equal(spec?.replicas, 4);
    assert.equal(server.last.path, `${PATH}/scale`);
    const metadata = { name: 'web', namespace: 'default' };
    await client.update(deployments, { metadata, spec: { replicas: 5 } }, { subresource: 'scale' });
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata, spec: { replicas: 5 } };
    assert.deepEqual(server.last.body, scale);
    await client.patch(deployments, KEY, { spec: { replicas: 6 } }, { subresource: 'scale' });
    assert.deepEqual([server.last.method, server.last.path], ['PATCH', `${PATH}/scale`]);
    const podPath = '/api/v1/namespaces/default/pods/web';
    await client.create(pods, { metadata }, { subresource: 'eviction' });
    assert.deepEqual([server.last.method, server.last.path], ['POST', `${podPath}/eviction`]);
    assert.deepEqual(server.last.body, { apiVersion: 'policy/v1', kind: 'Eviction', metadata });
    await client.create(pods, { metadata, target: { kind: 'Node', name: 'n' } }, { subresource: 'binding' });
    assert.equal(server.last.path, `${podPath}/binding`);
    await client.create(serviceAccounts, { metadata, spec: { audiences: ['a'] } }, { subresource: 'token' });
    const type = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' };
    assert.deepEqual(server.last.body, { ...type, metadata, spec: { audiences: ['a'] } });
    const resize = { subresource: 'resize', type: 'strategic' } as const;
    await client.patch(pods, KEY, { spec: { containers: [{ name: 'app' }] } }, resize);
    assert.equal(server.last.path, `${podPath}/resize`);
  });

  it('C384 delete a collection by selectors in a namespace, never by shard, and never fenced', async () => {
    await using server = await RecordingServer.start(() => ({ body: { kind: 'Status', status: 'Success' } }));
    const client = server.client();
    await client.deleteCollection(configMaps, {
      namespace: 'shop',
      labelSelector: 'app=a b'.replace(' b', ''),
      fieldSelector: 'metadata.name!=keep',
      propagationPolicy: 'Background',
      dryRun: true,
    });
    const { method, path, query, body } = server.last;
    assert.deepEqual([method, path], ['DELETE', '/api/v1/namespaces/shop/configmaps']);
    assert.deepEqual(query, { labelSelector: 'app=a', fieldSelector: 'metadata.name!=keep' });
    assert.deepEqual(body, {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      propagationPolicy: 'Background',
      dryRun: ['All'],
      preconditions: {},
    });
    await client.deleteCollection(nodes);
    assert.equal(server.last.path, '/api/v1/nodes');
    const sent = server.requests.length;
    const shard = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')";
    const sharded = { namespace: 'shop', shardSelector: shard } as object;
    const fenced = client.fenced(new AbortController().signal);
    for (const [call, message] of [
      [() => client.deleteCollection(configMaps, sharded), /shardSelector/],
      [() => client.deleteCollection(configMaps), /needs a namespace/],
      [() => client.deleteCollection(nodes, { namespace: 'shop' }), /have no namespace/],
      [() => fenced.deleteCollection(nodes), /no precondition/],
    ] as const) {
      await assert.rejects(call, { code: 'ERR_KUBELOOM_OPTION', message });
    }
    assert.equal(server.requests.length, sent);
  });

  it('C232 of a fenced client need a version in an apply, a test of a JSON patch or the options of an eviction', async () => {
    await using server = await RecordingServer.start(() => STORED);
    const fenced = server.client({ fieldManager: 'shop' }).fenced(new AbortController().signal);
    const bare = { code: 'ERR_KUBELOOM_OPTION', message: /no precondition/ };
    const metadata = { name: 'web', namespace: 'default' };
    const test = { op: 'test', path: '/metadata/resourceVersion' } as const;
    const change = { op: 'replace', path: '/spec/replicas', value: 1 } as const;
    await assert.rejects(fenced.apply(deployments, WEB), bare);
    await assert.rejects(fenced.patch(deployments, KEY, [change], { type: 'json' }), bare);
    const zero = [{ ...test, value: '0' }, change];
    await assert.rejects(fenced.patch(deployments, KEY, zero, { type: 'json' }), bare);
    await assert.rejects(fenced.patch(deployments, KEY, { spec: {} }, { type: 'strategic' }), bare);
    await assert.rejects(fenced.create(pods, { metadata }, { subresource: 'eviction' }), bare);
    assert.equal(server.requests.length, 0);
    await fenced.apply(deployments, { ...WEB, metadata: { ...metadata, resourceVersion: '7' } });
    await fenced.patch(deployments, KEY, [{ ...test, value: '7' }, change], { type: 'json' });
    const deleteOptions = { preconditions: { resourceVersion: '7' } };
    await fenced.create(pods, { metadata, deleteOptions }, { subresource: 'eviction' });
    assert.equal(server.requests.length, 3);
  });

  it('report no dry run to a listener: no cache will have it', async () => {
    await using server = await RecordingServer.start(() => STORED);
    const written: string[] = [];
    const client = server.client().observed(({ resource }) => written.push(resource));
    await client.patch(deployments, KEY, { spec: { replicas: 1 } }, { dryRun: true });
    await client.delete(deployments, KEY, { dryRun: true });
    assert.deepEqual(written, []);
    await client.patch(deployments, KEY, { spec: { replicas: 1 } });
    assert.deepEqual(written, ['deployments']);
  });
});
