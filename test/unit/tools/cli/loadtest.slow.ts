/** The load test as a command, against the embedded apiserver in this process. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LoadTestResult } from '../../../../src/tools/loadtest/result.ts';
import { EXIT_CODES, saturationsOf } from '../../../../src/tools/loadtest/run/conclude.ts';
import type { Change, EmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import { failRequests } from '../apiserver/fail-requests.ts';
import { TemporaryFolder } from '../../../kit/temporary-folder.ts';
import { CommandRun, runCommand, startScene } from './command.ts';
import type { CommandScene } from './command.ts';

type Run = Awaited<ReturnType<typeof runCommand>>;

function loadTest({ kubeconfig }: CommandScene, flags: string): Promise<Run> {
  return runCommand(['loadtest', '--kubeconfig', kubeconfig, ...flags.split(' ')]);
}

describe('kubeloom loadtest', () => {
  it('sends nothing to a cluster that is not known to be a throwaway one', async () => {
    await using scene = await startScene('production');
    const { exitCode, stdout, stderr } = await loadTest(scene, '--objects 5');
    assert.equal(exitCode, 1);
    assert.match(stderr, /^context production: .*127\.0\.0\.1.*\nerror: nothing was sent: /);
    assert.match(stderr, /ERR_KUBELOOM_LOADTEST_REFUSED/);
    assert.equal(stdout, '');
    assert.deepEqual(await scene.server.requests(), []);
  });

  it('passes on a kind-… context on loopback, and deletes everything it created', async () => {
    await using scene = await startScene('kind-test');
    const flags = '--objects 50 --rate 100 --duration 1 --informers 2 --seed 7 --json';
    const result = rightResult(await loadTest(scene, flags));
    assert.equal(result.run.workload.seed, 7);
    assert.equal(result.run.versions.server, 'v1.36.0-kubeloom');
    const { created, updated, deleted } = result.writes;
    assert.equal(created + updated + deleted, 150);
    const faults = { lost: 0, duplicated: 0, reordered: 0, findings: [] };
    for (const { verdict, cacheEqualsList, syncs } of result.watchers) {
      assert.deepEqual(verdict, { initial: 50, delivered: 100, covered: 0, ...faults });
      assert.deepEqual([cacheEqualsList, syncs[0]?.mode], [true, 'watchlist']);
    }
    assert.equal(result.watchers.length, 2);
    await assertNothingLeft(scene.server);
  });

  it('reports INVALID when the server refuses writes', async () => {
    await using scene = await startScene('kind-test');
    // The load updates objects with PUT, and creates them with POST.
    await failRequests(scene.server, 403, 3, { method: 'PUT' });
    const run = await loadTest(scene, '--objects 20 --rate 100 --duration 1');
    assert.equal(run.exitCode, 2, run.stderr);
    assert.match(run.stdout, /INVALID:\n.* 3 writes were refused, the first: .*403/);
  });

  it('reports INVALID when the server is too slow for the rate, and names the request for the first state', async () => {
    await using scene = await startScene('kind-test');
    const streamed = { verb: 'watch', query: { sendInitialEvents: 'true' } } as const;
    const refusal = { type: 'answer', status: 422 } as const;
    // 64 connections at 500 ms each are 128 writes a second at most.
    const hold = { type: 'hold', holdMs: 500 } as const;
    await scene.server.setFaults({
      rules: [
        { faultId: 'no streamed list', match: streamed, times: 'always', action: refusal },
        { faultId: 'slow', match: { verb: 'other' }, times: 'always', action: hold },
      ],
    });
    const run = await loadTest(scene, '--objects 50 --rate 400 --duration 0.5 --informers 1');
    assert.equal(run.exitCode, 2, run.stderr);
    assert.match(run.stdout, /^informer +list /m);
    const reasons =
      /\nINVALID:\n {2}the rate was \d.*400 were requested.*\n {2}the generator was late: p99 .*\n/;
    assert.match(run.stdout, reasons);
  });

  it('reports what was done and removes its namespace when it is interrupted', async () => {
    await using scene = await startScene('kind-test');
    const load = ['--objects', '20', '--rate', '50', '--duration', '600'];
    await using run = new CommandRun(['loadtest', '--kubeconfig', scene.kubeconfig, ...load]);
    await run.until('stderr', /phase steady/);
    run.kill('SIGTERM');
    assert.equal(await run.exitCode, 143, run.stderr);
    assert.match(run.stdout, /\nINTERRUPTED:\n/);
    await assertNothingLeft(scene.server);
  });

  it('prints a preset, which is a file that it reads', async () => {
    await using folder = new TemporaryFolder();
    const { exitCode, stdout } = await runCommand(['loadtest', 'fanout', '--print']);
    assert.equal(exitCode, 0);
    const file = folder.write('mine.yaml', stdout);
    assert.equal((await runCommand(['loadtest', file, '--print'])).stdout, stdout);
  });

  it('names the place of a mistake in a workload file, and sends nothing', async () => {
    await using folder = new TemporaryFolder();
    const file = folder.write('w.yaml', 'objects:\n  - { kind: ConfigMap, cuont: 3 }\nphases: []\n');
    const { exitCode, stderr } = await runCommand(['loadtest', file, '--yes']);
    assert.equal(exitCode, 1);
    assert.match(
      stderr,
      /w\.yaml:2:5 objects\[0\]: count is missing.*; 2:24 .*did you mean count\?.*ERR_KUBELOOM_WORKLOAD/,
    );
  });

  it('refuses flags that describe a workload beside a workload', async () => {
    const { exitCode, stderr } = await runCommand(['loadtest', 'smoke', '--rate', '3']);
    assert.equal(exitCode, 1);
    assert.match(stderr, /--rate describe a workload of their own/);
  });
});

/** Returns a result against which the speed of the machine may speak, and nothing else. */
function rightResult({ exitCode, stdout, stderr }: Run): LoadTestResult {
  assert.notEqual(stdout, '', stderr);
  const result = JSON.parse(stdout) as LoadTestResult;
  const { kind, reasons } = result.conclusion;
  if (kind !== 'THRESHOLD') assert.deepEqual(reasons, saturationsOf(result).slice(0, 10));
  assert.equal(exitCode, EXIT_CODES[kind]);
  return result;
}

