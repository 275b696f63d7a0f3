/** A proxy of TCP connections on loopback, TLS included, that can slow, hold, cut and refuse them. */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** `slow`: each chunk waits. `silent`: nothing passes, and no connection ends. `cut`: connections end, new ones as well. */
export type ProxyMode = 'open' | 'slow' | 'silent' | 'cut';

const SLOW_MS = 150;

export class FaultyProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets: Set<Socket> = new Set();
  #mode: ProxyMode = 'open';
  #whenOpen: Promise<void> = Promise.resolve();
  #opened: () => void = () => undefined;

  private constructor(targetPort: number) {
    this.#server = createServer((client) => {
      if (this.#mode === 'cut') {
        client.destroy();
        return;
      }
      const server = connect(targetPort, '127.0.0.1');
      this.#relay(client, server);
      this.#relay(server, client);
    });
  }

  static async start(targetPort: number): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(targetPort);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  set mode(mode: ProxyMode) {
    this.#mode = mode;
    this.#opened();
    if (mode === 'silent') this.#whenOpen = new Promise((resolve) => (this.#opened = resolve));
    if (mode === 'cut') for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.mode = 'cut';
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #relay(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.setNoDelay(true);
    from.on('data', (chunk) => {
      from.pause();
      void this.#turn().then(() => {
        to.write(chunk);
        from.resume();
      });
    });
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.#sockets.delete(from);
      to.end();
    });
  }

  async #turn(): Promise<void> {
    if (this.#mode === 'slow') await setTimeout(SLOW_MS);
    await this.#whenOpen;
  }
}
