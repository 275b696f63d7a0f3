/**
 * An HTTP/1.1 connection over a socket of `net` or `tls`, and the request that occupies it. No streams, no copies, no
 * garbage: every read of the socket fills the same buffer, whose bytes are valid until the sink returns. There are two
 * exceptions. A pause copies the bytes that it holds back, and in a proxy's tunnel Node allocates a buffer for each
 * read.
 */
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import type { Clock } from '../base/clock.ts';
import type { KubeloomError } from '../base/errors.ts';
import type { Dialling, HttpExchange, ResponseSink } from './http.ts';
import {
  ProxyFailure,
  TransportFailure,
  toHttpError,
  unusableProxy,
  unexpectedEncoding,
} from './http-errors.ts';
import { encodingOf } from './inflated-response.ts';
import { connectToProxy, openTunnel } from './proxy-tunnel.ts';
import type { OnRead } from './proxy-tunnel.ts';
import { ResponseParser } from './response-parser.ts';
import type { ResponseHead } from './response-parser-head.ts';
import { serverIdentityError } from './server-address.ts';
import type { ProxyAddress, ServerAddress } from './server-address.ts';

/** The kernel's probe finds a peer that vanished, even while a paused socket is not read. */
const KEEP_ALIVE_DELAY_MS = 30_000;
/** The buffers of the system hold more of a request than a server reads after an early answer: Go's server closes beyond this. */
const UNREAD_BYTES_MAX = 262_144;
/** After this silence on a doubtful connection a read is sent over another. */
const DOUBT_MS = 1000;

export class Http1Connection {
  readonly closed: Promise<void>;
  /** True while the server may not have read the last request. A write does not wait behind such a request. */
  isDoubtful = false;
  /** The socket that carries requests; the socket to the proxy until the tunnel is open. */
  socket: Socket;
  readonly #server: ServerAddress;
  readonly #dialling: Dialling;
  readonly #cancelTimeout: () => void;
  #exchange: Http1Exchange | undefined;
  #isOpen = false;
  #isOver = false;
  /** The proxy until the tunnel is open; later errors are the server's. */
  #proxyAhead: ProxyAddress | undefined;
  readonly #sockets = new Set<Socket>();
  #allClosed: () => void = () => undefined;

  /**
   * @param readBuffer filled by every read
   * @throws Node's error for an unusable address or unusable certificates
   */
  constructor(server: ServerAddress, dialling: Dialling, readBuffer: Buffer) {
    this.#server = server;
    this.#dialling = dialling;
    this.closed = new Promise((resolve) => (this.#allClosed = resolve));
    this.#proxyAhead = server.proxy;
    this.socket = this.#begin(readBuffer);
    this.#cancelTimeout = dialling.clock.schedule(dialling.connectTimeoutMs, () => {
      this.#end(this.#failure(new TransportFailure('HTTP_CONNECT_TIMEOUT', 'no connection in time')));
    });
  }

  /** True while the connection is open. */
  get isOpen(): boolean {
    return this.#isOpen && !this.#isOver;
  }

  /** Sets the request that uses the connection. An idle connection has none, and lets the process exit. */
  set exchange(exchange: Http1Exchange | undefined) {
    this.#exchange = exchange;
    if (exchange) this.socket.ref();
    else this.socket.unref();
  }

  destroy(): void {
    this.#exchange = undefined;
    this.#end(undefined);
  }

