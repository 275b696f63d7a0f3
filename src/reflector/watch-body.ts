/**
 * The body of a watch, or of a streaming list that continues as a watch: lines become deltas and control
 * records. This is the hot path: an ordinary event allocates no memory and takes no step.
 *
 * The position moves only when an event is in the rings. A skipped event (an object without a name or of
 * another kind) does not move it; the next good event moves it past both. Without a good event, the server
 * sends the skipped events again after a reconnect, and they are reported again. Synthetic ADDED events do
 * not move the position either: they come in no order. An event of an unknown type moves it, as in
 * client-go.
 */
import { KubeloomError } from '../base/errors.ts';
import { identityText } from '../base/quotable.ts';
import { decodeStringContent, decodeUtf8 } from '../kube/json/read.ts';
import { hasEscape } from '../kube/json/skip.ts';
import { ActivityCounter } from '../shared/activity.ts';
import { DeltaKind } from '../shared/record/delta.ts';
import type { Query } from '../kube/connection-options.ts';
import { isOlderResourceVersion } from '../kube/resource-version.ts';
import {
  WatchEventSpans,
  WatchEventType,
  WatchFrames,
  scanWatchEvent,
  scanWatchEventHead,
} from '../http/watch-frames.ts';
import type { FrameSink } from '../http/watch-frames.ts';
import type { Body, SessionResponse, ResponseOwner } from './session-response.ts';
import {
  errorEvent,
  malformed,
  noEndBookmark,
  outOfOrder,
  truncated,
  versionTooLong,
  unreadable,
  wentBack,
} from './rules/failure.ts';
import { excerpt, frameBytesMax, textOf } from './object-writer.ts';
import { beginsWithSyntheticEvents } from '../http/queries.ts';
import type { Progress } from './rules/state.ts';
import { InitialEventsDeadline } from '../http/watchdog.ts';

/** The meaning of an ADDED event. */
type Stage =
  /** An item of a streaming list, whose end bookmark is still to come. */
  | 'initial-events'
  /** Possibly synthetic: a watch without a version begins with the current state of the server. */
  | 'synthetic'
  | 'live';

/** The silence after which a server that sends bookmarks counts as dead: it sends a bookmark a minute. */
export const BOOKMARK_SILENCE_MAX_MS = 150_000;

/** Initial size of a position. It grows for longer versions. */
const POSITION_BYTES = 96;

const END_ANNOTATION = 'metadata.annotations.k8s\\.io/initial-events-end';
const RESOURCE_VERSION = 'metadata.resourceVersion';

export class WatchBody implements Body, FrameSink {
  readonly #owner: ResponseOwner;
  readonly #exchange: SessionResponse;
  readonly #where: string;
  readonly #frames: WatchFrames;
  readonly #event: WatchEventSpans = new WatchEventSpans();
  readonly #counts: Float64Array;
  readonly #position: WatchPosition;
  readonly #deadline: InitialEventsDeadline | undefined;
  #stage: Stage;

  /** @param where used in error messages */
  constructor(
    owner: ResponseOwner,
    exchange: SessionResponse,
    where: string,
    query: Query,
    isStreamingList: boolean,
  ) {
    const { objectBytesMax, watchListIdleTimeoutMs } = owner.spec;
    this.#owner = owner;
    this.#exchange = exchange;
    this.#where = where;
    this.#counts = owner.counts;
    this.#frames = new WatchFrames(frameBytesMax(objectBytesMax), owner.writer.lines);
    this.#position = new WatchPosition(query['resourceVersion'] ?? '', owner.clock.now());
    this.#stage = beginsWithSyntheticEvents(query) ? 'synthetic' : 'live';
    if (!isStreamingList) return;
    this.#stage = 'initial-events';
    const missed = (waitedMs: number): void => this.#endMissed(waitedMs);
    this.#deadline = new InitialEventsDeadline(owner.clock, missed, watchListIdleTimeoutMs);
  }

  get progress(): Progress {
    return this.#position.at(this.#owner.clock.now());
  }

