/**
 * An `HttpTransport` on sockets, without streams and without copies. A watch occupies its connection. A
 * connection whose response is complete serves the next request, so the pages of a list and the watch after
 * it cost one handshake.
 */
import { backgroundClock } from '../../base/clock.ts';
import type { ConnectionOptions } from '../../shared/protocol.ts';
import { DirectConnection } from './direct-connection.ts';
import { DirectExchange } from './direct-exchange.ts';
import type { Connections } from './direct-exchange.ts';
import { DirectTarget } from './direct-target.ts';
import type { HttpExchange, HttpRequest, HttpTransport, ResponseSink } from './http.ts';
import { TransportFailure } from './http-errors.ts';

export interface DirectTransportOptions {
  /** The limit for the TCP and TLS handshakes. */
  readonly connectTimeoutMs?: number;
  /** The limit for the response's head when the request has none. */
  readonly headersTimeoutMs?: number;
  /** Upper bound of one read of a socket, in bytes. */
  readonly readBytes?: number;
  /** The time for which an idle connection is kept for the next request. */
  readonly idleMaxMs?: number;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** An apiserver may take half a minute until the first byte of a large list; its own limit is 60 s. */
const HEADERS_TIMEOUT_MS = 70_000;
const READ_BYTES = 64 * 1024;
/** Node's servers close idle connections after 5 s, Go's far later. */
const IDLE_MAX_MS = 4000;

interface Idle {
  readonly connection: DirectConnection;
  readonly cancelTimeout: () => void;
}

export class DirectTransport implements HttpTransport, Connections {
  readonly #target: DirectTarget;
  readonly #connectTimeoutMs: number;
  readonly #headersTimeoutMs: number;
  readonly #readBytes: number;
  readonly #idleMaxMs: number;
  readonly #connections = new Set<DirectConnection>();
  readonly #exchanges = new Set<DirectExchange>();
  #idle: Idle[] = [];
  #isDisposed = false;

  /** @throws TypeError when the server is no http or https URL */
  constructor(connection: ConnectionOptions, options: DirectTransportOptions = {}) {
    this.#target = new DirectTarget(connection);
    this.#connectTimeoutMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
    this.#headersTimeoutMs = options.headersTimeoutMs ?? HEADERS_TIMEOUT_MS;
    this.#readBytes = options.readBytes ?? READ_BYTES;
    this.#idleMaxMs = options.idleMaxMs ?? IDLE_MAX_MS;
  }

  request({ path, headers = {}, timeoutMs }: HttpRequest, sink: ResponseSink): HttpExchange {
    const url = this.#target.urlOf(path);
    let text = '';
    let refusal: unknown = this.#isDisposed ? new TransportFailure('HTTP_DISPOSED', 'disposed') : undefined;
    try {
      text = this.#target.requestText(path, headers);
    } catch (cause) {
      refusal ??= cause;
    }
    const request = { text, url, headersTimeoutMs: timeoutMs ?? this.#headersTimeoutMs };
    const exchange = new DirectExchange(request, sink, this);
    this.#exchanges.add(exchange);
    try {
      if (refusal === undefined) exchange.start();
    } catch (cause) {
      refusal = cause;
    }
    // Deferred: the caller does not have its exchange yet.
    if (refusal !== undefined) queueMicrotask(() => exchange.fail(refusal));
    return exchange;
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

  acquire(isFresh: boolean): DirectConnection {
    for (let idle = isFresh ? undefined : this.#idle.pop(); idle; idle = this.#idle.pop()) {
      idle.cancelTimeout();
      if (idle.connection.isOpen) return idle.connection;
    }
    const connection = new DirectConnection(this.#target, {
      connectTimeoutMs: this.#connectTimeoutMs,
      readBytes: this.#readBytes,
    });
    this.#connections.add(connection);
    void connection.closed.then(() => this.#connections.delete(connection));
    return connection;
  }

  release(connection: DirectConnection): void {
    connection.user = undefined;
    connection.resume();
    const cancelTimeout = backgroundClock.schedule(this.#idleMaxMs, () => {
      this.#idle = this.#idle.filter((idle) => idle.connection !== connection);
      connection.destroy();
    });
    this.#idle.push({ connection, cancelTimeout });
  }

  forget(exchange: DirectExchange): void {
    this.#exchanges.delete(exchange);
  }
}
