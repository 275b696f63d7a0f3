/**
 * The listening socket: plain or TLS, stopped and started again on the same port. It counts the TCP connections, and
 * can cut a connection or all: below a TLS socket, only the TCP socket can be reset.
 */

import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createCertificates } from './certificates.ts';
import type { ServerCertificates } from './certificates.ts';
import type { ResolvedOptions } from '../store/server-options.ts';

export class Listener {
  /** PEM; '' without TLS. */
  readonly ca: string;
  readonly #host: string;
  readonly #handler: RequestListener;
  readonly #certificates: ServerCertificates | undefined;
  /** The open TCP sockets, and the number of each since the server started, from 1. */
  readonly #sockets = new Map<Socket, number>();
  #count = 0;
  #server: Server | undefined;
  /** The port: the system chooses it at the first start, later starts reuse it. */
  #port: number;

  constructor({ host, port, tls }: ResolvedOptions, handler: RequestListener) {
    this.#host = host;
    this.#handler = handler;
    this.#port = port;
    this.#certificates = tls ? createCertificates(host) : undefined;
    this.ca = this.#certificates?.ca ?? '';
  }

  get url(): string {
    const name = this.#host.includes(':') ? `[${this.#host}]` : this.#host;
    return `${this.#certificates === undefined ? 'http' : 'https'}://${name}:${this.#port}`;
  }

  async listen(): Promise<void> {
    const server = this.#create();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, this.#host, () => resolve());
    });
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Serves a connection that did not come through the port. */
  accept(connection: Duplex): void {
    (this.#server ?? this.#create()).emit('connection', connection);
  }

  /** Stops listening and cuts every connection. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of this.#sockets.keys()) socket.destroy();
    await closed;
  }

  /** Resets the TCP connection of `socket`, which is plain or TLS. */
  reset(socket: Socket | null): void {
    this.#connectionOf(socket)?.[0].resetAndDestroy();
  }

  /** Returns the number of the connection since the server started, from 1. */
  numberOf(socket: Socket | null): number {
    return this.#connectionOf(socket)?.[1] ?? 0;
  }

  /** Returns the underlying TCP socket, with its number: the client port is the same in both layers. */
  #connectionOf(socket: Socket | null): [Socket, number] | undefined {
    return [...this.#sockets].find(([candidate]) => candidate.remotePort === socket?.remotePort);
  }

  #create(): Server {
    const settings = { keepAliveTimeout: 60_000, requestTimeout: 0 };
    const { certificate: cert, privateKey: key } = this.#certificates ?? {};
    const server =
      cert === undefined
        ? createServer(settings, this.#handler)
        : createSecureServer({ ...settings, cert, key }, this.#handler);
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      socket.setNoDelay(true);
      this.#sockets.set(socket, ++this.#count);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    return server;
  }
}
