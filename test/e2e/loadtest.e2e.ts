/** `kubeloom loadtest` against a real kube-apiserver and etcd; kind differs by its kubeconfig only. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ApiextensionsV1Api, CoordinationV1Api, CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import type { V1ObjectMeta } from '@kubernetes/client-node';
import { parse, stringify } from 'yaml';
import type { LoadTestResult } from '../../src/tools/loadtest/result.ts';
import { PRESETS, presetText } from '../../src/tools/loadtest/workload/presets.ts';
import type { Preset } from '../../src/tools/loadtest/workload/presets.ts';
import { seededRandom } from '../../src/tools/apiserver/testing/index.ts';
import { EditingProxy } from '../kit/editing-proxy.ts';
import { ROOT } from '../unit/docs/documents.ts';
import { TemporaryFolder } from '../kit/temporary-folder.ts';
import { CommandRun, runCommand } from '../unit/tools/cli/command.ts';
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
  - steady: { for: 6s, rate: 100, mix: { create: 10, update: 60, status: 20, delete: 10 } }
  - relist-storm: { for: 3s, every: 2s, watchers: [config maps, widgets], rate: 100 }
thresholds: [lost == 0]
`;
const WIDGETS = `objects: [{ kind: Widget, count: 20 }, { kind: ConfigMap, count: 20 }]
watchers: [{ name: widgets, of: Widget }, { name: config maps, of: ConfigMap }]
phases: [create: {}, sync: {}, steady: { for: 2s, rate: 40 }]
`;
/** Goes on until it is interrupted, on a machine of any speed. */
const WIDGETS_FOR_LONG = WIDGETS.replace('for: 2s', 'for: 1h');
const ONE_WATCHER = `objects: [{ kind: ConfigMap, count: 5 }]
watchers: [{ name: watcher }]
phases: [create: {}, sync: {}, steady: { for: 1s, rate: 60, mix: { update: 1 } }]
`;
/** A closed loop without a rate: no machine is too slow for it. */
const UNPACED = `objects: [{ kind: ConfigMap, count: 60 }]
watchers: [{ name: watcher }]
phases: [create: {}, sync: {}]
`;
/** Requests of the preparation, of 40 creations, of lists, and of some 80 writes. */
const WIDGET_REQUESTS = 130;
const INTERRUPTIONS = 5;
/** Runs at the same time: most of a run is waiting. */
const AT_ONCE = { concurrency: 3 };
const MANAGED = 'app.kubernetes.io/managed-by=kubeloom-loadtest';
const RUN_LABEL = 'loadtest.kubeloom.dev/run';
const OBJECTS_MAX = 200;
const WATCHERS_MAX = 4;
const RATE_MAX = 50;

interface PresetFile {
  readonly objects: { count: number }[];
  readonly watchers: { count?: number; processes?: number }[];
  readonly phases: Readonly<Record<string, { for?: string; every?: string; rate?: number | object }>>[];
  thresholds: string[];
}

/** Returns a preset with fewer objects and watchers, a low rate, and short phases. */
function small(preset: Preset): string {
  const file = parse(presetText(preset)) as PresetFile;
  for (const each of file.objects) each.count = Math.min(each.count, OBJECTS_MAX);
  for (const each of file.watchers) {
    each.count = Math.min(each.count ?? 1, WATCHERS_MAX);
    each.processes = Math.min(each.processes ?? 1, each.count);
  }
  for (const [type, body] of file.phases.flatMap((phase) => Object.entries(phase))) {
    if (body.for !== undefined) body.for = type === 'pause' ? '500ms' : '2s';
    if (body.every !== undefined) body.every = '1s';
    if (typeof body.rate === 'object') body.rate = { from: RATE_MAX / 2, to: RATE_MAX };
    else if (body.rate !== undefined) body.rate = Math.min(body.rate, RATE_MAX);
  }
  // Times depend on what runs beside it, and the server counts the watches of all runs.
  file.thresholds = ['lost == 0'];
  return stringify(file);
}

