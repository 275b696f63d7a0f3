/**
 * Requests on the calling thread: finds credentials and a connection, checks the status, and passes the body to a reader
 * or returns it whole. Requests share connections. An idle connection is kept for a few seconds for the next request and
 * does not keep the process alive.
 */
import { realClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { KubeloomError, messageOf, wrapped } from '../base/errors.ts';
import type { ServerSource } from '../kube/server-source.ts';
import { ErrorBody, retryAfterSeconds } from './error-body.ts';
import { TransportPool } from './transport-pool.ts';
import { Watchdog } from './watchdog.ts';
import { Credentials } from './credentials/credentials.ts';
import { Http1Transport } from './http1-transport.ts';
import { isRecord } from '../kube/meta-shape.ts';
import type { HttpExchange, HttpMethod, HttpTransport, ResponseSink } from './http.ts';
import { KubeStatusError, objectAdvice, statusError } from '../kube/status.ts';
import { isUnconfirmed } from '../kube/retry.ts';
import { jsonText } from '../base/json-text.ts';
import { onAbort } from '../base/on-abort.ts';
import { parseJson } from '../base/parse-json.ts';
import { LinkedController, everyFence } from '../shared/fence.ts';
import type { ConnectionOptions } from '../kube/connection-options.ts';

const OK = 200;
const FIRST_REDIRECT = 300;
const UNAUTHORIZED = 401;
/** Time without a byte after which a request for a whole body fails. */
const BODY_SILENCE_MAX_MS = 30_000;
/** An apiserver ends a request for a single object after 60 s. */
const SEND_SILENCE_MAX_MS = 65_000;
/** Discovery documents are far smaller; a single object takes at most 3 MiB on a real server. */
const BODY_BYTES_MAX = 32 * 2 ** 20;

/** The reader of a response. */
export interface ResponseReader {
  /** Called for a response of status 200, for a write any status of success; the body follows. */
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

/** A request for a single object: it may write. */
export interface SendRequest {
  readonly method: HttpMethod;
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: object;
  /** Type of the body. Default: JSON. */
  readonly contentType?: string;
  /** Receives the header `Warning` of the answer, if there is one. */
  readonly onWarning?: ((header: string) => void) | undefined;
  /** Each of them ends the request. They are asked when the bytes are about to be written, and before every wait. */
  readonly signals?: readonly AbortSignal[];
}

interface WholeRequest extends Omit<GetRequest, 'verb'> {
  readonly verb: GetRequest['verb'] | HttpMethod;
  /** Absent: the request is a GET whatever the verb, and errors carry an informer's advice. */
  readonly method?: HttpMethod;
  readonly body?: Buffer;
  readonly contentType?: string;
  readonly onWarning?: SendRequest['onWarning'];
}

export class ApiClient {
  readonly #credentials: Credentials;
  readonly #clock: Clock;
  /** True after an answer of 401: the next request asks for other credentials. */
  #isUnauthorized = false;
  readonly #transports: TransportPool = new TransportPool((connection) => new Http1Transport(connection));
  /** Connection of the last ended request: the pool keeps the transport. */
  #kept: ConnectionOptions | undefined;

  /** @param clock clock of the limits of silence */
  constructor(source: ServerSource, clock: Clock = realClock) {
    this.#credentials = new Credentials(source);
    this.#clock = clock;
  }

  /** Sends the request. Never throws: every failure is passed to the reader's `end`. */
  get(request: GetRequest, reader: ResponseReader): Promise<void> {
    return this.#request(request, reader);
  }

  async #request(request: WholeRequest, reader: ResponseReader): Promise<void> {
    const { signal } = request;
    try {
      signal.throwIfAborted();
      const connection = await this.#credentials.connection(this.#isUnauthorized, signal);
      signal.throwIfAborted();
      const transport = this.#transports.acquire(connection);
      const where = `${request.verb} ${connection.server}${request.path.split('?', 1)[0]}`;
      void new ApiExchange(request, where, reader, transport, this.#clock, {
        answered: (status) => (this.#isUnauthorized = status === UNAUTHORIZED),
        ended: () => this.#keep(connection),
      });
    } catch (cause) {
      const what = `${request.verb} ${request.path.split('?', 1)[0]}`;
      reader.end(signal.aborted ? reasonOf(signal) : wrapped('ERR_KUBELOOM_KUBECONFIG', what, cause));
    }
  }

  /** Keeps the transport of the request that ended, in the place of the transport kept so far. */
  #keep(connection: ConnectionOptions): void {
    const before = this.#kept;
    this.#kept = connection;
    if (before) this.#transports.release(before);
  }

  /**
   * Requests a path with GET and returns the whole body.
   *
   * @throws an error with the code of the server's answer, or of the reason why there is none; the signal's reason when
   *   it is aborted; ERR_KUBELOOM_MALFORMED_RESPONSE above 32 MiB
   */
  getBody(path: string, signal: AbortSignal): Promise<Buffer> {
    return this.#whole({ path, verb: 'GET', signal, silenceMaxMs: BODY_SILENCE_MAX_MS });
  }

  /**
   * Like `getBody`, with the body parsed.
   *
   * @throws ERR_KUBELOOM_MALFORMED_RESPONSE as well, when the body is not JSON
   */
  async getJson(path: string, signal: AbortSignal): Promise<unknown> {
    return parsed((await this.getBody(path, signal)).toString(), 'GET', path);
  }

  /**
   * Sends a request for a single object and returns the JSON of the answer, `{}` for a deletion without a body. After an answer of 401 it is sent once more with
   * fresh credentials; this is the only repetition.
   *
   * @throws ERR_KUBELOOM_OPTION for a body that is no JSON
   * @throws KubeStatusError with the code of the server's refusal: the server wrote no change
   * @throws ERR_KUBELOOM_WRITE_UNCONFIRMED when a write was sent and its answer is missing, or is no object: it may have
   *   happened or not
   * @throws the reason of a signal that is aborted: a write may have happened as well, unless the signal was aborted before it was sent
   */
  async send(request: SendRequest): Promise<unknown> {
    try {
      return answerOf(request, await this.sendForText(request));
    } catch (error) {
      const isUnread = error instanceof KubeloomError && error.code === 'ERR_KUBELOOM_MALFORMED_RESPONSE';
      if (request.method === 'GET' || !isUnread) throw error;
      throw unconfirmed(`${request.method} ${request.path}`, error);
    }
  }

  /** Like `send`, with the text of the answer: JSON.parse changes integers beyond 2^53. */
  async sendForText({ method, body, signals = [], ...rest }: SendRequest): Promise<string> {
    using linked = new LinkedController(...(method === 'GET' ? [] : [everyFence]), ...signals);
    const request: WholeRequest = {
      ...rest,
      method,
      verb: method,
      signal: linked.signal,
      silenceMaxMs: SEND_SILENCE_MAX_MS,
      ...(body === undefined ? {} : { body: jsonOf(body) }),
    };
    try {
      return (await this.#whole(request)).toString();
    } catch (error) {
      if (!(error instanceof KubeStatusError) || error.code !== 'ERR_KUBELOOM_UNAUTHORIZED') throw error;
      return (await this.#whole(request)).toString();
    }
  }

  #whole(request: WholeRequest): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const where = `${request.verb} ${request.path}`;
      void this.#request(request, new WholeBody(where, resolve, reject));
    });
  }
}

