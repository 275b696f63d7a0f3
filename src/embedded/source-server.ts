/**
 * The high-rate source: LIST and WATCH of pods over a bare socket, as fast as one core can. It serves nothing else and
 * checks nothing, so that in a measurement it is never the source that is slow.
 *
 * GET /api/v1/pods                      all pods in one page, however small the limit
 * GET /api/v1/pods?watch=1&…            from resourceVersion N, or with the initial state (sendInitialEvents)
 *
 * A watch streams up to `events` events and then stays open. Every client sees the same events: revision N is the same
 * change of the same pod for everybody.
 */

import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { EventRound, FIRST_REVISION, makeItems } from './source-pods.ts';
import type { Block } from './source-pods.ts';

export interface SourceOptions {
  /** In the list. Default 20,000. */
  readonly pods?: number;
  /** Of each pod's JSON. Default 5,120. */
  readonly objectBytes?: number;
  /** How many events there are, in all. Default 300,000. */
  readonly events?: number;
  /** One HTTP chunk for each event, as a real apiserver sends large objects; else one for each megabyte. */
  readonly chunkPerEvent?: boolean;
  /** Default 0: any. Always on 127.0.0.1. */
  readonly port?: number;
}

const HEADERS = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
const NOT_FOUND = 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n';
const CRLF = Buffer.from('\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const ADDED = Buffer.from('{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1",');
const CLOSING = Buffer.from('}\n');

export class SourceServer {
  readonly #options: Required<SourceOptions>;
  readonly #items: Block[];
  readonly #rounds: EventRound[];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(options: SourceOptions) {
    this.#options = {
      pods: 20_000,
      objectBytes: 5_120,
      events: 300_000,
      chunkPerEvent: false,
      port: 0,
      ...options,
    };
    const { pods, objectBytes, chunkPerEvent } = this.#options;
    this.#items = makeItems(pods, objectBytes);
    this.#rounds = [EventRound.make(pods, objectBytes, chunkPerEvent)];
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(this.#options.port, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Of the list: the events follow. */
  get listRevision(): number {
    return FIRST_REVISION + this.#options.pods;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    let head = '';
    let busy = Promise.resolve();
    socket.on('data', (data) => {
      head += data.toString('latin1');
      for (let end = head.indexOf('\r\n\r\n'); end >= 0; end = head.indexOf('\r\n\r\n')) {
        const target = head.slice(0, head.indexOf('\r\n')).split(' ')[1] ?? '/';
        head = head.slice(end + 4);
        busy = busy.then(() => this.#serve(socket, new URL(target, 'http://localhost')));
      }
    });
  }

  async #serve(socket: Socket, url: URL): Promise<void> {
    if (!url.pathname.startsWith('/api/v1/') || !url.pathname.endsWith('/pods')) {
      socket.write(NOT_FOUND);
      return;
    }
    socket.write(HEADERS);
    const watch = url.searchParams.get('watch');
    if (watch === null || watch === 'false' || watch === '0') await this.#list(socket);
    else await this.#watch(socket, url.searchParams);
  }

  async #list(socket: Socket): Promise<void> {
    const metadata = `{"resourceVersion":"${this.listRevision}"}`;
    await writeChunk(
      socket,
      Buffer.from(`{"kind":"PodList","apiVersion":"v1","metadata":${metadata},"items":[`),
    );
    for (const { bytes } of this.#items) await writeChunk(socket, bytes);
    await writeChunk(socket, Buffer.from(']}\n'));
    socket.write(LAST_CHUNK);
  }

  async #watch(socket: Socket, query: URLSearchParams): Promise<void> {
    const version = query.get('resourceVersion') ?? '';
    const initial = query.get('sendInitialEvents') === 'true' || version === '' || version === '0';
    if (initial) await this.#initialEvents(socket, query.get('allowWatchBookmarks') === 'true');
    const firstRevision = this.listRevision + 1;
    const from = initial ? 0 : Math.max(0, Number(version) + 1 - firstRevision);
    // Events are written to in place: each stream needs a round of its own, and gives it back.
    const round = this.#rounds.pop() ?? this.#makeRound();
    try {
      await this.#stream(socket, round, from, firstRevision);
    } finally {
      this.#rounds.push(round);
    }
  }

  #makeRound(): EventRound {
    const { pods, objectBytes, chunkPerEvent } = this.#options;
    return EventRound.make(pods, objectBytes, chunkPerEvent);
  }

  async #stream(socket: Socket, round: EventRound, from: number, firstRevision: number): Promise<void> {
    const { events, chunkPerEvent } = this.#options;
    for (let position = from; position < events && !socket.destroyed;) {
      const { bytes, next } = round.slice(position, events, firstRevision);
      // The next slice may be the same bytes: it waits until these have left.
      await (chunkPerEvent ? write(socket, bytes) : writeChunk(socket, bytes));
      position = next;
    }
  }

  async #initialEvents(socket: Socket, bookmark: boolean): Promise<void> {
    for (const { bytes, starts } of this.#items) {
      const pieces: Buffer[] = [];
      for (let record = 0; record + 1 < starts.length; record++) {
        const item = bytes.subarray((starts[record] ?? 0) + 1, starts[record + 1]);
        const comma = item.at(-1) === 0x2c ? 1 : 0;
        pieces.push(ADDED, item.subarray(0, item.length - comma), CLOSING);
      }
      await writeChunk(socket, Buffer.concat(pieces));
    }
    if (!bookmark) return;
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const metadata = { resourceVersion: String(this.listRevision), annotations };
    const object = { kind: 'Pod', apiVersion: 'v1', metadata };
    await writeChunk(socket, Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`));
  }
}

/** Resolves when the socket has taken the bytes (or is gone): backpressure, and permission to write over them. */
function write(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => void socket.write(bytes, () => resolve()));
}

async function writeChunk(socket: Socket, bytes: Buffer): Promise<void> {
  if (bytes.length === 0) return;
  socket.cork();
  socket.write(`${bytes.length.toString(16)}\r\n`, 'latin1');
  socket.write(bytes);
  const written = write(socket, CRLF);
  socket.uncork();
  await written;
}