async function assertNothingLeft(server: EmbeddedApiServer): Promise<void> {
  for (const resource of ['configmaps', 'leases.coordination.k8s.io', 'pods']) {
    assert.equal((await server.state(resource)).size, 0, resource);
  }
  const namespaces = [...(await server.state('namespaces')).keys()];
  const left = namespaces.filter((name) => name.includes('loadtest'));
  assert.deepEqual(left, []);
}

describe('a workload', () => {
  async function runWorkload({ folder, kubeconfig }: CommandScene, yaml: string): Promise<LoadTestResult> {
    const file = folder.write('workload.yaml', yaml);
    return rightResult(await runCommand(['loadtest', file, '--kubeconfig', kubeconfig, '--json']));
  }

  it('runs several kinds, selectors, namespaces and processes', async () => {
    await using scene = await startScene('kind-test');
    const { watchers, run } = await runWorkload(
      scene,
      `objects:
  - { kind: ConfigMap, count: 30, namespaces: 2, labels: { app: [web, db, api] } }
  - { kind: Lease, count: 10, size: 10B }
watchers:
  - { name: all, of: ConfigMap, count: 2, processes: 2 }
  - { name: web, of: ConfigMap, selector: app=web, count: 2, perNamespace: true, list: list }
  - { name: leases, of: Lease, list: pages, threads: 0 }
phases: [create: {}, sync: {}, steady: { for: 1s, rate: 60 }]
`,
    );
    const initial = Object.fromEntries(watchers.map(({ name, verdict }) => [name, verdict.initial]));
    assert.deepEqual(initial, { 'all 1': 30, 'all 2': 30, 'web 1': 5, 'web 2': 5, leases: 10 });
    const processes = watchers.map(({ process }) => process);
    assert.deepEqual(processes, [1, 2, 3, 3, 4]);
    assert.equal(run.namespaces.length, 2);
    await assertNothingLeft(scene.server);
  });

  it('counts the changes that a relist storm combines as covered, and none as lost', async () => {
    await using scene = await startScene('kind-test');
    const { watchers, marks } = await runWorkload(
      scene,
      `objects: [{ kind: ConfigMap, count: 40 }]
watchers: [{ name: informers, count: 2 }, { name: bystander }]
phases:
  - create: {}
  - sync: {}
  - relist-storm: { for: 2s, every: 1s, rate: 50, watchers: [informers], mix: { create: 3, update: 4, delete: 3 } }
`,
    );
    const [one, , bystander] = watchers;
    assert.equal(one?.relists, 2);
    const causes = one?.syncs.map(({ cause }) => cause);
    assert.deepEqual(causes, ['start', 'storm', 'storm']);
    assert.equal((one?.verdict.delivered ?? 0) + (one?.verdict.covered ?? 0) >= 100, true);
    assert.deepEqual([bystander?.relists, bystander?.verdict.delivered], [0, 100]);
    assert.equal(marks.filter(({ type }) => type === 'fault').length, 2);
  });

  it('slows handlers and sockets for a phase, and drops connections on a schedule', async () => {
    await using scene = await startScene('kind-test');
    const { watchers, thresholds, conclusion } = await runWorkload(
      scene,
      `objects: [{ kind: ConfigMap, count: 20 }]
watchers: [{ name: handlers }, { name: sockets }, { name: dropped, reconnect: { every: 300ms } }]
phases:
  - create: {}
  - sync: {}
  - slow-consumer: { name: slow handlers, for: 1s, slow: { handler: 50ms }, watchers: [handlers], rate: 40 }
  - slow-consumer: { name: slow sockets, for: 1s, slow: { socket: 40KiB }, watchers: [sockets], rate: 40 }
thresholds:
  - answered→handler max < 1ms in slow handlers
  - lost == 0
`,
    );
    const [, sockets, dropped] = watchers;
    assert.ok((sockets?.receivedBytes ?? 0) > 40_000);
    assert.ok((dropped?.cutWatches ?? 0) > 0);
    const met = thresholds.map(({ isMet }) => isMet);
    assert.deepEqual(met, [false, true]);
    assert.ok(['THRESHOLD', 'INVALID'].includes(conclusion.kind));
  });

  it('runs pods on the fake nodes of kwok, and needs them', async () => {
    await using scene = await startScene('kind-test');
    const yaml = `objects: [{ kind: Pod, count: 10 }]
watchers: [{ name: pods }]
phases: [create: {}, sync: {}, steady: { for: 1s, rate: 30, mix: { update: 5, status: 5, delete: 2, create: 2 } }]
`;
    const file = scene.folder.write('pods.yaml', yaml);
    const refused = await runCommand(['loadtest', file, '--kubeconfig', scene.kubeconfig]);
    assert.match(refused.stderr, /Pods need fake nodes.*ERR_KUBELOOM_LOADTEST/);
    assert.equal(refused.exitCode, 1);
    const annotations = { 'kwok.x-k8s.io/node': 'fake' };
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'fake-0', annotations } };
    await scene.server.apply([{ type: 'create', resource: 'nodes', object: node }]);
    const { writes } = await runWorkload(scene, yaml);
    assert.ok(writes.statusUpdated > 0);
    await assertNothingLeft(scene.server);
  });

  it('with custom resources installs their definition, or says that the server has none, and leaves nothing behind', async () => {
    await using scene = await startScene('kind-test');
    const yaml = 'objects: [{ kind: Widget, count: 10 }]\nphases: [create: {}]\n';
    const args = ['loadtest', scene.folder.write('widgets.yaml', yaml), '--kubeconfig', scene.kubeconfig];
    assert.equal((await runCommand(args)).exitCode, 0);
    await assertNothingLeft(scene.server);
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    assert.equal((await scene.server.state('customresourcedefinitions.apiextensions.k8s.io')).size, 0);
    await failRequests(scene.server, 404, 'always', { path });
    const { exitCode, stderr } = await runCommand(args);
    assert.equal(exitCode, 1);
    assert.match(stderr, /Widgets need a server with custom resources: .*ERR_KUBELOOM_LOADTEST/);
    await assertNothingLeft(scene.server);
  });

  it('removes the leftovers of a dead run, and only names the objects of other or living runs', async () => {
    await using scene = await startScene('kind-test');
    const annotationsOf = (aliveMs: number): object => ({
      'loadtest.kubeloom.dev/owner': 'another-machine 4711',
      'loadtest.kubeloom.dev/alive-at': new Date(aliveMs).toISOString(),
    });
    const namespaceOf = (name: string, run: string, annotations: object): Change => {
      const labels = {
        'app.kubernetes.io/managed-by': 'kubeloom-loadtest',
        'loadtest.kubeloom.dev/run': run,
      };
      const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels, annotations } };
      return { type: 'create', resource: 'namespaces', object };
    };
    await scene.server.apply([
      namespaceOf('kubeloom-loadtest-00000001-1', '00000001', annotationsOf(0)),
      namespaceOf('kubeloom-loadtest-00000002-1', '00000002', annotationsOf(Date.now())),
      namespaceOf('kubeloom-loadtest-00000003-1', '00000003', {}),
      namespaceOf('production', '00000001', annotationsOf(0)),
      namespaceOf('kubeloom-loadtest-00000004-1', '00000004', annotationsOf(0)),
    ]);
    const { stderr } = await loadTest(scene, '--objects 5 --rate 20 --duration 0.2 --informers 1');
    assert.match(stderr, /namespace kubeloom-loadtest-00000004-1 of a dead run was removed/);
    assert.match(
      stderr,
      /00000002-1 is another run's; when that has ended: kubectl --context kind-test delete/,
    );
    const left = [...(await scene.server.state('namespaces')).keys()].filter((name) =>
      /loadtest|production/.test(name),
    );
    const living = ['kubeloom-loadtest-00000002-1', 'kubeloom-loadtest-00000003-1'];
    // Run 1 has a namespace whose name is not a run's, so nothing proves what it is.
    assert.deepEqual(left.toSorted(), ['kubeloom-loadtest-00000001-1', ...living, 'production']);
  });

  it('that restarts the server is refused without permission', async () => {
    await using scene = await startScene('kind-test');
    const yaml = `objects: [{ kind: ConfigMap, count: 5 }]
phases: [create: {}, server-restart: { for: 200ms, command: ['false'] }]
`;
    const file = scene.folder.write('restart.yaml', yaml);
    const args = ['loadtest', file, '--kubeconfig', scene.kubeconfig];
    const refused = await runCommand(args);
    assert.match(refused.stderr, /restarts the server; add --allow-restart.*ERR_KUBELOOM_LOADTEST_REFUSED/);
    const allowed = await runCommand([...args, '--allow-restart']);
    assert.equal(allowed.exitCode, 1);
    assert.match(allowed.stderr, /false/);
    await assertNothingLeft(scene.server);
  });
});