function jsonOf(body: object): Buffer {
  try {
    return Buffer.from(jsonText(body));
  } catch (cause) {
    const message = `the body of a request must be JSON: ${messageOf(cause)}`;
    throw new KubeloomError('ERR_KUBELOOM_OPTION', message, { cause });
  }
}

/** Some servers answer a deletion with 204, without a body. */
function answerOf({ method, path }: SendRequest, text: string): unknown {
  if (method === 'DELETE' && text === '') return {};
  const answer = parsed(text, method, path);
  if (isRecord(answer) && !Array.isArray(answer)) return answer;
  const message = `${method} ${path}: the answer is no object; is this a Kubernetes apiserver?`;
  throw new KubeloomError('ERR_KUBELOOM_MALFORMED_RESPONSE', message);
}

function unconfirmed(where: string, cause: KubeloomError): KubeloomError {
  const message = `${where}: the answer is missing, so the write may have happened or not: read the object before it is repeated (${cause.message})`;
  return new KubeloomError('ERR_KUBELOOM_WRITE_UNCONFIRMED', message, { cause });
}

function parsed(text: string, verb: string, path: string): unknown {
  const json = parseJson(text);
  if (json !== undefined) return json;
  const message = `${verb} ${path}: the answer is not JSON; is this a Kubernetes apiserver?`;
  throw new KubeloomError('ERR_KUBELOOM_MALFORMED_RESPONSE', message);
}

