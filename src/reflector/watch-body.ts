/**
 * The body of a watch, or of a streaming list that goes on as one: lines become deltas and control records.
 * This is the hot path: an ordinary event allocates nothing and takes no step.
 *
 * The position moves only when an event is in the rings. It stays where it is for an event that was
 * skipped (an object without a name or of another kind): the next good one moves it past those, and if
 * there is none, they are sent and reported again after the next reconnect, which is better than to claim
 * to have seen them. It also stays during made-up ADDED events, which come in no order. An event of an
 * unknown type moves it, as in client-go: it is news from the server, only not for us.
 */
import { KubeloomError } from '../errors.ts';
import { decodeStringContent, decodeStringToken, findPath } from '../json/read.ts';
import { DeltaKind } from '../record/delta.ts';
import type { Query } from '../threads/protocol.ts';
import { WatchEventSpans, WatchEventType, scanWatchEvent } from '../transport/watch-event.ts';
import { WatchFrames } from '../transport/watch-frames.ts';
import type { FrameSink } from '../transport/watch-frames.ts';
import type { Body, BodyOwner, Closable } from './body.ts';
import { errorEvent, malformed, noEndBookmark, outOfOrder, tooLong, truncated, wentBack } from './failure.ts';
import { InitialEventsDeadline } from './initial-events-deadline.ts';
import { EventInput } from './input.ts';
import { excerpt, frameBytesMax } from './object-writer.ts';
import { beginsWithSyntheticEvents } from './queries.ts';
import type { Progress } from './state.ts';
import type { StreamedObjects } from './streamed-objects.ts';
import { readWatchEventHead } from './watch-event-head.ts';
import { RESOURCE_VERSION_BYTES_MAX, WatchPosition } from './watch-position.ts';

export interface WatchRequest {
  /** For messages. */
  readonly where: string;
  readonly query: Query;
  readonly isStreamingList: boolean;
  readonly recordBytesMax: number;
  /** Between two events of a streaming list. */
  readonly streamingListSilenceMaxMs?: number | undefined;
  /** Where a streaming list writes down what it brought, if that is to be checked. */
  readonly streamed?: StreamedObjects;
}

/** What an ADDED event means. */
type Stage =
  /** An item of a streaming list, whose end bookmark has not come. */
  | 'initial-events'
  /** Perhaps made up: a watch from no particular version begins with the state it finds. */
  | 'synthetic'
  | 'live';

/** Who sends bookmarks sends them every minute, and has gone silent when some are missing. */
export const BOOKMARK_SILENCE_MAX_MS = 150_000;

/** No server stores an object of this size: a line that goes on beyond it has no end. */
export const LINE_BYTES_MAX: number = 256 * 2 ** 20;

const END_ANNOTATION = 'metadata.annotations.k8s\\.io/initial-events-end';
const RESOURCE_VERSION = 'metadata.resourceVersion';

export class WatchBody implements Body, FrameSink {
  readonly #owner: BodyOwner;
  readonly #exchange: Closable;
  readonly #where: string;
  readonly #frames: WatchFrames;
  readonly #event: WatchEventSpans = new WatchEventSpans();
  readonly #position: WatchPosition;
  readonly #deadline: InitialEventsDeadline | undefined;
  readonly #streamed: StreamedObjects | undefined;
  #stage: Stage;
  /** Of the streaming list: changes in between are no progress of it. */
  #items = 0;

