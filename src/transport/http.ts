/**
 * GET requests whose bodies stream, the only kind that an informer makes. `HttpTransport` is the narrow
 * interface that the reflector sees; tests put their own in its place.
 *
 * A response is one `head`, any number of `data`, one `end`. Between `pause` and `resume` neither data nor
 * the end come, after `close` nothing at all, and nothing is called before `request` has returned.
 */
import type { KubeloomError } from '../errors.ts';

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
  /** The bytes are good until `data` returns: the memory is used again. What is needed longer is copied. */
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
