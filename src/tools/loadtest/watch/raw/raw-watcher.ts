/**
 * A watcher without a cache that only counts: it lists, watches, and continues from the last version when the watch
 * ends, as every client does, but does not read objects.
 */
import { KubeloomError, messageOf } from '../../../../base/errors.ts';
import { onAbort } from '../../../../base/on-abort.ts';
import { resourcePath } from '../../../../kube/resource.ts';
import { NO_FAILURES, failed, healthy, jittered } from '../../../../base/backoff.ts';
import { listQuery, nextPageQuery, streamingListQuery, watchQuery } from '../../../../http/queries.ts';
import type { HttpExchange } from '../../../../http/http.ts';
import { ListItems } from '../../../../http/list-items.ts';
import { WatchFrames } from '../../../../http/watch-frames.ts';
import type { Query } from '../../../../kube/connection-options.ts';
import type { Mark, SyncResult } from '../../result.ts';
import type { ListMode, Slowness } from '../../workload/workload.ts';
import { nowUs } from '../recording-handler.ts';
import type { Truth, Watcher, WatcherActivity, WatcherJudgement, WatcherTask } from '../watcher.ts';
import type { CommonEvents } from './common-events.ts';
import { Deliveries } from './deliveries.ts';
import { RawRun } from './raw-run.ts';
import type { RawProcess } from './raw-process.ts';

const PAGE_SIZE = 500;
/** Larger than any object that a server stores. */
const OBJECT_BYTES_MAX = 16 * 2 ** 20;
/** client-go's: a watch lasts from 5 to 10 minutes. */
const WATCH_SECONDS_MIN = 300;
/** client-go's delays. */
const BACKOFF = { backoffInitialMs: 800, backoffMaxMs: 30_000 };
/** Marks that a watcher keeps; thousands of watchers have too many. */
const MARKS_MAX = 20;
const OK = 200;
const UNAUTHORIZED = 401;
const GONE = 410;
/** The answers of servers without streaming lists. */
const NO_STREAMS: ReadonlySet<number> = new Set([400, 422]);

/** The reader of an answer with the status 200. */
interface AnswerReader {
  readonly accepted: () => void;
  /** Takes bytes that are valid until it returns. */
  readonly write: (chunk: Buffer) => void;
  /** Called for answers of every status. */
  readonly ended: (end: AnswerEnd) => void;
}

interface AnswerEnd {
  /** 0 without an answer. */
  readonly status: number;
  readonly error?: KubeloomError | undefined;
}

type State =
  | { readonly kind: 'idle' }
  /** A list, or a watch before the end of the initial objects. */
  | { readonly kind: 'listing'; readonly exchange: HttpExchange }
  | { readonly kind: 'watching'; readonly exchange: HttpExchange }
  | { readonly kind: 'waiting'; readonly cancel: () => void }
  | { readonly kind: 'closed' };

export class RawWatcher implements Watcher {
  readonly task: WatcherTask;
  readonly #process: RawProcess;
  readonly #onError: (error: Error) => void;
  readonly #events: CommonEvents;
  readonly #deliveries: Deliveries;
  readonly #clientRuns: RawRun[] = [];
  readonly #marks: Mark[] = [];
  #state: State = { kind: 'idle' };
  #backoff = NO_FAILURES;
  #slowness: Slowness | undefined;
  #cancelPause: () => void = () => undefined;
  #receivedBytes = 0;
  #cutWatches = 0;
  #isStreamingSupported = true;
  readonly #whenSynced = new Set<() => void>();

  constructor(task: WatcherTask, process: RawProcess, onError: (error: Error) => void) {
    this.task = task;
    this.#process = process;
    this.#onError = onError;
    this.#events = process.eventsOf(task);
    this.#deliveries = new Deliveries(process.startedUs, process.join());
    this.#slowness = task.group.slow;
  }

