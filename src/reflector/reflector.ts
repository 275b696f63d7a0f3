/**
 * One informer's list-and-watch at work: hands events to `step`, carries out the effects it asks for, and
 * owns the one request in progress. Effects are carried out strictly in order; one that finds no room in
 * the rings waits, and with it everything after it.
 */
import type { Clock, Random } from '../clock.ts';
import { KubeloomError, assert, fromErrorMessage } from '../errors.ts';
import { DeltaKind } from '../record/delta.ts';
import type {
  ConnectionOptions,
  FromReflector,
  Query,
  ReflectorPhase,
  ReflectorSpec,
  ResumePosition,
} from '../threads/protocol.ts';
import type { HttpTransport } from '../transport/http.ts';
import { jittered } from './backoff.ts';
import { ConsistencyCheck } from './consistency-check.ts';
import { ErrorBody } from './error-body.ts';
import { Exchange } from './exchange.ts';
import type { ExchangeOwner } from './exchange.ts';
import type { Body, BodyOwner } from './body.ts';
import { answeredWith, stalled, unprepared, unreachable, unusable } from './failure.ts';
import type { Input } from './inbox.ts';
import { EventInput } from './input.ts';
import { ListBody } from './list-body.ts';
import { ListingMeter } from './listing-meter.ts';
import { ObjectWriter } from './object-writer.ts';
import type { Prepared } from './prepared.ts';
import { Reports } from './reports.ts';
import { retryAfterSeconds } from './retry-after.ts';
import type { Router } from './router.ts';
import { initialState } from './state.ts';
import type { Effect, Failure, ReflectorEvent, State } from './state.ts';
import { step } from './step.ts';
import { StreamedObjects } from './streamed-objects.ts';
import type { TransportPool } from './transport-pool.ts';
import { WatchBody } from './watch-body.ts';

/** What the thread does for its reflectors. */
export interface ReflectorHost {
  readonly router: Router;
  readonly clock: Clock;
  readonly random: Random;
  readonly transports: TransportPool;
  /** Responses must not be read at the moment. */
  readonly isPaused: boolean;
  post(message: FromReflector): void;
  offer(input: Input): void;
  /** A number that no other request of this thread has. */
  nextRequest(): number;
  /** The reflector has said its last word. */
  forget(informer: number): void;
}

/** The request in progress: at first it waits for its credentials, then it has an exchange. */
interface Request {
  readonly id: number;
  readonly verb: 'list' | 'watch';
  readonly query: Query;
  readonly exchange: Exchange | undefined;
  readonly cancelDeadline: () => void;
}

/** A list's server may think for a minute before it answers; then it gives up itself. */
const LIST_SILENCE_MAX_MS = 90_000;
/** A watch's server ends it after `timeoutSeconds`; this much later it must be gone. */
const WATCH_MARGIN_MS = 5_000;

/** Credentials may come from a plugin that has a minute for it. */
const PREPARING_MAX_MS = 90_000;

export class Reflector implements ExchangeOwner, BodyOwner {
  readonly informer: number;
  readonly clock: Clock;
  readonly writer: ObjectWriter;
  readonly meter: ListingMeter;
  readonly #host: ReflectorHost;
  readonly #spec: ReflectorSpec;
  readonly #reports: Reports;
  #state: State;
  readonly #effects: Effect[] = [];
  #request: Request | undefined;
  #connection: ConnectionOptions | undefined;
  #cancelTimer: () => void = () => undefined;
  #phase: ReflectorPhase = 'connecting';
  /** What the streaming list in progress has brought, and the check of the last one. */
  #streamed: StreamedObjects | undefined;
  #check: ConsistencyCheck | undefined;

