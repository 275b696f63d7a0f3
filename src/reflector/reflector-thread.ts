/**
 * All reflectors of one thread: takes the main thread's messages, shares the inbox, the router and the
 * transports among the reflectors, and holds everybody's sockets back while the inbox waits for room.
 *
 * It is driven from outside: by sockets and timers through its reflectors, by messages, and by `doWork`
 * when the bell says that there may be room again.
 */
import type { Clock, Random } from '../clock.ts';
import { assert } from '../errors.ts';
import type {
  ConnectionOptions,
  ControlPort,
  FromReflector,
  ReflectorSpec,
  ResumePosition,
  ToReflector,
} from '../threads/protocol.ts';
import type { HttpTransport } from '../transport/http.ts';
import { Inbox } from './inbox.ts';
import type { Input } from './inbox.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorHost } from './reflector.ts';
import type { Router } from './router.ts';
import { TransportPool } from './transport-pool.ts';

export interface ReflectorThreadOptions {
  readonly router: Router;
  readonly port: ControlPort<ToReflector, FromReflector>;
  readonly clock: Clock;
  readonly random: Random;
  readonly transportFor: (connection: ConnectionOptions) => HttpTransport;
  /** Something found no room: `doWork` is to be called when there may be some. */
  readonly onBacklog?: () => void;
}

/** A pause is worth telling only when it lasts: short ones come by the thousand under full load. */
export const PAUSE_TOLD_AFTER_MS = 1000;

export class ReflectorThread implements ReflectorHost {
  readonly router: Router;
  readonly clock: Clock;
  readonly random: Random;
  readonly transports: TransportPool;
  readonly #port: ControlPort<ToReflector, FromReflector>;
  readonly #onBacklog: () => void;
  readonly #inbox: Inbox = new Inbox();
  readonly #reflectors = new Map<number, Reflector>();
  #requests = 0;
  #isPaused = false;
  #isPauseTold = false;
  #cancelTelling: () => void = () => undefined;
  #isClosed = false;

  constructor(options: ReflectorThreadOptions) {
    this.router = options.router;
    this.clock = options.clock;
    this.random = options.random;
    this.transports = new TransportPool(options.transportFor);
    this.#port = options.port;
    this.#onBacklog = options.onBacklog ?? (() => undefined);
    options.port.onMessage((message) => this.#handle(message));
  }

  /** Goes on with what found no room before. @returns 0 when nothing could be done */
  doWork(): number {
    if (this.#inbox.length === 0) return 0;
    const sequence = this.router.sequence;
    const completed = this.#inbox.drain();
    this.#settle();
    return completed + ((this.router.sequence - sequence) >>> 0);
  }

  /** Something waits for room. */
  get hasBacklog(): boolean {
    return this.#inbox.length > 0;
  }

  /** No informer is served. */
  get isIdle(): boolean {
    return this.#reflectors.size === 0;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Ends all requests and says `closed` when no socket is left. Shards are told nothing. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancelTelling();
    for (const reflector of this.#reflectors.values()) reflector.dispose();
    this.#reflectors.clear();
    this.#inbox.clear();
    void this.transports.settled().then(() => this.#port.post({ type: 'closed' }));
  }

  post(message: FromReflector): void {
    this.#port.post(message);
  }

  offer(input: Input): void {
    if (this.#isClosed) return;
    this.#inbox.offer(input);
    if (!this.#inbox.isDraining) this.#settle();
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
        this.#start(message.informer, message.spec, message.resume);
        break;
      case 'stop':
        this.#reflectors.get(message.informer)?.stop();
        break;
      case 'prepared':
        for (const reflector of this.#reflectors.values()) {
          if (reflector.isPreparing(message.request)) reflector.prepared(message);
        }
        break;
      default:
        this.close();
    }
  }

  #start(informer: number, spec: ReflectorSpec, resume: ResumePosition | undefined): void {
    assert(!this.#reflectors.has(informer), `informer ${informer} was started before`);
    const reflector = new Reflector(informer, spec, this, resume);
    this.#reflectors.set(informer, reflector);
    if (resume?.isStopping) reflector.stop();
    else reflector.start();
  }

  /** After every turn: what was written becomes visible, and sockets are read only without a backlog. */
  #settle(): void {
    this.router.commit();
    const mustPause = this.#inbox.length > 0;
    if (mustPause && !this.#isPaused) this.#pause();
    else if (!mustPause && this.#isPaused) this.#resume();
  }

  #pause(): void {
    this.#isPaused = true;
    for (const reflector of this.#reflectors.values()) reflector.pause();
    this.#cancelTelling = this.clock.schedule(PAUSE_TOLD_AFTER_MS, () => this.#tellPause(true));
    this.#onBacklog();
  }

  #resume(): void {
    this.#isPaused = false;
    this.#cancelTelling();
    if (this.#isPauseTold) this.#tellPause(false);
    for (const reflector of this.#reflectors.values()) reflector.resume();
  }

  #tellPause(isPaused: boolean): void {
    this.#isPauseTold = isPaused;
    for (const reflector of this.#reflectors.values()) reflector.postPaused(isPaused);
  }
}
