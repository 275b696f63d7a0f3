/**
 * WATCH: a position in the history of a resource and a connection to the client. When events are committed, or the
 * socket has room again, it writes all events after the position, many in a chunk. There is no queue per watcher: a
 * slow client falls behind in the shared history. It is disconnected when it is further behind than allowed. (A real
 * apiserver does the same when its per-watcher buffer is full.)
 */

import type { Collection } from '../store/event-log.ts';
import type { FaultStream } from '../faults/fault-stream.ts';
import type { ChangeType, LogEvent } from '../store/history.ts';
import { apiVersionOf } from '../store/resources.ts';
import type { Selection } from './selection.ts';
import { expired } from '../store/status.ts';
import { StoredObject, withoutManagedFields } from '../store/stored-object.ts';
import { tableOf } from '../tables/table.ts';
import type { Representation } from '../wire/http-io.ts';

export interface WatchPlan {
  readonly collection: Collection;
  readonly selection: Selection;
  /** Objects to send first; `fromRevision` is their revision. */
  readonly initial: readonly StoredObject[];
  /** The events after this revision are sent. */
  readonly fromRevision: number;
  readonly endBookmark: boolean;
  readonly allowBookmarks: boolean;
  readonly representation: Representation;
  readonly backlogEventsMax: number;
  /** Revision after which events are not visible yet; undefined without such a limit. */
  readonly horizon?: (() => number) | undefined;
}

const BATCH_BYTES = 256 * 1024;
/** Size of the buffer for few events: all watches write in the same turn, and each needs a separate buffer. */
const SMALL_BATCH_BYTES = 16 * 1024;
/** Bytes of buffers of each size that are kept for reuse. */
const FREE_BYTES_MAX = 4 * 1024 * 1024;
const FEW_EVENTS = 4;

type State =
  | { readonly kind: 'initial'; readonly next: number }
  | { readonly kind: 'live' }
  | { readonly kind: 'closed' };

const BOOKMARK = Buffer.from('{"type":"BOOKMARK","object":');
const CLOSING = Buffer.from('}\n');
const OPENING: Readonly<Record<ChangeType, Buffer>> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
};

export class Watch {
  readonly #plan: WatchPlan;
  readonly #stream: FaultStream;
  readonly #onClosed: () => void;
  readonly #unsubscribe: () => void;
  #state: State = { kind: 'initial', next: 0 };
  #position: number;
  #blocked = false;
  #hasColumns = false;

  /** @param onClosed called when the watch ended for any reason; the client may still have to read written bytes */
  constructor(plan: WatchPlan, stream: FaultStream, onClosed: () => void) {
    this.#plan = plan;
    this.#stream = stream;
    this.#onClosed = onClosed;
    this.#position = plan.collection.history.after(plan.fromRevision);
    this.#unsubscribe = plan.collection.onCommit(() => this.pump());
  }

  /** Number of events that are not sent to this client yet. */
  get backlog(): number {
    return this.#plan.collection.history.end - this.#position;
  }

  /** Continues after a write that returned false: the client caught up. */
  drained(): void {
    this.#blocked = false;
    this.pump();
  }

