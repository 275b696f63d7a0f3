/**
 * The high-rate source: LIST and WATCH of a single collection over a bare socket, at the speed of a core. It serves
 * only these requests and checks none, so that it is never the slow part of a measurement.
 *
 * GET /api/v1/pods?limit=…              in pages, or with resourceVersion=0 in a single page, as a real server does
 * GET /api/v1/pods?watch=1&…            from resourceVersion N, or with the initial state (sendInitialEvents)
 * GET /apis/example.com/v1/widgets…     as custom resources; widgets0, widgets1, … are the same collection
 *
 * A watch of pods is in protobuf for a client that accepts protobuf, if the source can make it. A watch streams up to `events`
 * events and then stays open. Every client receives the same events: revision N is the same change of the same object.
 */

import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createSecureServer } from 'node:tls';
import { realTimers, realClock } from '../../src/base/clock.ts';
import { createCertificates } from '../../src/tools/apiserver/wire/certificates.ts';
import { ProtobufPods } from './protobuf.ts';
import { SourceList, EventRound } from './pods.ts';
import type { RoundOptions } from './pods.ts';
import { FIRST_REVISION, sentAt } from './object-templates.ts';

export interface SourceOptions {
  /** Objects in the list. Default 20,000. */
  readonly pods?: number;
  /** Length of each object's JSON. Default 5,120. */
  readonly objectBytes?: number;
  /** `widgets` are custom resources of example.com/v1: pods under another name, with sorted keys. Default pods. */
  readonly resource?: 'pods' | 'widgets';
  /** Default true. Without managedFields padding takes their place. */
  readonly managedFields?: boolean;
  /** Serves TLS with a CA and a certificate made at start. Default false. */
  readonly tls?: boolean;
  /**
   * Events a second, open loop. Where they change metadata, each carries the time at which it was sent, in microseconds
   * since the epoch, in the annotation kubeloom.io/sent-us. Default 0: as fast as the client reads.
   */
  readonly ratePerSecond?: number;
  /** Number of changes of an object in a second, after which it rests while others change. Default 1: by turns. */
  readonly burst?: number;
  /** Number of first events, paced at 5,000 a second whatever the rate of the others. Default 0. */
  readonly warmUpEvents?: number;
  /** Silence of a watch before the first event. Default 1,000 when paced, else 0. */
  readonly quietMs?: number;
  /** Bytes of a round of events, which then repeats; it determines the number of changing objects. Default 128 MiB. */
  readonly roundBytesMax?: number;
  /** Number of all events. Default 300,000. */
  readonly events?: number;
  /**
   * The parts that an event changes: version and times, as in an update of status, or the annotation
   * kubeloom.io/sent-us as well. Default status.
   */
  readonly changes?: 'status' | 'metadata';
  /** True: an HTTP chunk for each event, as a real apiserver sends large objects; false: a chunk for each megabyte. */
  readonly chunkPerEvent?: boolean;
  /** Path of the program of bench/peers/client-go, which makes protobuf. Default '': JSON only. */
  readonly protobufProgram?: string;
}

const JSON_TYPE = 'application/json';
const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';
const headers = (type: string): string =>
  `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`;
