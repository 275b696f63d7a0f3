/** The informers of a load test: the notifications of their handlers, and the number of repeated requests. */
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { SharedIndexInformer } from '../index.ts';
import type { InformerThreads } from '../index.ts';
import { resources } from '../kube/built-in.ts';
import type { ListOptions } from '../kube/list-watch.ts';
import { journalOf, revisedWrites } from './loadtest-journal.ts';
import { latenciesOf } from './loadtest-latency.ts';
import type { Latencies } from './loadtest-latency.ts';
import { LABEL, LABEL_VALUE } from './loadtest-plan.ts';
import type { Write } from './loadtest-plan.ts';
import type { InformerResult, ListMode } from './loadtest-report.ts';
import { RecordingHandler } from './recording-handler.ts';
import { differences } from './store-comparison.ts';
import { expectationOf, judge } from './verdict.ts';
import type { Expectation } from './verdict.ts';

interface WatchOptions {
  readonly kubeConfig: KubeConfig;
  readonly namespace: string;
  readonly threads: InformerThreads;
  readonly onError: (error: Error) => void;
}

const POLL_MS = 10;

export class LoadTestWatches implements AsyncDisposable {
  readonly handlers: readonly RecordingHandler[];
  readonly #watches: readonly LoadTestWatch[];
  readonly #namespace: string;

  constructor(count: number, options: WatchOptions) {
    this.#namespace = options.namespace;
    this.#watches = Array.from(
      { length: count },
      (_, index) => new LoadTestWatch(`informer ${index + 1}`, options),
    );
    this.handlers = this.#watches.map(({ handler }) => handler);
  }

  async sync(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#watches.map((watch) => watch.sync(signal)));
  }

  /**
   * @param created writes before the informers listed
   * @param writes those of the load
   * @param state key to resourceVersion of a LIST after the load
   */
  judge(
    created: readonly Write[],
    writes: readonly Write[],
    state: ReadonlyMap<string, string>,
  ): { results: InformerResult[]; latencyMs: Latencies } {
    const listedAt = created.reduce((newest, [revision]) => Math.max(newest, revision), 0);
    const notifications = this.handlers.flatMap(({ history }) => [...history]);
    const revised = revisedWrites([...created, ...writes], this.#namespace, notifications);
    const expectation = expectationOf(journalOf(revised, this.#namespace), listedAt);
    const load = revised.filter(([revision]) => revision > listedAt);
    return {
      results: this.#watches.map((watch) => watch.judge(expectation, state)),
      latencyMs: latenciesOf(load, notifications),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const watch of this.#watches) await watch[Symbol.asyncDispose]();
  }
}

class LoadTestWatch implements AsyncDisposable {
  readonly handler: RecordingHandler;
  readonly #informer: SharedIndexInformer;
  /** The request by which the informer received its first state. */
  listMode: ListMode = 'LIST';
  #lists = 0;
  #watches = 0;
  #isSynced = false;

  constructor(name: string, { kubeConfig, namespace, threads, onError }: WatchOptions) {
    this.handler = new RecordingHandler(name);
    this.#informer = new SharedIndexInformer<unknown>(kubeConfig, resources.core.v1.configMaps, {
      namespace,
      labelSelector: `${LABEL}=${LABEL_VALUE}`,
      threads,
      // Every request passes here: a repeated request means that the server ended the one before.
      tweakListOptions: (options) => this.#count(options),
      onError,
    });
  }

  async sync(signal: AbortSignal): Promise<void> {
    const registration = this.#informer.addEventHandler(this.handler);
    // A failure of the run reaches waitForSync, too.
    this.#informer.run(signal).catch(() => undefined);
    await this.#informer.waitForSync(signal, registration);
    // The watch after the first list is expected.
    while (this.#informer.health.state !== 'connected' && !signal.aborted) await delay(POLL_MS);
    this.#lists = 0;
    this.#watches = 0;
    this.#isSynced = true;
  }

  judge(expectation: Expectation, state: ReadonlyMap<string, string>): InformerResult {
    return {
      name: this.handler.name,
      verdict: judge(expectation, this.handler.history),
      differences: differences(this.#informer.getStore().list(), { state, bytes: new Map() }),
      listMode: this.listMode,
      relists: this.#lists,
      watchesCut: this.#watches,
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#informer[Symbol.asyncDispose]();
  }

  #count(options: ListOptions): ListOptions {
    const isList = options.allowWatchBookmarks !== true || options.sendInitialEvents === true;
    if (!isList) this.#watches++;
    else if (options.continue === undefined) this.#lists++;
    // When a server does not stream lists, a LIST follows.
    if (isList && !this.#isSynced) this.listMode = options.sendInitialEvents === true ? 'WatchList' : 'LIST';
    return options;
  }
}
