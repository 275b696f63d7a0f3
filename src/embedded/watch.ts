/**
 * WATCH: a position in the history of one resource and a way to the client. Whenever events were committed, or the
 * socket has room again, it writes what lies between its position and the end, many events in one chunk.
 *
 * There is no queue per watcher: a slow client only falls behind in the shared history, and is cut off when it is
 * further behind than allowed (a real apiserver does the same when its per-watcher buffer is full).
 */

import type { Collection } from './collection.ts';
import type { ChangeType, LogEvent } from './history.ts';
import { apiVersionOf } from './resources.ts';
import type { Selection } from './selection.ts';
import { expired } from './status.ts';
import type { Status } from './status.ts';
import type { StoredObject } from './stored-object.ts';

/** The client's end: HTTP here, an array in tests. */
export interface WatchSink {
  /** False when the client should be given time; `onDrain` is called when it has caught up. */
  write(chunk: Buffer): boolean;
  onDrain(callback: () => void): void;
  end(): void;
}

export interface WatchPlan {
  readonly collection: Collection;
  readonly selection: Selection;
  /** Objects to announce first, and the revision they are from. */
  readonly initial: readonly StoredObject[];
  /** Events after this revision follow. */
  readonly fromRevision: number;
  readonly endBookmark: boolean;
  readonly allowBookmarks: boolean;
  readonly partial: boolean;
  readonly backlogEventsMax: number;
}

type State =
  | { readonly kind: 'initial'; readonly next: number }
  | { readonly kind: 'live' }
  | { readonly kind: 'closed' };

const WRITE_BYTES_MAX = 256 * 1024;
const CLOSING = Buffer.from('}\n');
const OPENING: Readonly<Record<ChangeType, Buffer>> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
};

export class Watch {
  readonly #plan: WatchPlan;
  readonly #sink: WatchSink;
  readonly #unsubscribe: () => void;
  #state: State = { kind: 'initial', next: 0 };
  #position: number;
  #blocked = false;

  constructor(plan: WatchPlan, sink: WatchSink) {
    this.#plan = plan;
    this.#sink = sink;
    this.#position = plan.collection.history.after(plan.fromRevision);
    this.#unsubscribe = plan.collection.onCommit(() => this.pump());
    sink.onDrain(() => {
      this.#blocked = false;
      this.pump();
    });
  }

  get closed(): boolean {
    return this.#state.kind === 'closed';
  }

  /** Events that this client has not been sent. */
  get backlog(): number {
    return this.#plan.collection.history.end - this.#position;
  }

  /** Writes until there is nothing more or the client has to catch up. */
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
      const pieces: Buffer[] = [];
      if (this.#state.kind === 'initial') this.#takeInitial(pieces, this.#state.next);
      else this.#takeEvents(pieces);
      if (pieces.length > 0) this.#write(pieces);
      else if (this.#caughtUp()) return;
    }
  }

  /** Tells the client how far the server is, when it has seen everything so far. */
  bookmark(revision: number): void {
    if (!this.#plan.allowBookmarks || this.#state.kind !== 'live' || this.#blocked) return;
    this.pump();
    if (!this.#blocked && this.#caughtUp()) this.#write([this.#bookmarkLine(revision, false)]);
  }

  /** The 410 that arrives inside a stream. */
  expire(): void {
    this.fail(expired('The resourceVersion for the provided watch is too old.').status);
  }

  fail(status: Status): void {
    if (this.#state.kind === 'closed') return;
    this.#write([Buffer.from(`{"type":"ERROR","object":${JSON.stringify(status)}}\n`)]);
    this.close();
  }

  /** Ends the stream as an ordinary timeout does. */
  close(): void {
    if (this.#state.kind === 'closed') return;
    this.detach();
    this.#sink.end();
  }

  /** The connection is gone, or about to be cut: nothing more is written. */
  detach(): void {
    this.#state = { kind: 'closed' };
    this.#unsubscribe();
  }

  #caughtUp(): boolean {
    return this.#state.kind === 'live' && this.#position === this.#plan.collection.history.end;
  }

  #write(pieces: Buffer[]): void {
    if (!this.#sink.write(Buffer.concat(pieces))) this.#blocked = true;
  }

  #takeInitial(pieces: Buffer[], from: number): void {
    const { initial, endBookmark, fromRevision } = this.#plan;
    let next = from;
    let bytes = 0;
    for (
      let object = initial[next];
      object !== undefined && bytes < WRITE_BYTES_MAX;
      object = initial[++next]
    ) {
      bytes += this.#append(pieces, 'ADDED', object);
    }
    if (next < initial.length) {
      this.#state = { kind: 'initial', next };
      return;
    }
    if (endBookmark) pieces.push(this.#bookmarkLine(fromRevision, true));
    this.#state = { kind: 'live' };
  }

  #takeEvents(pieces: Buffer[]): void {
    const { history } = this.#plan.collection;
    let bytes = 0;
    while (bytes < WRITE_BYTES_MAX) {
      const event = history.at(this.#position);
      if (event === undefined) return;
      this.#position++;
      if (event.revision > this.#plan.fromRevision) bytes += this.#appendEvent(pieces, event);
    }
  }

  /** An object that begins to match is ADDED for this client, one that ceases to match is DELETED. */
  #appendEvent(pieces: Buffer[], event: LogEvent): number {
    const { selection } = this.#plan;
    const before = event.previous !== undefined && selection.matches(event.previous);
    const after = event.type !== 'DELETED' && selection.matches(event.object);
    if (after) return this.#append(pieces, before ? 'MODIFIED' : 'ADDED', event.object);
    if (!before) return 0;
    // Its last matching state, with the revision of the event.
    const gone = event.type === 'DELETED' ? event.object : event.previous.withRevision(event.revision);
    return this.#append(pieces, 'DELETED', gone);
  }

  #append(pieces: Buffer[], type: ChangeType, object: StoredObject): number {
    pieces.push(OPENING[type]);
    if (this.#plan.partial) pieces.push(...object.metadataOnly());
    else pieces.push(object.bytes);
    pieces.push(CLOSING);
    return object.bytes.length;
  }

  #bookmarkLine(revision: number, endOfInitialEvents: boolean): Buffer {
    const { definition } = this.#plan.collection;
    const metadata = {
      resourceVersion: String(revision),
      ...(endOfInitialEvents ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
    };
    const type = this.#plan.partial
      ? { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' }
      : { kind: definition.kind, apiVersion: apiVersionOf(definition) };
    return Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object: { ...type, metadata } })}\n`);
  }
}
