/** A link of TCP in front of a server on loopback. It counts the bytes of the answers, and may have a bandwidth. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A late timer is caught up to this extent. */
const LATE_MS_MAX = 20;

export class Link implements AsyncDisposable {
  /** Bytes from the server, with those of TLS. */
  receivedBytes = 0;
  readonly #bytesPerMs: number;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #target: URL;
  #freeMs = 0;

  private constructor(target: string, bitsPerSecond: number) {
    this.#target = new URL(target);
    this.#bytesPerMs = bitsPerSecond / 8000;
    this.#server = createServer((socket) => this.#join(socket));
  }

  /** @param target URL of the server, with a port; @param bitsPerSecond of all answers together. Default: no limit */
  static async start(target: string, bitsPerSecond = Infinity): Promise<Link> {
    const link = new Link(target, bitsPerSecond);
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
      const nowMs = performance.now();
      this.#freeMs = Math.max(this.#freeMs, nowMs - LATE_MS_MAX) + bytes.length / this.#bytesPerMs;
      server.pause();
      const passOn = (): void => {
        if (client.destroyed || client.write(bytes)) server.resume();
        else client.once('drain', () => server.resume());
      };
      if (this.#freeMs <= nowMs) passOn();
      else setTimeout(passOn, this.#freeMs - nowMs);
    });
  }
}