  /** Writes until all events are sent, or the client must catch up. */
  pump(): void {
    while (this.#state.kind !== 'closed') {
      if (
        this.backlog > this.#plan.backlogEventsMax ||
        this.#position < this.#plan.collection.history.first
      ) {
        this.close();
        return;
      }
      if (this.#blocked) return;
      if (this.#caughtUp()) return;
      const isSmall = this.#state.kind === 'live' && this.backlog <= FEW_EVENTS;
      const batch = new Batch(isSmall ? SMALL_BATCH_BYTES : BATCH_BYTES);
      if (this.#state.kind === 'initial') this.#takeInitial(batch, this.#state.next);
      else this.#takeEvents(batch);
      this.#write(batch);
    }
  }

  /** Sends the client a bookmark if all events so far are sent. */
  bookmark(revision: number): void {
    if (!this.#plan.allowBookmarks || this.#state.kind !== 'live' || this.#blocked) return;
    this.pump();
    const known = Math.min(revision, this.#plan.horizon?.() ?? revision);
    // The client of a watch from the future received more than this server holds: a bookmark would take it back.
    if (known < this.#plan.fromRevision) return;
    if (!this.#blocked && this.#caughtUp()) this.#writeLine(this.#bookmarkLine(known, false));
  }

  /** Sends the 410 that arrives inside a stream. */
  expire(): void {
    if (this.#state.kind === 'closed') return;
    const { status } = expired('The resourceVersion for the provided watch is too old.');
    this.#writeLine(Buffer.from(`{"type":"ERROR","object":${JSON.stringify(status)}}\n`));
    this.close();
  }

  /** Ends the stream as an ordinary timeout does. */
  close(): void {
    if (this.#state.kind === 'closed') return;
    this.detach();
    this.#stream.end();
  }

  /** Stops writing, because the connection is closed or about to be cut. */
  detach(): void {
    if (this.#state.kind === 'closed') return;
    this.#state = { kind: 'closed' };
    this.#unsubscribe();
    this.#onClosed();
  }

  #caughtUp(): boolean {
    if (this.#state.kind !== 'live') return false;
    const next = this.#plan.collection.history.at(this.#position);
    return next === undefined || !this.#isKnown(next);
  }

  #isKnown({ revision }: LogEvent): boolean {
    const { horizon } = this.#plan;
    return horizon === undefined || revision <= horizon();
  }

  #writeLine(line: Buffer): void {
    const batch = new Batch(SMALL_BATCH_BYTES);
    batch.add(line);
    this.#write(batch);
  }

  #write(batch: Batch): void {
    if (batch.empty) batch.release();
    else if (!this.#stream.write(batch.bytes(), () => batch.release())) this.#blocked = true;
  }

  #takeInitial(batch: Batch, from: number): void {
    const { initial, endBookmark, fromRevision } = this.#plan;
    let next = from;
    for (let object = initial[next]; object !== undefined && !batch.full; object = initial[++next]) {
      this.#append(batch, 'ADDED', object);
    }
    if (next < initial.length) {
      this.#state = { kind: 'initial', next };
      return;
    }
    if (endBookmark) batch.add(this.#bookmarkLine(fromRevision, true));
    this.#state = { kind: 'live' };
  }

  #takeEvents(batch: Batch): void {
    const { history } = this.#plan.collection;
    while (!batch.full) {
      const event = history.at(this.#position);
      if (event === undefined || !this.#isKnown(event)) return;
      this.#position++;
      if (event.revision > this.#plan.fromRevision) this.#appendEvent(batch, event);
    }
  }

  /** Sends ADDED for an object that begins to match the selector, and DELETED for an object that ceases to match. */
  #appendEvent(batch: Batch, event: LogEvent): void {
    const { selection } = this.#plan;
    const before = event.previous !== undefined && selection.matches(event.previous);
    const after = event.type !== 'DELETED' && selection.matches(event.object);
    if (after) {
      this.#append(batch, before ? 'MODIFIED' : 'ADDED', event.object);
    } else if (before) {
      // The last matching state, with the revision of the event.
      this.#append(batch, 'DELETED', event.previous.withRevision(event.revision));
    }
  }

  #append(batch: Batch, type: ChangeType, object: StoredObject): void {
    batch.add(OPENING[type]);
    const { isPartial, dropsManagedFields, includeObject } = this.#plan.representation;
    if (includeObject !== undefined) batch.add(this.#table(object));
    else if (dropsManagedFields) {
      batch.add(withoutManagedFields(isPartial ? object.metadataOnly() : [object.toBuffer()]));
    } else if (isPartial) for (const piece of object.metadataOnly()) batch.add(piece);
    else batch.addObject(object);
    batch.add(CLOSING);
  }

  /** Returns the object as a Table, which contains the columns in the first event of the watch. */
  #table(object: StoredObject): Buffer {
    const { collection, representation } = this.#plan;
    const isFirst = !this.#hasColumns;
    this.#hasColumns = true;
    return tableOf(collection.definition, object, representation, isFirst);
  }

  #bookmarkLine(revision: number, endOfInitialEvents: boolean): Buffer {
    const { definition } = this.#plan.collection;
    const metadata = {
      resourceVersion: String(revision),
      ...(endOfInitialEvents ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
    };
    const { isPartial, includeObject } = this.#plan.representation;
    if (includeObject !== undefined) {
      const object = StoredObject.encode(definition, { metadata }, revision);
      return Buffer.concat([BOOKMARK, this.#table(object), CLOSING]);
    }
    const type = isPartial
      ? { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' }
      : { kind: definition.kind, apiVersion: apiVersionOf(definition) };
    return Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object: { ...type, metadata } })}\n`);
  }
}

/** Buffers that sockets have released, by their size; shared by all watches of the thread. */
const free = new Map<number, Buffer[]>([
  [SMALL_BATCH_BYTES, []],
  [BATCH_BYTES, []],
]);

function bufferOf(bytes: number): Buffer {
  return free.get(bytes)?.pop() ?? Buffer.allocUnsafeSlow(bytes);
}

/**
 * The bytes of a write of a watch. Events are copied in sequence into a buffer, which is reused after the socket took
 * it. At high rates fresh memory for every write would cost more than the copying.
 */
class Batch {
  #buffer: Buffer;
  #length = 0;

  constructor(bytes: number) {
    this.#buffer = bufferOf(bytes);
  }

  get empty(): boolean {
    return this.#length === 0;
  }

  /** True when the bytes are enough for a write. */
  get full(): boolean {
    return this.#length >= BATCH_BYTES / 2;
  }

  add(bytes: Buffer): void {
    this.#reserve(bytes.length);
    this.#length += bytes.copy(this.#buffer, this.#length);
  }

  addObject(object: StoredObject): void {
    this.#reserve(object.length);
    object.copyTo(this.#buffer, this.#length);
    this.#length += object.length;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Returns the buffer for reuse: the bytes are written, or never will be. */
  release(): void {
    const kept = free.get(this.#buffer.length);
    if (kept !== undefined && kept.length * this.#buffer.length < FREE_BYTES_MAX) kept.push(this.#buffer);
  }

  /** Replaces the buffer by a larger buffer if the object does not fit. */
  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = bufferOf(needed <= BATCH_BYTES ? BATCH_BYTES : needed + BATCH_BYTES);
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.release();
    this.#buffer = larger;
  }
}
