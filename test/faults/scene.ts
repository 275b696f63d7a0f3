/**
 * Scene of a case: an embedded apiserver in a separate thread or process, its fault port, a chaos proxy if needed, an
 * informer on real threads with a recorder, and a load from the beginning.
 */
import type { KubeConfig } from '@kubernetes/client-node';
import { InformerThreads, SharedIndexInformer } from '../../src/index.ts';
import type { InformerOptions } from '../../src/index.ts';
import { startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import type {
  Change,
  EmbeddedApiServer,
  FaultAction,
  FaultPortAddress,
  LandedFault,
  RequestRecord,
  ScenarioMatch,
  ScenarioRule,
} from '../../src/tools/apiserver/testing/index.ts';
import { kubeConfigOf } from '../kit/scene.ts';
import { PODS } from '../kit/objects.ts';
import { TemporaryFolder } from '../kit/temporary-folder.ts';
import { Recorder } from '../sim/oracle/recorder.ts';
import { ChaosProxy } from './chaos-proxy.ts';
import { LOAD_MIN } from './scene-options.ts';
import type { SceneOptions } from './scene-options.ts';

/** Limit of a case's wait; a longer one fails. */
const WAIT_MS = 30_000;
const LOAD_WINDOW_MS = 600;
const LOAD_WINDOWS_MAX = 10;
const LOAD_MS = 600_000;
const LOOK_MS = 10;

export class Scene implements AsyncDisposable {
  readonly server: EmbeddedApiServer;
  readonly threads: InformerThreads;
  readonly informer: SharedIndexInformer;
  readonly recorder: Recorder;
  readonly errors: { readonly code: string; readonly message: string; readonly atMs: number }[] = [];
  /** Faults that the case itself has caused, unknown to server and proxy. */
  readonly own: string[] = [];
  /** Rules that must land. */
  readonly wanted: Set<string> = new Set();
  healedAtMs = 0;
  load = 0;
  #proxy: ChaosProxy | undefined;
  readonly #case: SceneOptions;
  readonly #port: FaultPortAddress;
  readonly #isOwnThreads: boolean;
  readonly #extra: AsyncDisposable[] = [];
  #run: Promise<void> | undefined;
  #loadRun: Promise<unknown> = Promise.resolve();
  #requestsBefore = 0;
  #nextFault = 1;

  private constructor(
    fault: SceneOptions,
    server: EmbeddedApiServer,
    port: FaultPortAddress,
    threads: InformerThreads,
    proxy: ChaosProxy | undefined,
  ) {
    this.#case = fault;
    this.server = server;
    this.#port = port;
    this.#isOwnThreads = fault.threads !== undefined;
    this.threads = threads;
    this.#proxy = proxy;
    this.recorder = new Recorder();
    this.informer = this.newInformer(fault.informer);
    this.recorder.informer(this.informer, { hasBodies: fault.hasBodies ?? true });
    this.recorder.handler(this.informer, 'recorded');
  }

  static async start(fault: SceneOptions, shared: InformerThreads): Promise<Scene> {
    const server = await startEmbeddedApiServer({ tls: false, ...fault.server });
    const port = await server.openFaultPort();
    await server.populate({ count: fault.objects ?? 200, objectBytes: 700 });
    const proxy = fault.hasProxy ? await ChaosProxy.start(server.port, fault.proxyTls) : undefined;
    const threads = fault.threads ? new InformerThreads(fault.threads) : shared;
    const scene = new Scene(fault, server, port, threads, proxy);
    scene.startLoad(fault.rate ?? 250);
    if (!fault.isStartedLater) await scene.startInformer();
    await scene.#measureLoad();
    await scene.mark();
    return scene;
  }

  get proxy(): ChaosProxy {
    if (!this.#proxy) throw new Error('this case has no proxy');
    return this.#proxy;
  }

  /** Constructs an informer like the scene's; it ends with the scene. */
  newInformer(
    options: InformerOptions<unknown> = {},
    kubeConfig: KubeConfig = this.kubeConfig(),
  ): SharedIndexInformer {
    const informer = new SharedIndexInformer(kubeConfig, PODS, {
      threads: this.threads,
      backoff: { initialMs: 50, maxMs: 500 },
      onError: (error) => this.#report(error),
      ...options,
    });
    this.#extra.push(informer);
    return informer;
  }

  kubeConfig(): KubeConfig {
    const kubeConfig = kubeConfigOf(this.server, this.#proxy?.url);
    const { ca } = this.#case.proxyTls ?? {};
    const trust = ca && { skipTLSVerify: false, caData: Buffer.from(ca).toString('base64') };
    kubeConfig.clusters = kubeConfig.clusters.map((cluster) => ({ ...cluster, ...trust }));
    return kubeConfig;
  }

  /** Sets the file from which the CA is read; call it before the start. */
  trustFile(caFile: string): void {
    const source = this.informer.source as KubeConfig;
    source.clusters = source.clusters.map(({ name, server }) => ({
      name,
      server,
      caFile,
      skipTLSVerify: false,
    }));
  }

  /** Returns a folder that is removed with the scene. */
  folder(): TemporaryFolder {
    const folder = new TemporaryFolder();
    this.#extra.push(folder);
    return folder;
  }

  /** Starts the informer; resolves when it has synced. */
  async startInformer(): Promise<void> {
    this.#run = this.informer.run();
    this.#run.catch((error: unknown) => this.#report(error as Error));
    await this.informer.waitForSync({ signal: AbortSignal.timeout(WAIT_MS) });
  }

  startLoad(rate: number | 'max'): void {
    this.#loadRun = this.server.load({ rate, durationMs: LOAD_MS, objectBytes: 700 }).catch(() => undefined);
  }

  async stopLoad(): Promise<void> {
    await this.server.stopLoad();
    await this.#loadRun;
  }

  /**
   * Sets a rule through the fault port.
   *
   * @returns its faultId
   */
  async fault(
    action: FaultAction,
    match: ScenarioMatch = {},
    times: ScenarioRule['times'] = 1,
  ): Promise<string> {
    const faultId = `${this.#case.id}-${this.#nextFault++}`;
    this.wanted.add(faultId);
    await this.#ask('PUT', '', { seed: this.#nextFault, rules: [{ faultId, match, times, action }] });
    return faultId;
  }

  /** Ends one fault or all; equality with the server is expected soon after the last heal. */
  async heal(faultId?: string): Promise<void> {
    await this.#ask('DELETE', faultId === undefined ? '' : `?id=${faultId}`);
    this.healedAtMs = performance.now();
  }

  landed(): Promise<LandedFault[]> {
    return this.#ask('GET', '') as Promise<LandedFault[]>;
  }

  async untilLanded(faultId: string, count: number = 1): Promise<LandedFault[]> {
    let landed: LandedFault[] = [];
    await this.until(async () => {
      landed = (await this.landed()).filter((one) => one.faultId === faultId);
      return landed.length >= count;
    }, `${faultId} has landed ${count} times`);
    return landed;
  }

  /** Waits until every rule has struck at least once. */
  async untilAllLanded(): Promise<void> {
    for (const faultId of this.wanted) await this.untilLanded(faultId);
  }

  async until(
    isDone: () => boolean | Promise<boolean>,
    what: string,
    waitMs: number = WAIT_MS,
  ): Promise<void> {
    const end = performance.now() + waitMs;
    while (!(await isDone())) {
      if (performance.now() > end) throw new Error(`waited ${waitMs} ms in vain until ${what}`);
      await this.sleep(LOOK_MS);
    }
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }

  async untilReported(code: string, count: number = 1): Promise<void> {
    await this.until(() => this.codes().filter((one) => one === code).length >= count, `${code} is reported`);
  }

  codes(): string[] {
    return this.errors.map(({ code }) => code);
  }

  /** Waits until the handler has received this number of further events. */
  async untilReceived(count: number): Promise<void> {
    const before = this.recorder.histories.delivered.length;
    await this.until(
      () => this.recorder.histories.delivered.length >= before + count,
      `${count} more events are delivered`,
    );
  }

  /**
   * Waits until a watch beyond the first `requestCount` requests has received an event. Events of the watch before it
   * may arrive meanwhile; a watch that is cut before its first event is followed by a list, as in client-go.
   */
  async untilResumed(requestCount: number): Promise<void> {
    await this.until(async () => {
      const request = (await this.requests()).slice(requestCount).findLast(({ watch }) => watch);
      const from = request?.query['resourceVersion'];
      return from !== undefined && BigInt(this.informer.lastSyncResourceVersion()) > BigInt(from);
    }, 'a new watch has received an event');
  }

  apply(...changes: readonly Change[]): Promise<{ readonly revision: number }> {
    return this.server.apply(changes);
  }

  /** Starts a new list of `requests`. */
  async mark(): Promise<void> {
    this.#requestsBefore = (await this.server.requests()).length;
  }

  async requests(): Promise<RequestRecord[]> {
    return (await this.server.requests()).slice(this.#requestsBefore);
  }

  /** Returns the requests since the mark with their versions: `list 5`, `stream 5`, `watch 5`. */
  async asked(): Promise<string[]> {
    return (await this.requests()).map(({ watch, query }) => {
      const verb = watch ? (query['sendInitialEvents'] === 'true' ? 'stream' : 'watch') : 'list';
      return `${verb} ${query['resourceVersion'] ?? ''}`.trim();
    });
  }

  async keys(): Promise<string[]> {
    return [...(await this.server.state('pods')).keys()];
  }

  get cached(): number {
    return this.informer.getStore().list().length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.healFaults().catch(() => undefined);
    await this.stopLoad().catch(() => undefined);
    await Promise.allSettled(this.#extra.map((disposable) => disposable[Symbol.asyncDispose]()));
    await this.#run?.catch(() => undefined);
    if (this.#isOwnThreads) await this.threads.close();
    await this.#proxy?.[Symbol.asyncDispose]();
    await this.server.close();
  }

  /** Measures until the load suffices: on a busy machine it begins slowly. */
  async #measureLoad(): Promise<void> {
    for (let window = 0; window < LOAD_WINDOWS_MAX && this.load < LOAD_MIN; window++) {
      const [issued, startedAt] = [await this.server.loadIssued(), performance.now()];
      await this.sleep(LOAD_WINDOW_MS);
      this.load = ((await this.server.loadIssued()) - issued) / ((performance.now() - startedAt) / 1000);
    }
  }

  #report(error: Error): void {
    const code = 'code' in error ? String(error.code) : error.name;
    this.errors.push({ code, message: error.message, atMs: performance.now() });
    this.recorder.report(error);
  }

  async #ask(method: string, query: string, body?: object): Promise<unknown> {
    const { url, token } = this.#port;
    const headers = { authorization: `Bearer ${token}` };
    const ask = (): Promise<Response> =>
      fetch(`${url}/faults${query}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    // A busy server may have closed an idle connection; no request has reached it then, so repeat it.
    const response = await ask().catch(ask);
    if (response.status !== 200) throw new Error(`the fault port answered ${response.status}`);
    return response.json();
  }
}
