/**
 * A TCP proxy on loopback that passes bytes on unchanged until it is frozen. Then existing connections stay
 * open and receive nothing more, as when a machine on the way has failed. New connections work.
 */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

export class StreamProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #pairs: Array<readonly [Socket, Socket]> = [];

  constructor(port: number) {
    this.#server = createServer({ noDelay: true }, (client) => {
      const upstream = connect(port, '127.0.0.1');
      this.#pairs.push([client, upstream]);
      this.#join(client, upstream);
      this.#join(upstream, client);
      client.pipe(upstream).pipe(client);
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  /** Freezes the existing connections. @returns their number */
  freeze(): number {
    const open = this.#pairs.filter(([client, upstream]) => !client.destroyed && !upstream.destroyed);
    this.#pairs = [];
    for (const [client, upstream] of open) {
      client.unpipe();
      upstream.unpipe();
      client.pause();
      upstream.pause();
    }
    return open.length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #join(socket: Socket, other: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => other.destroy());
    socket.on('close', () => {
      this.#sockets.delete(socket);
      other.destroy();
    });
  }
}
