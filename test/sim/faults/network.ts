/**
 * TCP in memory, between clients with the library's connections and a server of node:http. It delivers when the
 * simulation says so, splits the bytes at any place, and overwrites the memory of a read at once.
 */
import { EventEmitter } from 'node:events';
import type { Socket, TcpNetConnectOpts } from 'node:net';
import { Duplex } from 'node:stream';
import type { FakeClock } from '../../../src/tools/apiserver/testing/index.ts';
import type { Chance } from '../chance.ts';

/** Treatment of the bytes for clients. */
export type Mode =
  | { readonly kind: 'pass' }
  /** Drops the bytes without an error: a half-open connection, which is reset when the mode is `pass` again. */
  | { readonly kind: 'drop' }
  /** Delivers this number of bytes at a time. */
  | { readonly kind: 'drip'; readonly bytes: number; readonly everyMs: number }
  /** Splits the bytes into reads of this length. */
  | { readonly kind: 'split'; readonly bytes: number }
  /** Delivers nothing before the first event, like proxies that wait for a body before they pass on a head. */
  | { readonly kind: 'withhold' }
  /** Answers new connections with frames of HTTP/2. */
  | { readonly kind: 'http2' };

/** Item on its way to a client: bytes, or an event of its socket. */
type Item = Buffer | 'connect' | 'end' | 'reset';

/** Bytes that a kernel would take from a server before it makes the server wait. */
const WINDOW_BYTES = 64 * 1024;
const FIRST_EVENT = '"type":';
/** A frame of HTTP/2: empty SETTINGS. */
const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
const SETTINGS_COUNT = 100_000;

export class Network {
  readonly clock: FakeClock;
  readonly chance: Chance;
  readonly landed: string[] = [];
  /** Times of accepted connections. */
  readonly accepted: number[] = [];
  readonly #links: Set<Link> = new Set();
  readonly #serve: (connection: Duplex) => void;
  #mode: Mode = { kind: 'pass' };
  #hasStruck = false;
  #isListening = true;
  #count = 0;

  constructor(clock: FakeClock, chance: Chance, serve: (connection: Duplex) => void) {
    this.clock = clock;
    this.chance = chance;
    this.#serve = serve;
  }

  readonly connect = (options: TcpNetConnectOpts): Socket => {
    const link = new Link(this, options);
    this.#links.add(link);
    return link.client as unknown as Socket;
  };

  get mode(): Mode {
    return this.#mode;
  }

