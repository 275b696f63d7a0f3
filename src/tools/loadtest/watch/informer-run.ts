/** An informer of a watcher, from the first list to the end: notifications, requests, cache. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { sleep } from '../../../base/sleep.ts';
import { SharedIndexInformer } from '../../../index.ts';
import type { HandlerRegistration } from '../../../index.ts';
import type { ListMessage } from '../../../metrics/index.ts';
import type { ListOptions } from '../../../kube/lister-watcher.ts';
import type { Mark, SyncResult } from '../result.ts';
import type { ClientRun } from '../verdict/judge-runs.ts';
import type { ListMode } from '../workload/workload.ts';
import { RecordingHandler, nowUs } from './recording-handler.ts';
import type { Notification } from './recording-handler.ts';
import type { OpenSync, WatcherContext, WatcherTask } from './watcher.ts';

const PAGE_SIZE = 500;
const POLL_MS = 10;
const LISTS = 'kubeloom:list';

export class InformerRun implements ClientRun, AsyncDisposable {
  readonly handler: RecordingHandler;
  readonly syncs: OpenSync[] = [];
  readonly marks: Mark[] = [];
  /** The number of notifications before the first relist. */
  relistedAfter: number | undefined;
  cutWatches = 0;
  isCutOff = false;
  readonly #task: WatcherTask;
  readonly #informer: SharedIndexInformer;
  readonly #registration: HandlerRegistration;
  readonly #startedUs: number;
  readonly #cause: SyncResult['cause'];
  /** The name of the informer in messages of channels. */
  #channelName = '';
  #isSynced = false;
  /** True while the watch that follows a list is expected. */
  #isWatchExpected = false;

  constructor(task: WatcherTask, context: WatcherContext, cause: SyncResult['cause']) {
    const { group, resource, namespace, selector, name } = task;
    this.#task = task;
    this.#startedUs = context.startedUs;
    this.#cause = cause;
    this.handler = new RecordingHandler(name);
    this.#informer = new SharedIndexInformer<unknown>(context.kubeConfig, resource, {
      ...(namespace === '' ? {} : { namespace }),
      labelSelector: selector,
      threads: context.threads,
      list: {
        watchList: group.list === 'watchlist' ? 'auto' : 'off',
        pageSize: group.list === 'pages' ? PAGE_SIZE : 0,
      },
      // Every request calls this: a repeated request means that the server ended the previous request.
      tweakListOptions: (options) => this.#count(options),
      onError: context.onError,
    });
    this.#registration = this.#informer.addEventHandler(this.handler);
  }

  get changes(): number {
    return this.handler.history.changes;
  }

  get notifications(): Iterable<Notification> {
    return this.handler.history;
  }

  /** The cache at the end; undefined after this run. */
  get state(): ReadonlyMap<string, string> | undefined {
    if (this.isCutOff) return undefined;
    const entries = this.#informer.getStore().list();
    return new Map(entries.map(({ key, resourceVersion }) => [key, resourceVersion]));
  }

  async sync(signal: AbortSignal): Promise<void> {
    const startMs = this.#atMs();
    // A failure of the run also reaches waitForSync.
    this.#informer.run().catch(() => undefined);
    this.#channelName = this.#informer.stats().name;
    subscribe(LISTS, this.#listed);
    await this.#informer.waitForSync({ signal, registration: this.#registration });
    const first = this.syncs[0];
    if (first) {
      first.startMs = startMs;
      first.durationMs = this.#atMs() - startMs;
      first.items = this.handler.history.length - this.changes;
    }
    this.#isSynced = true;
    // The watch after the first list is expected.
    while (this.#informer.health.state !== 'connected' && !signal.aborted) await sleep(POLL_MS);
  }

  hasReached(revision: number): boolean {
    const isDelivered = this.#registration.backlog.notifications === 0;
    return isDelivered && Number(this.#informer.lastSyncResourceVersion()) >= revision;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isCutOff = true;
    unsubscribe(LISTS, this.#listed);
    await this.#informer[Symbol.asyncDispose]();
  }

  #count(options: ListOptions): ListOptions {
    const isList = options.allowWatchBookmarks !== true || options.sendInitialEvents === true;
    if (isList) this.#list(options);
    else if (this.#isWatchExpected) this.#isWatchExpected = false;
    else {
      this.cutWatches++;
      this.#mark('cut', 'the watch ended');
    }
    return options;
  }

  #list({ continue: token, sendInitialEvents }: ListOptions): void {
    const isStream = sendInitialEvents === true;
    const mode: ListMode = isStream ? 'watchlist' : token === undefined ? 'list' : 'pages';
    this.#isWatchExpected = !isStream;
    const last = this.syncs.at(-1);
    // If a server does not stream lists, a LIST follows; and a list may consist of several pages.
    if (last && (!this.#isSynced || token !== undefined)) {
      last.mode = mode;
      return;
    }
    const cause = last ? 'server' : this.#cause;
    this.syncs.push({ mode, cause, startMs: this.#atMs(), durationMs: null, items: null, bytes: null });
    if (last) this.relistedAfter ??= this.handler.history.length;
    if (cause !== 'start') this.#mark('relist', cause);
  }

  readonly #listed = (message: unknown): void => {
    const { name, result, bytes } = message as ListMessage;
    const last = this.syncs.at(-1);
    if (last && name === this.#channelName && result === 'ok') last.bytes = bytes;
  };

  #mark(type: Mark['type'], text: string): void {
    this.marks.push({ atMs: this.#atMs(), type, watcher: this.#task.name, text });
  }

  #atMs(): number {
    return (nowUs() - this.#startedUs) / 1000;
  }
}
