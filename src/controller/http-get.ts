/**
 * One GET on the main thread: credentials, connection, the answer's status, and its body for whoever reads
 * it. Connections are shared while a request uses them and closed after the last one: nothing is left behind.
 */
import type { KubeConfig } from '@kubernetes/client-node';
import { realClock } from '../clock.ts';
import { KubeloomError } from '../errors.ts';
import { ErrorBody } from '../reflector/error-body.ts';
import { retryAfterSeconds } from '../reflector/retry-after.ts';
import { TransportPool } from '../reflector/transport-pool.ts';
import { Watchdog } from '../reflector/watchdog.ts';
import type { ConnectionOptions } from '../threads/protocol.ts';
import { Credentials } from '../transport/credentials.ts';
import { DirectTransport } from '../transport/direct-transport.ts';
import type { HttpExchange, HttpTransport, ResponseSink } from '../transport/http.ts';
import { statusError } from '../transport/status.ts';
import { wrapped } from './error-reports.ts';
import { onAbort } from '../on-abort.ts';

const OK = 200;
const UNAUTHORIZED = 401;

/** Who reads a response. */
export interface ResponseReader {
  /** It is a 200; the body follows. */
  opened(response: HttpExchange): void;
  data(chunk: Buffer): void;
  /** Exactly once: the body is complete, or this is why it is not, or why there is none. */
  end(error: Error | undefined): void;
}

export interface GetRequest {
  /** Path and query. */
  readonly path: string;
  /** For messages. */
  readonly verb: 'LIST' | 'WATCH';
  readonly signal: AbortSignal;
  /** Longer without a byte, and the server is taken for gone. Default: it may be silent for ever. */
  readonly silenceMaxMs?: number;
}

export class ApiClient {
  readonly #credentials: Credentials;
  /** The last answer was that the credentials are not good: the next request needs others, if it can have them. */
  #isRefused = false;
  readonly #transports: TransportPool = new TransportPool((connection) => new DirectTransport(connection));

  constructor(kubeConfig: KubeConfig) {
    this.#credentials = new Credentials(kubeConfig);
  }

  /** Never throws: everything that can go wrong is the reader's `end`. */
  async get(request: GetRequest, reader: ResponseReader): Promise<void> {
    const { signal } = request;
    try {
      signal.throwIfAborted();
      const connection = await this.#credentials.connection(this.#isRefused, signal);
      signal.throwIfAborted();
      const answered = (status: number): void => void (this.#isRefused = status === UNAUTHORIZED);
      new Exchange(request, connection, reader, answered).start(this.#acquire(connection), () =>
        this.#transports.release(connection),
      );
    } catch (cause) {
      const what = `${request.verb} ${request.path.split('?', 1)[0]}`;
      reader.end(signal.aborted ? reasonOf(signal) : wrapped('ERR_KUBELOOM_CONNECTION_OPTIONS', what, cause));
    }
  }

  #acquire(connection: ConnectionOptions): HttpTransport {
    return this.#transports.acquire(connection);
  }
}

class Exchange implements ResponseSink, HttpExchange {
  readonly #request: GetRequest;
  readonly #where: string;
  readonly #reader: ResponseReader;
  readonly #answered: (status: number) => void;
  readonly #watchdog: Watchdog | undefined;
  #http: HttpExchange | undefined;
  #release: () => void = () => undefined;
  #unlisten: () => void = () => undefined;
  #errorBody: ErrorBody | undefined;
  #isOver = false;

  constructor(
    request: GetRequest,
    connection: ConnectionOptions,
    reader: ResponseReader,
    answered: (status: number) => void,
  ) {
    this.#request = request;
    this.#answered = answered;
    this.#where = `${request.verb} ${connection.server}${request.path.split('?', 1)[0]}`;
    this.#reader = reader;
    const limitMs = request.silenceMaxMs;
    if (limitMs !== undefined) this.#watchdog = new Watchdog(realClock, limitMs, () => this.#silent(limitMs));
  }

  start(transport: HttpTransport, release: () => void): void {
    this.#release = release;
    const { signal } = this.#request;
    this.#unlisten = onAbort(signal, () => this.#end(reasonOf(signal)));
    this.#http = transport.request({ path: this.#request.path }, this);
  }

  pause(): void {
    this.#http?.pause();
  }

  resume(): void {
    this.#http?.resume();
  }

  close(): void {
    this.#end(undefined);
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    this.#watchdog?.touch();
    this.#answered(status);
    if (status === OK) {
      this.#reader.opened(this);
      return;
    }
    const retryAfter = retryAfterSeconds(headers);
    this.#errorBody = new ErrorBody((text) => this.#end(statusError(status, text, retryAfter, this.#where)));
  }

  data(chunk: Uint8Array): void {
    this.#watchdog?.touch();
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    if (this.#errorBody) this.#errorBody.write(bytes, 0);
    else if (!this.#isOver) this.#reader.data(bytes);
  }

  end(error: KubeloomError | undefined): void {
    if (this.#errorBody) this.#errorBody.end(error);
    else this.#end(error);
  }

  #silent(limitMs: number): void {
    const message = `${this.#where}: the server has sent nothing for ${limitMs / 1000} s`;
    this.#end(new KubeloomError('ERR_KUBELOOM_STALLED', message));
  }

  #end(error: Error | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#watchdog?.stop();
    this.#unlisten();
    this.#http?.close();
    this.#release();
    this.#reader.end(error);
  }
}

function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error(String(reason));
}
