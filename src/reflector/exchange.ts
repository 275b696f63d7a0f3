/**
 * One request and its response: turns the calls of the transport into inputs, in order, and detects silence.
 * The owner chooses the body, which reads the bytes, by the head of the response.
 */
import type { Clock } from '../base/clock.ts';
import type { KubeloomError } from '../base/errors.ts';
import type { HttpExchange, HttpTransport, ResponseSink } from './transport/http.ts';
import type { ByteReader, Flushing, Inbox } from './inbox.ts';
import type { ListingMeter } from './listing-meter.ts';
import type { ObjectWriter } from './object-writer.ts';
import type { Failure, Progress, ReflectorEvent } from './rules/state.ts';
import { Watchdog } from './watchdog.ts';

/** The reader of a response, chosen by its status and verb. */
export interface Body {
  /** The progress of a watch; undefined for every other body. */
  readonly progress: Progress | undefined;
  /**
   * Takes as much as there is room for, from `start` on.
   *
   * @returns the first index that was not taken
   */
  write(chunk: Buffer, start: number): number;
  /** Ends the body: without an error when the response is complete, else with the reason why it is not. */
  end(error: KubeloomError | undefined): void;
  /** Stops the timers of the body while the response is not read; `resume` starts them again. */
  pause(): void;
  resume(): void;
  /** Releases the body; no other call follows. */
  close(): void;
}

/** The reflector, as its exchange and the body of the response use it. */
export interface ExchangeOwner extends Flushing {
  readonly clock: Clock;
  readonly inbox: Inbox;
  readonly writer: ObjectWriter;
  readonly meter: ListingMeter;
  begin(exchange: Exchange, status: number, headers: Readonly<Record<string, string>>): Body;
  unanswered(error: KubeloomError): void;
  silent(limitMs: number): void;
  /** Takes one step. The next `flush` carries out its effects; nothing may be written before it. */
  dispatch(event: ReflectorEvent): void;
  fail(failure: Failure): void;
  report(during: Failure['during'], error: KubeloomError): void;
  /** Offers a bookmark. @returns false when there is no room */
  offerBookmark(resourceVersion: string): boolean;
}

/** The transport's own timeout is this much longer, so that our watchdog fires first. */
const TRANSPORT_EXTRA_MS = 10_000;

export class Exchange implements ResponseSink, ByteReader {
  readonly #owner: ExchangeOwner;
  readonly #watchdog: Watchdog;
  readonly #http: HttpExchange;
  #body: Body | undefined;
  #isPaused = false;
  #isClosed = false;

  /**
   * @param silenceMaxMs the longest time between two signs of life, from the request on; connecting and the
   *   head are included
   * @param accept the transport's default when undefined
   */
  constructor(
    owner: ExchangeOwner,
    transport: HttpTransport,
    path: string,
    silenceMaxMs: number,
    accept: string | undefined,
  ) {
    this.#owner = owner;
    this.#watchdog = new Watchdog(owner.clock, silenceMaxMs, () => {
      transport.closeIdle();
      this.#happened(() => owner.silent(this.#watchdog.limitMs));
    });
    const headers = accept === undefined ? {} : { headers: { accept } };
    this.#http = transport.request({ path, timeoutMs: silenceMaxMs + TRANSPORT_EXTRA_MS, ...headers }, this);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get body(): Body | undefined {
    return this.#body;
  }

  /** The progress of a watch once its response has begun. */
  get progress(): Progress | undefined {
    return this.#body?.progress;
  }

  flush(): boolean {
    return this.#owner.flush();
  }

  /** Shortens the time allowed between two signs of life; never extends it. */
  expectWithin(silenceMaxMs: number): void {
    if (!this.#isClosed) this.#watchdog.shorten(silenceMaxMs);
  }

  pause(): void {
    if (this.#isClosed) return;
    this.#isPaused = true;
    this.#http.pause();
    this.#watchdog.pause();
    this.#body?.pause();
  }

  resume(): void {
    if (this.#isClosed) return;
    this.#isPaused = false;
    this.#watchdog.resume();
    this.#body?.resume();
    this.#http.resume();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#watchdog.stop();
    this.#body?.close();
    this.#http.close();
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    this.#watchdog.touch();
    this.#happened(() => {
      this.#body = this.#owner.begin(this, status, headers);
      if (this.#isPaused) this.#body.pause();
    });
  }

  data(chunk: Uint8Array): void {
    if (this.#isClosed) return;
    this.#watchdog.touch();
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    this.#owner.inbox.offerBytes(this, bytes);
  }

  end(error: KubeloomError | undefined): void {
    this.#watchdog.stop();
    this.#happened(() => {
      if (this.#body) this.#body.end(error);
      else if (error) this.#owner.unanswered(error);
    });
  }

  /** Offers an event, unless the exchange is closed by the time it is handled. */
  #happened(handle: () => void): void {
    if (this.#isClosed) return;
    this.#owner.inbox.offerEvent(this.#owner, () => {
      if (!this.#isClosed) handle();
    });
  }
}
