/** All open watches of the server: opens them, sends bookmarks, and breaks them on request. */

import { scheduleEvery } from '../../../base/clock.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Collection, LogView } from '../store/event-log.ts';
import { FaultStream } from '../faults/fault-stream.ts';
import { representationFor } from '../wire/http-io.ts';
import { parseWatchOptions } from './list-options.ts';
import type { WatchOptions } from './list-options.ts';
import type { Listener } from '../wire/listener.ts';
import type { ResolvedOptions } from '../store/server-options.ts';
import type { Call } from '../wire/request-info.ts';
import { selectionOf } from './selection.ts';
import { StatusError, expired, tooLargeResourceVersion } from '../store/status.ts';
import { Watch } from './watch-stream.ts';
import type { WatchPlan } from './watch-stream.ts';

/** How to break a connection: with an ordinary end, with a TCP reset, or with a reset in the middle of a line. */
export type DropMode = 'close' | 'reset' | 'resetMidLine';

/** An open watch of the server for tests. */
export interface WatchInfo {
  /** Path of the request without the query: `/api/v1/pods`. */
  readonly path: string;
  /** Query of the request without the question mark: `watch=true&resourceVersion=7`. */
  readonly query: string;
  /** Number of events of the resource that were not yet sent to this watch. */
  readonly backlog: number;
}

type WatchesOptions = Pick<
  ResolvedOptions,
  | 'bookmarkIntervalMs'
  | 'expiredWatch'
  | 'freshnessTimeoutMs'
  | 'sharding'
  | 'watchBacklogEventsMax'
  | 'watchTimeoutMs'
>;

interface OpenWatch {
  readonly watch: Watch;
  readonly call: Call;
}

/** The real server sends a last bookmark this long before it ends a watch. */
const BOOKMARK_BEFORE_END_MS = 2_000;
const HALF_LINE = Buffer.from('{"type":"MODIFIED","object":{"kind":"Po');

/** @internal */
export class Watches {
  readonly #options: WatchesOptions;
  readonly #listener: Listener;
  readonly #clock: Clock;
  readonly #open = new Set<OpenWatch>();
  readonly #waiting = new Set<() => void>();
  readonly #endBookmarks: () => void;

  constructor(options: WatchesOptions, listener: Listener, clock: Clock) {
    this.#clock = clock;
    this.#listener = listener;
    this.#options = options;
    const send = (): void => void this.sendBookmarks();
    this.#endBookmarks = scheduleEvery(clock, options.bookmarkIntervalMs, send);
  }

  async open(call: Call): Promise<void> {
    const { request, response, query, collection } = call;
    const representation = representationFor(request, query);
    const options = parseWatchOptions(query);
    const selection = selectionOf(collection.definition, call.path, query, this.#options.sharding);
    const view = call.faults.view?.(collection.log);
    const start = await this.#findStart(collection, options, view ?? collection.log);
    if (start instanceof StatusError && this.#options.expiredWatch === 'status') throw start;
    if (response.destroyed) return;

    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.flushHeaders();
    if (start instanceof StatusError) {
      // Once a watch is accepted, a failure to start is an event, as in the real server.
      response.end(`${JSON.stringify({ type: 'ERROR', object: start.status })}\n`);
      return;
    }
    if (options.endBookmark) call.record.listedRevision = start.fromRevision;
    this.#start(call, options, {
      collection,
      selection,
      initial: start.initial.filter((object) => selection.matches(object)),
      fromRevision: start.fromRevision,
      endBookmark: options.endBookmark,
      allowBookmarks: options.allowBookmarks,
      representation,
      backlogEventsMax: this.#options.watchBacklogEventsMax,
      horizon: view && (() => view.revision),
    });
  }

  info(): WatchInfo[] {
    return [...this.#open].map(({ watch, call: { request, query } }) => {
      return { path: request.url?.split('?')[0] ?? '', query: query.toString(), backlog: watch.backlog };
    });
  }

  /** Number of events that the slowest client is behind. */
  backlogMax(): number {
    let max = 0;
    for (const { watch } of this.#open) max = Math.max(max, watch.backlog);
    return max;
  }

  /** Resolves when at least `count` watches are open. */
  reached(count: number): Promise<void> {
    if (this.#open.size >= count) return Promise.resolve();
    return new Promise((resolve) => {
      const check = (): void => {
        if (this.#open.size < count) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
    });
  }

  sendBookmarks(): number {
    for (const { watch, call } of this.#open) watch.bookmark(call.collection.log.revision);
    return this.#open.size;
  }

  expire(): number {
    return this.#each(({ watch }) => watch.expire());
  }

  drop(how: DropMode): number {
    return this.#each(({ watch, call: { response } }) => {
      const { socket } = response;
      if (how === 'close') watch.close();
      else watch.detach();
      if (how === 'reset') this.#listener.reset(socket);
      if (how === 'resetMidLine') response.write(HALF_LINE, () => this.#listener.reset(socket));
    });
  }

  /** Ends the watches of a resource that is no longer served. */
  end(collection: Collection): void {
    this.#each(({ watch, call }) => {
      if (call.collection !== collection) return;
      watch.pump();
      watch.close();
    });
  }

  close(): void {
    this.#endBookmarks();
    this.drop('close');
  }

  #each(act: (open: OpenWatch) => void): number {
    const open = [...this.#open];
    for (const entry of open) act(entry);
    return open.length;
  }

  /** Returns the start of the stream, or the reason why it cannot begin. */
  async #findStart(
    collection: Collection,
    options: WatchOptions,
    log: LogView,
  ): Promise<Pick<WatchPlan, 'fromRevision' | 'initial'> | StatusError> {
    const { from, initialEvents } = options;
    if (initialEvents) {
      const wanted = from ?? 0;
      if (!(await log.reached(wanted, this.#options.freshnessTimeoutMs))) {
        return tooLargeResourceVersion(wanted, log.revision);
      }
      const { revision } = log;
      return { fromRevision: revision, initial: collection.snapshot(revision, false)?.objects ?? [] };
    }
    if (from === undefined) return { fromRevision: log.revision, initial: [] };
    const { floor } = collection.history;
    if (from < floor) return expired(`too old resource version: ${from} (${floor})`);
    return { fromRevision: from, initial: [] };
  }

  #start(call: Call, options: WatchOptions, plan: WatchPlan): void {
    const { response } = call;
    const cancels: (() => void)[] = [];
    const stream = new FaultStream(call, this.#listener);
    const watch = new Watch(plan, stream, () => {
      for (const cancel of cancels) cancel();
      this.#open.delete(open);
    });
    const open: OpenWatch = { watch, call };
    this.#open.add(open);
    response.on('close', () => {
      stream.closed();
      watch.detach();
    });

    const { timeoutSeconds = 0 } = options;
    const lifeMs =
      timeoutSeconds > 0 ? timeoutSeconds * 1000 : this.#options.watchTimeoutMs * (1 + Math.random());
    cancels.push(this.#clock.schedule(lifeMs, () => watch.close()));
    const lastMs = lifeMs - BOOKMARK_BEFORE_END_MS;
    const { log } = call.collection;
    if (lastMs > 0) cancels.push(this.#clock.schedule(lastMs, () => watch.bookmark(log.revision)));
    stream.open(watch);
    watch.pump();
    for (const check of this.#waiting) check();
  }
}
