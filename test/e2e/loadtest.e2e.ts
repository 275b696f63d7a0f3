/** `kubeloom loadtest` against a real kube-apiserver and etcd; kind differs by its kubeconfig only. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import type { LoadTestResult } from '../../src/loadtest/result.ts';
import { TemporaryFolder, runCommand } from '../unit/cli/command.ts';
import { startControlPlane } from './control-plane.ts';

const WORKLOAD = `objects:
  - { kind: ConfigMap, count: 1000, namespaces: 2 }
  - { kind: Lease, count: 100, size: 10B }
  - { kind: Widget, count: 200 }
watchers:
  - { name: config maps, of: ConfigMap, count: 2, processes: 2 }
  - { name: listed, of: ConfigMap, list: list }
  - { name: paged, of: ConfigMap, list: pages }
  - { name: leases, of: Lease }
  - { name: widgets, of: Widget }
phases:
  - create: {}
  - sync: {}
  - steady: { for: 10s, rate: 100, mix: { create: 10, update: 60, status: 20, delete: 10 } }
  - relist-storm: { for: 6s, every: 3s, watchers: [config maps, widgets], rate: 100 }
thresholds: [lost == 0, terminated watches == 0]
`;

test('a load on a real apiserver reaches every watcher once, in order, and leaves nothing behind', async () => {
  await using server = await startControlPlane();
  await using folder = await TemporaryFolder.create();
  const file = await folder.write('workload.yaml', WORKLOAD);
  const run = await runCommand(['loadtest', file, '--kubeconfig', server.kubeconfigPath, '--json']);
  assert.equal(run.exitCode, 0, run.stderr);
  assert.match(run.stderr, /^context kubeloom-e2e: /);
  const result = JSON.parse(run.stdout) as LoadTestResult;
  const { watchers, run: facts, conclusion } = result;
  assert.deepEqual(conclusion, { kind: 'PASS', reasons: [] });
  assert.ok(watchers.every(({ cacheEqualsList }) => cacheEqualsList === true));
  assert.match(facts.versions.server, /^v1\./);
  for (const { name, syncs, verdict } of watchers) {
    console.log(`loadtest: ${name}: ${JSON.stringify({ first: syncs[0], ...verdict })}`);
  }
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
