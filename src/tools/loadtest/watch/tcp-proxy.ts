/**
 * A TCP proxy on loopback between a client and the server. It drops connections and reads slowly, as a network does, to
 * test any client without the client's cooperation. TLS passes through unchanged.
 */
import { once } from 'node:events';
import net from 'node:net';
import { realTimers } from '../../../base/clock.ts';
import { withoutBrackets } from '../../../base/loopback.ts';

const TICK_MS = 20;

export class TcpProxy implements AsyncDisposable {
  /** Bytes from the server to the client. */
  receivedBytes = 0;
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();
  /** Sockets to the server, each with the client's socket. */
  readonly #upstreams = new Map<net.Socket, net.Socket>();
  readonly #timer: NodeJS.Timeout;
  #bytesPerSecond = Number.POSITIVE_INFINITY;
  /** Bytes that may still pass in this tick. */
  #allowance = Number.POSITIVE_INFINITY;

  private constructor(host: string, port: number) {
    this.#server = net.createServer((client) => this.#connect(client, net.connect(port, host)));
    this.#timer = realTimers.setInterval(() => this.#refill(), TICK_MS);
    this.#timer.unref();
  }

  /** @param server the URL of the server */
  static async start(server: string): Promise<TcpProxy> {
    const { hostname, port, protocol } = new URL(server);
    const proxy = new TcpProxy(withoutBrackets(hostname), Number(port || (protocol === 'https:' ? 443 : 80)));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** Returns the server's URL with the address of the proxy. */
  addressOf(server: string): string {
    const url = new URL(server);
    url.hostname = '127.0.0.1';
    url.port = String((this.#server.address() as net.AddressInfo).port);
    return url.href.replace(/\/$/, '');
  }

  /** Ends all connections; new connections are accepted. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** @param bytesPerSecond from the server to the client, all connections together; undefined: no limit */
  limit(bytesPerSecond: number | undefined): void {
    this.#bytesPerSecond = bytesPerSecond ?? Number.POSITIVE_INFINITY;
    this.#allowance = this.#bytesPerSecond;
    this.#refill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    realTimers.clearInterval(this.#timer);
    this.drop();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #connect(client: net.Socket, upstream: net.Socket): void {
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(one);
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      // 'close' follows; the client sees a broken connection.
      one.on('error', () => one.destroy());
    }
    client.pipe(upstream);
    this.#upstreams.set(upstream, client);
    upstream.on('close', () => this.#upstreams.delete(upstream));
    upstream.on('data', (bytes) => {
      this.receivedBytes += bytes.length;
      this.#allowance -= bytes.length;
      const isFull = !client.write(bytes);
      if (isFull || this.#allowance <= 0) upstream.pause();
    });
    client.on('drain', () => {
      if (this.#allowance > 0) upstream.resume();
    });
    upstream.on('end', () => client.end());
  }

  #refill(): void {
    const share = (this.#bytesPerSecond * TICK_MS) / 1000;
    this.#allowance = Math.min(share, this.#allowance + share);
    if (this.#allowance <= 0) return;
    for (const [upstream, client] of this.#upstreams) if (!client.writableNeedDrain) upstream.resume();
  }
}
