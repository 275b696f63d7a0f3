/**
 * Requests with streaming responses: an informer sends GET alone, a client of objects all methods. `HttpTransport`
 * is the narrow interface that the reflector uses; tests implement it as well.
 *
 * After `sent` a response is one `head`, any number of `data`, one `end`. Between `pause` and `resume` neither `data` nor
 * `end` is called, after `close` no callback, and only `sent` before `request` returned.
 */
import type { Socket, TcpNetConnectOpts } from 'node:net';
import type { Clock } from '../base/clock.ts';
import type { KubeloomError } from '../base/errors.ts';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface HttpRequest {
  /** Default: GET. Only a GET is sent again when the server closes a reused connection without an answer. */
  readonly method?: HttpMethod;
  /** Path and query: `/api/v1/pods?limit=500`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes behind the headers, which have their type. */
  readonly body?: Buffer;
  /** Asked when the bytes are about to be written, each time: an aborted signal ends the request before. */
  readonly signal?: AbortSignal;
  /** Whether the answer may be compressed with gzip: it is inflated before the sink receives it. Default: false. */
  readonly acceptsGzip?: boolean;
  /** The limit from sending the request to the end of the response's headers. */
  readonly timeoutMs?: number;
}

/** The reader of an answer's body. */
export interface BodyReader {
  /**
   * Takes as much as there is room for, from `start` on.
   *
   * @returns the first index that was not taken
   */
  write(chunk: Buffer, start: number): number;
  /** Ends the body: without an error when the response is complete, else with the reason why it is not. */
  end(error: KubeloomError | undefined): void;
}

export interface ResponseSink {
  /** Called when the request is written to the connection: the server may act on it from now on. */
  sent?(): void;
  /** Header names are lower case; repeated headers are joined by commas. */
  head(status: number, headers: Record<string, string>): void;
  /**
   * Takes bytes that are valid until `data` returns, because the memory is reused. Copy what is needed
   * longer.
   */
  data(chunk: Uint8Array): void;
  /** Called exactly once; without an error when the response was complete. */
  end(error: KubeloomError | undefined): void;
}

export interface HttpExchange {
  pause(): void;
  resume(): void;
  /** Ends the request; the sink receives no more calls, not even `end`. */
  close(): void;
}

/** The means by which connections are opened. */
export interface Dialling {
  /** The limit for the TCP and TLS handshakes. */
  readonly connectTimeoutMs: number;
  /** Opens a socket to a server without TLS and without a proxy. */
  readonly connect: (options: TcpNetConnectOpts) => Socket;
  readonly clock: Clock;
}

export interface HttpTransport {
  request(request: HttpRequest, sink: ResponseSink): HttpExchange;
  /** Closes the idle connections: a request met silence, so they may be dead as well. */
  closeIdle(): void;
  /** Ends all requests with ERR_KUBELOOM_STOPPED and closes all sockets. */
  dispose(): Promise<void>;
}
