/**
 * An embedded apiserver behind real HTTP, and informers of its pods on given threads, with handlers that record their
 * calls. Everything ends with the scene.
 */
import assert from 'node:assert/strict';
import { KubeConfig } from '@kubernetes/client-node';
import type { V1Pod } from '@kubernetes/client-node';
import { startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import type {
  Change,
  EmbeddedApiServer,
  EmbeddedApiServerOptions,
  ScenarioMatch,
  ScenarioRule,
} from '../../src/tools/apiserver/testing/index.ts';
import { InformerThreads, SharedIndexInformer } from '../../src/index.ts';
import type {
  Codec,
  ErrorContext,
  HandlerOptions,
  HandlerRegistration,
  InformerOptions,
  ListerWatcher,
  ThreadsOptions,
} from '../../src/index.ts';
import { PODS, deletion, put } from './objects.ts';
import { RecordingHandler } from './recording-handler.ts';
import type { Call } from './recording-handler.ts';
import { ScriptedServer } from './scripted-server.ts';
import type { Script } from './scripted-server.ts';
import { until } from './until.ts';

const VERBS: Readonly<Record<string, string>> = { ADDED: 'add', MODIFIED: 'update', DELETED: 'delete' };

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

/** A running informer and its handler. */
export interface Watching {
  readonly informer: SharedIndexInformer<V1Pod>;
  readonly handler: RecordingHandler;
  readonly registration: HandlerRegistration;
}

/** An informer with two handlers: a gate blocks the first, the second is prompt. */
export interface HeldUp {
  readonly informer: SharedIndexInformer<V1Pod>;
  readonly gate: Gate;
  readonly held: RecordingHandler;
  /** The registration of the handler that is held up. */
  readonly registration: HandlerRegistration;
  readonly prompt: RecordingHandler;
  readonly promptRegistration: HandlerRegistration;
}

export interface SceneOptions {
  readonly server?: EmbeddedApiServerOptions;
  /** Options of threads that end with the scene, or threads of several scenes. */
  readonly threads?: ThreadsOptions | InformerThreads;
  readonly codec?: Codec;
}

export function kubeConfigOf({ kubeConfigYaml }: EmbeddedApiServer, url: string = ''): KubeConfig {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(kubeConfigYaml);
  if (url !== '') kubeConfig.clusters = kubeConfig.clusters.map((cluster) => ({ ...cluster, server: url }));
  return kubeConfig;
}

export class Scene implements AsyncDisposable {
  static readonly #keys: WeakMap<InformerThreads, Set<string>> = new WeakMap();
  readonly server: EmbeddedApiServer;
  readonly threads: InformerThreads;
  readonly errors: Reported[] = [];
  readonly #codec: Codec;
  readonly #extra: AsyncDisposable[] = [];
  readonly #informers: SharedIndexInformer<V1Pod>[] = [];
  readonly #runs: Promise<void>[] = [];
  readonly #errorWaiters: Set<() => void> = new Set();
  readonly #gates: (() => void)[] = [];

  private constructor(server: EmbeddedApiServer, threads: InformerThreads, codec: Codec) {
    this.server = server;
    this.threads = threads;
    this.#codec = codec;
  }

  static async start({ server = {}, threads = {}, codec = 'json' }: SceneOptions = {}): Promise<Scene> {
    const apiServer = await startEmbeddedApiServer(server);
    if (threads instanceof InformerThreads) return new Scene(apiServer, threads, codec);
    const own = new InformerThreads({ indexerThreads: 2, ...threads });
    const scene = new Scene(apiServer, own, codec);
    scene.ends(own);
    return scene;
  }

  /** Returns the keys of the objects that scenes on these threads have written. */
  static keysOf(threads: InformerThreads): Set<string> {
    const keys = Scene.#keys.get(threads) ?? new Set();
    Scene.#keys.set(threads, keys);
    return keys;
  }

  /** Ends something together with the scene, after the informers. */
  ends(disposable: AsyncDisposable): void {
    this.#extra.push(disposable);
  }

  /** Constructs an informer of the embedded apiserver, or of the server at `url`; the scene collects the errors. */
  informer(
    options: InformerOptions<V1Pod> = {},
    url: string = '',
    isListening: boolean = true,
  ): SharedIndexInformer<V1Pod> {
    return this.sourced(kubeConfigOf(this.server, url), options, isListening);
  }

  /** Constructs an informer of a ListerWatcher. */
  sourced(
    source: KubeConfig | ListerWatcher<V1Pod>,
    options: InformerOptions<V1Pod> = {},
    isListening: boolean = true,
  ): SharedIndexInformer<V1Pod> {
    const informer = new SharedIndexInformer<V1Pod>(source, PODS, {
      threads: this.threads,
      codec: this.#codec,
      ...(isListening ? { onError: (error, context) => this.#report(error, context) } : {}),
      backoff: { initialMs: 5, maxMs: 50 },
      ...options,
    });
    this.#informers.push(informer);
    return informer;
  }

  /** Constructs an informer of a scripted server. */
  async scripted(
    script: Script,
    options: InformerOptions<V1Pod> = {},
  ): Promise<{ server: ScriptedServer; informer: SharedIndexInformer<V1Pod> }> {
    const server = await ScriptedServer.start(script);
    this.ends(server);
    return { server, informer: this.informer(options, server.url) };
  }

  /** Runs an informer of a scripted server with a recording handler. */
  async followed(
    script: Script,
    options: InformerOptions<V1Pod> = {},
  ): Promise<Watching & { readonly server: ScriptedServer }> {
    const { server, informer } = await this.scripted(script, options);
    const handler = new RecordingHandler();
    const registration = informer.addEventHandler(handler);
    void this.run(informer);
    return { server, informer, handler, registration };
  }

  run(informer: SharedIndexInformer<V1Pod>): Promise<void> {
    const run = informer.run();
    this.#runs.push(run);
    return run;
  }

  /** Runs the informer and waits until it is synced. */
  async synced(informer: SharedIndexInformer<V1Pod>): Promise<void> {
    void this.run(informer).catch(() => undefined);
    await informer.waitForSync();
  }

  /** Registers the handler, runs the informer, and waits for the handler's initial list. */
  async watched(
    informer: SharedIndexInformer<V1Pod>,
    handler: RecordingHandler,
    options: HandlerOptions = {},
  ): Promise<HandlerRegistration> {
    const registration = informer.addEventHandler(handler, options);
    await this.synced(informer);
    await informer.waitForSync({ registration });
    return registration;
  }

  /** Runs an informer with a recording handler, and waits for the handler's initial list. */
  async watching(
    options: InformerOptions<V1Pod> = {},
    handler: RecordingHandler = new RecordingHandler(),
  ): Promise<Watching> {
    const informer = this.informer(options);
    return { informer, handler, registration: await this.watched(informer, handler) };
  }

  /**
   * Runs an informer with two handlers: a gate blocks some calls of the first; the second is prompt and has received
   * the initial list.
   */
  async heldUp(isHeld: (call: Call) => boolean = () => true, options: HandlerOptions = {}): Promise<HeldUp> {
    const gate = this.gate();
    const held = new RecordingHandler((call) => (isHeld(call) ? gate.opened : undefined));
    const prompt = new RecordingHandler();
    const informer = this.informer();
    const registration = informer.addEventHandler(held, options);
    const promptRegistration = await this.watched(informer, prompt);
    return { informer, gate, held, registration, prompt, promptRegistration };
  }

  /** Creates or replaces objects; resolves with their resourceVersions. */
  async put(...objects: readonly V1Pod[]): Promise<readonly string[]> {
    const keys = Scene.keysOf(this.threads);
    for (const { metadata } of objects) keys.add(`${metadata?.namespace}/${metadata?.name}`);
    return (await this.server.apply(objects.map(put))).resourceVersions;
  }

  /** Deletes objects; resolves with the revision of the last deletion. */
  async remove(...names: readonly string[]): Promise<string> {
    return String((await this.server.apply(names.map((name) => deletion(name)))).revision);
  }

  async populate(count: number): Promise<void> {
    const keys = Scene.keysOf(this.threads);
    for (let number = 0; number < count; number++) keys.add(`populated ${number}`);
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

  /** Returns the server's changes after a revision as a handler would receive them: `add default/a@5`. */
  async history(from: number): Promise<string[]> {
    const log = await this.server.log('pods', from);
    return Array.from(log, ([revision, type, key]) => `${VERBS[type]} ${key}@${revision}`);
  }

  /** Fails the next requests that match, with an HTTP status or by a reset of the connection. */
  async failRequests(
    failure: number | 'reset',
    times: ScenarioRule['times'] = 1,
    match: ScenarioMatch = {},
  ): Promise<void> {
    const action =
      failure === 'reset' ? ({ type: failure } as const) : ({ type: 'answer', status: failure } as const);
    await this.server.setFaults({ rules: [{ faultId: 'failed', match, times, action }] });
  }

  /** Resolves when the condition holds. */
  until(isDone: () => boolean): Promise<void> {
    return until(isDone);
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
    await this.untilReported(() => this.errors.length >= codes.length);
    assert.deepEqual(this.codes(), codes);
  }

  codes(): string[] {
    return this.errors.map(({ code }) => code);
  }

  /**
   * Returns a gate that blocks a handler. The test opens it; otherwise the scene opens it at the end, so that a failed
   * test does not hang.
   */
  gate(): Gate {
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    this.#gates.push(open);
    return { opened, open };
  }

  /** Asserts that the cache contains the server's keys and versions. */
  async assertEqualsServer(informer: SharedIndexInformer<V1Pod>): Promise<void> {
    const entries = informer.getStore().list();
    const actual = new Map(entries.map(({ key, resourceVersion }) => [key, resourceVersion]));
    assert.deepEqual(actual, await this.server.state('pods'));
  }

  /** Asserts that cache and handler have the server's state, and that the handler received nothing twice. */
  async assertConverged({ informer, handler }: Watching): Promise<void> {
    await this.assertEqualsServer(informer);
    handler.assertOnlyForward();
    assert.deepEqual(handler.held(), await this.server.state('pods'));
  }

  /** Asserts that the handler and the cache received exactly the server's changes between two revisions. */
  async assertHistory({ informer, handler }: Watching, from: number, to: number): Promise<void> {
    await handler.reached(to);
    const initial = handler.calls.findLastIndex(({ isInInitialList }) => isInInitialList) + 1;
    assert.deepEqual(handler.lines.slice(initial), await this.history(from));
    await this.assertEqualsServer(informer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const open of this.#gates) open();
    for (const informer of this.#informers) await informer[Symbol.asyncDispose]().catch(() => undefined);
    await Promise.allSettled(this.#runs);
    for (const disposable of this.#extra) await disposable[Symbol.asyncDispose]();
    await this.server.close();
  }

  #report(error: Error, context: ErrorContext): void {
    const code = 'code' in error ? String(error.code) : '';
    this.errors.push({ code, message: error.message, stack: error.stack ?? '', context });
    for (const resolve of this.#errorWaiters) resolve();
    this.#errorWaiters.clear();
  }
}

/** Waits until the work queued before is done. */
export async function turns(count: number = 50): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}
