/**
 * One socket, read into one buffer that every read reuses: the bytes are valid until the user's `received`
 * returns. No streams, no copies, no garbage. The exception is a proxy's tunnel, where Node allocates a
 * buffer for every read.
 */
import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { checkServerIdentity, connect as connectTls } from 'node:tls';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import { realClock } from '../../base/clock.ts';
import type { DirectTarget } from './direct-target.ts';
import { TransportFailure } from './http-errors.ts';
import type { ProxyAddress } from './proxy-address.ts';
import { ProxyFailure, unusableProxy } from './proxy-failure.ts';
import { connectToProxy, openTunnel } from './proxy-tunnel.ts';
import type { OnRead } from './proxy-tunnel.ts';

export interface ConnectionUser {
  /** Called when the connection is open, TLS included. */
  connected(): void;
  /** Takes bytes, which it may overwrite; they are invalid after it returns. */
  received(bytes: Buffer, length: number): void;
  /**
   * Called when the connection has ended: with undefined when the other side closed it, else with the error.
   */
  over(cause: unknown): void;
}

export interface DirectConnectionOptions {
  readonly connectTimeoutMs: number;
  readonly readBytes: number;
}

/** The kernel's probe finds a peer that vanished, even while a paused socket is not read. */
const KEEP_ALIVE_DELAY_MS = 30_000;

export class DirectConnection {
  readonly closed: Promise<void>;
  readonly #target: DirectTarget;
  #socket: Socket;
  readonly #cancelTimeout: () => void;
  #user: ConnectionUser | undefined;
  /** True while the connection is idle; the process may then exit. */
  #isUnused = false;
  #isOpen = false;
  #isOver = false;
  /** The proxy until its tunnel is open; later errors are the server's. */
  #proxyAhead: ProxyAddress | undefined;
  readonly #sockets = new Set<Socket>();
  #allClosed: () => void = () => undefined;

  /** @throws Node's error for an unusable address or unusable certificates */
  constructor(target: DirectTarget, { connectTimeoutMs, readBytes }: DirectConnectionOptions) {
    this.#target = target;
    this.closed = new Promise((resolve) => (this.#allClosed = resolve));
    this.#proxyAhead = target.proxy;
    this.#socket = this.#begin(readBytes);
    this.#cancelTimeout = realClock.schedule(connectTimeoutMs, () => {
      this.#end(this.#failure(new TransportFailure('HTTP_CONNECT_TIMEOUT', 'no connection in time')));
    });
  }

  /** True when the connection is open and has not ended. */
  get isOpen(): boolean {
    return this.#isOpen && !this.#isOver;
  }

  /**
   * Sets the current user: one at a time, none while the connection is idle. An idle connection lets the
   * process exit.
   */
  set user(user: ConnectionUser | undefined) {
    this.#user = user;
    this.#isUnused = user === undefined;
    if (user) this.#socket.ref();
    else this.#socket.unref();
  }

  send(text: string): void {
    this.#socket.write(text, 'latin1');
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  destroy(): void {
    this.#user = undefined;
    this.#end(undefined);
  }

  #begin(readBytes: number): Socket {
    const { proxy, isTls, host, port } = this.#target;
    if (proxy && isTls) return this.#tunnel(proxy);
    const onread: OnRead = {
      // Not from Buffer's pool: V8 copies faster between separate buffers.
      buffer: Buffer.allocUnsafeSlow(readBytes),
      callback: (length, bytes) => this.#read(bytes, length),
    };
    const options = { host, port, onread, autoSelectFamily: true };
    if (proxy) return this.#ready(connectToProxy(proxy, onread), proxy.isTls);
    if (!isTls) return this.#ready(connectTcp(options), false);
    return this.#ready(connectTls({ ...options, ...this.#tlsOptions() }), true);
  }

  #tunnel(proxy: ProxyAddress): Socket {
    // Throws now when the certificates are unusable.
    const options = this.#tlsOptions();
    const socket = this.#watch(connectToProxy(proxy));
    socket.once(proxy.isTls ? 'secureConnect' : 'connect', () => {
      const through = (): void => {
        this.#proxyAhead = undefined;
        this.#socket = this.#ready(connectTls({ ...options, socket }), true);
        if (this.#isUnused) this.#socket.unref();
        this.#socket.on('data', (bytes: Buffer) => this.#read(bytes, bytes.length));
      };
      openTunnel(socket, proxy, this.#target.authority, through, (failure) => this.#end(failure));
    });
    return socket;
  }

  #tlsOptions(): TlsOptions {
    const { name, serverName, rejectUnauthorized, secureContext } = this.#target;
    return {
      secureContext,
      rejectUnauthorized,
      ALPNProtocols: ['http/1.1'],
      checkServerIdentity: (_host, certificate) => checkServerIdentity(name, certificate),
      ...(serverName === undefined ? {} : { servername: serverName }),
    };
  }

  /** Prepares the socket that carries requests. */
  #ready(socket: Socket, isTls: boolean): Socket {
    socket.once(isTls ? 'secureConnect' : 'connect', () => this.#opened());
    return this.#watch(socket);
  }

  #watch(socket: Socket): Socket {
    this.#sockets.add(socket);
    socket.on('error', (error) => this.#end(this.#failure(error)));
    socket.on('end', () => this.#end(this.#failure(undefined)));
    socket.once('close', () => {
      this.#end(this.#failure(undefined));
      this.#sockets.delete(socket);
      if (this.#sockets.size === 0) this.#allClosed();
    });
    return socket;
  }

  #failure(cause: unknown): unknown {
    const proxy = this.#proxyAhead;
    return proxy === undefined || cause instanceof ProxyFailure ? cause : unusableProxy(proxy.origin, cause);
  }

  #opened(): void {
    this.#cancelTimeout();
    this.#proxyAhead = undefined;
    this.#isOpen = true;
    this.#socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_DELAY_MS);
    this.#user?.connected();
  }

  /** @returns true: `pause` decides whether reading goes on */
  #read(bytes: Uint8Array, length: number): boolean {
    if (this.#isOver) return true;
    if (this.#user && Buffer.isBuffer(bytes)) this.#user.received(bytes, length);
    // Unrequested bytes would be taken for the next response, so close the connection.
    else this.destroy();
    return true;
  }

  #end(cause: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelTimeout();
    for (const socket of this.#sockets) socket.destroy();
    this.#user?.over(cause);
  }
}
