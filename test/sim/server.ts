/**
 * The apiserver of a simulation: the embedded one's log, collection, lists and selections, with separate streams.
 * Nothing happens without a step: the simulation chooses when requests are answered and events are sent.
 */
import { EventLog } from '../../src/tools/apiserver/store/event-log.ts';
import type { Collection } from '../../src/tools/apiserver/store/event-log.ts';
import { parseListOptions, parseWatchOptions } from '../../src/tools/apiserver/serve/list-options.ts';
import type { WatchOptions } from '../../src/tools/apiserver/serve/list-options.ts';
import { listPieces, readPage } from '../../src/tools/apiserver/serve/list.ts';
import type { LogEvent } from '../../src/tools/apiserver/store/history.ts';
import { parseResourcePath } from '../../src/tools/apiserver/wire/request-info.ts';
import { ResourceTable } from '../../src/tools/apiserver/store/resources.ts';
import { builtInResources } from '../../src/tools/apiserver/shapes/built-in-resources.ts';
import { selectionOf } from '../../src/tools/apiserver/serve/selection.ts';
import type { Selection } from '../../src/tools/apiserver/serve/selection.ts';
import {
  StatusError,
  expired,
  failureOf,
  tooLargeResourceVersion,
} from '../../src/tools/apiserver/store/status.ts';
import type { Status } from '../../src/tools/apiserver/store/status.ts';
import { StoredObject } from '../../src/tools/apiserver/store/stored-object.ts';
import type { FakeClock } from '../../src/tools/apiserver/testing/index.ts';
import { bodyHash } from './oracle/body-hash.ts';
import type { Commit, WireRecord } from './oracle/histories.ts';
import type { Chance } from './chance.ts';
import type { Connection } from './connection.ts';
import type { KubeObject } from '../../src/tools/apiserver/store/json.ts';

const PODS = new ResourceTable(builtInResources()).named('pods');

export interface ServerOptions {
  readonly clock: FakeClock;
  readonly chance: Chance;
  readonly historyEventsMax: number;
  readonly firstRevision: number;
  readonly committed: (commit: Commit) => void;
}

type SentRecord = Extract<WireRecord, { readonly what: 'sent' }>;

/** An open watch: a position in the history. */
export interface Stream {
  readonly connection: Connection;
  readonly selection: Selection;
  readonly allowBookmarks: boolean;
  position: number;
  /** Revision of the last sent event. */
  revision: number;
  /** The last sent line, and its record. */
  last: { readonly line: Buffer; readonly record: SentRecord } | undefined;
  /** Whether half of the next event is lost, but not its end. */
  isNextDamaged: boolean;
}

export class SimulatedServer {
  readonly log: EventLog;
  readonly collection: Collection;
  readonly streams: Set<Stream> = new Set();
  /** True for about 2 of 3 servers in practice. */
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

  /**
   * Gives an object another body under its current version. No watch has an event of it: the history is dropped and all
   * watches end, as after a restore from a backup.
   */
  rewrite(pod: KubeObject, { identity, revision }: StoredObject): void {
    const stored = StoredObject.encode(PODS, pod, revision);
    const previous = this.collection.get(identity.key);
    this.collection.commit({ type: 'MODIFIED', revision, object: stored, previous });
    this.log.compact(this.log.revision);
    const { key, uid, labels } = stored.identity;
    const hash = bodyHash(stored.toBuffer().toString());
    const at = this.#options.clock.now();
    this.#options.committed({ revision, type: 'REWRITTEN', key, uid, labels, hash, at });
    for (const stream of this.streams) this.endStream(stream);
  }

  delete(key: string): void {
    const previous = this.collection.get(key);
    if (previous) this.#committed(this.log.delete(this.collection, previous));
  }

  /**
   * Answers a request.
   *
   * @throws StatusError
   */
  async answer(connection: Connection): Promise<void> {
    const path = parseResourcePath(connection.path);
    if (path === undefined) throw failureOf(404, 'no such path');
    const selection = selectionOf(PODS, path, connection.query, 'ignores');
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

  /** Streams with unsent events. */
  get behind(): Stream[] {
    return [...this.streams].filter(({ position }) => position < this.collection.history.end);
  }

  /** Sends the next event, or ends a stream whose position is no longer in the history. */
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

  /** Sends the last line again. */
  repeat({ connection, last }: Stream, fault: string): void {
    if (last) connection.send(last.line, { ...last.record, at: this.#options.clock.now(), fault });
  }

  /** Ends a stream by the server's timeout or at the end of a fault. */
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
    const bytes = Buffer.concat([...listPieces(this.collection, page)]);
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
    const sent = { position, revision: from, last: undefined, isNextDamaged: false };
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
    stream.last = undefined;
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
    if (record.what === 'sent') stream.last = { line, record };
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

/** Returns half of a line or less. A part that ends like a complete line would count as a malformed object (C71). */
function firstPart(line: Buffer): Buffer {
  let end = line.length >> 1;
  while (line[end - 1] === CLOSE_BRACE) end--;
  return line.subarray(0, end);
}