  get activity(): WatcherActivity {
    return {
      changes: this.#clientRuns.reduce((all, { changes }) => all + changes, 0),
      relists: Math.max(0, this.#clientRuns.length - 1),
      cutWatches: this.#cutWatches,
      receivedBytes: this.#receivedBytes,
    };
  }

  sync(signal: AbortSignal): Promise<void> {
    this.#list('start');
    return this.#untilSynced(signal);
  }

  relist(signal: AbortSignal): Promise<void> {
    this.#leave();
    this.#list('storm');
    return this.#untilSynced(signal);
  }

  dropConnection(): void {
    if (this.#state.kind !== 'watching') return;
    this.#leave();
    this.#cut('the connection was dropped');
    this.#watch();
  }

  setSlowness(slowness: Slowness | undefined): void {
    this.#slowness = slowness ?? this.task.group.slow;
    this.#cancelPause();
    this.#exchange?.resume();
  }

  hasReached(revision: number): boolean {
    return (this.#clientRuns.at(-1)?.lastRevision ?? 0) >= revision;
  }

  judge(truth: Truth): WatcherJudgement {
    const history = { clientRuns: this.#clientRuns, deliveries: this.#deliveries, marks: this.#marks };
    return this.#process.judgeOf(this.#events, truth).judge(history, this.#process.startedUs);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#leave();
    this.#state = { kind: 'closed' };
    return Promise.resolve();
  }

  get #clientRun(): RawRun {
    return this.#clientRuns.at(-1) as RawRun;
  }

  get #exchange(): HttpExchange | undefined {
    return 'exchange' in this.#state ? this.#state.exchange : undefined;
  }

  get #atMs(): number {
    return (nowUs() - this.#process.startedUs) / 1000;
  }

  /** Begins a new run. */
  #list(cause: SyncResult['cause']): void {
    const last = this.#clientRuns.at(-1);
    if (last) last.isCutOff = true;
    this.#clientRuns.push(new RawRun(this.#events, this.#deliveries, cause, this.#atMs));
    if (cause !== 'start') this.#mark('relist', cause);
    this.#request();
  }

  /** Requests the first state. */
  #request(): void {
    const { list } = this.task.group;
    if (list === 'watchlist' && this.#isStreamingSupported) this.#stream();
    else if (list === 'pages') this.#page(listQuery(this.#query, '', PAGE_SIZE), 'pages');
    else this.#page(listQuery(this.#query, '0', PAGE_SIZE), 'list');
  }

  #stream(): void {
    const clientRun = this.#clientRun;
    const frames = new WatchFrames(OBJECT_BYTES_MAX);
    clientRun.isStreamingList = true;
    clientRun.sync.mode = 'watchlist';
    const exchange = this.#send(
      { ...streamingListQuery(this.#query, ''), ...this.#timeout },
      {
        accepted: () => undefined,
        write: (chunk) => {
          frames.write(chunk, 0, clientRun);
          if (
            clientRun.isStreamingList ||
            this.#state.kind !== 'listing' ||
            clientRun.errorCode !== undefined
          )
            return;
          clientRun.synced(clientRun.lastRevision, this.#atMs);
          this.#state = { kind: 'watching', exchange };
          this.#synced();
        },
        ended: (end) => {
          if (this.#state.kind === 'watching') this.#watchEnded(end, 0);
          else if (NO_STREAMS.has(end.status)) {
            this.#isStreamingSupported = false;
            this.#again(() => this.#request(), 0);
          } else this.#failed(end, () => this.#request());
        },
      },
    );
    this.#state = { kind: 'listing', exchange };
  }

  #page(query: Query, mode: ListMode): void {
    const clientRun = this.#clientRun;
    const items = new ListItems(OBJECT_BYTES_MAX);
    clientRun.isStreamingList = false;
    clientRun.sync.mode = mode;
    const exchange = this.#send(query, {
      accepted: () => undefined,
      write: (chunk) => void items.write(chunk, 0, clientRun),
      ended: (end) => {
        try {
          if (end.status !== OK || end.error) return this.#failed(end, () => this.#request());
          const { resourceVersion, continue: token } = items.finish();
          if (token !== undefined) return this.#page(nextPageQuery(this.#query, PAGE_SIZE, token), 'pages');
          clientRun.synced(Number(resourceVersion), this.#atMs);
          this.#watch();
        } catch (error) {
          if (!(error instanceof KubeloomError)) throw error;
          this.#failed({ status: OK, error }, () => this.#request());
        }
      },
    });
    this.#state = { kind: 'listing', exchange };
  }

  /** Watches from the last version. */
  #watch(): void {
    const clientRun = this.#clientRun;
    const frames = new WatchFrames(OBJECT_BYTES_MAX);
    const before = clientRun.lines;
    const query = { ...watchQuery(this.#query, String(clientRun.lastRevision)), ...this.#timeout };
    const exchange = this.#send(query, {
      accepted: () => {
        this.#backoff = healthy(this.#backoff, this.#process.clock.now());
        this.#synced();
      },
      write: (chunk) => void frames.write(chunk, 0, clientRun),
      ended: (end) => this.#watchEnded(end, before),
    });
    this.#state = { kind: 'watching', exchange };
  }

