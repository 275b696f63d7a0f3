/** The client of objects against a real kube-apiserver: the parts of a cluster that the embedded apiserver does not have. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { ObjectClient, applied } from '../../src/controller/index.ts';
import { resources } from '../../src/index.ts';
import { clusterOfTests } from './control-plane.ts';

const { deployments } = resources.apps.v1;
const { configMaps, pods, serviceAccounts, namespaces } = resources.core.v1;
const NAMESPACE = 'object-client';

describe('the client of objects and a real apiserver', () => {
  const cluster = clusterOfTests();
  let client: ObjectClient;
  const warnings: string[] = [];

  before(async () => {
    const { kubeConfig } = cluster();
    const onWarning = (text: string): unknown => warnings.push(text);
    client = new ObjectClient(kubeConfig, { fieldManager: 'kubeloom', onWarning });
    await client.create(namespaces, { metadata: { name: NAMESPACE } });
  });

  const metadata = (name: string): { readonly name: string; readonly namespace: string } => ({
    name,
    namespace: NAMESPACE,
  });

  test('reads and writes subresources, by their own types', async () => {
    const key = `${NAMESPACE}/web`;
    const labels = { app: 'web' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:1' }] } };
    const spec = { selector: { matchLabels: labels }, template };
    await client.create(deployments, { metadata: metadata('web'), spec });
    const scale = await client.get(deployments, key, { subresource: 'scale' });
    assert.equal(scale.kind, 'Scale');
    const scaled = await client.update(
      deployments,
      { ...scale, spec: { replicas: 7 } },
      { subresource: 'scale' },
    );
    assert.equal(scaled.spec?.replicas, 7);
    await client.patch(deployments, key, { spec: { replicas: 1 } }, { subresource: 'scale' });
    assert.equal((await client.get(deployments, key)).spec?.replicas, 1);
    const status = { metadata: metadata('web'), status: { observedGeneration: 1 } };
    await client.apply(deployments, status, { subresource: 'status', fieldManager: 'kubeloom-status' });
    const stored = await client.get(deployments, key, { subresource: 'status' });
    assert.equal(stored.status?.observedGeneration, 1);
    assert.equal(applied(status, stored, { subresource: 'status', fieldManager: 'kubeloom-status' }), true);
    await client.create(serviceAccounts, { metadata: metadata('robot') });
    const token = { metadata: metadata('robot'), spec: { audiences: ['a'], expirationSeconds: 600 } };
    const requested = await client.create(serviceAccounts, token, { subresource: 'token' });
    assert.ok(requested.status?.token);
    const podSpec = { containers: [{ name: 'app', image: 'app:1' }], serviceAccountName: 'robot' };
    await client.create(pods, { metadata: metadata('doomed'), spec: podSpec });
    const target = { apiVersion: 'v1', kind: 'Node', name: 'nowhere' };
    await client.create(pods, { metadata: metadata('doomed'), target }, { subresource: 'binding' });
    assert.equal((await client.get(pods, `${NAMESPACE}/doomed`)).spec?.nodeName, 'nowhere');
    const deleteOptions = { gracePeriodSeconds: 0 };
    await client.create(pods, { metadata: metadata('doomed'), deleteOptions }, { subresource: 'eviction' });
    await assert.rejects(client.get(pods, `${NAMESPACE}/doomed`), { code: 'ERR_KUBELOOM_NOT_FOUND' });
  });

  test('validates strictly, warns, and stores nothing of a dry run', async () => {
    const unknown = { metadata: metadata('unknown'), data: { a: '1' }, typo: true } as object;
    await assert.rejects(client.create<object>(configMaps, unknown, { fieldValidation: 'Strict' }), {
      code: 'ERR_KUBELOOM_BAD_REQUEST',
      message: /unknown field "typo"/,
    });
    await client.create<object>(configMaps, unknown, { fieldValidation: 'Warn', dryRun: true });
    assert.ok(
      warnings.some((text) => text === 'unknown field "typo"'),
      warnings.join('\n'),
    );
    await assert.rejects(client.get(configMaps, `${NAMESPACE}/unknown`), { code: 'ERR_KUBELOOM_NOT_FOUND' });
  });
});
