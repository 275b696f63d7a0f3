/** Realistic pods on a real kube-apiserver, and the time that the apiserver itself spent on them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { stageQuantileMs } from '../../src/tools/loadtest/run/server-stages.ts';
import { stageNotes } from '../../src/tools/loadtest/report/write-times.ts';
import type { LoadTestResult } from '../../src/tools/loadtest/result.ts';
import { TemporaryFolder } from '../kit/temporary-folder.ts';
import { runCommand } from '../unit/tools/cli/command.ts';
import { startControlPlane } from './control-plane.ts';
import type { ControlPlane } from './control-plane.ts';

const WORKLOAD = `objects: [{ kind: Pod, count: 100, shape: realistic, size: 0B }]
watchers: [{ name: lists, list: list }]
phases:
  - create: {}
  - sync: {}
  - steady: { for: 5s, rate: 20, mix: { update: 1, status: 1 } }
`;
const REQUEST = 'apiserver_request_duration_seconds';

describe('a load test with realistic pods', () => {
  let server: ControlPlane;
  let folder: TemporaryFolder;
  let result: LoadTestResult;

  before(async () => {
    server = await startControlPlane();
    folder = new TemporaryFolder();
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromFile(server.kubeconfigPath);
    const metadata = { name: 'fake-0', annotations: { 'kwok.x-k8s.io/node': 'fake' } };
    await kubeConfig.makeApiClient(CoreV1Api).createNode({ body: { metadata } });
    const file = folder.write('workload.yaml', WORKLOAD);
    const run = await runCommand(['loadtest', file, '--kubeconfig', server.kubeconfigPath, '--json']);
    // A busy machine makes a run INVALID; its writes and the server's figures are no less right.
    assert.ok(run.exitCode === 0 || run.exitCode === 2, run.stderr);
    result = JSON.parse(run.stdout) as LoadTestResult;
  });

  after(async () => {
    await folder[Symbol.asyncDispose]();
    await server.stop();
  });

  it('writes pods of about 7 KB, before their status, and every watcher receives them', () => {
    const { writes, watchers } = result;
    assert.equal(writes.refused + writes.unanswered, 0);
    assert.ok(writes.statusUpdated > 0);
    const [watcher] = watchers;
    assert.deepEqual([watcher?.verdict.lost, watcher?.cacheEqualsList], [0, true]);
    const { bytes = 0, items = 0 } = watcher?.syncs[0] ?? {};
    const size = (bytes ?? 0) / (items ?? 1);
    console.log(`loadtest: a realistic pod has ${size.toFixed(0)} bytes`);
    assert.ok(size > 6000 && size < 9000, String(size));
  });

  it('has the requests and the time in etcd of each phase, in counts that fit the writes', () => {
    const { stages, unread } = result.serverStages;
    assert.equal(unread, null);
    const countOf = (phase: string, metric: string, stage: string): number =>
      stages.find((each) => each.phase === phase && each.metric === metric && each.stage === stage)?.count ??
      0;
    const [create, , steady] = result.phases;
    assert.equal(countOf('create', REQUEST, 'POST'), create?.writes.created);
    assert.equal(
      countOf('steady', REQUEST, 'PATCH'),
      (steady?.writes.updated ?? 0) + (steady?.writes.statusUpdated ?? 0),
    );
    assert.ok(countOf('steady', 'etcd_request_duration_seconds', 'update') > 0);
    for (const each of stages) assert.ok((stageQuantileMs(each, 0.99) ?? -1) >= 0, each.metric);
  });

  it('names each histogram that this version does not offer, and no other', () => {
    const { stages, absent } = result.serverStages;
    const present = new Set(stages.map(({ metric }) => metric));
    const contradictory = absent.filter((metric) => present.has(metric));
    assert.deepEqual(contradictory, []);
    console.log(`loadtest: ${stageNotes(result).join('; ')}`);
    assert.ok(!absent.includes(REQUEST));
  });
});
