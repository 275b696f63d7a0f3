/**
 * GETs on the calling thread: finds credentials and a connection, checks the status, and passes the body to a reader
 * or returns it whole. Requests share connections; a connection is closed when its last request has ended.
 */
import { realClock } from '../base/clock.ts';
import { KubeloomError, wrapped } from '../base/errors.ts';
import type { ServerSource } from '../kube/server-source.ts';
import { ErrorBody, retryAfterSeconds } from './error-body.ts';
import { TransportPool } from './transport/transport-pool.ts';
import { Watchdog } from './watchdog.ts';
import { Credentials } from './transport/credentials.ts';
import { Http1Transport } from './transport/http1-transport.ts';
import type { HttpExchange, HttpTransport, ResponseSink } from './transport/http.ts';
import { statusError } from '../kube/status.ts';
import { onAbort } from '../base/on-abort.ts';

const OK = 200;
const UNAUTHORIZED = 401;
/** Time without a byte after which a request for a whole body fails. */
const BODY_SILENCE_MAX_MS = 30_000;
/** Discovery documents are far smaller; a single object has at most 3 MiB on a real server. */
const BODY_BYTES_MAX = 32 * 2 ** 20;

/** The reader of a response. */
export interface ResponseReader {
  /** Called when the response has status 200; the body follows. */
  opened(response: HttpExchange): void;
  data(chunk: Buffer): void;
  /**
   * Called exactly once: without an error when the body is complete, else with the reason why it is missing
   * or incomplete.
   */
  end(error: Error | undefined): void;
}

export interface GetRequest {
  readonly path: string;
  /** Used in error messages. */
  readonly verb: 'GET' | 'LIST' | 'WATCH';
  readonly signal: AbortSignal;
  /** The longest time without a byte, after which the request fails. Default: no limit. */
  readonly silenceMaxMs?: number;
}

export class ApiClient {
  readonly #credentials: Credentials;
  /** True after an answer of 401: the next request asks for other credentials. */
  #isUnauthorized = false;
  readonly #transports: TransportPool = new TransportPool((connection) => new Http1Transport(connection));

  constructor(source: ServerSource) {
    this.#credentials = new Credentials(source);
  }

  /** Sends the request. Never throws: every failure is passed to the reader's `end`. */
  async get(request: GetRequest, reader: ResponseReader): Promise<void> {
    const { signal } = request;
    try {
      signal.throwIfAborted();
      const connection = await this.#credentials.connection(this.#isUnauthorized, signal);
      signal.throwIfAborted();
      const transport = this.#transports.acquire(connection);
      const where = `${request.verb} ${connection.server}${request.path.split('?', 1)[0]}`;
      void new GetExchange(request, where, reader, transport, {
        answered: (status) => (this.#isUnauthorized = status === UNAUTHORIZED),
        ended: () => this.#transports.release(connection),
      });
    } catch (cause) {
      const what = `${request.verb} ${request.path.split('?', 1)[0]}`;
      reader.end(signal.aborted ? reasonOf(signal) : wrapped('ERR_KUBELOOM_KUBECONFIG', what, cause));
    }
  }

  /**
   * Requests one path with GET and returns the whole body.
   *
   * @throws an error with the code of the server's answer, or of the reason why there is none; the signal's reason when
   *   it is aborted; ERR_KUBELOOM_MALFORMED_RESPONSE above 32 MiB
   */
  getBody(path: string, signal: AbortSignal): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      void this.get(
        { path, verb: 'GET', signal, silenceMaxMs: BODY_SILENCE_MAX_MS },
        new WholeBody(path, resolve, reject),
      );
    });
  }

  /**
   * Like `getBody`, with the body parsed.
   *
   * @throws ERR_KUBELOOM_MALFORMED_RESPONSE as well, when the body is not JSON
   */
  async getJson(path: string, signal: AbortSignal): Promise<unknown> {
    const body = await this.getBody(path, signal);
    try {
      return JSON.parse(body.toString()) as unknown;
    } catch (cause) {
      const message = `GET ${path}: the answer is not JSON; is this a Kubernetes apiserver?`;
      throw new KubeloomError('ERR_KUBELOOM_MALFORMED_RESPONSE', message, { cause });
    }
  }
}

class WholeBody implements ResponseReader {
  readonly #path: string;
  readonly #resolve: (body: Buffer) => void;
  readonly #reject: (error: Error) => void;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #response: HttpExchange | undefined;

  constructor(path: string, resolve: (body: Buffer) => void, reject: (error: Error) => void) {
    this.#path = path;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  opened(response: HttpExchange): void {
    this.#response = response;
  }

  data(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= BODY_BYTES_MAX) this.#chunks.push(Buffer.from(chunk));
    else this.#response?.close();
  }

  end(error: Error | undefined): void {
    if (error) this.#reject(error);
    else if (this.#bytes <= BODY_BYTES_MAX) this.#resolve(Buffer.concat(this.#chunks));
    else this.#reject(tooLarge(this.#path));
  }
}

function tooLarge(path: string): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_MALFORMED_RESPONSE',
    `GET ${path}: the answer is larger than ${BODY_BYTES_MAX} bytes; is this a Kubernetes apiserver?`,
  );
}

interface GetEvents {
  answered(status: number): void;
  ended(): void;
}

class GetExchange implements ResponseSink, HttpExchange {
  readonly #where: string;
  readonly #reader: ResponseReader;
  readonly #events: GetEvents;
  readonly #http: HttpExchange;
  readonly #watchdog: Watchdog | undefined;
  readonly #unlisten: () => void;
  #errorBody: ErrorBody | undefined;
  #isOver = false;

  constructor(
    { path, signal, silenceMaxMs }: GetRequest,
    where: string,
    reader: ResponseReader,
    transport: HttpTransport,
    events: GetEvents,
  ) {
    this.#where = where;
    this.#reader = reader;
    this.#events = events;
    this.#http = transport.request({ path }, this);
    this.#unlisten = onAbort(signal, () => this.#end(reasonOf(signal)));
    if (silenceMaxMs === undefined) return;
    this.#watchdog = new Watchdog(realClock, silenceMaxMs, () => {
      transport.closeIdle();
      const message = `${where}: the server has sent nothing for ${silenceMaxMs / 1000} s`;
      this.#end(new KubeloomError('ERR_KUBELOOM_STALLED', message));
    });
  }

  pause(): void {
    this.#http.pause();
  }

  resume(): void {
    this.#http.resume();
  }

  close(): void {
    this.#end(undefined);
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    this.#watchdog?.touch();
    this.#events.answered(status);
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

  #end(error: Error | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#watchdog?.stop();
    this.#unlisten();
    this.#http.close();
    this.#events.ended();
    this.#reader.end(error);
  }
}

function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error(String(reason));
}