  #begin(readBuffer: Buffer): Socket {
    const { proxy, isTls, host, port } = this.#server;
    if (proxy && isTls) return this.#tunnel(proxy);
    const onread: OnRead = {
      buffer: readBuffer,
      callback: (length, bytes) => this.#read(bytes, length),
    };
    const options = { host, port, onread, autoSelectFamily: true };
    if (proxy) return this.#ready(connectToProxy(proxy, onread), proxy.isTls);
    if (!isTls) return this.#ready(this.#dialling.connect(options), false);
    return this.#ready(connectTls({ ...options, ...this.#tlsOptions() }), true);
  }

  #tunnel(proxy: ProxyAddress): Socket {
    // Throws now when the certificates are unusable.
    const options = this.#tlsOptions();
    const socket = this.#watch(connectToProxy(proxy));
    socket.once(proxy.isTls ? 'secureConnect' : 'connect', () => {
      const through = (): void => {
        this.#proxyAhead = undefined;
        this.socket = this.#ready(connectTls({ ...options, socket }), true);
        this.socket.on('data', (bytes: Buffer) => this.#read(bytes, bytes.length));
      };
      openTunnel(socket, proxy, this.#server.authority, through, (failure) => this.#end(failure));
    });
    return socket;
  }

  #tlsOptions(): TlsOptions {
    const { name, serverName, rejectUnauthorized, secureContext } = this.#server;
    return {
      secureContext,
      rejectUnauthorized,
      ALPNProtocols: ['http/1.1'],
      checkServerIdentity: (_host, certificate) => serverIdentityError(name, certificate),
      ...(serverName === undefined ? {} : { servername: serverName }),
    };
  }

  #ready(socket: Socket, isTls: boolean): Socket {
    socket.once(isTls ? 'secureConnect' : 'connect', () => this.#opened());
    return this.#watch(socket);
  }

  #watch(socket: Socket): Socket {
    this.#sockets.add(socket);
    socket.on('error', (error) => this.#end(this.#failure(error)));
    socket.on('end', () => this.#end(this.#failure(undefined)));
    socket.once('close', () => {
      this.#end(this.#failure(undefined));
      this.#sockets.delete(socket);
      if (this.#sockets.size === 0) this.#allClosed();
    });
    return socket;
  }

  #failure(cause: unknown): unknown {
    const proxy = this.#proxyAhead;
    return proxy === undefined || cause instanceof ProxyFailure ? cause : unusableProxy(proxy.origin, cause);
  }

  #opened(): void {
    this.#cancelTimeout();
    this.#proxyAhead = undefined;
    this.#isOpen = true;
    this.socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_DELAY_MS);
    this.#exchange?.connected();
  }

  /** @returns true: `pause` decides whether reading goes on */
  #read(bytes: Uint8Array, length: number): boolean {
    if (this.#isOver) return true;
    if (this.#exchange && Buffer.isBuffer(bytes)) this.#exchange.received(bytes, length);
    // Unrequested bytes would be taken for the next response, so close the connection.
    else this.destroy();
    return true;
  }

  #end(cause: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelTimeout();
    for (const socket of this.#sockets) socket.destroy();
    this.#exchange?.over(cause);
  }
}

export interface Connections {
  readonly clock: Clock;
  /** @throws Node's error for an unusable address or unusable certificates */
  acquire(isFresh: boolean, isRepeatable: boolean): Http1Connection;
  /** Returns the connection for the next request. */
  release(connection: Http1Connection): void;
  /** Closes the idle connections: the server is silent, so they may be dead as well. */
  closeIdle(): void;
  /** Removes an ended exchange. */
  forget(exchange: Http1Exchange): void;
}

/** When a request may be sent, and the answer that it may have. */
interface ExchangeRules {
  /** True when the request may be sent twice, because it changes no state. */
  readonly isRepeatable: boolean;
  /** Asked before each time. */
  readonly signal: AbortSignal | undefined;
  /** False: an answer in gzip is refused. */
  readonly acceptsGzip: boolean;
}

export class Http1Exchange implements HttpExchange {
  readonly #url: string;
  readonly #headersTimeoutMs: number;
  readonly #sink: ResponseSink;
  readonly #connections: Connections;
  readonly #parser: ResponseParser = new ResponseParser();
  readonly #rules: ExchangeRules;
  /** The request, a text in Latin 1. */
  #request: string | Buffer = '';
  #connection: Http1Connection | undefined;
  /**
   * True when the connection served a request before: the server may have closed it while this request was sent.
   */
  #isReused = false;
  #cancelTimeout: () => void = () => undefined;
  #isPaused = false;
  #isOver = false;
  /** Bytes of the response that arrived during a pause. */
  #rest: Buffer | undefined;
  /** True when bytes came after the response. */
  #hasSurplus = false;
  /** The end of the connection, once it came; the cause is undefined when the other side closed it. */
  #ending: { readonly cause: unknown } | undefined;
  /** The error of `fail`, which the sink receives before any bytes that wait. */
  #error: KubeloomError | undefined;

  /**
   * @param url used in error messages
   */
  constructor(
    url: string,
    headersTimeoutMs: number,
    sink: ResponseSink,
    connections: Connections,
    rules: ExchangeRules,
  ) {
    this.#url = url;
    this.#headersTimeoutMs = headersTimeoutMs;
    this.#sink = sink;
    this.#connections = connections;
    this.#rules = rules;
  }

  start(request: string | Buffer, isFresh = false): void {
    this.#request = request;
    const connection = this.#connections.acquire(isFresh, this.#rules.isRepeatable);
    this.#connection = connection;
    connection.exchange = this;
    this.#isReused = connection.isOpen;
    if (this.#isReused) this.connected();
  }

  /** Called when the connection is open, TLS included. */
  connected(): void {
    if (this.#isRefused()) return;
    this.#connection?.socket.write(this.#request, 'latin1');
    const isDoubtful = this.#connection?.isDoubtful === true && this.#headersTimeoutMs > DOUBT_MS;
    const limitMs = isDoubtful ? DOUBT_MS : this.#headersTimeoutMs;
    this.#cancelTimeout = this.#connections.clock.schedule(limitMs, () => {
      this.#connections.closeIdle();
      // The end of a doubtful connection sends the request again.
      if (isDoubtful) this.#connection?.socket.destroy();
      else this.fail(new TransportFailure('HTTP_HEADERS_TIMEOUT', 'no answer in time'));
    });
    this.#sink.sent?.();
  }

