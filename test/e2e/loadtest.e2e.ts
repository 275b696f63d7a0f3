/** `kubeloom loadtest` against a real kube-apiserver and etcd; kind differs by its kubeconfig only. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ApiextensionsV1Api, CoordinationV1Api, CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import type { V1ObjectMeta } from '@kubernetes/client-node';
import { parse, stringify } from 'yaml';
import type { LoadTestResult } from '../../src/loadtest/result.ts';
import { PRESETS, presetText } from '../../src/loadtest/workload/presets.ts';
import type { Preset } from '../../src/loadtest/workload/presets.ts';
import { seededRandom } from '../../src/apiserver/testing/index.ts';
import { EditingProxy, doublingOne, droppingOne, reorderingTwo } from '../kit/editing-proxy.ts';
import type { Edit } from '../kit/editing-proxy.ts';
import { CommandRun, TemporaryFolder, runCommand } from '../unit/cli/command.ts';
import { startControlPlane } from './control-plane.ts';
import type { ControlPlane } from './control-plane.ts';
import { limitedKubeConfig } from './loadtest-account.ts';

const EVERYTHING = `objects:
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
const WIDGETS = `objects: [{ kind: Widget, count: 20 }, { kind: ConfigMap, count: 20 }]
watchers: [{ name: widgets, of: Widget }, { name: config maps, of: ConfigMap }]
phases: [create: {}, sync: {}, steady: { for: 2s, rate: 40 }]
`;
const ONE_WATCHER = `objects: [{ kind: ConfigMap, count: 5 }]
watchers: [{ name: watcher }]
phases: [create: {}, sync: {}, steady: { for: 2s, rate: 30, mix: { update: 1 } }]
`;
/** Fewer than an uninterrupted run of WIDGETS sends before it removes them. */
const WIDGET_REQUESTS = 130;
const MANAGED = { labelSelector: 'app.kubernetes.io/managed-by=kubeloom-loadtest' };
const OBJECTS_MAX = 200;
const WATCHERS_MAX = 4;
const RATE_MAX = 50;

interface PresetFile {
  readonly objects: { count: number }[];
  readonly watchers: { count?: number; processes?: number }[];
  readonly phases: Readonly<Record<string, { for?: string; every?: string; rate?: number | object }>>[];
}

/** Returns a preset with fewer objects and watchers, a low rate, and phases of seconds. */
function small(preset: Preset): string {
  const file = parse(presetText(preset)) as PresetFile;
  for (const each of file.objects) each.count = Math.min(each.count, OBJECTS_MAX);
  for (const each of file.watchers) {
    each.count = Math.min(each.count ?? 1, WATCHERS_MAX);
    each.processes = Math.min(each.processes ?? 1, each.count);
  }
  for (const [type, body] of file.phases.flatMap((phase) => Object.entries(phase))) {
    if (body.for !== undefined) body.for = type === 'pause' ? '500ms' : '3s';
    if (body.every !== undefined) body.every = '1500ms';
    if (typeof body.rate === 'object') body.rate = { from: RATE_MAX / 2, to: RATE_MAX };
    else if (body.rate !== undefined) body.rate = Math.min(body.rate, RATE_MAX);
  }
  return stringify(file);
}

