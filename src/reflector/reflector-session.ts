/**
 * The list-and-watch of an informer: passes events to `step`, carries out the effects it returns, and owns
 * the request in progress. Effects are carried out strictly in order. An effect that finds no room in the rings
 * waits, and all later effects wait behind it.
 */
import type { Clock, Random } from '../base/clock.ts';
import { KubeloomError, assert, fromErrorMessage } from '../base/errors.ts';
import { DeltaKind } from '../shared/record/delta.ts';
import type { FromReflector, ReflectorPhase, ReflectorSpec, ToReflector } from '../shared/protocol.ts';
import type { ConnectionOptions, Query } from '../kube/connection-options.ts';
import type { Activity } from '../shared/activity.ts';
import { CounterWriter } from '../shared/counters.ts';
import { ActivityReports } from './activity.ts';
import type { HttpTransport } from '../http/http.ts';
import { jittered } from '../base/backoff.ts';
import { ErrorBody, retryAfterSeconds } from '../http/error-body.ts';
import { SessionResponse } from './session-response.ts';
import type { Body, ResponseOwner, Inbox } from './session-response.ts';
import { answeredWith, noCredentials, stalled, unreachable, unusable } from './rules/failure.ts';
import { ListBody } from './list-body.ts';
import { ObjectWriter } from './object-writer.ts';
import { ErrorRateLimit, ListMeter } from './reports.ts';
import type { Router } from './router.ts';
import { ManagedFieldsProbe } from './managed-fields-probe.ts';
import { ShardFilterGuard } from './shard-filter-guard.ts';
import { initialState } from './rules/state.ts';
import type { Effect, Failure, ReflectorEvent, State } from './rules/state.ts';
import { step } from './rules/step.ts';
import type { TransportPool } from '../http/transport-pool.ts';
import { WatchBody } from './watch-body.ts';

/** Called for each read of a socket. */
export type OnRead = (bytes: number, isListing: boolean) => void;

/** The services of the thread for reflectors. */
export interface ReflectorHost {
  readonly router: Router;
  readonly clock: Clock;
  readonly random: Random;
  readonly transports: TransportPool;
  readonly inbox: Inbox;
  /** True while responses must not be read. */
  readonly isPaused: boolean;
  readonly onRead: OnRead | undefined;
  post(message: FromReflector): void;
  /** Returns a number that is unique among the requests of this thread. */
  nextRequest(): number;
  forget(informer: number): void;
}

type Start = Extract<ToReflector, { type: 'start' }>;
type Prepared = Extract<ToReflector, { type: 'prepared' }>;

/** The request in progress: first it waits for its credentials, then it runs an exchange. */
interface Request {
  readonly id: number;
  readonly verb: 'list' | 'watch';
  readonly query: Query;
  readonly exchange: SessionResponse | undefined;
}

/**
 * The longest silence of a list: an apiserver may take a minute until the first byte and then gives up
 * itself.
 */
const LIST_SILENCE_MAX_MS = 90_000;
/** The time after `timeoutSeconds` by which the server must have ended a watch. */
const WATCH_MARGIN_MS = 5_000;

/** The longest wait for credentials: they may come from a plugin, which may take a minute. */
const PREPARING_MAX_MS = 90_000;

export class ReflectorSession implements ResponseOwner {
  readonly informer: number;
  readonly clock: Clock;
  readonly inbox: Inbox;
  readonly spec: ReflectorSpec;
  readonly writer: ObjectWriter;
  readonly meter: ListMeter;
  readonly counts: Float64Array;
  readonly router: Router;
  readonly #host: ReflectorHost;
  readonly #counters: CounterWriter;
  readonly #activity: ActivityReports;
  readonly #reports: ErrorRateLimit;
  #state: State;
  readonly effects: Effect[] = [];
  #request: Request | undefined;
  #connection: ConnectionOptions | undefined;
  /** Cancels the deadline of the credentials, or the wait before the next request. */
  #cancelTimer: () => void = () => undefined;
  #phase: ReflectorPhase = 'connecting';
  /** True when a step was taken since the last publication. */
  #hasStepped = false;

  constructor({ informer, spec, counters, resume }: Start, host: ReflectorHost) {
    this.informer = informer;
    this.#counters = new CounterWriter(counters);
    this.counts = this.#counters.values;
    this.#activity = new ActivityReports(this.counts, (activity) => this.#postActivity(activity));
    this.clock = host.clock;
    this.inbox = host.inbox;
    this.router = host.router;
    this.#host = host;
    this.spec = spec;
    this.#state = initialState(spec, resume);
    this.#reports = new ErrorRateLimit(host.clock, (during, error) =>
      host.post({ type: 'error', informer, during, error }),
    );
    this.meter = new ListMeter(host.clock, (progress) =>
      host.post({ type: 'progress', informer, ...progress }),
    );
    this.writer = new ObjectWriter(this.router, informer, spec, (error) => this.report('decode', error), {
      shardFilter:
        spec.shardSelector &&
        new ShardFilterGuard(spec.shardSelector, this.counts, (filtering) =>
          this.#postActivity({ kind: 'shard-filtering', filtering }),
        ),
      managedFields: spec.dropsManagedFields
        ? new ManagedFieldsProbe((support) => this.#postActivity({ kind: 'managed-fields', support }))
        : undefined,
    });
  }

