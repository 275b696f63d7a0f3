/** One informer of a load test: what its handler is told, and how often it had to ask the server again. */
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { SharedIndexInformer } from '../informer/shared-index-informer.ts';
import { resources } from '../kube/built-in.ts';
import type { ListOptions } from '../kube/list-watch.ts';
import type { JournalEntry } from '../embedded/journal.ts';
import type { InformerThreads } from '../threads/informer-threads.ts';
import { DUE_FIELD, TimedHandler } from './loadtest-handler.ts';
import { LABEL, LABEL_VALUE } from './loadtest-plan.ts';
import type { InformerResult } from './loadtest-report.ts';
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
  #lists = 0;
  #watches = 0;

  constructor({ name, kubeConfig, namespace, threads, onError }: LoadTestWatchOptions) {
    this.handler = new TimedHandler(name);
    this.#informer = new SharedIndexInformer<unknown>(kubeConfig, resources.core.v1.configMaps, {
      namespace,
      labelSelector: `${LABEL}=${LABEL_VALUE}`,
      fields: [DUE_FIELD],
      threads,
      // Every request passes here: what is asked for more than once was ended by the server.
      tweakListOptions: (options) => this.#count(options),
      onError,
    });
  }

  async sync(signal: AbortSignal): Promise<void> {
    const registration = this.#informer.addEventHandler(this.handler);
    // A failure of the run reaches waitForSync, too.
    this.#informer.run(signal).catch(() => undefined);
    await this.#informer.waitForSync(signal, registration);
    // The watch that follows the first list belongs to it.
    while (this.#informer.health.state !== 'connected' && !signal.aborted) await delay(POLL_MS);
    this.#lists = 0;
    this.#watches = 0;
  }

  /** @param state key to resourceVersion of what a LIST shows after the load */
  judge(
    journal: readonly JournalEntry[],
    listedAt: number,
    state: ReadonlyMap<string, string>,
  ): InformerResult {
    return {
      name: this.handler.name,
      verdict: judge(expectationOf(journal, listedAt), this.handler.history),
      differences: differences(this.#informer.getStore().list(), { state, bytes: new Map() }),
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
    return options;
  }
}