  constructor(informer: number, spec: ReflectorSpec, host: ReflectorHost, resume?: ResumePosition) {
    this.informer = informer;
    this.clock = host.clock;
    this.#host = host;
    this.#spec = spec;
    this.#state = initialState(spec, resume);
    this.#reports = new Reports(host.clock, (during, error) =>
      host.post({ type: 'error', informer, during, error }),
    );
    this.meter = new ListingMeter(host.clock, (progress) =>
      host.post({ type: 'progress', informer, ...progress }),
    );
    this.writer = new ObjectWriter(host.router, informer, spec, (error) => this.report('decode', error));
  }

  start(): void {
    this.#happened({ type: 'start' });
  }

  /** Stops reading at once; says goodbye to the shards when there is room for it. */
  stop(): void {
    this.#close();
    this.#happened({ type: 'stop' });
  }

  /** Ends everything without a word. */
  dispose(): void {
    this.#effects.length = 0;
    this.#close();
    this.#check?.stop();
    this.#disconnect();
  }

  /** The main thread's answer to `prepare`. */
  prepared(prepared: Prepared): void {
    const check = this.#check;
    if (check?.isPreparing(prepared.request)) check.prepared(prepared);
    else this.offer(new EventInput(this, () => this.#send(prepared)));
  }

  isPreparing(request: number): boolean {
    return this.#isOwn(request) || this.#check?.isPreparing(request) === true;
  }

  pause(): void {
    this.#request?.exchange?.pause();
    this.#check?.pause();
  }

  resume(): void {
    this.#request?.exchange?.resume();
    this.#check?.resume();
  }

  /** Tells the main thread that this reflector is held up, or what it does now that it is not any more. */
  postPaused(isPaused: boolean): void {
    const phase = isPaused ? 'paused' : this.#phase;
    if (this.#request) this.#host.post({ type: 'phase', informer: this.informer, phase });
  }

  offer(input: Input): void {
    this.#host.offer(input);
  }

  flush(): boolean {
    for (let effect = this.#effects[0]; effect; effect = this.#effects[0]) {
      if (!this.#perform(effect)) return false;
      this.#effects.shift();
    }
    return true;
  }

  /** Takes one step; its effects follow with the next `flush`. */
  dispatch(event: ReflectorEvent): void {
    const { state, effects } = step(this.#state, event, this.clock.now());
    this.#state = state;
    this.#effects.push(...effects);
  }

  /** The request failed: with how far it had come, that is an event. */
  fail(failure: Failure): void {
    const progress = this.#request?.exchange?.progress;
    this.dispatch({ type: 'failed', failure, ...(progress ? { progress } : {}) });
  }

  report(during: Failure['during'], error: KubeloomError): void {
    this.#reports.report(during, error);
  }

  offerBookmark(resourceVersion: string): boolean {
    return this.#host.router.offerControl(DeltaKind.Bookmark, this.informer, this.#epoch, resourceVersion);
  }

  begin(exchange: Exchange, status: number, headers: Readonly<Record<string, string>>): Body {
    assert(this.#request !== undefined, 'a response has a request');
    const { verb, query } = this.#request;
    const where = this.#where(verb);
    if (status !== 200) {
      const retryAfter = retryAfterSeconds(headers);
      return new ErrorBody((text) => this.fail(answeredWith(verb, status, text, retryAfter, where)));
    }
    const isStreamingList = this.#state.kind === 'streaming-list';
    this.dispatch({ type: 'opened' });
    const { recordBytesMax, checkConsistency = false, streamingListSilenceMaxMs } = this.#spec;
    if (verb === 'watch' && this.#spec.watchSilenceMaxMs !== undefined) {
      exchange.expectWithin(this.#spec.watchSilenceMaxMs);
    }
    if (verb === 'list') return new ListBody(this, exchange, { where, recordBytesMax });
    this.#streamed = checkConsistency && isStreamingList ? new StreamedObjects() : undefined;
    const checked = this.#streamed ? { streamed: this.#streamed } : {};
    const request = { where, query, isStreamingList, recordBytesMax, streamingListSilenceMaxMs, ...checked };
    return new WatchBody(this, exchange, request);
  }

  unanswered(error: KubeloomError): void {
    this.fail(unreachable(this.#request?.verb ?? 'watch', error));
  }

  silent(limitMs: number): void {
    const verb = this.#request?.verb ?? 'watch';
    this.fail(stalled(verb, this.#where(verb), limitMs));
  }

  get #epoch(): number {
    return this.#state.kind === 'stopped' ? 0 : this.#state.memory.epoch;
  }

  #happened(event: ReflectorEvent): void {
    this.offer(new EventInput(this, () => this.dispatch(event)));
  }

  /** False when there is no room for it: it is asked for again. */
  #perform(effect: Effect): boolean {
    const { informer } = this;
    switch (effect.type) {
      case 'list':
        this.#prepare('list', effect.query, effect.isRefused);
        return true;
      case 'watch':
        this.#prepare(
          'watch',
          { ...effect.query, timeoutSeconds: String(this.#timeoutSeconds()) },
          effect.isRefused,
        );
        return true;
      case 'close':
        this.#close();
        return true;
      case 'control':
        if (effect.kind === DeltaKind.ReplaceBegin) this.meter.begin();
        return this.#host.router.offerControl(effect.kind, informer, effect.epoch, effect.resourceVersion);
      case 'check':
        this.#startCheck(effect.resourceVersion);
        return true;
      case 'abandon-check':
        this.#check?.stop();
        return true;
      case 'wait':
        this.#wait(jittered(effect.delay, this.#host.random()));
        return true;
      case 'report':
        this.report(effect.during, effect.error);
        return true;
      case 'phase':
        this.#phase = effect.phase;
        this.#host.post({ type: 'phase', informer, phase: effect.phase });
        return true;
      default:
        this.#check?.stop();
        this.#disconnect();
        this.#host.post({ type: 'stopped', informer });
        this.#host.forget(informer);
        return true;
    }
  }

  #prepare(verb: 'list' | 'watch', query: Query, isRefused: boolean): void {
    this.#close();
    const id = this.#host.nextRequest();
    const cancelDeadline = this.clock.schedule(PREPARING_MAX_MS, () => this.#unprepared(id));
    this.#request = { id, verb, query, exchange: undefined, cancelDeadline };
    const { informer } = this;
    const refused = isRefused ? { isRefused } : {};
    this.#host.post({ type: 'prepare', request: id, informer, verb, query, ...refused });
  }

  #isOwn(request: number): boolean {
    return this.#request?.id === request && this.#request.exchange === undefined;
  }

  /** Whoever is asked for credentials has not answered. */
  #unprepared(id: number): void {
    const expire = (): void => {
      if (this.#request && this.#isOwn(id)) this.fail(unprepared(this.#request.verb, PREPARING_MAX_MS));
    };
    this.offer(new EventInput(this, expire));
  }

  #send(prepared: Prepared): void {
    const request = this.#request;
    if (!request || !this.#isOwn(prepared.request)) return;
    request.cancelDeadline();
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
    const path = `${this.#spec.path}?${new URLSearchParams(query).toString()}`;
    const accept = this.#spec.accept?.[request.verb];
    const exchange = new Exchange(this, transport, path, silenceMaxMs(request.verb, query), accept);
    this.#request = { ...request, query, exchange };
    if (this.#host.isPaused) exchange.pause();
  }

  /** Uses this connection from now on, and the one before no longer. */
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
    this.#request?.cancelDeadline();
    this.#request?.exchange?.close();
    this.#request = undefined;
  }

  #startCheck(resourceVersion: string): void {
    const { informer } = this;
    const host = this.#host;
    const streamed = this.#streamed;
    this.#streamed = undefined;
    if (!streamed) return;
    this.#check = new ConsistencyCheck(
      {
        clock: this.clock,
        random: host.random,
        transports: host.transports,
        isPaused: () => host.isPaused,
        offer: (input) => host.offer(input),
        nextRequest: () => host.nextRequest(),
        prepare: (request, query) => host.post({ type: 'prepare', request, informer, verb: 'list', query }),
        report: (error) => this.report('list', error),
        inconsistent: (error) => this.#happened({ type: 'inconsistent', error }),
      },
      { spec: this.#spec, where: this.#where('list'), resourceVersion, streamed },
    );
    this.#check.start();
  }

  #wait(delayMs: number): void {
    this.#cancelTimer = this.clock.schedule(delayMs, () => this.#happened({ type: 'timer' }));
  }

  #timeoutSeconds(): number {
    const { watchTimeoutMinSeconds: min, watchTimeoutMaxSeconds: max } = this.#spec;
    return Math.floor(min + this.#host.random() * (max - min));
  }

  #where(verb: 'list' | 'watch'): string {
    const server = this.#connection?.server ?? '';
    return `${verb.toUpperCase()} ${server}${this.#spec.path}`;
  }
}

/** What the server was asked for decides, also where the main thread has changed it. */
function silenceMaxMs(verb: 'list' | 'watch', query: Query): number {
  if (verb === 'list') return LIST_SILENCE_MAX_MS;
  const seconds = Number(query['timeoutSeconds']);
  return (Number.isFinite(seconds) ? seconds * 1000 : 0) + WATCH_MARGIN_MS;
}
