/**
 * The apiserver of a simulation: the embedded one's log, collection, lists and selections, with its own streams, because
 * here nothing happens by itself: requests are answered, and events are sent, when it is their turn.
 */
import { EventLog } from '../../src/embedded/event-log.ts';
import type { Collection } from '../../src/embedded/collection.ts';
import { parseListOptions, parseWatchOptions } from '../../src/embedded/list-options.ts';
import type { WatchOptions } from '../../src/embedded/list-options.ts';
import { listPieces, readPage } from '../../src/embedded/list.ts';
import type { LogEvent } from '../../src/embedded/history.ts';
import { parseResourcePath } from '../../src/embedded/request-info.ts';
import { ResourceTable } from '../../src/embedded/resources.ts';
import { selectionOf } from '../../src/embedded/selection.ts';
import type { Selection } from '../../src/embedded/selection.ts';
import { StatusError, expired, failureOf, tooLargeResourceVersion } from '../../src/embedded/status.ts';
import type { Status } from '../../src/embedded/status.ts';
import { StoredObject } from '../../src/embedded/stored-object.ts';
import type { FakeClock } from '../../src/testing/index.ts';
import { bodyHash } from '../oracle/body-hash.ts';
import type { Commit, WireRecord } from '../oracle/histories.ts';
import type { Chance } from './chance.ts';
import type { Connection } from './connection.ts';
import type { KubeObject } from '../../src/embedded/json.ts';

const PODS = new ResourceTable().named('pods');

export interface ServerOptions {
  readonly clock: FakeClock;
  readonly chance: Chance;
  readonly historyEventsMax: number;
  readonly firstRevision: number;
  readonly committed: (commit: Commit) => void;
}

/** A watch that is open: a position in the history. */
export interface Stream {
  readonly connection: Connection;
  readonly selection: Selection;
  readonly allowBookmarks: boolean;
  position: number;
  /** Of what was sent last. */
  revision: number;
  /** The line that was sent last. */
  lastLine: Buffer | undefined;
  /** Half of the next event is lost on its way, and not its end. */
  isNextDamaged: boolean;
}

export class SimulatedServer {
  readonly log: EventLog;
  readonly collection: Collection;
  readonly streams: Set<Stream> = new Set();
  /** 2 in 3 real servers. */
  hasStreamingLists = true;
  readonly #options: ServerOptions;

  constructor(options: ServerOptions) {
    this.#options = options;
    const limits = { eventsMax: options.historyEventsMax, bytesMax: 2 ** 30 };
    this.log = new EventLog(limits, options.firstRevision);
    this.collection = this.log.collection(PODS);
  }

  write(pod: KubeObject): void {
    const stored = this.log.write(this.collection, (revision) => StoredObject.encode(PODS, pod, revision));
    this.#committed(stored);
  }

  delete(key: string): void {
    const previous = this.collection.get(key);
    if (previous) this.#committed(this.log.delete(this.collection, previous));
  }

  /** @throws StatusError */
  async answer(connection: Connection): Promise<void> {
    const path = parseResourcePath(connection.path);
    if (path === undefined) throw failureOf(404, 'no such path');
    const selection = selectionOf(PODS, path, connection.query);
    if (connection.query.get('watch') === 'true') this.#watch(connection, selection);
    else await this.#list(connection, selection);
  }

