/**
 * One socket, read into one buffer that is used again for every read: what arrives is good until the user's
 * `received` returns. No streams, no copies, no garbage; except through a proxy's tunnel, where Node gives
 * every read its own buffer.
 */
import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { checkServerIdentity, connect as connectTls } from 'node:tls';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import { realClock } from '../clock.ts';
import type { DirectTarget } from './direct-target.ts';
import { TransportFailure } from './http-errors.ts';
import type { ProxyAddress } from './proxy-address.ts';
import { ProxyFailure, unusableProxy } from './proxy-failure.ts';
import { connectToProxy, openTunnel } from './proxy-tunnel.ts';
import type { OnRead } from './proxy-tunnel.ts';

export interface ConnectionUser {
  /** The connection stands, TLS included. */
  connected(): void;
  /** The bytes may be written to, and are somebody else's when this returns. */
  received(bytes: Buffer, length: number): void;
  /** Nothing more will come, because the other side has ended it (undefined) or something broke. */
  over(cause: unknown): void;
}

export interface DirectConnectionOptions {
  readonly connectTimeoutMs: number;
  readonly readBytes: number;
}

/** A peer that vanished is found by the kernel even while a paused socket is not read. */
const KEEP_ALIVE_DELAY_MS = 30_000;

export class DirectConnection {
  readonly closed: Promise<void>;
  readonly #target: DirectTarget;
  #socket: Socket;
  readonly #cancelTimeout: () => void;
  #user: ConnectionUser | undefined;
  /** Nobody has it: the process may end. */
  #isUnused = false;
  #isOpen = false;
  #isOver = false;
  /** The proxy's part of the way; past it, what goes wrong is the server's. */
  #proxyAhead: ProxyAddress | undefined;
  readonly #sockets = new Set<Socket>();
  #allClosed: () => void = () => undefined;

  /** @throws what Node says of an unusable address or unusable certificates */
  constructor(target: DirectTarget, { connectTimeoutMs, readBytes }: DirectConnectionOptions) {
    this.#target = target;
    this.closed = new Promise((resolve) => (this.#allClosed = resolve));
    this.#proxyAhead = target.proxy;
    this.#socket = this.#begin(readBytes);
    this.#cancelTimeout = realClock.schedule(connectTimeoutMs, () => {
      this.#end(this.#failure(new TransportFailure('HTTP_CONNECT_TIMEOUT', 'no connection in time')));
    });
  }

  /** It stands, and has not ended. */
  get isOpen(): boolean {
    return this.#isOpen && !this.#isOver;
  }

  /** From now on: one at a time, none while it is idle. An idle one lets the process end. */
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
      // Not from Buffer's pool: V8 copies faster between buffers of their own.
      buffer: Buffer.allocUnsafeSlow(readBytes),
      callback: (length, bytes) => this.#read(bytes, length),
    };
    const options = { host, port, onread, autoSelectFamily: true };
    if (proxy) return this.#ready(connectToProxy(proxy, onread), proxy.isTls);
    if (!isTls) return this.#ready(connectTcp(options), false);
    return this.#ready(connectTls({ ...options, ...this.#tlsOptions() }), true);
  }

  #tunnel(proxy: ProxyAddress): Socket {
    // Unusable certificates are to be told now.
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

  /** The socket over which requests go. */
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

  /** @returns true: whether to read on is said by `pause` */
  #read(bytes: Uint8Array, length: number): boolean {
    if (this.#isOver) return true;
    if (this.#user && Buffer.isBuffer(bytes)) this.#user.received(bytes, length);
    // Nobody asked for it: whatever it belongs to, the next response would be taken for something else.
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
