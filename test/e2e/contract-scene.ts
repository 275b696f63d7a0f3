/**
 * The contract's tests against a real server, each in a namespace of its own, with informers that reach the server
 * through a proxy. Records the clauses that the tests cite.
 */
import { test as register } from 'node:test';
import { KubeConfig } from '@kubernetes/client-node';
import type { CoreV1Api, V1Pod } from '@kubernetes/client-node';
import { SharedIndexInformer } from '../../src/index.ts';
import type { InformerOptions, InformerThreads, KubeloomError } from '../../src/index.ts';
import { citedBy } from '../contract/clauses.ts';
import { HANG_MS } from '../kit/hang.ts';
import { PODS } from '../kit/objects.ts';
import { RecordingHandler } from '../kit/recording-handler.ts';
import { RecordingProxy } from './contract-proxy.ts';
import { clusterOfTests } from './control-plane.ts';
import type { ControlPlane } from './control-plane.ts';
import { until } from '../kit/until.ts';

let namespaces = 0;

export class ServerScene implements AsyncDisposable {
  readonly namespace: string;
  readonly proxy: RecordingProxy;
  readonly errors: KubeloomError[] = [];
  readonly #informers: SharedIndexInformer<V1Pod>[] = [];

  private constructor(namespace: string, proxy: RecordingProxy) {
    this.namespace = namespace;
    this.proxy = proxy;
  }

  static async start(): Promise<ServerScene> {
    const { api, controlPlane } = cluster();
    const name = `contract-${++namespaces}`;
    await api.createNamespace({ body: { metadata: { name } } });
    return new ServerScene(name, await RecordingProxy.start(controlPlane));
  }

  get threads(): InformerThreads {
    return cluster().threads;
  }

  get api(): CoreV1Api {
    return cluster().api;
  }

  /** Makes an informer of the pods of this namespace, through the proxy. */
  informer(
    options: InformerOptions<V1Pod> = {},
    user: object = { token: controlPlane().token },
  ): SharedIndexInformer<V1Pod> {
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromOptions({
      clusters: [{ name: 'proxy', server: this.proxy.url }],
      users: [{ name: 'user', ...user }],
      contexts: [{ name: 'context', cluster: 'proxy', user: 'user' }],
      currentContext: 'context',
    });
    const informer = new SharedIndexInformer<V1Pod>(kubeConfig, PODS, {
      threads: this.threads,
      namespace: this.namespace,
      backoff: { initialMs: 20, maxMs: 200 },
      onError: (error) => this.errors.push(error),
      ...options,
    });
    this.#informers.push(informer);
    return informer;
  }

  /** Runs it; resolves when its handler has received the first list. */
  async watched(
    informer: SharedIndexInformer<V1Pod>,
    handler: RecordingHandler = new RecordingHandler(),
  ): Promise<RecordingHandler> {
    const registration = informer.addEventHandler(handler);
    this.run(informer);
    await informer.waitForSync({ signal: this.patience, registration });
    return handler;
  }

  run(informer: SharedIndexInformer<V1Pod>): void {
    // Tests assert its end where it matters.
    informer.run().catch(() => undefined);
  }

  get patience(): AbortSignal {
    return AbortSignal.timeout(HANG_MS);
  }

  /** @returns its version */
  async create(
    name: string,
    labels: Record<string, string> = {},
    namespace: string = this.namespace,
  ): Promise<string> {
    const body: V1Pod = {
      metadata: { name, labels },
      spec: { containers: [{ name: 'main', image: 'registry/app:1' }], terminationGracePeriodSeconds: 0 },
    };
    return versionOf(await this.api.createNamespacedPod({ namespace, body }));
  }

  async createAll(...names: readonly string[]): Promise<void> {
    for (const name of names) await this.create(name);
  }

  /** @returns its version */
  async label(name: string, labels: Record<string, string>): Promise<string> {
    const { namespace } = this;
    const body = [{ op: 'add', path: '/metadata/labels', value: labels }];
    return versionOf(await this.api.patchNamespacedPod({ namespace, name, body }));
  }

  /** Deletes a pod. Informers receive an update with a deletionTimestamp, and then a deletion. */
  async remove(name: string): Promise<void> {
    const { namespace } = this;
    await this.api.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 });
  }

  /** The server's objects as `a@5`, in its order. */
  async list(): Promise<{ readonly version: string; readonly lines: readonly string[] }> {
    const { metadata, items } = await this.api.listNamespacedPod({ namespace: this.namespace });
    const lines = items.map((item) => `${item.metadata?.name}@${item.metadata?.resourceVersion}`);
    return { version: metadata?.resourceVersion ?? '', lines };
  }

  until(isDone: () => boolean): Promise<void> {
    return until(isDone, `something in ${this.namespace}`);
  }

  codes(): readonly string[] {
    return this.errors.map(({ code }) => code);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const informer of this.#informers) await informer[Symbol.asyncDispose]();
    await this.proxy[Symbol.asyncDispose]();
  }
}

function versionOf({ metadata }: V1Pod): string {
  return metadata?.resourceVersion ?? '';
}

const cluster = clusterOfTests();
const titles: string[] = [];

/** A test that hangs ends with its title. */
const TEST_TIMEOUT = { timeout: 2 * HANG_MS } as const;

/** The control plane; available inside tests. */
export function controlPlane(): ControlPlane {
  return cluster().controlPlane;
}

/** Registers a test in a namespace of its own. */
export function test(title: string, body: (scene: ServerScene) => Promise<void>): void {
  titles.push(title);
  register(title, TEST_TIMEOUT, async () => {
    await using scene = await ServerScene.start();
    await body(scene);
  });
}

/** The clauses that the registered tests cite. */
export function citedClauses(): ReadonlySet<string> {
  return new Set(titles.flatMap(citedBy));
}

/** An informer's objects as `a@5`, in its order. */
export function cached(informer: SharedIndexInformer<V1Pod>): readonly string[] {
  return informer
    .getStore()
    .list()
    .map(({ name, resourceVersion }) => `${name}@${resourceVersion}`);
}
