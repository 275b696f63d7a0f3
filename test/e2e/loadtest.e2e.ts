/** `kubeloom loadtest` against a real kube-apiserver and etcd; kind differs by its kubeconfig only. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { runCommand } from '../unit/cli/command.ts';
import { startControlPlane } from './control-plane.ts';

test('a load on a real apiserver reaches every informer once, in order, and leaves nothing behind', async () => {
  await using server = await startControlPlane();
  const load = ['--objects', '1000', '--rate', '200', '--duration', '10', '--informers', '2', '--json'];
  const run = await runCommand(['loadtest', '--kubeconfig', server.kubeconfigPath, ...load]);
  assert.equal(run.exitCode, 0, run.stderr);
  assert.match(run.stderr, /^context kubeloom-e2e: /);
  const report = JSON.parse(run.stdout) as Record<string, unknown>;
  const { writes, delivered, lost, duplicated, reordered, storeEqualsList } = report;
  assert.deepEqual(
    { writes, delivered, lost, duplicated, reordered, storeEqualsList },
    { writes: 2000, delivered: 4000, lost: 0, duplicated: 0, reordered: 0, storeEqualsList: true },
  );
  assert.match(String(report['serverVersion']), /^v1\./);
  assert.match(String(report['listMode']), /^(LIST|WatchList)$/);
  console.log(`loadtest: ${JSON.stringify(report)}`);
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(server.kubeconfigPath);
  const api = kubeConfig.makeApiClient(CoreV1Api);
  const { items } = await api.listConfigMapForAllNamespaces({
    labelSelector: 'app.kubernetes.io/managed-by=kubeloom-loadtest',
  });
  assert.deepEqual(items, []);
  const namespaces = await api.listNamespace();
  const left = namespaces.items.filter(({ metadata }) => metadata?.name?.includes('loadtest'));
  // This control plane has no namespace controller: it stays until one finishes what was asked for.
  assert.ok(left.every(({ metadata }) => metadata?.deletionTimestamp !== undefined));
});
