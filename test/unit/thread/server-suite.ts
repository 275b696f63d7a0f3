/** The caches of two threads beside a LIST. The same tests run against the embedded server and a real kube-apiserver. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CoreV1Api } from '@kubernetes/client-node';
import type { KubeConfig, V1Pod } from '@kubernetes/client-node';
import { SharedIndexInformer } from '../../../src/index.ts';
import type { InformerThreads } from '../../../src/index.ts';
import { PODS } from '../../kit/objects.ts';
import { stateOf } from './reader-state.ts';
import type { ReaderState } from './reader-state.ts';
import { Reading } from './reading.ts';
import { SharedCache } from '../../../src/thread/index.ts';

export interface ServerTarget {
  readonly kubeConfig: KubeConfig;
  readonly threads: InformerThreads;
  /** Makes the server forget all versions up to now and breaks the watches, so that informers list again. */
  readonly forgetHistory: () => Promise<unknown>;
}

const CREATED = 60;

/** The writer of pods in one namespace. */
class Writer {
  readonly #api: CoreV1Api;
  readonly #namespace = 'default';

  constructor(kubeConfig: KubeConfig) {
    this.#api = kubeConfig.makeApiClient(CoreV1Api);
  }

  /** @returns its version */
  async create(name: string): Promise<string> {
    const body: V1Pod = {
      metadata: { name, labels: { round: '0' } },
      spec: { containers: [{ name: 'main', image: 'registry/app:1' }], terminationGracePeriodSeconds: 0 },
    };
    const { metadata } = await this.#api.createNamespacedPod({ namespace: this.#namespace, body });
    return metadata?.resourceVersion ?? '';
  }

  async label(name: string, round: string): Promise<void> {
    const body = [{ op: 'replace', path: '/metadata/labels/round', value: round }];
    await this.#api.patchNamespacedPod({ namespace: this.#namespace, name, body });
  }

  async remove(name: string): Promise<void> {
    await this.#api.deleteNamespacedPod({ namespace: this.#namespace, name, gracePeriodSeconds: 0 });
  }

  /** Returns all pods as `default/a@5`. */
  async list(): Promise<string[]> {
    const { items } = await this.#api.listPodForAllNamespaces();
    return items
      .map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}@${metadata?.resourceVersion}`)
      .sort();
  }
}

/** Registers the tests. @param target called in each test; its server and threads outlast the test */
export function threadsFollow(server: string, target: () => Promise<ServerTarget>): void {
  for (const codec of ['json', 'msgpack'] as const) {
    test(`two threads have what a LIST of the ${server} has, through changes and a relist, ${codec}`, async () => {
      const { kubeConfig, threads, forgetHistory } = await target();
      const writer = new Writer(kubeConfig);
      const backoff = { initialMs: 20, maxMs: 200 };
      const options = { threads, codec, backoff, onError: () => undefined };
      await using informer = new SharedIndexInformer<V1Pod>(kubeConfig, PODS, options);
      void informer.run();
      await informer.waitForSync();
      await using cache = new SharedCache({ pods: informer });
      await using first = await Reading.start(cache.port());
      const names = Array.from({ length: CREATED }, (_, index) => `thread-${codec}-${index}`);
      for (const name of names) await writer.create(name);
      // Half of the objects come with its first list, which is under way while they change.
      await using second = await Reading.start(cache.port());
      for (const name of names) await writer.label(name, '1');
      for (const name of names.slice(0, 10)) await writer.remove(name);

      const assertLevel = async (resourceVersion: string): Promise<void> => {
        const expected = await writer.list();
        await informer.waitForResourceVersion(resourceVersion);
        for (const reading of [first, second]) {
          const state = (await reading.ask({ type: 'state', resourceVersion })) as ReaderState;
          assert.deepEqual(state.errors, []);
          assert.deepEqual(
            state.cached.map((line) => line.split(' ')[0]),
            expected,
          );
          assert.deepEqual(state.received, expected);
          assert.deepEqual(state.cached, stateOf(informer.getIndexer()));
        }
      };

      await assertLevel(await writer.create(`last-${codec}`));
      await forgetHistory();
      for (const name of names.slice(10, 20)) await writer.remove(name);
      for (const name of names.slice(20)) await writer.label(name, '2');
      await assertLevel(await writer.create(`relisted-${codec}`));
      for (const name of [...names.slice(20), `last-${codec}`, `relisted-${codec}`])
        await writer.remove(name);
    });
  }
}
