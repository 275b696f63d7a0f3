/**
 * One request over a connection. Passes its response to the sink in the order and at the times that
 * `ResponseSink` promises. Bytes that a pause holds back are copied, because the connection reuses its
 * buffer.
 */
import { realClock } from '../../base/clock.ts';
import type { KubeloomError } from '../../base/errors.ts';
import type { ConnectionUser, DirectConnection } from './direct-connection.ts';
import type { HttpExchange, ResponseSink } from './http.ts';
import { TransportFailure, toHttpError, unwantedEncoding } from './http-errors.ts';
import { ResponseParser } from './response-parser.ts';
import type { ResponseHead } from './response-parser-head.ts';

export interface Connections {
  /** @throws Node's error for an unusable address or unusable certificates */
  acquire(isFresh: boolean): DirectConnection;
  /** Returns the connection for the next request. */
  release(connection: DirectConnection): void;
  /** Closes the idle connections: the server is silent, so they may be dead as well. */
  closeIdle(): void;
  /** Removes an exchange that has ended. */
  forget(exchange: DirectExchange): void;
}

export interface DirectRequest {
  readonly text: string;
  /** Used in error messages. */
  readonly url: string;
  readonly headersTimeoutMs: number;
}

export class DirectExchange implements HttpExchange, ConnectionUser {
  readonly #request: DirectRequest;
  readonly #sink: ResponseSink;
  readonly #connections: Connections;
  readonly #parser: ResponseParser = new ResponseParser();
  #connection: DirectConnection | undefined;
  /**
   * True when the connection has served before: the server may have closed it while this request was sent.
   */
  #isReused = false;
  #cancelTimeout: () => void = () => undefined;
  #isPaused = false;
  #isOver = false;
  /** Bytes of the response that arrived during a pause. */
  #rest: Buffer | undefined;
  /** True when bytes came after the response. */
  #hasSurplus = false;
  /** The end of the connection, if it has come; the cause is undefined when the other side closed it. */
  #ending: { readonly cause: unknown } | undefined;
  /** The error of `fail`, which the sink receives before any bytes that wait. */
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
      this.#connections.closeIdle();
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
    // Deferred, because the sink may be in the middle of a call.
    queueMicrotask(() => this.#flow());
  }

  close(): void {
    if (!this.#isOver) this.#leave();
  }

  /** Ends the exchange with an error and drops bytes that wait. */
  fail(cause: unknown): void {
    if (this.#isOver) return;
    this.#error ??= toHttpError(cause, this.#request.url);
    this.#rest = undefined;
    this.#drop();
    this.#settle();
  }

  received(bytes: Buffer, length: number): void {
    // A TLS socket still delivers what it had decrypted before the pause.
    if (this.#rest) this.#rest = Buffer.concat([this.#rest, bytes.subarray(0, length)]);
    else this.#read(bytes, length);
  }

  over(cause: unknown): void {
    this.#connection = undefined;
    if (this.#isReused && this.#parser.isUntouched) this.#startAnew();
    else this.#ending = { cause };
    this.#settle();
  }

  /**
   * Sends the request again: the server closed an idle connection as it was reused, so it did not answer,
   * and GET may be repeated.
   */
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

  /** Delivers the end if it has come and is not held back by a pause. */
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

  /**
   * Calls the sink. When the sink throws, the connection is closed, so that no half-read response remains.
   */
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
