/**
 * One request and its response: turns what the transport tells into inputs, in order, and notices silence.
 * What the bytes mean is the business of the body that the owner chooses by the response's head.
 */
import type { Clock } from '../clock.ts';
import type { KubeloomError } from '../errors.ts';
import type { HttpExchange, HttpTransport, ResponseSink } from '../transport/http.ts';
import type { Body } from './body.ts';
import type { Input } from './inbox.ts';
import { ChunkInput, EventInput } from './input.ts';
import type { ChunkReader, Flushing } from './input.ts';
import type { Progress } from './state.ts';
import { Watchdog } from './watchdog.ts';

export interface ExchangeOwner extends Flushing {
  readonly clock: Clock;
  offer(input: Input): void;
  begin(exchange: Exchange, status: number, headers: Readonly<Record<string, string>>): Body;
  unanswered(error: KubeloomError): void;
  silent(limitMs: number): void;
}

/** Our watchdog is to bark before the transport gives up. */
const TRANSPORT_EXTRA_MS = 10_000;

export class Exchange implements ResponseSink, ChunkReader {
  readonly #owner: ExchangeOwner;
  readonly #watchdog: Watchdog;
  readonly #http: HttpExchange;
  #body: Body | undefined;
  #isPaused = false;
  #isClosed = false;

  /**
   * @param silenceMaxMs between two signs of life, the first of them the response's head
   * @param accept the transport's own when undefined
   */
  constructor(
    owner: ExchangeOwner,
    transport: HttpTransport,
    path: string,
    silenceMaxMs: number,
    accept: string | undefined,
  ) {
    this.#owner = owner;
    this.#watchdog = new Watchdog(owner.clock, silenceMaxMs, () =>
      this.#happened(() => owner.silent(this.#watchdog.limitMs)),
    );
    const headers = accept === undefined ? {} : { headers: { accept } };
    this.#http = transport.request({ path, timeoutMs: silenceMaxMs + TRANSPORT_EXTRA_MS, ...headers }, this);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** How far a watch has come, once its response has begun. */
  get progress(): Progress | undefined {
    return this.#body?.progress;
  }

  flush(): boolean {
    return this.#owner.flush();
  }

  read(chunk: Buffer, start: number): number {
    return this.#body ? this.#body.write(chunk, start) : chunk.length;
  }

  /** Between two signs of life from now on, if that is less than before. */
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
    const input = new ChunkInput(this, bytes);
    this.#owner.offer(input);
    if (!this.#isClosed) input.keep();
  }

  end(error: KubeloomError | undefined): void {
    this.#watchdog.stop();
    this.#happened(() => {
      if (this.#body) this.#body.end(error);
      else if (error) this.#owner.unanswered(error);
    });
  }

  /** What a closed exchange was still about to say does not matter. */
  #happened(handle: () => void): void {
    if (this.#isClosed) return;
    const input = new EventInput(this.#owner, () => {
      if (!this.#isClosed) handle();
    });
    this.#owner.offer(input);
  }
}