  /** The signal may look at a clock: the wait for the connection was long, or the process was frozen. */
  #isRefused(): boolean {
    const { signal } = this.#rules;
    if (!signal?.aborted) return false;
    // Deferred: a kept connection calls before the caller holds the exchange.
    queueMicrotask(() => this.fail(signal.reason));
    return true;
  }

  pause(): void {
    this.#isPaused = true;
    if (!this.#parser.isInHead) this.#connection?.socket.pause();
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
    this.#error ??= toHttpError(cause, this.#url);
    this.#rest = undefined;
    this.#drop();
    this.#finishIfDone();
  }

  /** Takes bytes, which it may overwrite; they are invalid after it returns. */
  received(bytes: Buffer, length: number): void {
    // A TLS socket still delivers what it had decrypted before the pause.
    if (this.#rest) this.#rest = Buffer.concat([this.#rest, bytes.subarray(0, length)]);
    else this.#read(bytes, length);
  }

  /** Called when the connection ended: with undefined when the other side closed it, else with the error. */
  over(cause: unknown): void {
    this.#connection = undefined;
    if (this.#isReused && this.#rules.isRepeatable && this.#parser.isUntouched) this.#startAnew();
    else this.#ending = { cause };
    this.#finishIfDone();
  }

  /**
   * Sends the request again: the server closed an idle connection as it was reused, so it did not answer,
   * and this request may be repeated.
   */
  #startAnew(): void {
    this.#cancelTimeout();
    try {
      this.start(this.#request, true);
    } catch (cause) {
      this.#ending = { cause };
    }
  }

  #flow(): void {
    if (this.#isPaused || this.#isOver) return;
    const rest = this.#rest;
    this.#rest = undefined;
    if (rest) this.#read(rest, rest.length);
    else this.#finishIfDone();
    if (!this.#isPaused) this.#connection?.socket.resume();
  }

  #read(bytes: Buffer, length: number): void {
    const parser = this.#parser;
    let at = 0;
    if (parser.isInHead) at = parser.readHead(bytes, 0, length, (head) => this.#head(head));
    if (this.#isPaused && !parser.isInHead) this.#connection?.socket.pause();
    if (!this.#isPaused && !this.#isOver && at < length) {
      at = parser.readBody(bytes, at, length);
      const { dataStart, dataEnd } = parser;
      if (dataEnd > dataStart) this.#call(() => this.#sink.data(bytes.subarray(dataStart, dataEnd)));
    }
    if (this.#isOver) return;
    this.#hasSurplus = at < length && parser.isComplete;
    if (at < length && !parser.isComplete && !parser.failure)
      this.#rest = Buffer.from(bytes.subarray(at, length));
    this.#finishIfDone();
  }

  #head({ status, headers }: ResponseHead): void {
    this.#cancelTimeout();
    const encoding = encodingOf(headers);
    const isAccepted = encoding === 'identity' || (encoding === 'gzip' && this.#rules.acceptsGzip);
    if (isAccepted) this.#call(() => this.#sink.head(status, headers));
    else this.#finish(unexpectedEncoding(encoding, this.#url));
  }

  /** Delivers the end once it came, unless a pause holds it back. */
  #finishIfDone(): void {
    if (this.#isOver || this.#isPaused || this.#rest) return;
    const { failure } = this.#parser;
    if (this.#error) this.#finish(this.#error);
    else if (failure) this.#finish(toHttpError(new TransportFailure(failure, 'not HTTP'), this.#url));
    else if (this.#parser.isComplete) this.#finish(undefined);
    else if (this.#ending) {
      const { cause } = this.#ending;
      const isComplete = cause === undefined && this.#parser.finish();
      const torn = cause ?? new TransportFailure('HTTP_CLOSED_EARLY', 'closed by the other side');
      this.#finish(isComplete ? undefined : toHttpError(torn, this.#url));
    }
  }

  #finish(error: KubeloomError | undefined): void {
    const connection = this.#connection;
    const isReusable = !error && this.#parser.isReusable && !this.#hasSurplus;
    // The server may answer before it has read the request: the next request would wait behind the rest of the body.
    if (connection?.isOpen && isReusable && connection.socket.writableLength === 0) {
      connection.isDoubtful = this.#request.length > UNREAD_BYTES_MAX;
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