class WholeBody implements ResponseReader {
  readonly #where: string;
  readonly #resolve: (body: Buffer) => void;
  readonly #reject: (error: Error) => void;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #response: HttpExchange | undefined;

  constructor(where: string, resolve: (body: Buffer) => void, reject: (error: Error) => void) {
    this.#where = where;
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
    else this.#reject(tooLarge(this.#where));
  }
}

function tooLarge(where: string): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_MALFORMED_RESPONSE',
    `${where}: the answer is larger than ${BODY_BYTES_MAX} bytes; is this a Kubernetes apiserver?`,
  );
}

interface ExchangeEvents {
  answered(status: number): void;
  ended(): void;
}

class ApiExchange implements ResponseSink, HttpExchange {
  readonly #request: WholeRequest;
  readonly #where: string;
  readonly #reader: ResponseReader;
  readonly #events: ExchangeEvents;
  readonly #http: HttpExchange;
  readonly #watchdog: Watchdog | undefined;
  #unlisten: () => void = () => undefined;
  #errorBody: ErrorBody | undefined;
  #isSent = false;
  #isOver = false;

  constructor(
    request: WholeRequest,
    where: string,
    reader: ResponseReader,
    transport: HttpTransport,
    clock: Clock,
    events: ExchangeEvents,
  ) {
    const { path, method = 'GET', body, contentType = 'application/json', signal, silenceMaxMs } = request;
    this.#request = request;
    this.#where = where;
    this.#reader = reader;
    this.#events = events;
    const content = body === undefined ? {} : { headers: { 'content-type': contentType }, body };
    this.#http = transport.request({ method, path, signal, ...content }, this);
    if (silenceMaxMs !== undefined) {
      this.#watchdog = new Watchdog(clock, silenceMaxMs, () => {
        transport.closeIdle();
        const message = `${where}: the server has been silent for ${silenceMaxMs / 1000} s`;
        this.#lost(new KubeloomError('ERR_KUBELOOM_STALLED', message));
      });
    }
    this.#unlisten = onAbort(signal, () => this.#end(reasonOf(signal)));
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

  sent(): void {
    this.#isSent = true;
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    this.#watchdog?.touch();
    this.#events.answered(status);
    const { warning } = headers;
    if (warning !== undefined) this.#request.onWarning?.(warning);
    if (status === OK || (this.#isWrite && status > OK && status < FIRST_REDIRECT)) {
      this.#reader.opened(this);
      return;
    }
    const retryAfter = retryAfterSeconds(headers);
    const advice = this.#request.method === undefined ? undefined : objectAdvice;
    this.#errorBody = new ErrorBody((text) => {
      const error = statusError(status, text, retryAfter, this.#where, advice);
      if (isUnconfirmed(error)) this.#lost(error);
      else this.#end(error);
    });
  }

  data(chunk: Uint8Array): void {
    this.#watchdog?.touch();
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    if (this.#errorBody) this.#errorBody.write(bytes, 0);
    else if (!this.#isOver) this.#reader.data(bytes);
  }

  end(error: KubeloomError | undefined): void {
    if (this.#errorBody) this.#errorBody.end(error);
    else if (error) this.#lost(error);
    else this.#end(undefined);
  }

  get #isWrite(): boolean {
    return (this.#request.method ?? 'GET') !== 'GET';
  }

  /** Ends without a whole answer. */
  #lost(error: KubeloomError): void {
    if (!this.#isWrite || !this.#isSent) return this.#end(error);
    this.#end(unconfirmed(this.#where, error));
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
  return reason instanceof Error ? reason : new Error(messageOf(reason));
}
