/**
 * The main use on a real kube-apiserver and etcd: client-node writes objects, informers with two shards
 * follow, and a plain watch and plain LISTs are the comparison. Both ways of listing; restarts; compaction.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { CoreV1Api, V1ConfigMap, V1Pod } from '@kubernetes/client-node';
import { SharedIndexInformer, resources } from '../../src/index.ts';
import type { ResourceRef } from '../../src/index.ts';
import { HANG_MS } from '../kit/hang.ts';
import { PODS } from '../kit/objects.ts';
import { RecordingHandler } from '../kit/recording-handler.ts';
import { clusterOfTests } from './control-plane.ts';
import { until } from '../kit/until.ts';
import { PlainWatch } from './plain-watch.ts';

const OBJECTS = 800;
/** Requests of the writer in flight at once. */
const CONCURRENCY = 16;
const NAMESPACE = 'default';
const CLI = fileURLToPath(new URL('../../src/tools/cli/main.js', import.meta.url));

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

function kinds(api: CoreV1Api): readonly [Kind, Kind] {
  const namespace = NAMESPACE;
  const configMap = (name: string, round: string): V1ConfigMap => ({ metadata: { name }, data: { round } });
  const pod = (name: string, round: string): V1Pod => ({
    metadata: { name, labels: { round } },
    spec: { containers: [{ name: 'main', image: 'registry/app:1' }], terminationGracePeriodSeconds: 0 },
  });
  const patch = (value: string): object => [{ op: 'replace', path: '/metadata/labels/round', value }];
  return [
    {
      ref: resources.core.v1.configMaps,
      create: (name) => api.createNamespacedConfigMap({ namespace, body: configMap(name, '0') }),
      update: (name, round) =>
        api.replaceNamespacedConfigMap({ namespace, name, body: configMap(name, `${round}`) }),
      remove: (name) => api.deleteNamespacedConfigMap({ namespace, name }),
      list: () => api.listConfigMapForAllNamespaces(),
    },
    {
      ref: PODS,
      create: (name) => api.createNamespacedPod({ namespace, body: pod(name, '0') }),
      update: (name, round) => api.patchNamespacedPod({ namespace, name, body: patch(`${round}`) }),
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

function persist(work: () => Promise<unknown>): Promise<void> {
  return until(async () => {
    try {
      await work();
      return true;
    } catch (error) {
      const code = (error as { code?: number | string }).code;
      if (typeof code === 'number' && code < 500 && ![404, 409, 429].includes(code)) throw error;
      // The write may have reached a server that ended before it answered.
      return code === 409 || code === 404;
    }
  }, 'an answer of the server');
}

interface Started {
  readonly informer: SharedIndexInformer;
  readonly handler: RecordingHandler;
}

/** Asserts that the store has the keys and versions of a LIST, once the informer has reached the LIST's version. */
async function assertEqualsList(kind: Kind, { informer }: Started): Promise<void> {
  const { items } = await kind.list();
  const expected = items.map(({ metadata = {} }) => {
    const { namespace, name, resourceVersion } = metadata;
    return `${namespace}/${name}@${resourceVersion}`;
  });
  expected.sort();
  const actual = (): string[] => {
    const entries = informer.getStore().list();
    return entries.map(({ key, resourceVersion }) => `${key}@${resourceVersion}`).toSorted();
  };
  const isEqual = (): boolean => actual().join() === expected.join();
  await until(isEqual, 'a store that equals the list').catch(() => undefined);
  assert.deepEqual(actual(), expected);
}

for (const watchList of ['auto', 'off'] as const) {
  describe(`a real kube-apiserver, ${watchList === 'auto' ? 'WatchList' : 'LIST and WATCH'}`, () => {
    const cluster = clusterOfTests();
    const all = (): readonly [Kind, Kind] => kinds(cluster().api);
    async function started(kind: Kind): Promise<Started> {
      const { kubeConfig, threads, users } = cluster();
      const backoff = { initialMs: 50, maxMs: 500 };
      const options = { threads, list: { watchList }, backoff, onError: () => undefined };
      const informer = new SharedIndexInformer(kubeConfig, kind.ref, options);
      users.push(informer);
      const handler = new RecordingHandler();
      const registration = informer.addEventHandler(handler);
      void informer.run();
      await informer.waitForSync({ signal: AbortSignal.timeout(HANG_MS), registration });
      return { informer, handler };
    }

    test(`C4 C7 handlers receive the exact history of a plain watch of ${OBJECTS} objects of each of two kinds`, async () => {
      await Promise.all(
        all().map(async (kind) => {
          const follower = await started(kind);
          const { handler } = follower;
          const from = (await kind.list()).metadata?.resourceVersion ?? '';
          const initial = handler.calls.length;
          const plain = new PlainWatch(cluster().controlPlane, `/api/v1/${kind.ref.resource}`, from);
          const names = Array.from({ length: OBJECTS }, (_, index) => `e2e-${index}`);
          await forEachName(names, kind.create);
          await forEachName(names, (name) => kind.update(name, 1));
          await assertEqualsList(kind, follower);
          await forEachName(names, kind.remove);
          const last = await kind.create('last');
          const lastVersion = Number(last.metadata?.resourceVersion);
          await plain.reached(lastVersion);
          await handler.reached(lastVersion);
          plain.close();
          assert.ok(plain.lines.length > OBJECTS * 3);
          assert.deepEqual(handler.lines.slice(initial), plain.lines);
          await assertEqualsList(kind, follower);
          await kind.remove('last');
        }),
      );
    });

    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      test(`C2 C3 the cache converges after the apiserver got ${signal} in the middle of changes`, async () => {
        const [kind] = all();
        const follower = await started(kind);
        const names = Array.from({ length: OBJECTS / 4 }, (_, index) => `restart-${index}`);
        await forEachName(names, kind.create);
        const writing = forEachName(names, (name) => kind.update(name, 2));
        await cluster().controlPlane.restartApiServer(signal);
        await writing;
        await assertEqualsList(kind, follower);
        follower.handler.assertOnlyForward();
        await forEachName(names, kind.remove);
        await assertEqualsList(kind, follower);
      });
    }

    test('C2 the cache equals the server after a compaction and a relist', async () => {
      const [kind] = all();
      const follower = await started(kind);
      const names = Array.from({ length: 50 }, (_, index) => `compacted-${index}`);
      await forEachName(names, kind.create);
      await assertEqualsList(kind, follower);
      await cluster().controlPlane.compact();
      await forEachName(names.slice(10), kind.remove);
      await assertEqualsList(kind, follower);
      follower.handler.assertOnlyForward();
      await forEachName(names.slice(0, 10), kind.remove);
    });

    test('kubeloom watch pods -A prints changes live', async () => {
      const [, kind] = all();
      const { kubeconfigPath } = cluster().controlPlane;
      const child = spawn(
        process.execPath,
        [CLI, 'watch', 'pods', '-A', '-o', 'name', '--kubeconfig', kubeconfigPath],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      await kind.create('printed');
      const { value } = await lines.next();
      assert.match(String(value), /pods?\/printed|printed/);
      child.kill('SIGTERM');
      assert.deepEqual(await once(child, 'exit'), [0, null]);
      await kind.remove('printed');
    });
  });
}