const NOT_FOUND = 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n';
const CRLF = Buffer.from('\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const SENT_DIGITS = 16;
const PACED_QUIET_MS = 1_000;
const WARM_UP_PER_SECOND = 5_000;

function resolved(options: SourceOptions): Required<SourceOptions> & RoundOptions {
  return {
    pods: 20_000,
    objectBytes: 5_120,
    resource: 'pods',
    managedFields: true,
    events: 300_000,
    changes: 'status',
    chunkPerEvent: false,
    tls: false,
    ratePerSecond: 0,
    burst: 1,
    warmUpEvents: 0,
    quietMs: (options.ratePerSecond ?? 0) > 0 ? PACED_QUIET_MS : 0,
    roundBytesMax: 128 * 1024 * 1024,
    protobufProgram: '',
    ...options,
  };
}

export class SourceServer implements AsyncDisposable {
  /** On loopback, without a token; '' before the server listens. */
  url = '';
  /** PEM; '' without TLS. */
  readonly ca: string;
  readonly #options: Required<SourceOptions> & RoundOptions;
  readonly #list: SourceList;
  readonly #json: Format;
  readonly #protobuf: Format | undefined;
  readonly #server: Server;
  readonly #block: BlockFor;
  readonly #sockets = new Set<Socket>();

  constructor(options: SourceOptions, block: BlockFor = () => {}) {
    this.#options = resolved(options);
    this.#block = block;
    this.#list = new SourceList(this.#options, this.listRevision);
    this.#json = new Format(JSON_TYPE, this.#list, () => EventRound.make(this.#options));
    const { protobufProgram } = this.#options;
    if (protobufProgram !== '') {
      const pods = new ProtobufPods(protobufProgram, this.#options, this.listRevision);
      this.#protobuf = new Format(`${PROTOBUF_TYPE};stream=watch`, pods, () => pods.round(this.#options));
    }
    const accept = (socket: Socket): void => this.#accept(socket);
    if (this.#options.tls) {
      const { ca, certificate, privateKey } = createCertificates('127.0.0.1');
      this.ca = ca;
      this.#server = createSecureServer({ cert: certificate, key: privateKey, noDelay: true }, accept);
    } else {
      this.ca = '';
      this.#server = createServer({ noDelay: true }, accept);
    }
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const { port } = this.#server.address() as AddressInfo;
    this.url = `http${this.ca === '' ? '' : 's'}://127.0.0.1:${port}`;
  }

  /** Revision of the list; the events follow. */
  get listRevision(): number {
    return FIRST_REVISION + this.#options.pods;
  }

  async [Symbol.asyncDispose](): Promise<void> {
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
        const isProtobuf = head.slice(0, end).includes(PROTOBUF_TYPE);
        const format = (isProtobuf ? this.#protobuf : undefined) ?? this.#json;
        head = head.slice(end + 4);
        busy = busy.then(() => this.#serve(socket, new URL(target, 'http://localhost'), format));
      }
    });
  }

  async #serve(socket: Socket, url: URL, format: Format): Promise<void> {
    if (!this.#isServed(url.pathname)) {
      socket.write(NOT_FOUND);
      return;
    }
    const watch = url.searchParams.get('watch');
    if (watch !== null && watch !== 'false' && watch !== '0') {
      socket.write(headers(format.type));
      await this.#watch(socket, url.searchParams, format);
      return;
    }
    socket.write(headers(JSON_TYPE));
    for (const piece of this.#list.page(url.searchParams)) await writeChunk(socket, piece);
    socket.write(LAST_CHUNK);
  }

  #isServed(pathname: string): boolean {
    if (this.#options.resource === 'pods')
      return pathname.startsWith('/api/v1/') && pathname.endsWith('/pods');
    return pathname.startsWith('/apis/example.com/v1/') && /\/widgets\d*$/.test(pathname);
  }

  async #watch(socket: Socket, query: URLSearchParams, format: Format): Promise<void> {
    const version = query.get('resourceVersion') ?? '';
    const initial = query.get('sendInitialEvents') === 'true' || version === '' || version === '0';
    if (initial) {
      const hasBookmark = query.get('allowWatchBookmarks') === 'true';
      for (const piece of format.initial.initialEvents(hasBookmark)) await writeChunk(socket, piece);
    }
    const firstRevision = this.listRevision + 1;
    const from = initial ? 0 : Math.max(0, Number(version) + 1 - firstRevision);
    const round = format.takeRound();
    try {
      await this.#quiet();
      const { warmUpEvents, ratePerSecond } = this.#options;
      const warmUp = { from, to: warmUpEvents, firstRevision };
      await this.#streamPaced(socket, round, warmUp, WARM_UP_PER_SECOND);
      const span = { from: Math.max(from, warmUpEvents), to: this.#options.events, firstRevision };
      if (ratePerSecond > 0) await this.#streamPaced(socket, round, span, ratePerSecond);
      else await this.#stream(socket, round, span);
    } finally {
      format.returnRound(round);
    }
  }

  /** Gives a client that handles the list on another thread than the events time to finish it. */
  async #quiet(): Promise<void> {
    const { quietMs } = this.#options;
    if (quietMs > 0) await new Promise((resolve) => realTimers.setTimeout(resolve, quietMs));
  }

  async #stream(socket: Socket, round: EventRound, { from, to, firstRevision }: Span): Promise<void> {
    const { chunkPerEvent } = this.#options;
    for (let position = from; position < to && !socket.destroyed;) {
      const { bytes, next } = round.slice(position, to, firstRevision);
      // The next slice may be the same bytes, so it waits until these have been sent.
      await (chunkPerEvent ? write(socket, bytes) : writeChunk(socket, bytes));
      position = next;
    }
  }

  /** Sends at the due times without waiting for the client; unsent events accumulate here. */
  async #streamPaced(
    socket: Socket,
    round: EventRound,
    { from, to, firstRevision }: Span,
    ratePerSecond: number,
  ): Promise<void> {
    const { chunkPerEvent, changes, burst } = this.#options;
    const burstObjects = Math.ceil(ratePerSecond / burst);
    const pace = new Pace(ratePerSecond, this.#block);
    for (let position = from; position < to && !socket.destroyed;) {
      await pace.until(position - from);
      const end = Math.min(to, from + pace.due);
      for (; position < end; position++) {
        const place = placeOf(position, burst, burstObjects);
        const { bytes } = round.slice(position, position + 1, firstRevision, place);
        // The bytes are overwritten before they have been sent.
        const event = Buffer.from(bytes);
        if (changes === 'metadata') stamp(event);
        if (chunkPerEvent) socket.write(event);
        else void writeChunk(socket, event);
      }
    }
  }
}