  #watchEnded(end: AnswerEnd, linesBefore: number): void {
    const clientRun = this.#clientRun;
    if (end.status === GONE || clientRun.errorCode === GONE) {
      clientRun.errorCode = undefined;
      this.#again(() => this.#list('server'), 0);
      return;
    }
    clientRun.errorCode = undefined;
    this.#cut(end.error ? messageOf(end.error) : 'the watch ended');
    // A watch that delivered lines continues at once.
    if (end.status === OK && clientRun.lines > linesBefore) this.#again(() => this.#watch(), 0);
    else this.#failed(end, () => this.#watch());
  }

  #failed({ status, error }: AnswerEnd, retry: () => void): void {
    const { clock, random } = this.#process;
    const next = failed(this.#backoff, BACKOFF, clock.now());
    this.#backoff = next.backoff;
    if (status === UNAUTHORIZED) void this.#process.unauthorized(this.#onError);
    if (error) this.#onError(error);
    else if (status !== OK) {
      const message = `the server answered ${this.task.name} with ${status}`;
      this.#onError(new KubeloomError('ERR_KUBELOOM_LOADTEST', message));
    }
    this.#again(retry, jittered({ baseMs: next.baseMs, atLeastMs: 0 }, random()));
  }

  #again(work: () => void, delayMs: number): void {
    this.#leave();
    this.#state = { kind: 'waiting', cancel: this.#process.clock.schedule(delayMs, work) };
  }

  #send(query: Query, { accepted, write, ended }: AnswerReader): HttpExchange {
    const { resource, namespace } = this.task;
    const path = `${resourcePath(resource, namespace)}?${new URLSearchParams(query).toString()}`;
    const clientRun = this.#clientRun;
    let status = 0;
    const head = (answered: number): void => {
      status = answered;
      if (status === OK) accepted();
    };
    const data = (chunk: Uint8Array): void => {
      if (status !== OK) return;
      this.#receivedBytes += chunk.length;
      if (clientRun.sync.durationMs === null)
        clientRun.sync.bytes = (clientRun.sync.bytes ?? 0) + chunk.length;
      clientRun.readUs = nowUs();
      const before = clientRun.lines;
      write(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
      if (clientRun.fault !== undefined) this.#refuse(clientRun.fault);
      else this.#slowDown(chunk.length, clientRun.lines - before);
    };
    const end = (error: KubeloomError | undefined): void => ended({ status, error });
    return this.#process.transport.request({ path }, { head, data, end });
  }

  /** Ends an answer that cannot be understood. */
  #refuse(fault: string): void {
    const clientRun = this.#clientRun;
    clientRun.fault = undefined;
    const error = new KubeloomError('ERR_KUBELOOM_LOADTEST', `${this.task.name} received ${fault}`);
    this.#failed({ status: OK, error }, () =>
      clientRun.sync.durationMs === null ? this.#request() : this.#watch(),
    );
  }

  /** Stops reading for as long as these bytes should have taken. */
  #slowDown(bytes: number, events: number): void {
    const slow = this.#slowness;
    const exchange = this.#exchange;
    if (!slow || !exchange) return;
    exchange.pause();
    const pauseMs = slow.type === 'socket' ? (bytes * 1000) / slow.bytesPerSecond : events * slow.delayMs;
    this.#cancelPause = this.#process.clock.schedule(pauseMs, () => exchange.resume());
  }

  /** Ends the request in progress. */
  #leave(): void {
    this.#cancelPause();
    if (this.#state.kind === 'waiting') this.#state.cancel();
    this.#exchange?.close();
    this.#state = { kind: 'idle' };
  }

  get #query(): Query {
    return { labelSelector: this.task.selector };
  }

  get #timeout(): Query {
    return { timeoutSeconds: String(Math.round(WATCH_SECONDS_MIN * (1 + this.#process.random()))) };
  }

  #cut(text: string): void {
    this.#cutWatches++;
    this.#mark('cut', text);
  }

  #mark(type: Mark['type'], text: string): void {
    if (this.#marks.length >= MARKS_MAX) return;
    this.#marks.push({ atMs: this.#atMs, type, watcher: this.task.name, text });
  }

  #synced(): void {
    for (const resolve of this.#whenSynced) resolve();
    this.#whenSynced.clear();
  }

  #untilSynced(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const unlisten = onAbort(signal, () => reject(signal.reason));
      this.#whenSynced.add(() => {
        unlisten();
        resolve();
      });
    });
  }
}
