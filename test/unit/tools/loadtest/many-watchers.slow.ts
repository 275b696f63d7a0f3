/** A load test with hundreds of raw watchers, beside informers of kubeloom and of client-node. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LoadTestResult } from '../../../../src/tools/loadtest/result.ts';
import { runCommand, startScene } from '../cli/command.ts';

const WORKLOAD = `objects: [{ kind: ConfigMap, count: 100, size: 200B, labels: { app: [web, db] } }]
watchers:
  - { name: raw, client: raw, count: 300 }
  - { name: web, client: raw, count: 20, selector: app=web, list: list }
  - { name: cut, client: raw, count: 20, reconnect: { every: 500ms }, list: pages }
  - { name: slow, client: raw, count: 5, slow: { socket: 20KiB } }
  - { name: node, client: client-node, count: 2 }
  - { name: informer, count: 2 }
phases:
  - create: { rate: 200 }
  - sync: {}
  - steady: { for: 3s, rate: 50 }
  - relist-storm: { for: 1s, every: 1s, rate: 30, watchers: [web, node] }
`;

async function run(workload: string, ...flags: readonly string[]): Promise<LoadTestResult> {
  await using scene = await startScene();
  const file = scene.folder.write('workload.yaml', workload);
  const args = ['loadtest', file, '--kubeconfig', scene.kubeconfig, '--yes', '--json', ...flags];
  const { stdout, stderr } = await runCommand(args);
  assert.ok(stdout !== '', stderr);
  return JSON.parse(stdout) as LoadTestResult;
}

/** Names of watchers that did not receive everything once and in order. */
function wrong({ watchers }: LoadTestResult): string[] {
  return watchers
    .filter(({ verdict: { lost, duplicated, reordered }, cacheEqualsList }) => {
      return lost + duplicated + reordered > 0 || cacheEqualsList === false;
    })
    .map(({ name, verdict }) => `${name}: ${verdict.findings.join('; ')}`);
}

describe('a load test with many watchers', () => {
  it('judges each of them, whatever its client is', async () => {
    const result = await run(WORKLOAD);
    assert.deepEqual(wrong(result), []);
    const of = (group: string): LoadTestResult['watchers'] =>
      result.watchers.filter((watcher) => watcher.group === group);
    const changes = of('informer')[0]?.verdict.delivered;
    assert.equal(changes, 180);
    for (const { verdict, cacheEqualsList, receivedBytes } of of('raw')) {
      assert.deepEqual([verdict.delivered, verdict.initial, cacheEqualsList], [changes, 100, null]);
      assert.ok((receivedBytes ?? 0) > 0);
    }
    for (const { cutWatches, verdict } of of('cut')) {
      assert.ok(cutWatches > 0);
      assert.equal(verdict.delivered, changes);
    }
    const relists = [...of('web'), ...of('node')].map(({ relists }) => relists);
    assert.deepEqual(relists, Array(22).fill(1));
    for (const { syncs } of [...of('raw'), ...of('informer')]) assert.ok((syncs[0]?.bytes ?? 0) > 0);
    for (const { cacheEqualsList } of of('node')) assert.equal(cacheEqualsList, true);
  });

  it('replaces the client of all watchers for one run', async () => {
    const watchers = '[{ name: node, client: client-node }, { name: informer }]';
    const objects = '[{ kind: ConfigMap, count: 5 }]';
    const workload = `objects: ${objects}\nwatchers: ${watchers}\nphases: [create: {}, sync: {}]\n`;
    const result = await run(workload, '--client', 'raw');
    assert.deepEqual(wrong(result), []);
    const clients = result.watchers.map(({ client }) => client);
    assert.deepEqual(clients, ['raw', 'raw']);
  });
});
