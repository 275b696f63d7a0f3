/**
 * HTTP for informers: GET requests whose bodies are streamed to a sink. Begins with undici's `dispatch`; one
 * small interface, so that a transport that reads sockets itself can take its place.
 *
 * No redirects are followed, no compression is asked for, no body is buffered.
 */
import { Pool } from 'undici';
import type { Dispatcher } from 'undici';
import { KubeloomError } from '../errors.ts';
import type { ConnectionOptions } from '../threads/protocol.ts';

export interface HttpRequest {
  /** Path and query, below the server's base path. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long to wait for the response's head. */
  readonly timeoutMs: number;
}

export interface ResponseSink {
  head(status: number, headers: Readonly<Record<string, string>>): void;
  /** The chunk is the sink's; it is not written again. */
  data(chunk: Uint8Array): void;
  /** Exactly once, unless the exchange was closed: the body is complete, or why it is not. */
  end(error: KubeloomError | undefined): void;
}

export interface HttpExchange {
  /** Stops reading from the socket soon: a chunk or two may still come. */
  pause(): void;
  resume(): void;
  /** Ends the exchange; the sink is not called any more. */
  close(): void;
}

export interface HttpTransport {
  request(request: HttpRequest, sink: ResponseSink): HttpExchange;
  /** Closes all connections. */
  dispose(): void;
}

const HEADER_BYTES_MAX = 64 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_PROBE_MS = 30_000;

export class UndiciTransport implements HttpTransport {
  readonly #pool: Pool;
  readonly #basePath: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #origin: string;

  constructor(connection: ConnectionOptions) {
    const url = new URL(connection.server);
    this.#origin = url.origin;
    this.#basePath = url.pathname.replace(/\/+$/, '');
    this.#headers = { accept: 'application/json', 'user-agent': 'kubeloom', ...connection.headers };
    const { ca, cert, key, servername, rejectUnauthorized = true } = connection;
    this.#pool = new Pool(url.origin, {
      allowH2: false,
      pipelining: 1,
      bodyTimeout: 0,
      maxHeaderSize: HEADER_BYTES_MAX,
      connect: {
        ...(ca ? { ca } : {}),
        ...(cert ? { cert } : {}),
        ...(key ? { key } : {}),
        ...(servername ? { servername } : {}),
        rejectUnauthorized,
        timeout: CONNECT_TIMEOUT_MS,
        keepAlive: true,
        keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
      },
    });
  }

  request(request: HttpRequest, sink: ResponseSink): HttpExchange {
    const exchange = new UndiciExchange(sink, this.#origin);
    this.#pool.dispatch(
      {
        method: 'GET',
        path: this.#basePath + request.path,
        headers: { ...this.#headers, ...request.headers },
        headersTimeout: request.timeoutMs,
        bodyTimeout: 0,
      },
      exchange,
    );
    return exchange;
  }

  dispose(): void {
    void this.#pool.destroy();
  }
}

type Headers = Record<string, string | string[] | undefined>;

class UndiciExchange implements HttpExchange, Dispatcher.DispatchHandler {
  readonly #sink: ResponseSink;
  readonly #origin: string;
  #controller: Dispatcher.DispatchController | undefined;
  #isEnded = false;
  #isPaused = false;

  constructor(sink: ResponseSink, origin: string) {
    this.#sink = sink;
    this.#origin = origin;
  }

  pause(): void {
    this.#isPaused = true;
    this.#controller?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#controller?.resume();
  }

  close(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#controller?.abort(new Error('closed by the client'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isEnded) controller.abort(new Error('closed by the client'));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (this.#isEnded) return;
    const flat: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
    }
    this.#sink.head(status, flat);
    if (this.#isPaused) controller.pause();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#isEnded) this.#sink.data(chunk);
  }

  onResponseEnd(): void {
    this.#end(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(transportError(error, this.#origin));
  }

  #end(error: KubeloomError | undefined): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#sink.end(error);
  }
}

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** What a failed exchange means for the user, by the code that Node, OpenSSL or undici gave it. */
export function transportError(error: Error, origin: string): KubeloomError {
  const errno = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (UNREACHABLE.has(errno)) {
    const message = `${origin} cannot be reached (${errno}); check the server's address and that it runs`;
    return Object.assign(new KubeloomError('ERR_KUBELOOM_UNREACHABLE', message, { cause: error }), { errno });
  }
  if (isTlsError(errno, error)) {
    const advice = 'check the CA, the name and the validity of the certificates';
    const message = `${origin}: the TLS connection was refused: ${error.message} (${errno}); ${advice}`;
    return Object.assign(new KubeloomError('ERR_KUBELOOM_TLS', message, { cause: error }), { errno });
  }
  if (errno === 'UND_ERR_HEADERS_TIMEOUT' || errno === 'UND_ERR_BODY_TIMEOUT') {
    const message = `${origin} did not answer in time`;
    return new KubeloomError('ERR_KUBELOOM_HTTP_TIMEOUT', message, { cause: error });
  }
  const message = `the connection to ${origin} broke: ${error.message}`;
  return Object.assign(new KubeloomError('ERR_KUBELOOM_CONNECTION_RESET', message, { cause: error }), {
    errno,
  });
}

function isTlsError(errno: string, error: Error): boolean {
  return (
    /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO|HOSTNAME_MISMATCH)/.test(errno) ||
    /certificate|\bSSL\b|\bTLS\b/i.test(error.message)
  );
}
