/** An HTTP proxy on loopback that resolves any name: it leads every CONNECT to one port of this machine. */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { SERVER_CERTIFICATE, SERVER_KEY } from './certificates.ts';
import { listenOnLoopback } from './recording-sink.ts';

export interface ConnectProxyOptions {
  /** The port at which every tunnel ends. */
  readonly port: number;
  /** The raw answer to CONNECT in the place of a tunnel. */
  readonly answer?: (authority: string) => string | undefined;
  readonly isTls?: boolean;
}

export class ConnectProxy {
  readonly server: Server;
  /** `CONNECT host:port authorization` and `GET url authorization`. */
  readonly requests: string[] = [];
  /** Every byte that the tunnels carried from the client. */
  tunnelled = '';
  readonly #options: ConnectProxyOptions;
  readonly #sockets = new Set<Socket>();

  constructor(options: ConnectProxyOptions) {
    this.#options = options;
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      this.#note(request);
      response.end(`proxied ${request.url}`);
    };
    this.server = options.isTls
      ? createSecureServer({ key: SERVER_KEY, cert: SERVER_CERTIFICATE }, listener)
      : createServer(listener);
    this.server.on('connect', (request: IncomingMessage, socket: Socket) => this.#tunnel(request, socket));
  }

  /** @returns `127.0.0.1:port` */
  async listen(context: TestContext): Promise<string> {
    const address = await listenOnLoopback(context, this.server);
    context.after(() => this.#sockets.forEach((socket) => socket.destroy()));
    return address;
  }

  get openTunnels(): number {
    return this.#sockets.size;
  }

  #note({ method, url, headers }: IncomingMessage): void {
    this.requests.push(`${method} ${url} ${headers['proxy-authorization'] ?? 'anonymous'}`);
  }

  #tunnel(request: IncomingMessage, socket: Socket): void {
    this.#note(request);
    this.#keep(socket);
    const answer = this.#options.answer?.(request.url ?? '');
    if (answer !== undefined) {
      socket.write(answer);
      return;
    }
    const onward = this.#keep(connect(this.#options.port, '127.0.0.1'));
    onward.once('connect', () => {
      socket.write('HTTP/1.1 200 Connection established\r\nContent-Length: 5\r\n\r\n');
      socket.on('data', (bytes: Buffer) => (this.tunnelled += bytes.toString('latin1')));
      socket.pipe(onward).pipe(socket);
    });
  }

  #keep(socket: Socket): Socket {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#sockets.delete(socket));
    return socket;
  }
}
