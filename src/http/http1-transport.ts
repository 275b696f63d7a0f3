/**
 * An `HttpTransport` on sockets, without streams and without copies. A watch occupies a connection. A
 * connection whose response is complete serves the next request, so the pages of a list and the watch after
 * it cost one handshake.
 */
import { connect } from 'node:net';
import { backgroundClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { keepSecrets } from '../base/secrets.ts';
import type { ConnectionOptions } from '../kube/connection-options.ts';
import { Http1Connection, Http1Exchange } from './http1-connection.ts';
import type { Connections } from './http1-connection.ts';
import { InflatedResponse } from './inflated-response.ts';
import { ServerAddress } from './server-address.ts';
import type { Dialling, HttpExchange, HttpRequest, HttpTransport, ResponseSink } from './http.ts';
import { TransportFailure } from './http-errors.ts';

export interface Http1TransportOptions extends Partial<Dialling> {
  /** The limit for the response's head if the request names none. */
  readonly headersTimeoutMs?: number;
  /** Upper bound of a read of a socket, in bytes. */
  readonly readBytes?: number;
  /** The time for which an idle connection is kept for the next request. */
  readonly idleMaxMs?: number;
  /** True when all sockets share a buffer: a sink must not send a request while it is called. */
  readonly sharesReadBuffer?: boolean;
}

const DEFAULTS: Required<Http1TransportOptions> = {
  connectTimeoutMs: 10_000,
  connect,
  clock: backgroundClock,
  // An apiserver may take half a minute until the first byte of a large list; the server's limit is 60 s.
  headersTimeoutMs: 70_000,
  readBytes: 64 * 1024,
  // Node's servers close idle connections after 5 s, Go's far later.
  idleMaxMs: 4000,
  sharesReadBuffer: false,
};

interface Idle {
  readonly connection: Http1Connection;
  readonly cancelTimeout: () => void;
}

export class Http1Transport implements HttpTransport, Connections {
  readonly #server: ServerAddress;
  readonly #options: Required<Http1TransportOptions>;
  readonly #connections = new Set<Http1Connection>();
  readonly #exchanges = new Set<Http1Exchange>();
  readonly clock: Clock;
  readonly #readBuffer: Buffer | undefined;
  #idle: Idle[] = [];
  #isDisposed = false;

  /** @throws TypeError when the server is no http or https URL */
  constructor(connection: ConnectionOptions, options: Http1TransportOptions = {}) {
    this.#server = new ServerAddress(connection);
    keepSecrets(secretsOf(connection));
    this.#options = { ...DEFAULTS, ...options };
    const { sharesReadBuffer, readBytes, clock } = this.#options;
    this.clock = clock;
    if (sharesReadBuffer) this.#readBuffer = Buffer.allocUnsafeSlow(readBytes);
  }

  request(request: HttpRequest, sink: ResponseSink): HttpExchange {
    const { path, method = 'GET', timeoutMs = this.#options.headersTimeoutMs, signal } = request;
    const { acceptsGzip = false } = request;
    const url = this.#server.urlOf(path);
    const inflated = acceptsGzip ? new InflatedResponse(url, sink) : undefined;
    const exchange = new Http1Exchange(url, timeoutMs, inflated ?? sink, this, {
      isRepeatable: method === 'GET',
      signal,
      acceptsGzip,
    });
    if (inflated) inflated.http = exchange;
    this.#exchanges.add(exchange);
    try {
      if (this.#isDisposed) throw new TransportFailure('HTTP_DISPOSED', 'disposed');
      exchange.start(this.#server.requestBytes(request));
    } catch (cause) {
      // Deferred: the caller does not hold the exchange yet.
      queueMicrotask(() => exchange.fail(cause));
    }
    return inflated ?? exchange;
  }

  closeIdle(): void {
    for (const { connection, cancelTimeout } of this.#idle.splice(0)) {
      cancelTimeout();
      connection.destroy();
    }
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    for (const exchange of this.#exchanges) exchange.fail(new TransportFailure('HTTP_DISPOSED', 'disposed'));
    this.closeIdle();
    const closing = Array.from(this.#connections, (connection) => {
      connection.destroy();
      return connection.closed;
    });
    await Promise.all(closing);
  }

  acquire(isFresh: boolean, isRepeatable: boolean): Http1Connection {
    for (let idle = isFresh ? undefined : this.#idle.pop(); idle; idle = this.#idle.pop()) {
      idle.cancelTimeout();
      if (idle.connection.isOpen && (isRepeatable || !idle.connection.isDoubtful)) return idle.connection;
      idle.connection.destroy();
    }
    const connection = new Http1Connection(
      this.#server,
      this.#options,
      // Not from Buffer's pool: V8 copies faster between separate buffers.
      this.#readBuffer ?? Buffer.allocUnsafeSlow(this.#options.readBytes),
    );
    this.#connections.add(connection);
    void connection.closed.then(() => this.#forgetConnection(connection));
    return connection;
  }

  release(connection: Http1Connection): void {
    connection.exchange = undefined;
    connection.socket.resume();
    const cancelTimeout = this.clock.schedule(this.#options.idleMaxMs, () => connection.destroy());
    this.#idle.push({ connection, cancelTimeout });
  }

  forget(exchange: Http1Exchange): void {
    this.#exchanges.delete(exchange);
  }

  /** Removes a closed connection. The timer of an idle connection would keep its buffer. */
  #forgetConnection(connection: Http1Connection): void {
    this.#connections.delete(connection);
    this.#idle = this.#idle.filter((idle) => {
      if (idle.connection === connection) idle.cancelTimeout();
      return idle.connection !== connection;
    });
  }
}

/** A server may repeat what it received; names of users and the like are no secrets. */
const PUBLIC_HEADER = /^(impersonate-.*|user-agent|accept)$/i;

function secretsOf({ headers, proxy = '' }: ConnectionOptions): string[] {
  const values = Object.entries(headers).flatMap(([name, value]) =>
    PUBLIC_HEADER.test(name) ? [] : [value].flat(),
  );
  if (URL.canParse(proxy)) {
    const { username, password } = new URL(proxy);
    values.push(
      password,
      `Basic ${Buffer.from(decodeURIComponent(`${username}:${password}`)).toString('base64')}`,
    );
  }
  return values.flatMap(partsOf);
}

/** Returns `Bearer TOKEN` and `Basic …` without the scheme, and the password of the latter. */
function partsOf(value: string): string[] {
  const [scheme = '', text = ''] = value.split(/ +/, 2);
  if (text === '') return [value];
  if (scheme.toLowerCase() === 'bearer') return [text];
  if (scheme.toLowerCase() !== 'basic') return [value, text];
  const pair = Buffer.from(text, 'base64').toString();
  return [text, pair, pair.slice(pair.indexOf(':') + 1)];
}