  refuse(
    connection: Connection,
    { status, ...rest }: Pick<StatusError, 'status'> & { retryAfterSeconds?: number },
  ): void {
    const { retryAfterSeconds } = rest;
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds);
    connection.head(status.code ?? 500, headers);
    connection.send(Buffer.from(JSON.stringify(status)));
    connection.end();
  }

  /** Streams that have not been sent everything. */
  get behind(): Stream[] {
    return [...this.streams].filter(({ position }) => position < this.collection.history.end);
  }

  /** Sends the next event. A stream that is behind what the history remembers ends. */
  pump(stream: Stream): void {
    const { history } = this.collection;
    if (stream.position < history.first) {
      this.endStream(stream);
      return;
    }
    const event = history.at(stream.position++);
    if (event) this.#sendEvent(stream, event);
  }

  bookmark(stream: Stream, revision: number, fault?: string): void {
    if (!stream.allowBookmarks) return;
    if (fault === undefined) stream.revision = revision;
    this.#sendLine(stream, bookmarkLine(revision, false), {
      what: 'sent',
      connection: stream.connection.number,
      type: 'BOOKMARK',
      revision,
      ...(fault === undefined ? {} : { fault }),
    });
  }

  /** The server's timeout, or the end of a fault. */
  endStream(stream: Stream): void {
    this.streams.delete(stream);
    stream.connection.end();
  }

  errorInStream(stream: Stream, status: Status): void {
    const { number } = stream.connection;
    const line = Buffer.from(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
    stream.connection.send(line, { what: 'sent', connection: number, type: 'ERROR', revision: 0 });
    this.endStream(stream);
  }

  async #list(connection: Connection, selection: Selection): Promise<void> {
    const options = parseListOptions(connection.query);
    const wanted = options.continueFrom?.revision ?? (options.at.kind === 'latest' ? 0 : options.at.revision);
    if (wanted > this.log.revision) throw tooLargeResourceVersion(wanted, this.log.revision);
    const page = await readPage(this.log, this.collection, options, selection, 0);
    const bytes = Buffer.concat([...listPieces(this.collection, page, false)]);
    connection.head(200, { 'content-type': 'application/json' });
    const listed: WireRecord = { what: 'listed', connection: connection.number, revision: page.revision };
    connection.send(bytes);
    connection.end(undefined, page.continueToken === undefined ? listed : undefined);
  }

  #watch(connection: Connection, selection: Selection): void {
    const options = parseWatchOptions(connection.query);
    if (options.initialEvents && !this.hasStreamingLists) {
      throw failureOf(
        422,
        'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
      );
    }
    const { from = this.log.revision } = options;
    if (from > this.log.revision) throw tooLargeResourceVersion(from, this.log.revision);
    if (!options.initialEvents && from < this.collection.history.floor) {
      const gone = expired(`too old resource version: ${from} (${this.collection.history.floor})`);
      if (this.#options.chance.happens(0.5)) throw gone;
      connection.head(200);
      const line = `${JSON.stringify({ type: 'ERROR', object: gone.status })}\n`;
      connection.send(Buffer.from(line), {
        what: 'sent',
        connection: connection.number,
        type: 'ERROR',
        revision: 0,
      });
      connection.end();
      return;
    }
    this.#open(connection, selection, options, options.initialEvents ? this.log.revision : from);
  }

  #open(connection: Connection, selection: Selection, options: WatchOptions, from: number): void {
    const { allowBookmarks, timeoutSeconds = 1800 } = options;
    const position = this.collection.history.after(from);
    const sent = { position, revision: from, lastLine: undefined, isNextDamaged: false };
    const stream = { connection, selection, allowBookmarks, ...sent };
    connection.head(200, { 'content-type': 'application/json' });
    if (options.initialEvents) this.#sendInitial(stream, from, options.endBookmark);
    this.streams.add(stream);
    this.#options.clock.schedule(timeoutSeconds * 1000, () => {
      if (this.streams.has(stream)) this.endStream(stream);
    });
  }

  #sendInitial(stream: Stream, revision: number, hasEnd: boolean): void {
    const { number: connection } = stream.connection;
    for (const object of this.collection.snapshot(revision, false)?.objects ?? []) {
      if (!stream.selection.matches(object)) continue;
      const { key } = object.identity;
      const record = { what: 'sent', connection, type: 'ADDED', revision: object.revision, key } as const;
      this.#sendLine(stream, eventLine('ADDED', object), { ...record, isInitial: true });
    }
    if (hasEnd)
      this.#sendLine(stream, bookmarkLine(revision, true), { what: 'listed', connection, revision });
    stream.lastLine = undefined;
  }

  #sendEvent(stream: Stream, event: LogEvent): void {
    const { selection, connection } = stream;
    const isBefore = event.previous !== undefined && selection.matches(event.previous);
    const isAfter = event.type !== 'DELETED' && selection.matches(event.object);
    if (!isBefore && !isAfter) return;
    const type = isAfter ? (isBefore ? 'MODIFIED' : 'ADDED') : 'DELETED';
    const object = isAfter ? event.object : event.previous?.withRevision(event.revision);
    if (!object) return;
    const { revision } = event;
    stream.revision = revision;
    const { key } = object.identity;
    const line = eventLine(type, object);
    if (stream.isNextDamaged) {
      stream.isNextDamaged = false;
      connection.send(Buffer.concat([firstPart(line), Buffer.from('\n')]));
      return;
    }
    this.#sendLine(stream, line, { what: 'sent', connection: connection.number, type, revision, key });
  }

  #sendLine(stream: Stream, line: Buffer, record: WireRecord): void {
    stream.lastLine = line;
    stream.connection.send(line, { ...record, at: this.#options.clock.now() });
  }

  #committed(stored: StoredObject): void {
    const event = this.collection.history.at(this.collection.history.end - 1);
    const { key, uid, labels } = stored.identity;
    this.#options.committed({
      revision: stored.revision,
      type: event?.type ?? 'ADDED',
      key,
      uid,
      labels,
      hash: bodyHash(stored.toBuffer().toString()),
      at: this.#options.clock.now(),
    });
  }
}

function eventLine(type: string, object: StoredObject): Buffer {
  return Buffer.concat([Buffer.from(`{"type":"${type}","object":`), object.toBuffer(), Buffer.from('}\n')]);
}

function bookmarkLine(revision: number, isEnd: boolean): Buffer {
  const annotations = isEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
  const metadata = { resourceVersion: String(revision), ...annotations };
  return Buffer.from(
    `${JSON.stringify({ type: 'BOOKMARK', object: { kind: 'Pod', apiVersion: 'v1', metadata } })}\n`,
  );
}

const CLOSE_BRACE = 0x7d;

/** Half of a line, or less: what happens to end like a whole one is kept as a malformed object (C71), and is not meant. */
function firstPart(line: Buffer): Buffer {
  let end = line.length >> 1;
  while (line[end - 1] === CLOSE_BRACE) end--;
  return line.subarray(0, end);
}
