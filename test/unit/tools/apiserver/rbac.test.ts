/** `rbac()`: the Role and ClusterRole that the requests so far need. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { EventRecorder, LeaderElector, Manager, ObjectClient } from '../../../../src/controller/index.ts';
import { resources } from '../../../../src/index.ts';
import { settled, startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import { Rights } from '../../../../src/tools/apiserver/wire/rights.ts';
import { call } from './http.ts';

const { deployments } = resources.apps.v1;
const { configMaps, secrets, services } = resources.core.v1;

interface Role {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

/** `Role/default: apps deployments get list` for each rule. */
async function rulesOf(server: EmbeddedApiServer, options = {}): Promise<string[]> {
  const roles = parseAllDocuments(await server.rbac(options)).map((document) => document.toJS() as Role);
  return roles.flatMap(({ kind, metadata, rules }) =>
    rules.map(({ apiGroups: [group], resources: names, verbs }) => {
      const where = metadata.namespace === undefined ? kind : `${kind}/${metadata.namespace}`;
      return `${where}: ${group} ${names.join(',')} ${verbs.join(' ')}`;
    }),
  );
}

describe('rbac()', () => {
  it('returns the roles of a manager that leads, watches, writes a status and applies objects', async () => {
    await using server = await startEmbeddedApiServer();
    await server.apply([
      { type: 'create', resource: 'namespaces', object: { metadata: { name: 'system' } } },
      { type: 'create', resource: 'deployments.apps', object: deployment() },
    ]);
    const manager = new Manager(server.connection);
    const lease = { client: manager.client, namespace: 'system', name: 'web' };
    const elected = new Manager(server.connection, { leaderElector: new LeaderElector(lease) });
    elected
      .controllerFor(deployments)
      .owns(configMaps)
      .reconcile(async (key, { client }) => {
        const object = { metadata: { name: 'web', namespace: 'default' }, data: { a: 'b' } };
        await client.apply(configMaps, object, { fieldManager: 'web' });
        await client.patch(deployments, key, { status: { replicas: 1 } }, { subresource: 'status' });
      });
    const stop = new AbortController();
    const running = elected.run({ signal: stop.signal });
    await settled(elected);
    stop.abort();
    await running;
    await manager.cache.shutdown();
    assert.equal(
      await server.rbac({ name: 'web', namespaces: ['system'] }),
      `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: web
rules:
  - apiGroups: [""]
    resources: [configmaps]
    verbs: [list, watch, create, patch]
  - apiGroups: [apps]
    resources: [deployments]
    verbs: [list, watch]
  - apiGroups: [apps]
    resources: [deployments/status]
    verbs: [patch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: web
  namespace: system
rules:
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    verbs: [get, create, update]
`,
    );
  });

  it('C482 has the rights of a program that watches all namespaces in all namespaces, and no right of the test', async () => {
    await using server = await startEmbeddedApiServer();
    const test = new ObjectClient(server.admin);
    const secret = await test.create(secrets, { metadata: { namespace: 'default', name: 'a' } });
    const uid = secret.metadata?.uid ?? '';
    const own = new ObjectClient(server.connection);
    const recorder = new EventRecorder(own, { component: 'web' });
    const leaderElector = new LeaderElector({ client: own, namespace: 'kube-system', name: 'web' });
    const manager = new Manager(server.connection, { leaderElector, client: { fieldManager: 'web' } });
    manager.controllerFor(configMaps).reconcile(async (key, { client }) => {
      if (key !== 'default/a') return;
      const owner = { apiVersion: 'v1', kind: 'Secret', name: 'a', uid };
      const metadata = { namespace: 'default', name: 'b' };
      await client.apply(configMaps, {
        metadata: { ...metadata, ownerReferences: [{ ...owner, blockOwnerDeletion: true }] },
      });
      await client.apply(services, { metadata, spec: { ports: [{ port: 80 }] } });
      await client.patch(configMaps, key, { metadata: { ownerReferences: [owner] } });
      recorder.event(configMaps, { metadata }, { type: 'Normal', reason: 'Made', message: 'b' });
    });
    await test.create(configMaps, { metadata: { namespace: 'default', name: 'a' } });
    const stop = new AbortController();
    const running = manager.run({ signal: stop.signal });
    await settled(manager);
    await recorder.close();
    stop.abort();
    await running;
    const everywhere = [
      'ClusterRole:  configmaps list watch create patch delete',
      'ClusterRole:  events,services create patch',
      'ClusterRole:  secrets/finalizers update',
    ];
    const lease = 'Role/kube-system: coordination.k8s.io leases get create update';
    assert.deepEqual(await rulesOf(server), [...everywhere, lease]);
    assert.deepEqual(await rulesOf(server, { namespaces: ['kube-system', 'default'] }), [
      everywhere[0],
      'ClusterRole:  events create patch',
      'Role/default:  secrets/finalizers update',
      'Role/default:  services create patch',
      lease,
    ]);
  });

  it('has each verb as the authorizer of a cluster names it, and what an applied new object needs', async () => {
    await using server = await startEmbeddedApiServer({ tls: false, token: '', isolation: 'none' });
    const core = `${server.url}/api/v1`;
    const inDefault = `${core}/namespaces/default`;
    await call(`${core}/nodes`);
    await call(`${core}/nodes/a`);
    await call(`${inDefault}/configmaps`);
    await call(`${inDefault}/configmaps`, 'POST', { metadata: { name: 'a' } });
    await call(`${inDefault}/configmaps/a`);
    await call(`${inDefault}/configmaps/a`, 'PUT', { metadata: { name: 'a' } });
    await call(`${inDefault}/configmaps/a`, 'DELETE');
    await call(`${inDefault}/configmaps`, 'DELETE');
    await call(`${inDefault}/secrets/absent`);
    await call(`${inDefault}/pods/web/eviction`, 'POST', {});
    await call(`${inDefault}/serviceaccounts/a`, 'PATCH', {});
    await call(`${core}/namespaces/default`);
    const widgets = '/apis/example.com/v1/namespaces/default/widgets';
    for (const path of [widgets, '/api', '/apis/apps/v1', '/version', '/openapi/v2'])
      await (await fetch(`${server.url}${path}`)).text();
    const review = 'apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    await call(`${server.url}/${review}`, 'POST', {});
    const all = await rulesOf(server);
    assert.deepEqual(all, [
      'ClusterRole:  namespaces get',
      'ClusterRole:  nodes get list',
      'Role/default:  configmaps get list create update delete deletecollection',
      'Role/default:  pods/eviction create',
      'Role/default:  secrets get',
      'Role/default:  serviceaccounts patch',
      'Role/default: example.com widgets list',
    ]);
    const everywhere = await rulesOf(server, { namespaces: [] });
    assert.ok(everywhere.every((rule) => rule.startsWith('ClusterRole: ')));
    assert.ok(everywhere.includes('ClusterRole:  namespaces,secrets get'));
    await server.clearRequests();
    assert.equal(await server.rbac(), '');
  });

  it('lets a Role lack what the ClusterRole grants', async () => {
    await using server = await startEmbeddedApiServer({ tls: false, token: '' });
    await call(`${server.url}/api/v1/pods`);
    await call(`${server.url}/api/v1/namespaces/default/pods`);
    await call(`${server.url}/api/v1/namespaces/other/pods`);
    await call(`${server.url}/api/v1/namespaces/other/pods/a`);
    assert.deepEqual(await rulesOf(server), ['ClusterRole:  pods list', 'Role/other:  pods get']);
  });

  it('remembers the rights of requests that are forgotten, and quotes what YAML would read otherwise', async () => {
    const rights = new Rights();
    for (const resource of ['a', 'true', 'x: y', "it's", '1'])
      rights.add({ group: 'n', resource, namespace: '', subresource: '' }, 'list');
    const [document] = parseAllDocuments(rights.yaml({ name: '123' }));
    const { metadata, rules } = (document?.toJS() ?? {}) as Role;
    assert.deepEqual(
      [metadata.name, rules],
      ['123', [{ apiGroups: ['n'], resources: ['1', 'a', "it's", 'true', 'x: y'], verbs: ['list'] }]],
    );
    await using server = await startEmbeddedApiServer({ tls: false, token: '' });
    await call(`${server.url}/api/v1/nodes`);
    assert.deepEqual(await rulesOf(server), ['ClusterRole:  nodes list']);
  });

  it('refuses wrong options with a code', async () => {
    await using server = await startEmbeddedApiServer();
    for (const [options, message] of [
      [{ name: 1 }, /name must be text/],
      [{ namespaces: 'a' }, /namespaces must be an array of texts/],
      [{ namespace: 'a' }, /did you mean namespaces/],
    ] as const)
      await assert.rejects(server.rbac(options as never), { code: 'ERR_KUBELOOM_OPTION', message });
  });
});

function deployment(): object {
  const labels = { app: 'web' };
  return {
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web' }] } },
    },
  };
}
