/** The listening socket: plain or TLS, stopped and started again on the same port. */

import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createCertificates } from './certificates.ts';
import type { ServerCertificates } from './certificates.ts';
import type { Connections } from './connections.ts';
import type { ResolvedOptions } from './options.ts';

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

export class Listener {
  readonly #options: ResolvedOptions;
  readonly #handler: RequestHandler;
  readonly #certificates: ServerCertificates | undefined;
  readonly #connections: Connections;
  #server: Server | undefined;
  /** The port: the system chooses it at the first start, later starts use it again. */
  #port: number;

  constructor(options: ResolvedOptions, connections: Connections, handler: RequestHandler) {
    this.#connections = connections;
    this.#options = options;
    this.#handler = handler;
    this.#port = options.port;
    this.#certificates = options.tls ? createCertificates(options.host) : undefined;
  }

  get url(): string {
    const { host } = this.#options;
    const name = host.includes(':') ? `[${host}]` : host;
    return `${this.#certificates === undefined ? 'http' : 'https'}://${name}:${this.#port}`;
  }

  /** PEM; '' without TLS. */
  get ca(): string {
    return this.#certificates?.ca ?? '';
  }

  async listen(): Promise<void> {
    const server = this.#create();
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      socket.setNoDelay(true);
      this.#connections.add(socket);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, this.#options.host, () => resolve());
    });
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Stops listening and cuts every connection. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = new Promise((resolve) => server.close(resolve));
    this.#connections.destroyAll();
    await closed;
  }

  #create(): Server {
    const settings = { keepAliveTimeout: 60_000, requestTimeout: 0 };
    if (this.#certificates === undefined) return createServer(settings, this.#handler);
    const { certificate, privateKey } = this.#certificates;
    return createSecureServer({ ...settings, cert: certificate, key: privateKey }, this.#handler);
  }
}
