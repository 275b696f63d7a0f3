/**
 * GET requests whose bodies stream, the only kind that an informer makes. `HttpTransport` is the narrow
 * interface that the reflector sees; tests put their own in its place.
 *
 * A response is one `head`, any number of `data`, one `end`. Between `pause` and `resume` neither data nor
 * the end come, after `close` nothing at all, and nothing is called before `request` has returned.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { Pool, type Dispatcher } from 'undici';
import { KubeloomError } from '../errors.ts';
import type { ConnectionOptions } from '../threads/protocol.ts';
import { HttpError, toHttpError } from './http-errors.ts';

export interface HttpRequest {
  /** Path and query: `/api/v1/pods?limit=500`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long the response's status and headers may take once the request is sent. */
  readonly timeoutMs?: number;
}

export interface ResponseSink {
  /** Header names are lower case; repeated headers are joined by commas. */
  head(status: number, headers: Record<string, string>): void;
  /** The chunk is the receiver's: nobody writes to it any more. */
  data(chunk: Uint8Array): void;
  /** Exactly once, without an error when the response was complete. */
  end(error: KubeloomError | undefined): void;
}

export interface HttpExchange {
  pause(): void;
  resume(): void;
  /** Ends the request; the sink hears no more, not even `end`. */
  close(): void;
}

export interface HttpTransport {
  request(request: HttpRequest, sink: ResponseSink): HttpExchange;
  /** Ends whatever is still running with ERR_KUBELOOM_TRANSPORT_DISPOSED and closes all sockets. */
  dispose(): Promise<void>;
}

export interface UndiciTransportOptions {
  /** TCP and TLS handshake. */
  readonly connectTimeoutMs?: number;
  /** For requests that do not say. */
  readonly headersTimeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** A list of a large cluster may take the apiserver half a minute until the first byte; its own limit is 60 s. */
const HEADERS_TIMEOUT_MS = 70_000;
/** An apiserver's headers are below 2 KiB. */
const HEADER_BYTES_MAX = 64 * 1024;
/** A peer that vanished is found by the kernel even while a paused socket is not read. */
const KEEP_ALIVE_DELAY_MS = 30_000;

export class UndiciTransport implements HttpTransport {
  readonly #pool: Pool;
  readonly #origin: string;
  /** Put before every path: apiservers behind a proxy have one. */
  readonly #basePath: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #headersTimeoutMs: number;

  constructor(connection: ConnectionOptions, options: UndiciTransportOptions = {}) {
    const url = new URL(connection.server);
    this.#origin = url.origin;
    this.#basePath = url.pathname.replace(/\/+$/, '');
    this.#headers = {
      accept: 'application/json',
      'user-agent': 'kubeloom',
      ...lowerCased(connection.headers),
    };
    this.#headersTimeoutMs = options.headersTimeoutMs ?? HEADERS_TIMEOUT_MS;
    this.#pool = new Pool(url.origin, {
      // A watch keeps its connection for itself, so there are as many as there are requests.
      connections: null,
      pipelining: 1,
      allowH2: false,
      bodyTimeout: 0,
      maxHeaderSize: HEADER_BYTES_MAX,
      connect: {
        timeout: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
        keepAliveInitialDelay: KEEP_ALIVE_DELAY_MS,
        // Said explicitly, or NODE_TLS_REJECT_UNAUTHORIZED could switch verification off.
        rejectUnauthorized: connection.rejectUnauthorized !== false,
        ...tlsMaterial(connection),
      },
    });
  }

  request(request: HttpRequest, sink: ResponseSink): HttpExchange {
    const path = `${this.#basePath}${request.path}`;
    const exchange = new UndiciExchange(sink, `${this.#origin}${path.split('?', 1)[0]}`);
    exchange.start(this.#pool, {
      origin: this.#origin,
      method: 'GET',
      path,
      headers: { ...this.#headers, ...lowerCased(request.headers ?? {}) },
      headersTimeout: request.timeoutMs ?? this.#headersTimeoutMs,
    });
    return exchange;
  }

  async dispose(): Promise<void> {
    await this.#pool.destroy();
  }
}

/** One request: what undici tells about it, in the order and at the times that `ResponseSink` promises. */
class UndiciExchange implements HttpExchange, Dispatcher.DispatchHandler {
  readonly #sink: ResponseSink;
  readonly #url: string;
  #controller: Dispatcher.DispatchController | undefined;
  #isStarting = true;
  #isPaused = false;
  #isOver = false;
  /** undici may deliver one more chunk after a pause, and the end at any time: they wait here. */
  readonly #held: (() => void)[] = [];

  constructor(sink: ResponseSink, url: string) {
    this.#sink = sink;
    this.#url = url;
  }

  start(pool: Pool, options: Dispatcher.DispatchOptions): void {
    pool.dispatch(options, this);
    this.#isStarting = false;
  }

  pause(): void {
    this.#isPaused = true;
    this.#controller?.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    // Later: undici must not be resumed from inside one of its callbacks, of whatever request.
    queueMicrotask(() => this.#flow());
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#abort();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) this.#abort();
    else if (this.#isPaused) controller.pause();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    const isInformational = status < 200;
    if (isInformational || this.#isOver) return;
    const flat = flattened(headers);
    const encoding = flat['content-encoding'] ?? 'identity';
    if (encoding === 'identity') this.#call(() => this.#sink.head(status, flat));
    else this.#fail(unwantedEncoding(encoding, this.#url));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // The parser gives an empty chunk on every resume; answering that with a pause would never end.
    if (chunk.length > 0) this.#inOrder(() => this.#sink.data(chunk));
  }

  onResponseEnd(): void {
    this.#inOrder(() => this.#finish(undefined));
  }

  onResponseError(_controller: Dispatcher.DispatchController, cause: Error): void {
    const error = toHttpError(cause, this.#url);
    // Bad options are refused at once; the caller does not have its exchange yet.
    if (this.#isStarting) queueMicrotask(() => this.#inOrder(() => this.#finish(error)));
    else this.#inOrder(() => this.#finish(error));
  }

  #inOrder(deliver: () => void): void {
    if (this.#isOver) return;
    if (this.#isPaused || this.#held.length > 0) this.#held.push(deliver);
    else this.#call(deliver);
  }

  #flow(): void {
    while (!this.#isPaused && !this.#isOver) {
      const deliver = this.#held.shift();
      if (!deliver) {
        this.#controller?.resume();
        return;
      }
      this.#call(deliver);
    }
  }

  /** undici would swallow what a sink throws, and a programmer's error would become a silent hang. */
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

  #finish(error: KubeloomError | undefined): void {
    this.#isOver = true;
    this.#sink.end(error);
  }

  #fail(error: KubeloomError): void {
    this.#call(() => this.#finish(error));
    this.#abort();
  }

  #abort(): void {
    this.#controller?.abort(new Error('closed'));
  }
}

function unwantedEncoding(encoding: string, url: string): HttpError {
  return new HttpError(
    'ERR_KUBELOOM_HTTP_PROTOCOL',
    `the answer of ${url} is encoded (${encoding}) although no encoding was asked for; ` +
      'a proxy on the way seems to compress, switch that off for this server',
    url,
    'content-encoding',
  );
}

function tlsMaterial(
  connection: ConnectionOptions,
): Partial<Record<'ca' | 'cert' | 'key' | 'servername', string>> {
  const { ca, cert, key, servername } = connection;
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(servername === undefined ? {} : { servername }),
  };
}

function flattened(headers: IncomingHttpHeaders): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