describe('kubeloom loadtest on a real apiserver', () => {
  let server: ControlPlane;
  let kubeConfig: KubeConfig;
  let api: CoreV1Api;
  let folder: TemporaryFolder;
  before(async () => {
    server = await startControlPlane();
    folder = await TemporaryFolder.create();
    kubeConfig = new KubeConfig();
    kubeConfig.loadFromFile(server.kubeconfigPath);
    api = kubeConfig.makeApiClient(CoreV1Api);
  });
  after(async () => {
    await folder[Symbol.asyncDispose]();
    await server.stop();
  });

  async function argumentsOf(workload: string, kubeconfig = server.kubeconfigPath): Promise<string[]> {
    return ['loadtest', await folder.write('workload.yaml', workload), '--kubeconfig', kubeconfig];
  }

  /** Runs a workload until it says something: a machine that is busy for a moment proves nothing. */
  async function passes(workload: string): Promise<LoadTestResult> {
    for (let tries = 1; ; tries++) {
      const run = await runCommand([...(await argumentsOf(workload)), '--json']);
      if (run.exitCode === 2 && tries < 3) continue;
      assert.equal(run.exitCode, 0, run.stderr);
      const result = JSON.parse(run.stdout) as LoadTestResult;
      assert.deepEqual(result.conclusion, { kind: 'PASS', reasons: [] });
      assert.ok(result.watchers.every(({ cacheEqualsList }) => cacheEqualsList !== false));
      assert.deepEqual(result.leftovers, []);
      await assertNothingLeft();
      return result;
    }
  }

  /** Returns the metadata of everything that carries the label of load tests. */
  async function left(): Promise<(V1ObjectMeta | undefined)[]> {
    const lists = await Promise.all([
      api.listNamespace(MANAGED),
      api.listConfigMapForAllNamespaces(MANAGED),
      api.listPodForAllNamespaces(MANAGED),
      kubeConfig.makeApiClient(CoordinationV1Api).listLeaseForAllNamespaces(MANAGED),
      kubeConfig.makeApiClient(ApiextensionsV1Api).listCustomResourceDefinition(MANAGED),
    ]);
    // No namespace controller runs here: a namespace stays until one finishes what was asked for.
    const items = lists.flatMap(({ items }) => items.map(({ metadata }) => metadata));
    return items.filter((metadata) => metadata?.deletionTimestamp === undefined);
  }

  async function assertNothingLeft(): Promise<void> {
    assert.deepEqual(await left(), []);
  }

  async function startProxy(): Promise<EditingProxy> {
    const proxy = await EditingProxy.start(server);
    await folder.write('proxied', proxy.kubeConfig);
    return proxy;
  }

  it('delivers a load to every watcher once, in order, and leaves nothing behind', async () => {
    const { run, watchers } = await passes(EVERYTHING);
    assert.match(run.versions.server, /^v1\./);
    for (const { name, syncs, verdict } of watchers) {
      console.log(`loadtest: ${name}: ${JSON.stringify({ first: syncs[0], ...verdict })}`);
    }
  });

  for (const preset of PRESETS) {
    it(`passes a small ${preset}`, async () => void (await passes(small(preset))));
  }

  it('needs no other right than those of docs/loadtest/rbac.yaml', async () => {
    const kubeconfig = await folder.write('limited', await limitedKubeConfig(server));
    const run = await runCommand([...(await argumentsOf(WIDGETS, kubeconfig)), '--yes', '--json']);
    assert.ok(run.exitCode === 0 || run.exitCode === 2, run.stderr);
    const result = JSON.parse(run.stdout) as LoadTestResult;
    assert.equal(result.writes.refused, 0);
    assert.ok(result.serverMetrics.length > 0);
    assert.doesNotMatch(run.stderr, /FORBIDDEN/);
    await assertNothingLeft();
  });

  const FAULTS: readonly (readonly [fault: string, client: string, edit: () => Edit, words: RegExp])[] = [
    [
      'drops an event',
      'informer',
      droppingOne,
      /FAIL:\n {2}watcher: 59 delivered, 1 lost, 0 dup\w+, 0 reordered/,
    ],
    [
      'swaps two events',
      'informer',
      reorderingTwo,
      /FAIL:\n {2}watcher: 60 delivered, 0 lost, 0 dup\w+, 1 reordered/,
    ],
    [
      'doubles an event',
      'raw',
      doublingOne,
      /FAIL:\n {2}watcher: 60 delivered, 0 lost, 1 dup\w+, 0 reordered/,
    ],
    ['doubles an event, which an informer hides', 'informer', doublingOne, /PASS: /],
  ];
  for (const [fault, client, edit, words] of FAULTS) {
    it(`judges the watch of a client ${client} behind a proxy that ${fault}`, async () => {
      await using proxy = await startProxy();
      // The first watch is the witness's.
      proxy.editOf = (watch) => (watch === 1 ? edit() : undefined);
      const args = await argumentsOf(ONE_WATCHER, folder.file('proxied'));
      const { exitCode, stdout } = await runCommand([...args, '--client', client]);
      assert.match(stdout, words);
      assert.equal(exitCode, words.source.startsWith('PASS') ? 0 : 1);
    });
  }

  it('is INVALID when the rate is more than this machine can write', async () => {
    const load = ['--objects', '50', '--rate', '20000', '--duration', '0.2', '--informers', '1'];
    const run = await runCommand(['loadtest', '--kubeconfig', server.kubeconfigPath, ...load]);
    assert.equal(run.exitCode, 2, run.stderr);
    assert.match(
      run.stdout,
      /\nINVALID:\n {2}the rate was [\d.]+ writes a second in steady, 20000 were requested/,
    );
    await assertNothingLeft();
  });

  it('exits with 3 when only a threshold is missed', async () => {
    const workload = `${ONE_WATCHER}thresholds: [relists >= 1]\n`;
    const { exitCode, stdout } = await runCommand(await argumentsOf(workload));
    assert.equal(exitCode, 3, stdout);
    assert.match(stdout, /\nTHRESHOLD:\n {2}relists >= 1: it was 0\n/);
  });

  const random = seededRandom(23);
  const MOMENTS = [0.05 + random() / 10, 0.3 + random() / 2, 0.9 + random() / 12];
  for (const moment of MOMENTS) {
    it(`leaves nothing behind when it is interrupted ${Math.round(moment * 100)} % into its requests`, async () => {
      await using proxy = await startProxy();
      await using run = new CommandRun(await argumentsOf(WIDGETS, folder.file('proxied')));
      // Four requests prepare it, then 40 creations, about 80 writes, and the lists at its end.
      const at = Math.floor(moment * WIDGET_REQUESTS);
      proxy.onRequest = () => {
        if (proxy.requests.length === at + 1) run.kill('SIGINT');
      };
      assert.equal(await run.exitCode, 130, run.stderr);
      assert.match(run.stdout, /\nINTERRUPTED:\n/);
      await assertNothingLeft();
    });
  }

  it('names what a killed run left while it may be alive, and removes it when it is proved to be dead', async () => {
    {
      await using killed = new CommandRun(await argumentsOf(WIDGETS));
      await killed.until('stderr', /phase steady/);
      killed.kill('SIGKILL');
      await killed.exitCode;
    }
    const before = await left();
    const named = await runCommand(await argumentsOf(ONE_WATCHER));
    assert.match(
      named.stderr,
      /namespace kubeloom-loadtest-\S+ is another run's; .*kubectl --context kubeloom-e2e/,
    );
    assert.match(named.stderr, /customresourcedefinition widgets\.\S+ is another run's/);
    assert.equal((await left()).length, before.length);
    await makeOld();
    const { stderr } = await runCommand(await argumentsOf(ONE_WATCHER));
    assert.match(stderr, /namespace kubeloom-loadtest-\S+ of a dead run was removed/);
    assert.match(stderr, /customresourcedefinition widgets\.\S+ of a dead run was removed/);
    await assertNothingLeft();
  });

  /** Moves the last sign of life of every run to an hour ago. */
  async function makeOld(): Promise<void> {
    const extensions = kubeConfig.makeApiClient(ApiextensionsV1Api);
    const time = new Date(Date.now() - 3_600_000).toISOString();
    const op = 'replace';
    const body = [{ op, path: '/metadata/annotations/loadtest.kubeloom.dev~1alive-at', value: time }];
    for (const { metadata } of (await api.listNamespace(MANAGED)).items) {
      if (metadata?.deletionTimestamp === undefined)
        await api.patchNamespace({ name: metadata?.name ?? '', body });
    }
    for (const { metadata } of (await extensions.listCustomResourceDefinition(MANAGED)).items) {
      await extensions.patchCustomResourceDefinition({ name: metadata?.name ?? '', body });
    }
  }
});
