/** A link of TCP in front of a server on loopback. It counts the bytes of the answers, and passes them on at a given pace. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** Resolves when this number of bytes may be passed on. */
type Pace = (bytes: number) => Promise<void>;

export class Link implements AsyncDisposable {
  /** Bytes from the server, with those of TLS. */
  receivedBytes = 0;
  readonly #pace: Pace;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  readonly #target: URL;

  private constructor(target: string, pace: Pace) {
    this.#target = new URL(target);
    this.#pace = pace;
    this.#server = createServer((socket) => this.#join(socket));
  }

  /** @param target URL of the server, with a port; @param pace of all answers together. Default: at once */
  static async start(target: string, pace: Pace = () => Promise.resolve()): Promise<Link> {
    const link = new Link(target, pace);
    link.#server.listen(0, '127.0.0.1');
    await once(link.#server, 'listening');
    return link;
  }

  /** The server's URL by way of the link. */
  get url(): string {
    const url = new URL(this.#target);
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.origin;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  #join(client: Socket): void {
    const server = connect(Number(this.#target.port), this.#target.hostname);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.end();
      });
    }
    client.pipe(server);
    server.on('data', (bytes: Buffer) => {
      this.receivedBytes += bytes.length;
      server.pause();
      void this.#pace(bytes.length).then(() => {
        if (client.destroyed || client.write(bytes)) server.resume();
        else client.once('drain', () => server.resume());
      });
    });
  }
}
