/**
 * Scene of a contract test: an embedded apiserver behind real HTTP, informers on the threads of the configuration, and
 * handlers that record their calls. Everything ends with the scene.
 */
import assert from 'node:assert/strict';
import { KubeConfig } from '@kubernetes/client-node';
import type { V1Pod } from '@kubernetes/client-node';
import { startEmbeddedApiServer } from '../../src/apiserver/testing/index.ts';
import type {
  Change,
  EmbeddedApiServer,
  EmbeddedApiServerOptions,
} from '../../src/apiserver/testing/index.ts';
import { InformerThreads, SharedIndexInformer } from '../../src/index.ts';
import type {
  Borrowed,
  DeletedFinalStateUnknown,
  ErrorContext,
  HandlerOptions,
  HandlerRegistration,
  InformerOptions,
  ListerWatcher,
  ResourceEventHandler,
  ResourceRef,
  ThreadsOptions,
} from '../../src/index.ts';
import { CODEC, countKeys, newThreads, sharedThreads } from './configuration.ts';
import { ScriptedServer } from './scripted-server.ts';
import type { Script } from './scripted-server.ts';

export const PODS: ResourceRef = {
  group: '',
  version: 'v1',
  resource: 'pods',
  kind: 'Pod',
  isNamespaced: true,
};

/** One call of a handler. */
export interface Call {
  readonly type: 'add' | 'update' | 'delete';
  readonly key: string;
  readonly version: string;
  readonly uid: string;
  /** Version of an update's old object. */
  readonly oldVersion: string;
  readonly oldUid: string;
  /** Whether an update's old and new object are the same entry. */
  readonly isSame: boolean;
  readonly isInInitialList: boolean;
  readonly isFinalStateUnknown: boolean;
}

/** Limit for missing errors, so that the test fails instead of hanging. */
const REPORT_TIMEOUT_MS = 10_000;
const NO_OLD = { oldVersion: '', oldUid: '', isSame: false } as const;

/** A handler that records its calls; `act` may do more in each. */
export class Witness implements ResourceEventHandler<V1Pod> {
  readonly calls: Call[] = [];
  readonly #act: (call: Call) => unknown;
  readonly #waiters: Set<() => void> = new Set();

  constructor(act: (call: Call) => unknown = () => undefined) {
    this.#act = act;
  }

  onAdd(added: Borrowed<V1Pod>, isInInitialList: boolean): unknown {
    return this.#record({ type: 'add', ...about(added), ...NO_OLD, isInInitialList });
  }

  onUpdate(previous: Borrowed<V1Pod>, current: Borrowed<V1Pod>): unknown {
    const old = { oldVersion: previous.resourceVersion, oldUid: previous.uid, isSame: previous === current };
    return this.#record({ type: 'update', ...about(current), ...old, isInInitialList: false });
  }

  onDelete(deleted: Borrowed<V1Pod> | DeletedFinalStateUnknown<V1Pod>): unknown {
    const last = deleted.finalStateUnknown ? deleted.last : deleted;
    const isFinalStateUnknown = deleted.finalStateUnknown;
    return this.#record({
      type: 'delete',
      ...about(last),
      ...NO_OLD,
      isInInitialList: false,
      isFinalStateUnknown,
    });
  }

  /** Calls as `add default/a@5` … */
  get lines(): string[] {
    return this.calls.map(({ type, key, version }) => `${type} ${key}@${version}`);
  }

  /** Calls as `add a`, `update b` …, without namespaces and versions. */
  get names(): string[] {
    return this.calls.map(({ type, key }) => `${type} ${key.replace(/^.*\//, '')}`);
  }

  /** Resolves when the condition holds after a call. */
  until(isDone: () => boolean): Promise<void> {
    if (isDone()) return Promise.resolve();
    return new Promise((resolve) => {
      const look = (): void => {
        if (!isDone()) return;
        this.#waiters.delete(look);
        resolve();
      };
      this.#waiters.add(look);
    });
  }

  count(calls: number): Promise<void> {
    return this.until(() => this.calls.length >= calls);
  }

  #record(call: Call): unknown {
    this.calls.push(call);
    const result = this.#act(call);
    for (const look of this.#waiters) look();
    return result;
  }
}