describe('kubeloom loadtest on a real apiserver', () => {
  let server: ControlPlane;
  let kubeConfig: KubeConfig;
  let api: CoreV1Api;
  let folder: TemporaryFolder;
  let files = 0;
  before(async () => {
    server = await startControlPlane();
    folder = new TemporaryFolder();
    kubeConfig = new KubeConfig();
    kubeConfig.loadFromFile(server.kubeconfigPath);
    api = kubeConfig.makeApiClient(CoreV1Api);
  });
  after(async () => {
    await folder[Symbol.asyncDispose]();
    await server.stop();
  });

  async function argumentsOf(workload: string, kubeconfig = server.kubeconfigPath): Promise<string[]> {
    const file = folder.write(`workload-${files++}.yaml`, workload);
    return ['loadtest', file, '--kubeconfig', kubeconfig];
  }

  /** Runs a workload. On a machine that is too slow for its rate the run is INVALID, and delivers all the same. */
  async function delivers(workload: string): Promise<LoadTestResult> {
    const { exitCode, stdout, stderr } = await runCommand([...(await argumentsOf(workload)), '--json']);
    assert.ok(exitCode === 0 || exitCode === 2, stderr);
    const result = JSON.parse(stdout) as LoadTestResult;
    assert.equal(result.conclusion.kind, exitCode === 0 ? 'PASS' : 'INVALID');
    console.log(`loadtest: ${[result.conclusion.kind, ...result.conclusion.reasons].join('; ')}`);
    await assertDelivered(result);
    return result;
  }

  async function assertDelivered(result: LoadTestResult): Promise<void> {
    const { writes, watchers } = result;
    assert.equal(writes.refused + writes.unanswered, 0);
    for (const { name, verdict, cacheEqualsList } of watchers) {
      const { lost, duplicated, reordered, findings } = verdict;
      assert.equal(lost + duplicated + reordered, 0, `${name}: ${findings.join('; ')}`);
      assert.notEqual(cacheEqualsList, false, name);
    }
    await assertNothingLeft(result);
  }

  /** Returns the metadata of everything with this label. */
  async function left(labelSelector: string): Promise<(V1ObjectMeta | undefined)[]> {
    const selected = { labelSelector };
    const lists = await Promise.all([
      api.listNamespace(selected),
      api.listConfigMapForAllNamespaces(selected),
      api.listPodForAllNamespaces(selected),
      kubeConfig.makeApiClient(CoordinationV1Api).listLeaseForAllNamespaces(selected),
      kubeConfig.makeApiClient(ApiextensionsV1Api).listCustomResourceDefinition(selected),
    ]);
    // No namespace controller runs here: a namespace stays until one finishes what was asked for.
    const items = lists.flatMap(({ items }) => items.map(({ metadata }) => metadata));
    return items.filter((metadata) => metadata?.deletionTimestamp === undefined);
  }

  async function assertNothingLeft({ run, leftovers }: LoadTestResult): Promise<void> {
    const [, identifier] = /^kubeloom-loadtest-([0-9a-f]{8})-/.exec(run.namespaces[0] ?? '') ?? [];
    assert.deepEqual([leftovers, await left(`${RUN_LABEL}=${identifier}`)], [[], []]);
  }

  async function proxied(proxy: EditingProxy, workload: string): Promise<string[]> {
    return argumentsOf(workload, folder.write(`proxied-${files++}`, proxy.kubeConfig));
  }

  describe('beside other runs', AT_ONCE, () => {
    for (const preset of PRESETS) {
      it(`runs and judges a small ${preset}`, async () => {
        const args = [...(await argumentsOf(small(preset))), '--json'];
        const { exitCode, stdout, stderr } = await runCommand(args);
        // Beside other runs a part may be late, which makes a run INVALID and its deliveries no less right.
        assert.ok(exitCode === 0 || exitCode === 2, stderr);
        await assertDelivered(JSON.parse(stdout) as LoadTestResult);
      });
    }

    it('needs no other right than those of docs/loadtest/rbac.yaml', async () => {
      const kubeconfig = folder.write('limited', await limitedKubeConfig(server));
      const run = await runCommand([...(await argumentsOf(WIDGETS, kubeconfig)), '--yes', '--json']);
      assert.ok(run.exitCode === 0 || run.exitCode === 2, run.stderr);
      const result = JSON.parse(run.stdout) as LoadTestResult;
      assert.equal(result.writes.refused, 0);
      assert.ok(result.serverMetrics.length > 0);
      assert.doesNotMatch(run.stderr, /FORBIDDEN/);
      await assertNothingLeft(result);
    });

    it('exits with 3 when only a threshold is missed', async () => {
      const workload = await argumentsOf(`${UNPACED}thresholds: [relists >= 1]\n`);
      const { exitCode, stdout } = await runCommand(workload);
      assert.equal(exitCode, 3, stdout);
      assert.match(stdout, /\nTHRESHOLD:\n {2}relists >= 1: it was 0\n/);
    });

    const random = seededRandom(23);
    for (let moment = 0; moment < INTERRUPTIONS; moment++) {
      // One moment in each fifth of the run: a few requests prepare it, then 40 creations, 80 writes, and lists.
      const at = Math.floor(((moment + random()) / INTERRUPTIONS) * WIDGET_REQUESTS);
      it(`leaves nothing behind when it is interrupted at request ${at}`, async () => {
        await using proxy = await EditingProxy.start(server);
        await using run = new CommandRun([...(await proxied(proxy, WIDGETS_FOR_LONG)), '--json']);
        proxy.onRequest = () => {
          if (proxy.requests.length === at + 1) run.kill('SIGINT');
        };
        assert.equal(await run.exitCode, 130, run.stderr);
        const result = JSON.parse(run.stdout) as LoadTestResult;
        assert.equal(result.conclusion.kind, 'INTERRUPTED');
        await assertNothingLeft(result);
      });
    }
  });

  it('delivers a load to every watcher once, in order, and leaves nothing behind', async () => {
    const { run, watchers } = await delivers(EVERYTHING);
    assert.match(run.versions.server, /^v1\./);
    for (const { name, syncs, verdict } of watchers) {
      console.log(`loadtest: ${name}: ${JSON.stringify({ first: syncs[0], ...verdict })}`);
      assert.ok((syncs[0]?.bytes ?? 0) > 0);
    }
  });

  it('delivers 500 writes a second, or what the machine can, to 1,000 sockets and 20 informers', async () => {
    const workload = readFileSync(join(ROOT, 'docs/loadtest/thousand-watchers.yaml'), 'utf8');
    assert.match(workload, /for: 20s/);
    // A shorter time proves the deliveries as well.
    const result = await delivers(workload.replace('for: 20s', 'for: 5s'));
    assert.equal(result.watchers.length, 1020);
    const delivered = result.watchers.reduce((sum, { verdict }) => sum + verdict.delivered, 0);
    console.log(`loadtest: ${delivered} changes were delivered to ${result.watchers.length} watchers`);
  });

  it('names what a killed run left while it may be alive, and removes it when it is proved to be dead', async () => {
    {
      await using killed = new CommandRun(await argumentsOf(WIDGETS_FOR_LONG));
      await killed.until('stderr', /phase steady/);
      killed.kill('SIGKILL');
      await killed.exitCode;
    }
    const before = await left(MANAGED);
    const named = await runCommand(await argumentsOf(ONE_WATCHER));
    assert.match(
      named.stderr,
      /namespace kubeloom-loadtest-\S+ is another run's; .*kubectl --context kubeloom-e2e/,
    );
    assert.match(named.stderr, /customresourcedefinition widgets\.\S+ is another run's/);
    assert.equal((await left(MANAGED)).length, before.length);
    await makeOld();
    const { stderr } = await runCommand(await argumentsOf(ONE_WATCHER));
    assert.match(stderr, /namespace kubeloom-loadtest-\S+ of a dead run was removed/);
    assert.match(stderr, /customresourcedefinition widgets\.\S+ of a dead run was removed/);
    assert.deepEqual(await left(MANAGED), []);
  });

  /** Moves the last sign of life of every run to an hour ago. */
  async function makeOld(): Promise<void> {
    const extensions = kubeConfig.makeApiClient(ApiextensionsV1Api);
    const time = new Date(Date.now() - 3_600_000).toISOString();
    const op = 'replace';
    const body = [{ op, path: '/metadata/annotations/loadtest.kubeloom.dev~1alive-at', value: time }];
    for (const { metadata } of (await api.listNamespace({ labelSelector: MANAGED })).items) {
      if (metadata?.deletionTimestamp === undefined)
        await api.patchNamespace({ name: metadata?.name ?? '', body });
    }
    for (const { metadata } of (await extensions.listCustomResourceDefinition({ labelSelector: MANAGED }))
      .items) {
      await extensions.patchCustomResourceDefinition({ name: metadata?.name ?? '', body });
    }
  }
});