  constructor(owner: BodyOwner, exchange: Closable, request: WatchRequest) {
    this.#owner = owner;
    this.#exchange = exchange;
    this.#where = request.where;
    this.#streamed = request.streamed;
    this.#frames = new WatchFrames({ frameBytesMax: frameBytesMax(request.recordBytesMax) });
    this.#position = new WatchPosition(request.query['resourceVersion'] ?? '', owner.clock.now());
    this.#stage = beginsWithSyntheticEvents(request.query) ? 'synthetic' : 'live';
    if (!request.isStreamingList) return;
    this.#stage = 'initial-events';
    this.#deadline = new InitialEventsDeadline(
      owner.clock,
      (waitedMs) => this.#endMissed(waitedMs),
      request.streamingListSilenceMaxMs,
    );
  }

  get progress(): Progress {
    return this.#position.at(this.#owner.clock.now());
  }

  write(chunk: Buffer, start: number): number {
    const itemsBefore = this.#items;
    const isInitial = this.#stage === 'initial-events';
    const end = this.#frames.write(chunk, start, this);
    if (this.#frames.partialBytes > LINE_BYTES_MAX) this.#owner.fail(tooLong(this.#where, LINE_BYTES_MAX));
    if (isInitial) this.#measure(end - start, itemsBefore);
    return end;
  }

  #measure(bytes: number, itemsBefore: number): void {
    this.#owner.meter.read(bytes);
    if (this.#stage !== 'initial-events') this.#owner.meter.end();
    else if (this.#items > itemsBefore) this.#deadline?.touch();
  }

  end(error: KubeloomError | undefined): void {
    this.close();
    // A line without its end is not an event: the server sends it again.
    const isTorn = this.#frames.finish() === 'partial';
    if (isTorn && !error) this.#owner.report('decode', truncated(this.#where));
    this.#owner.dispatch({ type: 'closed', progress: this.progress, ...(error ? { error } : {}) });
  }

  pause(): void {
    if (this.#stage === 'initial-events') this.#deadline?.pause();
  }

  resume(): void {
    if (this.#stage === 'initial-events') this.#deadline?.resume();
  }

  close(): void {
    this.#deadline?.stop();
  }

  frame(bytes: Buffer, start: number, end: number): boolean {
    // What an earlier line of this chunk set going comes first, and may have been the end of this watch.
    if (!this.#owner.flush()) return false;
    if (this.#exchange.isClosed) return true;
    const event = this.#event;
    if (!scanWatchEvent(bytes, start, end, event)) return this.#fail('not a watch event', bytes, start, end);
    switch (event.type) {
      case WatchEventType.Added:
        return this.#object(DeltaKind.Added, bytes);
      case WatchEventType.Modified:
        return this.#object(DeltaKind.Modified, bytes);
      case WatchEventType.Deleted:
        return this.#object(DeltaKind.Deleted, bytes);
      case WatchEventType.Bookmark:
        return this.#bookmark(bytes);
      case WatchEventType.Error: {
        const status = bytes.toString('utf8', event.objectStart, event.objectEnd);
        this.#owner.fail(errorEvent(status, this.#where));
        return true;
      }
      default:
        return this.#unknown(bytes);
    }
  }

  oversized(bytes: Buffer, start: number, end: number, totalBytes: number): boolean {
    if (!this.#owner.flush()) return false;
    if (this.#exchange.isClosed) return true;
    const head = readWatchEventHead(bytes, start, end);
    const kind = head && OBJECT_EVENTS.get(head.type);
    if (!head || kind === undefined) {
      return this.#fail(`an event of ${totalBytes} bytes that is not one`, bytes, start, end);
    }
    const written = this.#owner.writer.writeOversized(this.#deltaKind(kind), bytes, head.objectStart, end);
    if (written === 'no-room') return false;
    if (written === 'written') this.#moved(kind, bytes);
    return true;
  }

  #object(kind: DeltaKind, bytes: Buffer): boolean {
    const { objectStart, objectEnd } = this.#event;
    switch (this.#owner.writer.write(this.#deltaKind(kind), bytes, objectStart, objectEnd)) {
      case 'written':
        this.#moved(kind, bytes);
        return true;
      case 'no-room':
        return false;
      case 'skipped':
        return true;
      default:
        return this.#fail('not a JSON object', bytes, objectStart, objectEnd);
    }
  }

  /** The items of a streaming list are those of a list; what changes meanwhile are ordinary changes. */
  #deltaKind(kind: DeltaKind): DeltaKind {
    return kind === DeltaKind.Added && this.#stage === 'initial-events' ? DeltaKind.Replaced : kind;
  }

  #moved(kind: DeltaKind, bytes: Buffer): void {
    this.#position.events++;
    if (this.#stage !== 'live') {
      if (this.#stage === 'initial-events') this.#initial(kind, bytes);
      if (this.#stage === 'initial-events' || kind === DeltaKind.Added) return;
      this.#stage = 'live';
    }
    const { resourceVersionStart, resourceVersionEnd } = this.#owner.writer.spans;
    if (resourceVersionEnd <= resourceVersionStart) return;
    const isOlder = !this.#position.moveTo(bytes, resourceVersionStart, resourceVersionEnd);
    // Some servers give a deletion the version of the last state.
    if (!isOlder || kind === DeltaKind.Deleted) return;
    const resourceVersion = decodeStringContent(bytes, resourceVersionStart, resourceVersionEnd) ?? '';
    if (this.#position.isBeforePromise(resourceVersion)) {
      this.#owner.fail(wentBack(this.#where, resourceVersion));
    }
  }

  /** Part of a streaming list: an item, or a change of one. */
  #initial(kind: DeltaKind, bytes: Buffer): void {
    const { meter, writer } = this.#owner;
    if (kind === DeltaKind.Added) {
      this.#items++;
      meter.item();
    }
    if (kind === DeltaKind.Deleted) this.#streamed?.delete(bytes, writer.spans);
    else this.#streamed?.put(bytes, writer.spans);
  }

  /** @returns true: the line is dealt with */
  #unknown(bytes: Buffer): true {
    const { typeStart, typeEnd, objectStart, objectEnd } = this.#event;
    this.#owner.report('decode', unknownType(this.#where, bytes, typeStart, typeEnd));
    this.#position.events++;
    if (this.#stage === 'initial-events') return true;
    this.#stage = 'live';
    const resourceVersion = textAt(bytes, objectStart, objectEnd, RESOURCE_VERSION) ?? '';
    if (isUsable(resourceVersion)) this.#position.startAt(resourceVersion);
    return true;
  }

  #bookmark(bytes: Buffer): boolean {
    const { objectStart, objectEnd } = this.#event;
    const resourceVersion = textAt(bytes, objectStart, objectEnd, RESOURCE_VERSION) ?? '';
    if (!isUsable(resourceVersion)) {
      return this.#fail('a bookmark without a usable resourceVersion', bytes, objectStart, objectEnd);
    }
    if (this.#stage === 'initial-events') {
      this.#position.events++;
      if (textAt(bytes, objectStart, objectEnd, END_ANNOTATION) === 'true') this.#endInitial(resourceVersion);
      return true;
    }
    if (this.#position.isAhead(resourceVersion)) {
      this.#owner.report('watch', outOfOrder(this.#where, `a bookmark of version ${resourceVersion}`));
      return true;
    }
    if (!this.#owner.offerBookmark(resourceVersion)) return false;
    this.#stage = 'live';
    this.#position.events++;
    this.#position.startAt(resourceVersion);
    this.#exchange.expectWithin(BOOKMARK_SILENCE_MAX_MS);
    return true;
  }

  #endInitial(resourceVersion: string): void {
    this.#stage = 'live';
    this.#deadline?.stop();
    this.#position.startAt(resourceVersion);
    this.#owner.dispatch({ type: 'initial-events-end', resourceVersion });
  }

  #endMissed(waitedMs: number): void {
    const missed = new EventInput(this.#owner, () => {
      if (this.#exchange.isClosed || this.#stage !== 'initial-events') return;
      this.#owner.fail(noEndBookmark(this.#where, waitedMs));
    });
    this.#owner.offer(missed);
  }

  /** @returns true: the line is dealt with */
  #fail(what: string, bytes: Buffer, start: number, end: number): true {
    this.#owner.fail(malformed(what, this.#where, excerpt(bytes, start, end)));
    return true;
  }
}

const OBJECT_EVENTS: ReadonlyMap<string, DeltaKind> = new Map([
  ['ADDED', DeltaKind.Added],
  ['MODIFIED', DeltaKind.Modified],
  ['DELETED', DeltaKind.Deleted],
]);

function isUsable(resourceVersion: string): boolean {
  return resourceVersion !== '' && Buffer.byteLength(resourceVersion) <= RESOURCE_VERSION_BYTES_MAX;
}

function textAt(bytes: Buffer, start: number, end: number, path: string): string | undefined {
  const span = findPath(bytes, start, end, path);
  return span && decodeStringToken(bytes, span.start, span.end);
}

function unknownType(where: string, bytes: Buffer, start: number, end: number): KubeloomError {
  const type = decodeStringContent(bytes, start, end) ?? '?';
  return new KubeloomError(
    'ERR_KUBELOOM_UNKNOWN_EVENT_TYPE',
    `${where}: the server sent an event of the unknown type ${JSON.stringify(type.slice(0, 100))}, which was skipped`,
  );
}