function about(
  entry: Borrowed<V1Pod>,
): Pick<Call, 'key' | 'version' | 'uid' | 'isInInitialList' | 'isFinalStateUnknown'> {
  return {
    key: entry.key,
    version: entry.resourceVersion,
    uid: entry.uid,
    isInInitialList: false,
    isFinalStateUnknown: false,
  };
}

export interface Reported {
  readonly code: string;
  readonly message: string;
  readonly stack: string;
  readonly context: ErrorContext;
}

export interface Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

export interface SceneOptions {
  readonly server?: EmbeddedApiServerOptions;
  /** Separate threads of this scene, for tests that need other sizes or end them. */
  readonly threads?: ThreadsOptions;
}

export class Scene implements AsyncDisposable {
  readonly server: EmbeddedApiServer;
  readonly threads: InformerThreads;
  readonly errors: Reported[] = [];
  readonly #isOwn: boolean;
  readonly #informers: SharedIndexInformer<V1Pod>[] = [];
  readonly #runs: Promise<void>[] = [];
  readonly #scripted: ScriptedServer[] = [];
  readonly #errorWaiters: Set<() => void> = new Set();
  readonly #gates: (() => void)[] = [];

  private constructor(server: EmbeddedApiServer, threads: InformerThreads, isOwn: boolean) {
    this.server = server;
    this.threads = threads;
    this.#isOwn = isOwn;
  }

  static async start({ server = {}, threads }: SceneOptions = {}): Promise<Scene> {
    const apiServer = await startEmbeddedApiServer({ tls: false, isolation: 'none', ...server });
    const own = threads && newThreads(threads);
    return new Scene(apiServer, own ?? sharedThreads(), own !== undefined);
  }

  /** Constructs an informer of the embedded apiserver, or of the server at `url`; the scene collects its errors. */
  informer(
    options: InformerOptions<V1Pod> = {},
    url: string = '',
    isListening: boolean = true,
  ): SharedIndexInformer<V1Pod> {
    return this.sourced(this.kubeConfig(url), options, isListening);
  }