  start(): void {
    this.#happened({ type: 'start' });
  }

  /** Stops reading at once; writes the last record for the shards when there is room for it. */
  stop(): void {
    this.#close();
    this.#happened({ type: 'stop' });
  }

  /** Releases everything; sends no records or messages. */
  dispose(): void {
    this.effects.length = 0;
    this.#close();
    this.#disconnect();
  }

  /** Takes the main thread's answer to a `prepare`, of this reflector or another. */
  prepared(prepared: Prepared): void {
    if (this.#isPreparing(prepared.request)) this.inbox.offerEvent(this, () => this.#send(prepared));
  }

  get isListing(): boolean {
    const { kind } = this.#state;
    return kind === 'listing' || kind === 'streaming-list' || kind === 'idle';
  }

  pause(): void {
    this.#request?.exchange?.pause();
  }

  resume(): void {
    this.#request?.exchange?.resume();
  }

  /** Reports to the main thread that this reflector is paused, or the phase once reading continues. */
  postPaused(isPaused: boolean): void {
    const phase = isPaused ? 'paused' : this.#phase;
    if (this.#request) this.#host.post({ type: 'phase', informer: this.informer, phase });
  }

  flush(): boolean {
    for (let effect = this.effects[0]; effect; effect = this.effects[0]) {
      if (!this.#perform(effect)) return false;
      this.effects.shift();
    }
    return true;
  }

  dispatch(event: ReflectorEvent): void {
    const now = this.clock.now();
    const before = this.#state;
    const next = step(before, event, now);
    this.#state = next.state;
    this.effects.push(...next.effects);
    this.#activity.stepped(before, event, next, now);
    this.#hasStepped = true;
  }

  /** Turns a failure of the request into an event, with the progress made so far. */
  fail(failure: Failure): void {
    const progress = this.#request?.exchange?.body?.progress;
    this.dispatch({ type: 'failed', failure, ...(progress ? { progress } : {}) });
  }

  report(during: Failure['during'], error: KubeloomError): void {
    this.#activity.reported(error.code);
    this.#reports.report(during, error);
  }

  offerBookmark(resourceVersion: string): boolean {
    return this.router.offerControl(DeltaKind.Bookmark, this.informer, this.#epoch, resourceVersion);
  }

  begin(exchange: SessionResponse, status: number, headers: Readonly<Record<string, string>>): Body {
    assert(this.#request !== undefined, 'a response has a request');
    const { verb, query } = this.#request;
    const where = this.#where(verb);
    if (status !== 200) {
      const retryAfter = retryAfterSeconds(headers);
      return new ErrorBody((text) => this.fail(answeredWith(verb, status, text, retryAfter, where)));
    }
    const isStreamingList = this.#state.kind === 'streaming-list';
    this.writer.managedFields?.beginResponse();
    this.dispatch({ type: 'opened' });
    if (verb === 'list') return new ListBody(this, exchange, where);
    return new WatchBody(this, exchange, where, query, isStreamingList);
  }

  unanswered(error: KubeloomError): void {
    this.fail(unreachable(this.#request?.verb ?? 'watch', error));
  }

  silent(limitMs: number): void {
    const verb = this.#request?.verb ?? 'watch';
    this.fail(stalled(verb, this.#where(verb), limitMs));
  }

  received(bytes: number): void {
    if (this.#connection?.feed === undefined) this.#host.onRead?.(bytes, this.isListing);
  }

  answered(code: string, durationMs: number): void {
    const { server, feed } = this.#connection ?? {};
    if (!this.#request || server === undefined || feed !== undefined) return;
    const verb = this.#request.verb === 'list' ? 'LIST' : 'WATCH';
    this.#postActivity({ kind: 'request', verb, host: new URL(server).host, code, durationMs });
  }

  publish(): void {
    this.#counters.publish();
    if (!this.#hasStepped) return;
    this.#hasStepped = false;
    this.#activity.post(this.meter);
  }

  #postActivity(activity: Activity): void {
    this.#host.post({ type: 'activity', informer: this.informer, activity });
  }

  get #epoch(): number {
    return this.#state.kind === 'stopped' ? 0 : this.#state.memory.epoch;
  }

  #happened(event: ReflectorEvent): void {
    this.inbox.offerEvent(this, () => this.dispatch(event));
  }

  /** Carries out an effect. @returns false when there is no room for it: call it again */
  #perform(effect: Effect): boolean {
    const { informer } = this;
    switch (effect.type) {
      case 'list':
      case 'watch':
        this.#prepare(effect.type, effect.query, effect.isUnauthorized);
        return true;
      case 'close':
        this.#close();
        return true;
      case 'control':
        if (effect.kind === DeltaKind.ReplaceBegin) this.#beginList();
        return this.router.offerControl(effect.kind, informer, effect.epoch, effect.resourceVersion);
      case 'wait':
        this.#cancelTimer = this.clock.schedule(jittered(effect.delay, this.#host.random()), () =>
          this.#happened({ type: 'timer' }),
        );
        return true;
      case 'report':
        this.report(effect.during, effect.error);
        return true;
      case 'phase':
        this.#phase = effect.phase;
        this.#host.post({ type: 'phase', informer, phase: effect.phase });
        return true;
      default:
        this.#disconnect();
        this.publish();
        this.#host.post({ type: 'stopped', informer });
        this.#host.forget(informer);
        return true;
    }
  }

  #beginList(): void {
    this.meter.begin();
    this.writer.shardFilter?.beginList();
  }

  #prepare(verb: 'list' | 'watch', asked: Query, isUnauthorized: boolean): void {
    this.#close();
    const timeout = verb === 'watch' ? { timeoutSeconds: String(this.#timeoutSeconds()) } : {};
    const query = { ...asked, ...timeout };
    const id = this.#host.nextRequest();
    this.#cancelTimer = this.clock.schedule(PREPARING_MAX_MS, () => this.#unprepared(id));
    this.#request = { id, verb, query, exchange: undefined };
    const { informer } = this;
    const refused = isUnauthorized ? { isUnauthorized } : {};
    this.#host.post({ type: 'prepare', request: id, informer, verb, query, ...refused });
  }

  #isPreparing(request: number): boolean {
    return this.#request?.id === request && this.#request.exchange === undefined;
  }

  #unprepared(id: number): void {
    this.inbox.offerEvent(this, () => {
      if (this.#request && this.#isPreparing(id))
        this.fail(noCredentials(this.#request.verb, PREPARING_MAX_MS));
    });
  }

  #send(prepared: Prepared): void {
    const request = this.#request;
    if (!request || !this.#isPreparing(prepared.request)) return;
    this.#cancelTimer();
    const { connection, error } = prepared;
    if (error) {
      this.fail(unreachable(request.verb, fromErrorMessage(error)));
      return;
    }
    assert(connection !== undefined, 'prepared with an error or a connection');
    const query = prepared.query ?? request.query;
    let transport: HttpTransport;
    try {
      transport = this.#connect(connection);
    } catch (cause) {
      this.fail(unreachable(request.verb, unusable(connection, cause)));
      return;
    }
    const path = `${this.spec.path}?${new URLSearchParams(query).toString()}`;
    const accept = this.spec.accept?.[request.verb];
    const exchange = new SessionResponse(
      this,
      transport,
      path,
      this.#silenceMaxMs(request.verb, query),
      accept,
    );
    this.#request = { ...request, query, exchange };
    if (this.#host.isPaused) exchange.pause();
  }

  /** Uses this connection from now on and releases the previous connection. */
  #connect(connection: ConnectionOptions): HttpTransport {
    const transport = this.#host.transports.acquire(connection);
    this.#disconnect();
    this.#connection = connection;
    return transport;
  }

  #disconnect(): void {
    if (this.#connection) this.#host.transports.release(this.#connection);
    this.#connection = undefined;
  }

  #close(): void {
    this.#cancelTimer();
    this.#request?.exchange?.close();
    this.#request = undefined;
  }

  #timeoutSeconds(): number {
    const { watchTimeoutMinSeconds: min, watchTimeoutMaxSeconds: max } = this.spec;
    return Math.floor(min + this.#host.random() * (max - min));
  }

  /** Computes the limit of silence from the query that is sent, which the main thread may have changed. */
  #silenceMaxMs(verb: 'list' | 'watch', query: Query): number {
    if (verb === 'list') return LIST_SILENCE_MAX_MS;
    const seconds = Number(query['timeoutSeconds']);
    const lastsMs = Number.isFinite(seconds) ? seconds * 1000 : 0;
    return Math.min(lastsMs + WATCH_MARGIN_MS, this.spec.watchIdleTimeoutMs ?? Infinity);
  }

  #where(verb: 'list' | 'watch'): string {
    const server = this.#connection?.server ?? '';
    return `${verb.toUpperCase()} ${server}${this.spec.path}`;
  }
}
