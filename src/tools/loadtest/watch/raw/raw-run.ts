/**
 * The run of a raw watcher from a list to the next, as received: counts, the last version, and the history as runs of
 * the common events. There is no cache, and only the first watcher that receives an object reads it.
 */
import { decodeStringToken, findPath } from '../../../../kube/json/read.ts';
import type { ItemSink } from '../../../../http/list-items.ts';
import { WatchEventSpans, WatchEventType, scanWatchEvent } from '../../../../http/watch-frames.ts';
import type { FrameSink } from '../../../../http/watch-frames.ts';
import type { SyncResult } from '../../result.ts';
import type { NotificationKind } from '../recording-handler.ts';
import type { OpenSync } from '../watcher.ts';
import { Runs } from './common-events.ts';
import type { CommonEvents } from './common-events.ts';
import type { Deliveries } from './deliveries.ts';

const END_ANNOTATION = 'metadata.annotations.k8s\\.io/initial-events-end';
const RESOURCE_VERSION = 'metadata.resourceVersion';
const KINDS: ReadonlyMap<WatchEventType, NotificationKind> = new Map([
  [WatchEventType.Added, 'ADDED'],
  [WatchEventType.Modified, 'MODIFIED'],
  [WatchEventType.Deleted, 'DELETED'],
]);
/** Space for the scan of a line; watcher processes run a single thread. */
const spans = new WatchEventSpans();

export class RawRun implements FrameSink, ItemSink {
  readonly runs: Runs = new Runs();
  readonly sync: OpenSync;
  /** Objects of the first state. */
  initial = 0;
  added = 0;
  modified = 0;
  deleted = 0;
  bookmarks = 0;
  /** The newest version of a change, a bookmark or the list; NaN before the first version. */
  lastRevision: number = Number.NaN;
  /** True while an ADDED event is an object of the first state. */
  isStreamingList = false;
  /** True if the watcher listed again, so that the rest of the log is not expected. */
  isCutOff = false;
  /** The `code` of the last ERROR event. */
  errorCode: number | undefined;
  /** An answer that no apiserver sends. */
  fault: string | undefined;
  /** Lines of any type. */
  lines = 0;
  /** The time of the bytes that are read now, by `nowUs`. */
  readUs = 0;
  readonly #events: CommonEvents;
  readonly #deliveries: Deliveries;

  constructor(events: CommonEvents, deliveries: Deliveries, cause: SyncResult['cause'], startMs: number) {
    this.#events = events;
    this.#deliveries = deliveries;
    this.sync = { mode: null, cause, startMs, durationMs: null, items: null, bytes: 0 };
  }

  get changes(): number {
    return this.added + this.modified + this.deleted;
  }

  frame(bytes: Buffer, start: number, end: number): boolean {
    this.lines++;
    const { next } = this.runs;
    if (this.#events.isAt(next, this.isStreamingList, bytes, start, end)) this.#take(next);
    else this.#read(bytes, start, end);
    return true;
  }

  oversized(_bytes: Buffer, _start: number, _end: number, totalBytes: number): boolean {
    this.fault ??= `an object of ${totalBytes} bytes`;
    return true;
  }

  unreadable({ message }: Error): void {
    this.fault ??= message;
  }

  item(bytes: Buffer, start: number, end: number): boolean {
    const version = textOf(bytes, start, end, RESOURCE_VERSION) ?? '';
    this.#take(
      this.#events.indexOf({ kind: 'INITIAL', key: keyOf(bytes, start, end), revision: numberOf(version) }),
    );
    return true;
  }

  /** Ends the first state. */
  synced(revision: number, atMs: number): void {
    this.isStreamingList = false;
    this.lastRevision = revision;
    this.sync.durationMs = atMs - this.sync.startMs;
    this.sync.items = this.initial;
  }

  #read(bytes: Buffer, start: number, end: number): void {
    if (!scanWatchEvent(bytes, start, end, spans)) {
      this.fault ??= 'a line that is no event';
      return;
    }
    const { type, objectStart, objectEnd } = spans;
    const version = findPath(bytes, objectStart, objectEnd, RESOURCE_VERSION);
    const revision = version
      ? numberOf(decodeStringToken(bytes, version.start, version.end) ?? '')
      : Number.NaN;
    const kind = KINDS.get(type);
    if (kind === undefined) {
      if (type === WatchEventType.Bookmark) this.#bookmark(bytes, revision);
      else if (type === WatchEventType.Error) this.errorCode = codeOf(bytes);
      return;
    }
    const event = {
      kind: this.isStreamingList ? 'INITIAL' : kind,
      key: keyOf(bytes, objectStart, objectEnd),
      revision,
    } as const;
    const form = version && {
      lengthBytes: end - start,
      versionAt: version.start + 1 - start,
      typeByte: bytes[start + '{"type":"'.length] ?? 0,
    };
    this.#take(this.#events.indexOf(event, form));
  }

  #bookmark(bytes: Buffer, revision: number): void {
    this.bookmarks++;
    const { objectStart, objectEnd } = spans;
    const isEnd = textOf(bytes, objectStart, objectEnd, END_ANNOTATION) === 'true';
    // The owner ends the first state, because it knows the time.
    if (this.isStreamingList && isEnd) this.isStreamingList = false;
    this.lastRevision = revision;
  }

  #take(index: number): void {
    this.runs.add(index);
    const event = this.#events.at(index);
    if (!event) return;
    switch (event.kind) {
      case 'INITIAL':
        this.initial++;
        return;
      case 'ADDED':
        this.added++;
        break;
      case 'MODIFIED':
        this.modified++;
        break;
      default:
        this.deleted++;
    }
    // A repeated event does not move the position back.
    if (!(event.revision < this.lastRevision)) this.lastRevision = event.revision;
    this.#deliveries.add(index, this.readUs);
  }
}

function keyOf(bytes: Buffer, start: number, end: number): string {
  const name = textOf(bytes, start, end, 'metadata.name') ?? '';
  const namespace = textOf(bytes, start, end, 'metadata.namespace') ?? '';
  return namespace === '' ? name : `${namespace}/${name}`;
}

function textOf(bytes: Buffer, start: number, end: number, path: string): string | undefined {
  const span = findPath(bytes, start, end, path);
  return span && decodeStringToken(bytes, span.start, span.end);
}

/** Returns the code of the Status in the last scanned line. */
function codeOf(bytes: Buffer): number {
  const span = findPath(bytes, spans.objectStart, spans.objectEnd, 'code');
  return span ? Number(bytes.toString('latin1', span.start, span.end)) : Number.NaN;
}

function numberOf(version: string): number {
  return version === '' ? Number.NaN : Number(version);
}
