/**
 * Scene of a case: an embedded apiserver, an informer with a recorder, and a load from the beginning. Time and network
 * are real, or simulated.
 */
import type { KubeConfig } from '@kubernetes/client-node';
import { SharedIndexInformer } from '../../../src/index.ts';
import type { InformerOptions, InformerThreads } from '../../../src/index.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { seededRandom } from '../../../src/tools/apiserver/testing/index.ts';
import type {
  Change,
  EmbeddedApiServer,
  FaultAction,
  LandedFault,
  RequestRecord,
  ScenarioMatch,
  ScenarioRule,
} from '../../../src/tools/apiserver/testing/index.ts';
import { PODS, annotated, pod, put } from '../../kit/objects.ts';
import { kubeConfigOf } from '../../kit/scene.ts';
import { TemporaryFolder } from '../../kit/temporary-folder.ts';
import { Recorder } from '../oracle/recorder.ts';
import type { SceneOptions } from './fault-case.ts';

const LOAD_PAUSE_MS = 4;
/** Changes before the fault. */
const LOAD_MIN = 20;
const LOAD_OBJECTS = 50;
const LOAD_KEY = /\/load-\d+$/;

export interface SceneParts {
  readonly server: EmbeddedApiServer;
  readonly threads: InformerThreads;
  /** Address for informers if it is not the server's. */
  readonly url?: string | undefined;
  /** Undefined for the real clock. */
  readonly clock?: Clock | undefined;
}

export abstract class CaseScene implements AsyncDisposable {
  readonly server: EmbeddedApiServer;
  readonly threads: InformerThreads;
  readonly informer: SharedIndexInformer;
  readonly recorder: Recorder;
  readonly errors: { readonly code: string; readonly message: string }[] = [];
  /** Faults that the case itself has caused, unknown to server and network. */
  readonly own: string[] = [];
  /** Rules that must land. */
  readonly wanted: Set<string> = new Set();
  /** Things that end with the scene. */
  protected readonly extra: AsyncDisposable[] = [];
  readonly #options: SceneOptions;
  readonly #parts: SceneParts;
  #run: Promise<void> | undefined;
  /** Number of changes of the load. */
  #written = 0;
  /** Undefined while there is no load; another number for each load. */
  #load: number | undefined;
  #requestsBefore = 0;
  #nextFault = 1;

  protected constructor(options: SceneOptions, parts: SceneParts) {
    this.#options = options;
    this.#parts = parts;
    this.server = parts.server;
    this.threads = parts.threads;
    this.recorder = new Recorder(parts.clock && (() => parts.clock?.now() ?? 0));
    this.informer = this.newInformer(options.informer);
    this.recorder.informer(this.informer, { hasBodies: options.hasBodies ?? true });
    this.recorder.handler(this.informer, 'recorded');
  }

  /** Waits until the condition holds; throws when it does not, though the scene is at rest or its limit is reached. */
  abstract until(isDone: () => boolean | Promise<boolean>, what: string): Promise<void>;

  /** Resolves after a time, in which the scene goes on. */
  abstract later(ms: number): Promise<void>;

  /** Faults of network and case that struck. */
  get strikes(): readonly string[] {
    return this.own;
  }

  /** Fills the server, starts load and informer. */
  protected async begin(): Promise<void> {
    await this.server.populate({ count: this.#options.objects ?? 200, objectBytes: 700 });
    this.startLoad();
    if (this.#options.isStartedLater !== true) await this.startInformer();
    await this.until(() => this.#written >= LOAD_MIN, 'there is a load');
    await this.mark();
  }

  /** Constructs an informer like the scene's; it ends with the scene. */
  newInformer(options: InformerOptions<unknown> = {}): SharedIndexInformer {
    const { clock } = this.#parts;
    const informer = new SharedIndexInformer(this.kubeConfig(), PODS, {
      threads: this.threads,
      backoff: { initialMs: 50, maxMs: 500 },
      onError: (error) => this.#report(error),
      ...(clock ? { clock } : {}),
      ...options,
    });
    this.extra.push(informer);
    return informer;
  }

  kubeConfig(): KubeConfig {
    return kubeConfigOf(this.server, this.#parts.url);
  }

  /** Returns a folder that is removed with the scene. */
  folder(): TemporaryFolder {
    const folder = new TemporaryFolder();
    this.extra.push(folder);
    return folder;
  }

  /** Runs the informer; its end is part of the scene's. */
  runInformer(): void {
    this.#run = this.informer.run();
    this.#run.catch((error: unknown) => this.#report(error as Error));
  }

  /** Starts the informer; resolves when it has synced. */
  async startInformer(): Promise<void> {
    this.runInformer();
    await this.until(() => this.informer.hasSynced(), 'the informer has synced');
  }

  /** Writes from now on: a pause, then the next changes, when the server has answered to the last ones. */
  startLoad(changesAtOnce = 1): void {
    const load = (this.#load = this.#written);
    const random = seededRandom(load + 1);
    const change = (): Change => {
      const name = `load-${Math.floor(random() * LOAD_OBJECTS)}`;
      return put(annotated(pod(name), { written: String(this.#written++) }));
    };
    const write = async (): Promise<void> => {
      while (this.#load === load) {
        await this.apply(...Array.from({ length: changesAtOnce }, change));
        await this.later(LOAD_PAUSE_MS);
      }
    };
    // The server may have ended before the load.
    write().catch(() => undefined);
  }

  stopLoad(): void {
    this.#load = undefined;
  }

  /** Sets a rule. @returns its faultId */
  async fault(
    action: FaultAction,
    match: ScenarioMatch = {},
    times: ScenarioRule['times'] = 1,
  ): Promise<string> {
    const faultId = `${this.#options.id}-${this.#nextFault++}`;
    this.wanted.add(faultId);
    await this.server.setFaults({ seed: this.#nextFault, rules: [{ faultId, match, times, action }] });
    return faultId;
  }

  /** Ends one fault or all. */
  heal(faultId?: string): Promise<void> {
    return this.server.healFaults(faultId);
  }

  async untilLanded(faultId: string, count: number = 1): Promise<LandedFault[]> {
    let landed: LandedFault[] = [];
    await this.until(async () => {
      landed = (await this.server.landedFaults()).filter((one) => one.faultId === faultId);
      return landed.length >= count;
    }, `${faultId} has landed ${count} times`);
    return landed;
  }

  /** Waits until every rule has struck at least once. */
  async untilAllLanded(): Promise<void> {
    for (const faultId of this.wanted) await this.untilLanded(faultId);
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

  /** Waits until the cache has everything that the server has now. */
  async untilCurrent(): Promise<void> {
    const revision = await this.server.revision();
    await this.until(
      () => Number(this.informer.lastSyncResourceVersion()) >= revision,
      'the cache has everything',
    );
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

  /** Keys of the objects that the load does not write. */
  async keys(): Promise<string[]> {
    return [...(await this.server.state('pods')).keys()].filter((key) => !LOAD_KEY.test(key));
  }

  get cached(): number {
    return this.informer.getStore().size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.healFaults().catch(() => undefined);
    this.stopLoad();
    await Promise.allSettled(this.extra.map((disposable) => disposable[Symbol.asyncDispose]()));
    await this.#run?.catch(() => undefined);
  }

  #report(error: Error): void {
    const code = 'code' in error ? String(error.code) : error.name;
    this.errors.push({ code, message: error.message });
    this.recorder.report(error);
  }
}
