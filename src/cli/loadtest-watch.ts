/** One informer of a load test: the notifications of its handler, and the number of repeated requests. */
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { SharedIndexInformer } from '../index.ts';
import type { InformerThreads } from '../index.ts';
import { resources } from '../kube/built-in.ts';
import type { ListOptions } from '../kube/list-watch.ts';
import type { JournalEntry } from '../apiserver/journal.ts';
import { TimedHandler } from './loadtest-handler.ts';
import { LABEL, LABEL_VALUE } from './loadtest-plan.ts';
import type { InformerResult, ListMode } from './loadtest-report.ts';
import { differences } from './store-comparison.ts';
import { expectationOf, judge } from './verdict.ts';

export interface LoadTestWatchOptions {
  readonly name: string;
  readonly kubeConfig: KubeConfig;
  readonly namespace: string;
  readonly threads: InformerThreads;
  readonly onError: (error: Error) => void;
}

const POLL_MS = 10;

export class LoadTestWatch implements AsyncDisposable {
  readonly handler: TimedHandler;
  readonly #informer: SharedIndexInformer;
  /** The request by which the informer received its first state. */
  listMode: ListMode = 'LIST';
  #lists = 0;
  #watches = 0;
  #isSynced = false;

  constructor({ name, kubeConfig, namespace, threads, onError }: LoadTestWatchOptions) {
    this.handler = new TimedHandler(name);
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

  /** @param state key to resourceVersion of a LIST after the load */
  judge(
    journal: readonly JournalEntry[],
    listedAt: number,
    state: ReadonlyMap<string, string>,
  ): InformerResult {
    return {
      name: this.handler.name,
      verdict: judge(expectationOf(journal, listedAt), this.handler.history),
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