  write(chunk: Buffer, start: number): number {
    const { meter } = this.#owner;
    const itemsBefore = meter.items;
    const isInitial = this.#stage === 'initial-events';
    const end = this.#frames.write(chunk, start, this);
    (this.#counts[ActivityCounter.WatchBytes] as number) += end - start;
    if (!isInitial) return end;
    meter.read(end - start);
    if (meter.items > itemsBefore) this.#deadline?.touch();
    if (this.#stage !== 'initial-events') meter.end();
    return end;
  }

  end(error: KubeloomError | undefined): void {
    this.close();
    // An incomplete line is not an event: the server sends it again.
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
    // Effects of an earlier line of this chunk come first; they may have ended this watch.
    if (this.#owner.effects.length > 0 && !this.#owner.flush()) return false;
    if (this.#exchange.isClosed) return true;
    const event = this.#event;
    if (!scanWatchEvent(bytes, start, end, event)) return this.#fail('not a watch event', bytes, start, end);
    const { type } = event;
    // Counted first: the event may end a list or watch, and that counts the events.
    (this.#counts[type] as number)++;
    const isTaken = this.#take(type, bytes);
    if (!isTaken) (this.#counts[type] as number)--;
    return isTaken;
  }

  /** @returns false when there is no room */
  #take(type: WatchEventType, bytes: Buffer): boolean {
    switch (type) {
      case WatchEventType.Added:
        return this.#object(DeltaKind.Added, bytes);
      case WatchEventType.Modified:
        return this.#object(DeltaKind.Modified, bytes);
      case WatchEventType.Deleted:
        return this.#object(DeltaKind.Deleted, bytes);
      case WatchEventType.Bookmark:
        return this.#bookmark(bytes);
      case WatchEventType.Error: {
        const { objectStart, objectEnd } = this.#event;
        const status = bytes.toString('utf8', objectStart, objectEnd);
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
    const event = this.#event;
    const kind = scanWatchEventHead(bytes, start, end, event) ? OBJECT_EVENTS.get(event.type) : undefined;
    if (kind === undefined) {
      return this.#fail(`an event of ${totalBytes} bytes that is not one`, bytes, start, end);
    }
    const written = this.#owner.writer.writeOversized(this.#deltaKind(kind), bytes, event.objectStart, end);
    if (written === 'no-room') return false;
    (this.#counts[event.type] as number)++;
    if (written === 'written') this.#moved(kind, bytes);
    return true;
  }

  unreadable(error: KubeloomError, needsList: boolean): void {
    this.#owner.fail({ ...unreadable(error), kind: needsList ? 'went-back' : 'malformed' });
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

  /**
   * Items of a streaming list become items of a list; changes that arrive between them remain ordinary
   * changes.
   */
  #deltaKind(kind: DeltaKind): DeltaKind {
    return kind === DeltaKind.Added && this.#stage === 'initial-events' ? DeltaKind.Replaced : kind;
  }

  #moved(kind: DeltaKind, bytes: Buffer): void {
    this.#position.events++;
    if (this.#stage !== 'live') {
      // A change of an item of a streaming list is no further item.
      if (this.#stage === 'initial-events' && kind === DeltaKind.Added) this.#owner.meter.items++;
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

  /** @returns true: the line is handled */
  #unknown(bytes: Buffer): true {
    const { typeStart, typeEnd, objectStart, objectEnd } = this.#event;
    this.#owner.report('decode', unknownType(this.#where, bytes, typeStart, typeEnd));
    this.#position.events++;
    if (this.#stage === 'initial-events') return true;
    this.#stage = 'live';
    const resourceVersion = textOf(bytes, objectStart, objectEnd, RESOURCE_VERSION) ?? '';
    if (resourceVersion !== '') this.#position.startAt(resourceVersion);
    return true;
  }

  #bookmark(bytes: Buffer): boolean {
    const { objectStart, objectEnd } = this.#event;
    const resourceVersion = textOf(bytes, objectStart, objectEnd, RESOURCE_VERSION) ?? '';
    if (resourceVersion === '') {
      return this.#fail('a bookmark without a usable resourceVersion', bytes, objectStart, objectEnd);
    }
    const versionBytes = Buffer.byteLength(resourceVersion);
    const { versionBytesMax } = this.#owner.writer;
    if (versionBytes > versionBytesMax) {
      this.#owner.fail(versionTooLong(this.#where, versionBytes, versionBytesMax));
      return true;
    }
    if (this.#stage === 'initial-events') {
      this.#position.events++;
      if (textOf(bytes, objectStart, objectEnd, END_ANNOTATION) === 'true') this.#endInitial(resourceVersion);
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
    this.#owner.writer.shardFilter?.endList();
    this.#position.startAt(resourceVersion);
    this.#owner.dispatch({ type: 'initial-events-end', resourceVersion });
  }

  #endMissed(waitedMs: number): void {
    this.#owner.inbox.offerEvent(this.#owner, () => {
      if (this.#exchange.isClosed || this.#stage !== 'initial-events') return;
      this.#owner.fail(noEndBookmark(this.#where, waitedMs));
    });
  }

  /** @returns true: the line is handled */
  #fail(what: string, bytes: Buffer, start: number, end: number): true {
    this.#owner.fail(malformed(what, this.#where, excerpt(bytes, start, end)));
    return true;
  }
}

/** The progress of a watch, kept without allocating: the resourceVersion as bytes, a count and a start time. */
class WatchPosition {
  events = 0;
  #bytes = Buffer.alloc(POSITION_BYTES);
  #length = 0;
  /**
   * The version up to which the server sent every event: a bookmark said so, or the watch began after
   * it.
   */
  #promised: string;
  readonly #openedAt: number;

  /** @param initial the resourceVersion of the request */
  constructor(initial: string, openedAt: number) {
    this.#promised = initial;
    this.#openedAt = openedAt;
    this.#set(initial);
  }

  /**
   * Moves to this resourceVersion (the content of a JSON string): every event up to it is in the rings. An
   * older version leaves the position: a watch from there would receive every event since a second time.
   *
   * @returns false when it is older than the position
   */
  moveTo(source: Uint8Array, start: number, end: number): boolean {
    if (hasEscape(source, start, end)) return this.#moveToText(decodeStringContent(source, start, end) ?? '');
    const length = end - start;
    if (this.#seemsOlder(source, start, length) && this.#isOlder(Buffer.from(source.subarray(start, end)))) {
      return false;
    }
    this.#reserve(length);
    for (let index = 0; index < length; index++) this.#bytes[index] = source[start + index] ?? 0;
    this.#length = length;
    return true;
  }

  #reserve(length: number): void {
    if (length > this.#bytes.length) this.#bytes = Buffer.alloc(2 * length);
  }

  #moveToText(resourceVersion: string): boolean {
    if (this.isAhead(resourceVersion)) return false;
    this.#set(resourceVersion);
    return true;
  }

  /** Returns whether the position is newer than this resourceVersion. */
  isAhead(resourceVersion: string): boolean {
    return isOlderResourceVersion(resourceVersion, this.#text);
  }

  /** Sets the position, also to an older version. */
  startAt(resourceVersion: string): void {
    this.#promised = resourceVersion;
    this.#set(resourceVersion);
  }

  /** Returns whether an event is older than the version that the request or a bookmark gave. */
  isBeforePromise(resourceVersion: string): boolean {
    return isOlderResourceVersion(resourceVersion, this.#promised);
  }

  at(now: number): Progress {
    return {
      resourceVersion: this.#text,
      events: this.events,
      durationMs: now - this.#openedAt,
    };
  }

  get #text(): string {
    return decodeUtf8(this.#bytes, 0, this.#length);
  }

  #set(resourceVersion: string): void {
    const length = Buffer.byteLength(resourceVersion);
    this.#reserve(length);
    this.#length = this.#bytes.write(resourceVersion);
  }

  /** Compares versions without decoding; exact for decimal numbers. */
  #seemsOlder(source: Uint8Array, start: number, length: number): boolean {
    if (length !== this.#length) return length < this.#length;
    for (let index = 0; index < length; index++) {
      const difference = (source[start + index] ?? 0) - (this.#bytes[index] ?? 0);
      if (difference !== 0) return difference < 0;
    }
    return false;
  }

  #isOlder(source: Buffer): boolean {
    return isOlderResourceVersion(decodeUtf8(source, 0, source.length), this.#text);
  }
}

const OBJECT_EVENTS: ReadonlyMap<WatchEventType, DeltaKind> = new Map([
  [WatchEventType.Added, DeltaKind.Added],
  [WatchEventType.Modified, DeltaKind.Modified],
  [WatchEventType.Deleted, DeltaKind.Deleted],
]);

function unknownType(where: string, bytes: Buffer, start: number, end: number): KubeloomError {
  const type = decodeStringContent(bytes, start, end) ?? '?';
  return new KubeloomError(
    'ERR_KUBELOOM_MALFORMED_EVENT',
    `${where}: the server sent an event of an unknown type, which was skipped: ${identityText({ type })}`,
  );
}