  set mode(mode: Mode) {
    this.#mode = mode;
    this.#hasStruck = false;
    if (mode.kind === 'pass') for (const link of this.#links) link.passed();
  }

  /** Called when the mode has changed what a client receives. */
  strike(): void {
    if (!this.#hasStruck) this.landed.push(this.#mode.kind);
    this.#hasStruck = true;
  }

  /** Cuts all connections, and refuses new ones. */
  refuse(): void {
    this.#isListening = false;
    this.reset();
  }

  accept(): void {
    this.#isListening = true;
  }

  reset(): void {
    this.landed.push('reset');
    for (const link of this.#links) link.server?.resetAndDestroy();
  }

  /** Links that can deliver something. */
  get ready(): Link[] {
    return [...this.#links].filter((link) => link.isReady);
  }

  /** @returns the server's end; undefined when no server listens */
  open(link: Link): ServerEnd | undefined {
    if (!this.#isListening) return undefined;
    this.accepted.push(this.clock.now());
    const server = new ServerEnd(link, ++this.#count);
    if (this.#mode.kind !== 'http2') {
      this.#serve(server);
      return server;
    }
    this.strike();
    server.write(Buffer.alloc(SETTINGS_COUNT * SETTINGS.length, SETTINGS));
    return server;
  }

  forget(link: Link): void {
    this.#links.delete(link);
  }
}

/** A connection. */
class Link {
  readonly client: ClientEnd = new ClientEnd(this);
  server: ServerEnd | undefined;
  readonly #network: Network;
  readonly #onread: NonNullable<TcpNetConnectOpts['onread']>;
  #toClient: Item[] = ['connect'];
  #toServer: Buffer[] = [];
  /** Whether bytes for the client were lost; TCP delivers nothing after a gap. */
  #hasGap = false;
  /** Whether the first event has come. */
  #isReleased = false;
  /** Time of the next drop of a drip. */
  #dripsAt = 0;

  constructor(network: Network, { onread }: TcpNetConnectOpts) {
    if (!onread) throw new TypeError('a client reads into a buffer of its own');
    this.#network = network;
    this.#onread = onread;
  }

  get isReady(): boolean {
    return this.#toServer.length > 0 || this.#isReadyForClient;
  }

  /** Bytes on their way to the client. */
  get bytes(): number {
    return this.#toClient.reduce((sum, item) => sum + (typeof item === 'string' ? 0 : item.length), 0);
  }

  /** Delivers something, to one end or to the other. */
  deliver(): void {
    const isForServer = !this.#isReadyForClient || this.#network.chance.happens(0.5);
    const request = isForServer ? this.#toServer.shift() : undefined;
    if (request) this.#deliverRequest(request);
    else this.#deliverToClient();
  }

  send(item: Item): void {
    this.#toClient.push(item);
  }

  request(bytes: Buffer): void {
    this.#toServer.push(bytes);
  }

  /** The client has closed its end. */
  closed(): void {
    this.#toClient = [];
    this.#toServer = [];
    this.server?.destroy();
    this.#network.forget(this);
  }

  /** The mode is `pass` again. */
  passed(): void {
    if (this.#hasGap) this.server?.resetAndDestroy();
    this.#hasGap = false;
  }

  get #isReadyForClient(): boolean {
    const [item] = this.#toClient;
    if (item === undefined || this.client.isPaused) return false;
    const { mode, clock } = this.#network;
    if (typeof item === 'string') return true;
    if (mode.kind === 'drip') return clock.now() >= this.#dripsAt;
    if (mode.kind !== 'withhold') return true;
    this.#isReleased ||= this.#toClient.some((one) => one.includes(FIRST_EVENT));
    if (!this.#isReleased) this.#network.strike();
    return this.#isReleased;
  }

  #deliverRequest(bytes: Buffer): void {
    const end = this.#network.chance.integer(1, bytes.length);
    if (end < bytes.length) this.#toServer.unshift(bytes.subarray(end));
    this.server?.push(bytes.subarray(0, end));
  }

  #deliverToClient(): void {
    const [item] = this.#toClient;
    if (Buffer.isBuffer(item)) {
      this.#deliverBytes();
      this.server?.drained();
      return;
    }
    this.#toClient.shift();
    if (item !== 'connect') {
      if (item === 'end') this.client.emit('end');
      else this.client.fail('read', 'ECONNRESET');
      return;
    }
    this.server = this.#network.open(this);
    if (this.server) this.client.emit('connect');
    else this.client.fail('connect', 'ECONNREFUSED');
  }

  #deliverBytes(): void {
    const buffer = this.#onread.buffer as Buffer;
    const length = this.#read(buffer, Math.min(buffer.length, this.#bytesMax()));
    if (this.#network.mode.kind === 'drop') {
      this.#hasGap = true;
      this.#network.strike();
    }
    if (this.#hasGap) return;
    this.#onread.callback(length, buffer);
    buffer.fill('#', 0, length);
  }

  #bytesMax(): number {
    const { mode, chance, clock } = this.#network;
    if (mode.kind !== 'split' && mode.kind !== 'drip') return Math.ceil(chance.magnitude(1, WINDOW_BYTES));
    this.#network.strike();
    if (mode.kind === 'split') return mode.bytes;
    this.#dripsAt = clock.now() + mode.everyMs;
    clock.schedule(mode.everyMs, () => undefined);
    return mode.bytes;
  }

  /** Moves bytes into the buffer. @returns their number */
  #read(buffer: Buffer, bytesMax: number): number {
    let length = 0;
    for (let [item] = this.#toClient; Buffer.isBuffer(item) && length < bytesMax; [item] = this.#toClient) {
      const taken = item.copy(buffer, length, 0, bytesMax - length);
      length += taken;
      if (taken < item.length) this.#toClient[0] = item.subarray(taken);
      else this.#toClient.shift();
    }
    return length;
  }
}

/** A client's socket: the members that a connection of the library uses. */
class ClientEnd extends EventEmitter {
  isPaused = false;
  readonly #link: Link;
  #isDestroyed = false;

  constructor(link: Link) {
    super();
    this.#link = link;
  }

  write(request: string | Buffer, encoding: BufferEncoding): void {
    this.#link.request(typeof request === 'string' ? Buffer.from(request, encoding) : request);
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.#link.closed();
    process.nextTick(() => this.emit('close'));
  }

  fail(syscall: string, code: string): void {
    this.emit('error', Object.assign(new Error(`${syscall} ${code}`), { syscall, code }));
    this.destroy();
  }

  readonly ref = (): this => this;
  readonly unref = this.ref;
  readonly setNoDelay = this.ref;
  readonly setKeepAlive = this.ref;
}

/** A server's socket: a stream with the further members that node:http and the apiserver use. */
class ServerEnd extends Duplex {
  readonly remotePort: number;
  readonly #link: Link;
  #isReset = false;
  /** Called when the window has room again. */
  #written: (() => void) | undefined;

  constructor(link: Link, remotePort: number) {
    super();
    this.#link = link;
    this.remotePort = remotePort;
  }

  override _read(): void {
    // The network pushes.
  }

  override _write(bytes: Buffer, _encoding: string, written: () => void): void {
    // The server uses the memory again.
    this.#link.send(Buffer.from(bytes));
    this.#written = written;
    this.drained();
  }

  override _final(done: () => void): void {
    this.#link.send('end');
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.#isReset && !this.writableFinished) this.#link.send('end');
    done(error);
  }

  drained(): void {
    if (this.#link.bytes >= WINDOW_BYTES) return;
    const written = this.#written;
    this.#written = undefined;
    written?.();
  }

  resetAndDestroy(): this {
    this.#isReset = true;
    this.#link.send('reset');
    return this.destroy();
  }

  readonly setNoDelay = (): this => this;
  readonly setTimeout = this.setNoDelay;
}
