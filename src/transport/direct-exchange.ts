/**
 * One request over a connection, and its response on the way to the sink, in the order and at the times that
 * `ResponseSink` promises. What a pause keeps from being read is copied: the connection's buffer is used again.
 */
import { realClock } from '../clock.ts';
import type { KubeloomError } from '../errors.ts';
import type { ConnectionUser, DirectConnection } from './direct-connection.ts';
import type { HttpExchange, ResponseSink } from './http.ts';
import { TransportFailure, toHttpError, unwantedEncoding } from './http-errors.ts';
import { ResponseParser } from './response-parser.ts';
import type { ResponseHead } from './response-parser-head.ts';

export interface Connections {
  /** @throws what Node says of an unusable address or unusable certificates */
  acquire(isFresh: boolean): DirectConnection;
  /** For the next request. */
  release(connection: DirectConnection): void;
  /** The exchange is over. */
  forget(exchange: DirectExchange): void;
}

export interface DirectRequest {
  readonly text: string;
  /** For messages. */
  readonly url: string;
  readonly headersTimeoutMs: number;
}

export class DirectExchange implements HttpExchange, ConnectionUser {
  readonly #request: DirectRequest;
  readonly #sink: ResponseSink;
  readonly #connections: Connections;
  readonly #parser: ResponseParser = new ResponseParser();
  #connection: DirectConnection | undefined;
  /** The connection has served before: its end may have been on the way when this request was sent. */
  #isReused = false;
  #cancelTimeout: () => void = () => undefined;
  #isPaused = false;
  #isOver = false;
  /** Bytes of the response that arrived and may not be read yet. */
  #rest: Buffer | undefined;
  /** Bytes came after the response. */
  #hasSurplus = false;
  /** Nothing more will come, for this reason; undefined as a reason: the other side ended the connection. */
  #ending: { readonly cause: unknown } | undefined;
  /** Told as soon as the sink may be told, whatever else there is. */
  #error: KubeloomError | undefined;

  constructor(request: DirectRequest, sink: ResponseSink, connections: Connections) {
    this.#request = request;
    this.#sink = sink;
    this.#connections = connections;
  }

  start(isFresh = false): void {
    const connection = this.#connections.acquire(isFresh);
    this.#connection = connection;
    connection.user = this;
    this.#isReused = connection.isOpen;
    if (this.#isReused) this.connected();
  }

  connected(): void {
    const { text, headersTimeoutMs } = this.#request;
    this.#connection?.send(text);
    this.#cancelTimeout = realClock.schedule(headersTimeoutMs, () => {
      this.fail(new TransportFailure('HTTP_HEADERS_TIMEOUT', 'no answer in time'));
    });
  }

  pause(): void {
    this.#isPaused = true;
    if (!this.#parser.isInHead) this.#connection?.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    // Later: the sink may be in the middle of something.
    queueMicrotask(() => this.#flow());
  }

  close(): void {
    if (!this.#isOver) this.#leave();
  }

  /** Ends it, data that waits included. */
  fail(cause: unknown): void {
    if (this.#isOver) return;
    this.#error ??= toHttpError(cause, this.#request.url);
    this.#rest = undefined;
    this.#drop();
    this.#settle();
  }

  received(bytes: Buffer, length: number): void {
    // A TLS socket gives what it had decrypted before it was paused.
    if (this.#rest) this.#rest = Buffer.concat([this.#rest, bytes.subarray(0, length)]);
    else this.#read(bytes, length);
  }

  over(cause: unknown): void {
    this.#connection = undefined;
    if (this.#isReused && this.#parser.isUntouched) this.#startAnew();
    else this.#ending = { cause };
    this.#settle();
  }

  /** The server ended an idle connection as it was used again: nothing was answered, and GET may be repeated. */
  #startAnew(): void {
    this.#cancelTimeout();
    try {
      this.start(true);
    } catch (cause) {
      this.#ending = { cause };
    }
  }

  #flow(): void {
    if (this.#isPaused || this.#isOver) return;
    const rest = this.#rest;
    this.#rest = undefined;
    if (rest) this.#read(rest, rest.length);
    else this.#settle();
    if (!this.#isPaused) this.#connection?.resume();
  }

  #read(bytes: Buffer, length: number): void {
    const parser = this.#parser;
    let at = 0;
    if (parser.isInHead) at = parser.readHead(bytes, 0, length, (head) => this.#head(head));
    if (this.#isPaused && !parser.isInHead) this.#connection?.pause();
    if (!this.#isPaused && !this.#isOver && at < length) {
      at = parser.readBody(bytes, at, length);
      const { dataStart, dataEnd } = parser;
      if (dataEnd > dataStart) this.#call(() => this.#sink.data(bytes.subarray(dataStart, dataEnd)));
    }
    if (this.#isOver) return;
    this.#hasSurplus = at < length && parser.isComplete;
    if (at < length && !parser.isComplete && !parser.failure)
      this.#rest = Buffer.from(bytes.subarray(at, length));
    this.#settle();
  }

  #head({ status, headers }: ResponseHead): void {
    this.#cancelTimeout();
    const encoding = headers['content-encoding'] ?? 'identity';
    if (encoding === 'identity') this.#call(() => this.#sink.head(status, headers));
    else this.#finish(unwantedEncoding(encoding, this.#request.url));
  }

  /** Tells the end if it has come and may be told. */
  #settle(): void {
    if (this.#isOver || this.#isPaused || this.#rest) return;
    const { failure } = this.#parser;
    if (this.#error) this.#finish(this.#error);
    else if (failure) this.#finish(toHttpError(new TransportFailure(failure, 'not HTTP'), this.#request.url));
    else if (this.#parser.isComplete) this.#finish(undefined);
    else if (this.#ending) this.#finishWith(this.#ending.cause);
  }

  #finishWith(cause: unknown): void {
    const isComplete = cause === undefined && this.#parser.finish();
    const torn = (): unknown =>
      cause ?? new TransportFailure('HTTP_CLOSED_EARLY', 'closed by the other side');
    this.#finish(isComplete ? undefined : toHttpError(torn(), this.#request.url));
  }

  #finish(error: KubeloomError | undefined): void {
    const connection = this.#connection;
    const isReusable = !error && this.#parser.isReusable && !this.#hasSurplus;
    if (connection?.isOpen && isReusable) {
      this.#connection = undefined;
      this.#connections.release(connection);
    }
    this.#leave();
    this.#call(() => this.#sink.end(error));
  }

  #leave(): void {
    this.#isOver = true;
    this.#rest = undefined;
    this.#drop();
    this.#connections.forget(this);
  }

  #drop(): void {
    this.#cancelTimeout();
    this.#connection?.destroy();
    this.#connection = undefined;
  }

  /** Whatever the sink throws must not leave a response half read behind. */
  #call(deliver: () => void): void {
    try {
      deliver();
    } catch (error) {
      this.close();
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
