/**
 * All reflectors of a thread: takes the main thread's messages and shares the inbox, the router and the
 * transports among the reflectors. Pauses the sockets of all reflectors while the inbox waits for room.
 *
 * Sockets and timers drive it through the reflectors, messages through the port, and the bell through
 * `doWork` when there may be room again.
 */
import type { Clock, Random } from '../base/clock.ts';
import { assert } from '../base/errors.ts';
import { Stopwatch } from '../base/stopwatch.ts';
import { UsageCounter } from '../shared/thread-usage.ts';
import type { UsageWriter } from '../shared/thread-usage.ts';
import type { ControlPort, FromReflector, ToReflector } from '../shared/protocol.ts';
import type { ConnectionOptions } from '../kube/connection-options.ts';
import type { HttpTransport } from '../http/http.ts';
import { Inbox } from './session-response.ts';
import { ReflectorSession } from './reflector-session.ts';
import type { OnRead, ReflectorHost } from './reflector-session.ts';
import type { Router } from './router.ts';
import { LoopTurns } from './loop-turns.ts';
import type { ReflectorLoop } from './loop-turns.ts';
import { TransportPool } from '../http/transport-pool.ts';

export interface ReflectorThreadOptions {
  readonly router: Router;
  readonly port: ControlPort<ToReflector, FromReflector>;
  readonly clock: Clock;
  readonly random: Random;
  readonly transportFor: (connection: ConnectionOptions) => HttpTransport;
  /** Called when something found no room: call `doWork` when there may be room again. */
  readonly onBacklog?: () => void;
  readonly onRead?: OnRead | undefined;
  /** An event loop that runs this reflector alone. Default: each input is committed at once, and no window follows. */
  readonly loop?: ReflectorLoop | undefined;
}

/** The time after which a pause is reported. Shorter pauses come by the thousand under full load. */
export const PAUSE_REPORTED_AFTER_MS = 1000;

export class ReflectorThread implements ReflectorHost {
  readonly router: Router;
  readonly clock: Clock;
  readonly random: Random;
  readonly transports: TransportPool;
  isPaused = false;
  readonly inbox: Inbox = new Inbox(() => this.#endInput());
  readonly onRead: OnRead | undefined;
  readonly #port: ControlPort<ToReflector, FromReflector>;
  readonly #onBacklog: () => void;
  readonly #turns: LoopTurns | undefined;
  /** Sequence of the last input that wrote records. */
  #written: number;
  readonly #reflectors = new Map<number, ReflectorSession>();
  #requests = 0;
  /** Times without room in the log, and in a ring. */
  readonly #logPaused: Stopwatch;
  readonly #ringPaused: Stopwatch;
  #isPauseReported = false;
  #cancelReport: () => void = () => undefined;
  #isClosed = false;

  constructor(options: ReflectorThreadOptions) {
    this.router = options.router;
    this.clock = options.clock;
    this.#logPaused = new Stopwatch(options.clock);
    this.#ringPaused = new Stopwatch(options.clock);
    this.random = options.random;
    this.transports = new TransportPool(options.transportFor);
    this.#port = options.port;
    this.onRead = options.onRead;
    this.#onBacklog = options.onBacklog ?? (() => undefined);
    this.#turns = options.loop && new LoopTurns(options.loop, this);
    this.#written = options.router.sequence;
    options.port.onMessage((message) => this.#handle(message));
  }

  /** Continues with the input that found no room. @returns 0 when no input could continue */
  doWork(): number {
    if (this.inbox.length === 0) return 0;
    const sequence = this.router.sequence;
    const completed = this.inbox.drain();
    this.#endInput();
    return completed + ((this.router.sequence - sequence) >>> 0);
  }

  get hasBacklog(): boolean {
    return this.inbox.length > 0;
  }

  /** False while there is a backlog, and while a list is wanted or read, also one in the form of a watch. */
  get maySleep(): boolean {
    if (this.#isClosed || this.hasBacklog) return false;
    for (const reflector of this.#reflectors.values()) if (reflector.isListing) return false;
    return true;
  }

  /** Sets the counters of the reflector's waits and of its log. */
  measure(usage: UsageWriter): void {
    usage.set(UsageCounter.LogPausedMs, this.#logPaused.elapsedMs);
    usage.set(UsageCounter.RingPausedMs, this.#ringPaused.elapsedMs);
    usage.set(UsageCounter.LogUsedBytes, this.router.logUsedBytes);
  }

  get isIdle(): boolean {
    return this.#reflectors.size === 0;
  }

  /** Ends all requests, and posts `closed` when no socket is left. The shards receive no record. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancelReport();
    for (const reflector of this.#reflectors.values()) reflector.dispose();
    this.#reflectors.clear();
    this.inbox.close();
    void this.transports.settled().then(() => this.#port.post({ type: 'closed' }));
  }

  post(message: FromReflector): void {
    this.#port.post(message);
  }

  nextRequest(): number {
    return ++this.#requests;
  }

  forget(informer: number): void {
    this.#reflectors.delete(informer);
  }

  #handle(message: ToReflector): void {
    if (this.#isClosed) return;
    switch (message.type) {
      case 'start':
        this.#start(message);
        break;
      case 'stop':
        this.#reflectors.get(message.informer)?.stop();
        break;
      case 'prepared':
        for (const reflector of this.#reflectors.values()) reflector.prepared(message);
        break;
      default:
        this.close();
    }
  }

  #start(message: Extract<ToReflector, { type: 'start' }>): void {
    const { informer } = message;
    assert(!this.#reflectors.has(informer), `informer ${informer} was started before`);
    const reflector = new ReflectorSession(message, this);
    this.#reflectors.set(informer, reflector);
    reflector.start();
  }

  /** Makes all written records visible. */
  commit(): void {
    this.router.commit();
  }

  /** Commits the records of an input or leaves them to the end of the turn. Reads sockets only without a backlog. */
  #endInput(): void {
    const { sequence } = this.router;
    const records = (sequence - this.#written) >>> 0;
    this.#written = sequence;
    if (records > 0 && this.#turns?.defer(records) !== true) this.commit();
    const mustPause = this.inbox.length > 0;
    if (mustPause || this.isPaused) {
      this.#logPaused.run(mustPause && this.router.refusedBy === 'log');
      this.#ringPaused.run(mustPause && this.router.refusedBy === 'ring');
    }
    if (mustPause && !this.isPaused) this.#pause();
    else if (!mustPause && this.isPaused) this.#resume();
  }

  #pause(): void {
    this.isPaused = true;
    for (const reflector of this.#reflectors.values()) reflector.pause();
    this.#cancelReport = this.clock.schedule(PAUSE_REPORTED_AFTER_MS, () => this.#reportPause(true));
    this.#onBacklog();
  }

  #resume(): void {
    this.isPaused = false;
    this.#cancelReport();
    if (this.#isPauseReported) this.#reportPause(false);
    for (const reflector of this.#reflectors.values()) reflector.resume();
  }

  #reportPause(isPaused: boolean): void {
    this.#isPauseReported = isPaused;
    for (const reflector of this.#reflectors.values()) reflector.postPaused(isPaused);
  }
}
