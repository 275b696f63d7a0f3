/**
 * A transport for all requests with the same connection options: informers share connections, TLS sessions
 * and limits. It is disposed when the last user releases it, so changed credentials leave no connection
 * behind.
 */
import { assert } from '../base/errors.ts';
import type { ConnectionOptions } from '../kube/connection-options.ts';
import type { HttpTransport } from './http.ts';

interface Pooled {
  readonly transport: HttpTransport;
  users: number;
}

export class TransportPool {
  readonly #create: (connection: ConnectionOptions) => HttpTransport;
  readonly #pooled = new Map<string, Pooled>();
  readonly #disposing = new Set<Promise<void>>();

  constructor(create: (connection: ConnectionOptions) => HttpTransport) {
    this.#create = create;
  }

  acquire(connection: ConnectionOptions): HttpTransport {
    const key = JSON.stringify(connection);
    const pooled = this.#pooled.get(key) ?? { transport: this.#create(connection), users: 0 };
    pooled.users++;
    this.#pooled.set(key, pooled);
    return pooled.transport;
  }

  release(connection: ConnectionOptions): void {
    const key = JSON.stringify(connection);
    const pooled = this.#pooled.get(key);
    assert(pooled !== undefined, 'what is released was acquired');
    pooled.users--;
    if (pooled.users > 0) return;
    this.#pooled.delete(key);
    const disposed = pooled.transport.dispose();
    this.#disposing.add(disposed);
    const forget = (): boolean => this.#disposing.delete(disposed);
    void disposed.then(forget, forget);
  }

  /** Resolves when the sockets of all released transports are closed. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#disposing);
  }
}
