/**
 * The main use on a real kube-apiserver and etcd: client-node writes objects, informers with two shards
 * follow, and a plain watch and plain LISTs are the comparison. Both ways of listing; restarts; compaction.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import type { V1ConfigMap, V1Pod } from '@kubernetes/client-node';
import { InformerThreads, SharedIndexInformer } from '../../src/index.ts';
import type { KubeloomError, ResourceRef } from '../../src/index.ts';
import { Recorder } from '../unit/informer/pipeline/harness.ts';
import { startControlPlane } from './control-plane.ts';
import type { ControlPlane } from './control-plane.ts';
import { PlainWatch } from './plain-watch.ts';

const OBJECTS = 2000;
/** Requests of the writer in flight at once. */
const CONCURRENCY = 16;
const NAMESPACE = 'default';
const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

const CONFIG_MAPS: ResourceRef = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  isNamespaced: true,
};
const PODS: ResourceRef = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', isNamespaced: true };

interface Written {
  readonly metadata?: {
    readonly resourceVersion?: string;
    readonly name?: string;
    readonly namespace?: string;
  };
}

interface Kind {
  readonly ref: ResourceRef;
  readonly create: (name: string) => Promise<Written>;
  readonly update: (name: string, round: number) => Promise<Written>;
  readonly remove: (name: string) => Promise<unknown>;
  readonly list: () => Promise<{
    readonly metadata?: { readonly resourceVersion?: string };
    readonly items: readonly Written[];
  }>;
}

function kinds(api: CoreV1Api): readonly Kind[] {
  const namespace = NAMESPACE;
  const configMap = (name: string, round: string): V1ConfigMap => ({ metadata: { name }, data: { round } });
  const pod = (name: string, round: string): V1Pod => ({
    metadata: { name, labels: { round } },
    spec: { containers: [{ name: 'main', image: 'registry/app:1' }], terminationGracePeriodSeconds: 0 },
  });
  const patch = [{ op: 'replace', path: '/metadata/labels/round', value: '' }];
  return [
    {
      ref: CONFIG_MAPS,
      create: (name) => api.createNamespacedConfigMap({ namespace, body: configMap(name, '0') }),
      update: (name, round) =>
        api.replaceNamespacedConfigMap({ namespace, name, body: configMap(name, `${round}`) }),
      remove: (name) => api.deleteNamespacedConfigMap({ namespace, name }),
      list: () => api.listConfigMapForAllNamespaces(),
    },
    {
      ref: PODS,
      create: (name) => api.createNamespacedPod({ namespace, body: pod(name, '0') }),
      update: (name, round) =>
        api.patchNamespacedPod({
          namespace,
          name,
          body: patch.map((step) => ({ ...step, value: `${round}` })),
        }),
      remove: (name) => api.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 }),
      list: () => api.listPodForAllNamespaces(),
    },
  ];
}

/** Runs `work` for every name, some at a time; requests that a stopping server refuses are tried again. */
async function forEachName(
  names: readonly string[],
  work: (name: string) => Promise<unknown>,
): Promise<void> {
  const queue = [...names];
  const worker = async (): Promise<void> => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift())
      await persist(() => work(name ?? ''));
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

const RETRIES = 100;