  /** Constructs an informer of a ListerWatcher. */
  sourced(
    source: KubeConfig | ListerWatcher<V1Pod>,
    options: InformerOptions<V1Pod> = {},
    isListening: boolean = true,
  ): SharedIndexInformer<V1Pod> {
    const informer = new SharedIndexInformer<V1Pod>(source, PODS, {
      threads: this.threads,
      codec: CODEC,
      ...(isListening ? { onError: (error, context) => this.#report(error, context) } : {}),
      backoff: { initialMs: 5, maxMs: 50 },
      ...options,
    });
    this.#informers.push(informer);
    return informer;
  }

  kubeConfig(url: string = ''): KubeConfig {
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromString(this.server.kubeConfigYaml);
    if (url !== '') kubeConfig.clusters = kubeConfig.clusters.map((cluster) => ({ ...cluster, server: url }));
    return kubeConfig;
  }

  /** Constructs an informer of a scripted server. */
  async scripted(
    script: Script,
    options: InformerOptions<V1Pod> = {},
  ): Promise<{ server: ScriptedServer; informer: SharedIndexInformer<V1Pod> }> {
    const server = await ScriptedServer.start(script);
    this.#scripted.push(server);
    return { server, informer: this.informer(options, server.url) };
  }

  run(informer: SharedIndexInformer<V1Pod>): Promise<void> {
    const run = informer.run();
    this.#runs.push(run);
    return run;
  }

  /** Runs the informer and waits until it has synced. */
  async synced(informer: SharedIndexInformer<V1Pod>): Promise<void> {
    void this.run(informer).catch(() => undefined);
    await informer.waitForSync();
  }

  /** Registers the handler, runs the informer, and waits for the handler's initial list. */
  async watched(
    informer: SharedIndexInformer<V1Pod>,
    witness: Witness,
    options: HandlerOptions = {},
  ): Promise<HandlerRegistration> {
    const registration = informer.addEventHandler(witness, options);
    await this.synced(informer);
    await informer.waitForSync(undefined, registration);
    return registration;
  }

  /** Creates or replaces objects; resolves with their resourceVersions. */
  async put(...objects: readonly V1Pod[]): Promise<readonly string[]> {
    countKeys(objects.length);
    const changes = objects.map((object): Change => ({ type: 'put', resource: 'pods', object }));
    return (await this.server.apply(changes)).resourceVersions;
  }

  /** Deletes objects; resolves with the revision of the last deletion. */
  async remove(...names: readonly string[]): Promise<string> {
    const changes = names.map((name): Change => ({ type: 'delete', resource: 'pods', name }));
    return String((await this.server.apply(changes)).revision);
  }

  async populate(count: number): Promise<void> {
    countKeys(count);
    await this.server.populate({ count, objectBytes: 600 });
  }

  /** Applies changes while no watch is open, so that the informer must list again to receive them. */
  async relisted(informer: SharedIndexInformer<V1Pod>, ...changes: readonly Change[]): Promise<void> {
    // The server runs in this thread, so no request can come between these two calls.
    const expired = this.server.expireWatches();
    const applied = this.server.apply(changes);
    await expired;
    const { revision } = await applied;
    await this.until(() => Number(informer.lastSyncResourceVersion()) >= revision);
  }

  /** Checks the condition after every turn of the event loop. */
  async until(isDone: () => boolean): Promise<void> {
    while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 1));
  }

  /** Resolves when the condition holds after a reported error. */
  async untilReported(isDone: () => boolean): Promise<void> {
    while (!isDone()) await new Promise<void>((resolve) => this.#errorWaiters.add(resolve));
  }

  /**
   * Asserts the codes of all errors so far. Waits for that number of errors, because messages of other threads (errors)
   * and rings (events) have no common order.
   */
  async reported(...codes: readonly string[]): Promise<void> {
    const deadline = performance.now() + REPORT_TIMEOUT_MS;
    await this.until(() => this.errors.length >= codes.length || performance.now() > deadline);
    assert.deepEqual(this.codes(), codes);
  }

  codes(): string[] {
    return this.errors.map(({ code }) => code);
  }

  /**
   * Returns a gate that blocks a handler. The test opens it, or the scene at its end, so that a failed test does not
   * hang.
   */
  gate(): Gate {
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    this.#gates.push(open);
    return { opened, open };
  }

  /** Asserts that the cache has the server's keys and versions. */
  async assertEqualsServer(informer: SharedIndexInformer<V1Pod>): Promise<void> {
    const entries = informer.getStore().list();
    const actual = new Map(entries.map(({ key, resourceVersion }) => [key, resourceVersion]));
    assert.deepEqual(actual, await this.server.state('pods'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const open of this.#gates) open();
    for (const informer of this.#informers) await informer[Symbol.asyncDispose]().catch(() => undefined);
    await Promise.allSettled(this.#runs);
    for (const server of this.#scripted) await server[Symbol.asyncDispose]();
    if (this.#isOwn) await this.threads.close();
    await this.server.close();
  }

  #report(error: Error, context: ErrorContext): void {
    const code = 'code' in error ? String(error.code) : '';
    this.errors.push({ code, message: error.message, stack: error.stack ?? '', context });
    for (const resolve of this.#errorWaiters) resolve();
    this.#errorWaiters.clear();
  }
}

/** A pod with few fields. */
export function pod(name: string, labels: Record<string, string> = {}, namespace = 'default'): V1Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels },
    spec: { nodeName: `node-${name.length}`, containers: [{ name: 'main', image: 'registry/app:1' }] },
  };
}

/** Waits until the work queued before is done. */
export async function turns(count: number = 50): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}
