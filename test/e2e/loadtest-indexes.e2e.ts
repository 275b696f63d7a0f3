/** A load test as an Indexed Job, as several processes against a real kube-apiserver. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { CoreV1Api, KubeConfig, KubernetesObjectApi } from '@kubernetes/client-node';
import type { KubernetesObject } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import type { LoadTestResult } from '../../src/tools/loadtest/result.ts';
import { EditingProxy, droppingOne } from '../kit/editing-proxy.ts';
import { TemporaryFolder } from '../kit/temporary-folder.ts';
import { CommandRun, runCommand } from '../unit/tools/cli/command.ts';
import { ROOT } from '../unit/docs/documents.ts';
import { startControlPlane } from './control-plane.ts';
import type { ControlPlane } from './control-plane.ts';
import { limitedKubeConfig } from './loadtest-account.ts';

/** A closed loop without a rate: no machine is too slow for it. */
const UNPACED = `objects: [{ kind: ConfigMap, count: 60 }]
watchers: [{ name: watchers, count: 3 }]
phases: [sync: {}, create: {}]
`;
const PACED = `objects: [{ kind: ConfigMap, count: 5 }]
watchers: [{ name: watchers, count: 3 }]
phases: [create: {}, sync: {}, steady: { for: 2s, rate: 30, mix: { update: 1 } }]
`;
const INDEXES = [0, 1, 2];
const MANAGED = { labelSelector: 'app.kubernetes.io/managed-by=kubeloom-loadtest' };

interface Collected {
  readonly exitCode: number | null;
  readonly result: LoadTestResult;
}

describe('a load test of three indexes on a real apiserver', () => {
  let server: ControlPlane;
  let folder: TemporaryFolder;
  let runs = 0;
  before(async () => {
    server = await startControlPlane();
    folder = new TemporaryFolder();
    folder.write('limited', await limitedKubeConfig(server));
    folder.write('unpaced', UNPACED);
    folder.write('paced', PACED);
  });
  after(async () => {
    await folder[Symbol.asyncDispose]();
    await server.stop();
  });

  /** @param proxied the index whose requests pass the kubeconfig `proxied` */
  function startAll(
    name: string,
    workload: 'unpaced' | 'paced',
    proxied?: number,
  ): AsyncDisposable & { readonly indexes: CommandRun[] } {
    const indexes = INDEXES.map((index) => {
      const kubeconfig = folder.file(index === proxied ? 'proxied' : 'limited');
      const args = ['loadtest', folder.file(workload), '--kubeconfig', kubeconfig, '--yes'];
      const own = ['--run', name, '--indexes', String(INDEXES.length)];
      return new CommandRun([...args, ...own], { JOB_COMPLETION_INDEX: String(index) });
    });
    return {
      indexes,
      async [Symbol.asyncDispose]() {
        for (const each of indexes) await each[Symbol.asyncDispose]();
      },
    };
  }

  async function collect(name: string): Promise<Collected> {
    const args = ['loadtest', 'collect', '--run', name, '--kubeconfig', folder.file('limited'), '--yes'];
    const { exitCode, stdout, stderr } = await runCommand([...args, '--json']);
    assert.notEqual(stdout, '', stderr);
    return { exitCode, result: JSON.parse(stdout) as LoadTestResult };
  }

  async function collected(...of: [workload: 'unpaced' | 'paced', proxied?: number]): Promise<Collected> {
    const name = `run-${++runs}`;
    await using all = startAll(name, ...of);
    const outcome = await collect(name);
    for (const each of all.indexes) assert.equal(await each.exitCode, 0, each.stderr);
    await assertNothingLeft();
    return outcome;
  }

  async function assertNothingLeft(): Promise<void> {
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromFile(server.kubeconfigPath);
    const api = kubeConfig.makeApiClient(CoreV1Api);
    const lists = [await api.listNamespace(MANAGED), await api.listConfigMapForAllNamespaces(MANAGED)];
    const left = lists.flatMap(({ items }) => items.map(({ metadata }) => metadata));
    // No namespace controller runs here.
    const kept = left.filter((metadata) => metadata?.deletionTimestamp === undefined);
    assert.deepEqual(kept, []);
  }

  it('has a Job in docs/loadtest that the server accepts', async () => {
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromFile(server.kubeconfigPath);
    const objects = KubernetesObjectApi.makeApiClient(kubeConfig);
    for (const document of parseAllDocuments(readFileSync(join(ROOT, 'docs/loadtest/job.yaml'), 'utf8'))) {
      await objects.create(document.toJS() as KubernetesObject, undefined, 'All');
    }
  });

  it('merges the shares of all indexes into one PASS, with the rights of docs/loadtest/rbac.yaml', async () => {
    const { exitCode, result } = await collected('unpaced');
    assert.deepEqual(result.conclusion, { kind: 'PASS', reasons: [] });
    assert.equal(exitCode, 0);
    assert.deepEqual(
      result.watchers.map(({ name, process, verdict, cacheEqualsList }) => {
        return [name, process, verdict.initial, verdict.delivered, cacheEqualsList];
      }),
      INDEXES.map((index) => [`watchers ${index + 1}`, index + 1, 0, 60, true]),
    );
    const placed = result.run.indexes?.map(({ index, processes }) => [index, processes]);
    assert.deepEqual(
      placed,
      INDEXES.map((index) => [index, [index + 1]]),
    );
    const processes = result.series.processes.map(({ name }) => name);
    assert.deepEqual(processes, ['generator', 'watchers 1', 'watchers 2', 'watchers 3']);
    const delivered = result.series.delivered.reduce((sum, each) => sum + each);
    assert.equal(delivered, 180);
    const steps = result.latencies.filter(
      ({ step, phase }) => step === 'answeredToHandler' && phase === 'create',
    );
    const counts = steps.map(({ histogram }) => histogram.count);
    assert.deepEqual(counts, [60]);
    assert.deepEqual(result.leftovers, []);
  });

  it('is a FAIL when an event is dropped on the way to one index', async () => {
    await using proxy = await EditingProxy.start(server);
    // The first watch is the run status's.
    proxy.editOf = (watch) => (watch === 1 ? droppingOne() : undefined);
    folder.write('proxied', proxy.kubeConfig);
    const { exitCode, result } = await collected('paced', 1);
    assert.equal(exitCode, 1);
    assert.equal(result.conclusion.kind, 'FAIL');
    // The cache is wrong as well if the event was the last of its object.
    const words =
      /^(watchers 2: \d+ delivered, 1 lost, 0 dup\w+, 0 reordered|the cache of watchers 2 .* lost: MODIFIED)/;
    assert.match(result.conclusion.reasons.join(), words);
  });

  it('is INVALID and names the index that was killed, and the others end without it', async () => {
    await using all = startAll('killed', 'unpaced');
    const [coordinator, follower, killed] = all.indexes;
    assert.ok(coordinator && follower && killed);
    await killed.until('stderr', /^sync watchers$/m);
    killed.kill('SIGKILL');
    const { exitCode, result } = await collect('killed');
    assert.equal(exitCode, 2);
    assert.equal(result.conclusion.kind, 'INVALID');
    assert.deepEqual(result.conclusion.reasons, ['index 2 is missing: it does not report']);
    const watchers = result.watchers.map(({ name }) => name);
    assert.deepEqual(watchers, ['watchers 1', 'watchers 2']);
    assert.deepEqual([await coordinator.exitCode, await follower.exitCode], [0, 0]);
    await assertNothingLeft();
  });
});