async function persist(work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await work();
      return;
    } catch (error) {
      const code = (error as { code?: number | string }).code;
      // The write may have reached a server that ended before it answered.
      if (code === 409 || code === 404) return;
      if (attempt === RETRIES || (typeof code === 'number' && code < 500 && code !== 429)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

for (const watchList of ['auto', 'off'] as const) {
  describe(`a real kube-apiserver, ${watchList === 'auto' ? 'WatchList' : 'LIST and WATCH'}`, () => {
    let controlPlane: ControlPlane;
    let kubeConfig: KubeConfig;
    let threads: InformerThreads;
    let all: readonly Kind[];
    const informers: SharedIndexInformer[] = [];

    before(async () => {
      controlPlane = await startControlPlane();
      kubeConfig = new KubeConfig();
      kubeConfig.loadFromFile(controlPlane.kubeconfigPath);
      threads = new InformerThreads({ shards: 2 });
      all = kinds(kubeConfig.makeApiClient(CoreV1Api));
    });

    after(async () => {
      for (const informer of informers) await informer[Symbol.asyncDispose]();
      await threads?.close();
      await controlPlane?.stop();
    });

    async function started(
      kind: Kind,
      onError: (error: Error) => void = () => undefined,
    ): Promise<{
      informer: SharedIndexInformer;
      recorder: Recorder;
      registration: { hasSynced(): boolean };
    }> {
      const informer = new SharedIndexInformer(kubeConfig, kind.ref, {
        threads,
        watchList,
        onError,
        backoff: { initialMs: 50, maxMs: 500 },
      });
      informers.push(informer);
      const recorder = new Recorder();
      const registration = informer.addEventHandler(recorder);
      void informer.run();
      await informer.waitForSync(AbortSignal.timeout(60_000), registration);
      return { informer, recorder, registration };
    }

    /**
     * Asserts that the store has the keys and versions of a LIST, once the informer has reached the LIST's version.
     */
    async function assertEqualsList(
      kind: Kind,
      informer: SharedIndexInformer,
      recorder: Recorder,
    ): Promise<void> {
      const list = await kind.list();
      const expected = new Map(
        list.items.map(({ metadata }) => [
          `${metadata?.namespace}/${metadata?.name}`,
          metadata?.resourceVersion ?? '',
        ]),
      );
      const actual = (): Map<string, string> =>
        new Map(
          informer
            .getStore()
            .list()
            .map(({ key, resourceVersion }) => [key, resourceVersion]),
        );
      const isEqual = (): boolean => {
        const cached = actual();
        return (
          cached.size === expected.size &&
          [...expected].every(([key, version]) => cached.get(key) === version)
        );
      };
      const deadline = AbortSignal.timeout(60_000);
      while (!isEqual() && !deadline.aborted) {
        await Promise.race([recorder.until(isEqual), new Promise((resolve) => setTimeout(resolve, 200))]);
      }
      assert.deepEqual(actual(), expected);
    }

    test(`C4 C7 ${OBJECTS} objects of two kinds, created, changed and deleted: the exact history of a plain watch`, async () => {
      await Promise.all(
        all.map(async (kind) => {
          const { informer, recorder } = await started(kind);
          const from = (await kind.list()).metadata?.resourceVersion ?? '';
          const initial = recorder.seen.length;
          const plain = new PlainWatch(controlPlane, `/api/v1/${kind.ref.resource}`, from);
          const names = Array.from({ length: OBJECTS }, (_, index) => `e2e-${index}`);
          await forEachName(names, kind.create);
          await forEachName(names, (name) => kind.update(name, 1));
          await assertEqualsList(kind, informer, recorder);
          await forEachName(names, kind.remove);
          const last = await kind.create('last');
          const lastVersion = Number(last.metadata?.resourceVersion);
          await plain.reached(lastVersion);
          await recorder.until(() => Number(recorder.latest?.resourceVersion) >= lastVersion);
          plain.close();
          const seen = recorder.seen
            .slice(initial)
            .map(({ type, key, resourceVersion }) => ({ type, key, resourceVersion }));
          assert.ok(seen.length > OBJECTS * 3);
          assert.deepEqual(seen, plain.events);
          await assertEqualsList(kind, informer, recorder);
          await kind.remove('last');
        }),
      );
    });

    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      test(`C2 C3 the cache converges after the apiserver got ${signal} in the middle of changes`, async () => {
        const [kind] = all;
        assert.ok(kind);
        const { informer, recorder } = await started(kind);
        const names = Array.from({ length: OBJECTS / 4 }, (_, index) => `restart-${index}`);
        await forEachName(names, kind.create);
        const writing = forEachName(names, (name) => kind.update(name, 2));
        await controlPlane.restartApiServer(signal);
        await writing;
        await assertEqualsList(kind, informer, recorder);
        assertNoRegression(recorder);
        await forEachName(names, kind.remove);
        await assertEqualsList(kind, informer, recorder);
      });
    }

    test('C2 compacted history leads to a 410, a new list, and the same cache as the server', async () => {
      const [kind] = all;
      assert.ok(kind);
      const errors: KubeloomError[] = [];
      const { informer, recorder } = await started(kind, (error) => errors.push(error as KubeloomError));
      const names = Array.from({ length: 50 }, (_, index) => `compacted-${index}`);
      await forEachName(names, kind.create);
      await assertEqualsList(kind, informer, recorder);
      await controlPlane.compact();
      await forEachName(names.slice(10), kind.remove);
      await assertEqualsList(kind, informer, recorder);
      assertNoRegression(recorder);
      await forEachName(names.slice(0, 10), kind.remove);
    });

    test('kubeloom watch pods -A prints changes live', async () => {
      const kind = all[1];
      assert.ok(kind);
      const child = spawn(
        process.execPath,
        [CLI, 'watch', 'pods', '-A', '-o', 'name', '--kubeconfig', controlPlane.kubeconfigPath],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      await kind.create('printed');
      const { value } = await lines.next();
      assert.match(String(value), /pods?\/printed|printed/);
      child.kill('SIGTERM');
      const code = await new Promise((resolve) => child.once('exit', (status) => resolve(status)));
      assert.equal(code, 0);
      await kind.remove('printed');
    });
  });
}

function assertNoRegression(recorder: Recorder): void {
  const versions = new Map<string, number>();
  for (const { key, resourceVersion, type } of recorder.seen) {
    const version = Number(resourceVersion);
    if (type !== 'DELETED') assert.ok((versions.get(key) ?? 0) <= version, `${key} went back to ${version}`);
    versions.set(key, Math.max(version, versions.get(key) ?? 0));
  }
}