/** A content type of watches. Events are overwritten in place, so each stream borrows a round and returns it. */
class Format {
  readonly type: string;
  readonly initial: Pick<SourceList, 'initialEvents'>;
  readonly #makeRound: () => EventRound;
  readonly #rounds: EventRound[];

  constructor(type: string, initial: Pick<SourceList, 'initialEvents'>, makeRound: () => EventRound) {
    this.type = type;
    this.initial = initial;
    this.#makeRound = makeRound;
    this.#rounds = [makeRound()];
  }

  takeRound(): EventRound {
    return this.#rounds.pop() ?? this.#makeRound();
  }

  returnRound(round: EventRound): void {
    this.#rounds.push(round);
  }
}

/** Events of a stream, from number `from` to the event before `to`. */
interface Span {
  readonly from: number;
  readonly to: number;
  /** Revision of event 0. */
  readonly firstRevision: number;
}

/**
 * Returns the place of the event's object in the rounds: `objects` objects change by turns, `burst` times each, and then the next
 * objects.
 */
export function placeOf(event: number, burst: number, objects: number): number {
  return Math.floor(event / (objects * burst)) * objects + (event % objects);
}

/** Writes the time into the event. */
function stamp(event: Buffer): void {
  const sentUs = Math.floor((performance.timeOrigin + performance.now()) * 1000);
  event.write(String(sentUs).padStart(SENT_DIGITS, '0'), sentAt(event), 'latin1');
}

/** Resolves when the socket took the bytes or is closed; after that the bytes may be overwritten. */
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

const WAIT_MS_MAX = 1;
const MS_PER_SECOND = 1000;

/** Blocks the thread for `timeoutMs`, or returns at once. */
type BlockFor = (timeoutMs: number) => void;

/**
 * Due times of the events of a paced source, open loop: they do not depend on the client. Timers have a resolution of a
 * millisecond, which would bunch the events. Between two timers, the source blocks the thread for less than a
 * millisecond, and then yields to the event loop.
 */
class Pace {
  readonly #startedAt: number;
  readonly #ratePerSecond: number;
  readonly #block: BlockFor;

  constructor(ratePerSecond: number, block: BlockFor) {
    this.#block = block;
    this.#ratePerSecond = ratePerSecond;
    this.#startedAt = realClock.now();
  }

  /** Number of events that should have been sent by now. */
  get due(): number {
    return Math.floor(((realClock.now() - this.#startedAt) * this.#ratePerSecond) / MS_PER_SECOND);
  }

  /** Resolves when event number `index` (from 0) is due, or earlier, after at most a millisecond. */
  async until(index: number): Promise<void> {
    const dueAt = this.#startedAt + ((index + 1) * MS_PER_SECOND) / this.#ratePerSecond;
    const waitMs = Math.min(WAIT_MS_MAX, dueAt - realClock.now());
    if (waitMs > 0) this.#block(waitMs);
    await new Promise<void>((resolve) => realTimers.setImmediate(resolve));
  }
}
