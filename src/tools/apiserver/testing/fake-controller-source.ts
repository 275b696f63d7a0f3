/**
 * A collection that a test writes and that informers list and watch without a server: client-go's FakeControllerSource.
 * A change can be hidden from open watches, as if a connection had lost it. Watches can be reset, which drops their
 * position and makes their clients list again. Objects are copied in and out. Lists are in key order, events in the
 * order of the changes, and the resourceVersion counts the changes.
 */
import { flag, text, checkOptions } from '../../../base/option-checks.ts';
import type { OptionChecks } from '../../../base/option-checks.ts';
import type {
  KubeList,
  ListOptions,
  ListerWatcher,
  Watch,
  WatchEvent,
} from '../../../kube/lister-watcher.ts';
import { onAbort } from '../../../base/on-abort.ts';
import { statusError } from '../../../kube/status.ts';
import type { KubeStatusError } from '../../../kube/status.ts';

/** An object of a source: anything with a name. */
export interface FakeObject {
  /** Namespace and name are the key. The source overwrites `resourceVersion` in the copies that it keeps. */
  readonly metadata?: {
    readonly namespace?: string | undefined;
    readonly name?: string | undefined;
    readonly resourceVersion?: string | undefined;
  };
}

/** Options of a scripted source. */
export interface FakeControllerSourceOptions {
  /** The kind of lists; items keep their kind. */
  readonly kind?: string;
  /** The apiVersion of lists. Default `v1`. */
  readonly apiVersion?: string;
  /** Serves streaming lists (`sendInitialEvents`). Default false, as in client-go. */
  readonly watchList?: boolean;
}

const CHECKS: OptionChecks<FakeControllerSourceOptions> = { kind: text, apiVersion: text, watchList: flag };

/** A call of `list` or `watch`. */
export interface FakeRequest {
  /** The called function. */
  readonly verb: 'list' | 'watch';
  /** The options of the call, as the informer passed them. */
  readonly options: ListOptions;
}

type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

interface Change<T> {
  readonly type: ChangeType;
  readonly version: number;
  readonly object: T;
}

/** An open watch of a source: a queue of events that either side can end. */
export class FakeWatch<T> implements Watch<T> {
  /** The version up to which this watch holds all events. */
  position: number;
  readonly #onStop: () => void;
  readonly #events: WatchEvent<T>[] = [];
  #isOver = false;
  #wake: (() => void) | undefined;

  constructor(position: number, onStop: () => void) {
    this.position = position;
    this.#onStop = onStop;
  }

  send(event: WatchEvent<T>): void {
    if (this.#isOver) return;
    this.#events.push(event);
    this.#look();
  }

  /** Ends the watch from the server's side: events that were already sent are still read. */
  end(): void {
    this.#isOver = true;
    this.#look();
  }

  stop(): void {
    this.#events.length = 0;
    this.end();
    this.#onStop();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent<T>, void, void> {
    try {
      for (;;) {
        const event = this.#events.shift();
        if (event) {
          yield event;
        } else if (this.#isOver) {
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      // A consumer that leaves the loop closes the watch, as over HTTP.
      this.stop();
    }
  }

  #look(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

/** A scripted source of lists and watches for tests of informers. */
export class FakeControllerSource<T extends FakeObject = FakeObject> implements ListerWatcher<T> {
  /** Whether informers must not try streaming lists: true unless the option `watchList` is true. */
  readonly isWatchListUnsupported: boolean;
  /** The requests, oldest first. */
  readonly requests: FakeRequest[] = [];
  /** Error that every `list` throws while it is set. */
  listError: Error | undefined;
  /** Error that every `watch` throws while it is set. */
  watchError: Error | undefined;
  readonly #head: { readonly kind: string; readonly apiVersion: string };
  readonly #items: Map<string, T> = new Map();
  #changes: Change<T>[] = [];
  #version = 0;
  /** Changes up to this version are forgotten. */
  #floor = 0;
  /** The last version sent to watches, or found by their next list. */
  #sent = 0;
  readonly #watches: Set<FakeWatch<T>> = new Set();

  constructor(options: FakeControllerSourceOptions = {}) {
    checkOptions('options of a FakeControllerSource', options, CHECKS);
    this.#head = { kind: options.kind ?? 'List', apiVersion: options.apiVersion ?? 'v1' };
    this.isWatchListUnsupported = options.watchList !== true;
  }

  /** Stores the object, also over an object of the same key, and sends `ADDED` to open watches. */
  add(object: T): void {
    this.#change('ADDED', object, true);
  }

  /** Stores the object, also under a new key, and sends `MODIFIED` to open watches. */
  modify(object: T): void {
    this.#change('MODIFIED', object, true);
  }

  /** Deletes the object. Watches receive it as given here, not as it was stored. */
  delete(object: T): void {
    this.#change('DELETED', object, true);
  }

  /** Adds an object like `add`, but open watches do not receive the event. */
  addDropWatch(object: T): void {
    this.#change('ADDED', object, false);
  }

  /** Stores an object like `modify`, but open watches do not receive the event. */
  modifyDropWatch(object: T): void {
    this.#change('MODIFIED', object, false);
  }

  /** Deletes an object like `delete`, but open watches do not receive the event. */
  deleteDropWatch(object: T): void {
    this.#change('DELETED', object, false);
  }

  /** Ends all watches and forgets the changes so far: a watch from an earlier version gets a 410. */
  resetWatch(): void {
    this.#changes = [];
    this.#floor = this.#version;
    this.#sent = this.#version;
    this.endWatches();
  }

  /** Ends all watches as by a server's timeout: clients can resume. */
  endWatches(): void {
    for (const watch of this.#watches) watch.end();
    this.#watches.clear();
  }

  /** Sends every open watch a bookmark. @returns the version of the bookmark */
  sendBookmarks(): string {
    for (const watch of this.#watches) watch.send(this.#bookmark(watch.position));
    return String(this.#sent);
  }

  /** Version of the last change. */
  get resourceVersion(): string {
    return String(this.#version);
  }

  /** Number of open watches. */
  get openWatches(): number {
    return this.#watches.size;
  }

  /** Returns copies of the current objects, in key order. */
  items(): T[] {
    return [...this.#items].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => structuredClone(object));
  }

  // Async, so that every caller receives a thrown error as a rejection.
  /** Returns copies of all objects in a single page; selectors and limits have no effect. @throws `listError` */
  async list(options: ListOptions, signal?: AbortSignal): Promise<KubeList<T>> {
    signal?.throwIfAborted();
    this.requests.push({ verb: 'list', options });
    if (this.listError) throw this.listError;
    return { ...this.#head, metadata: { resourceVersion: this.resourceVersion }, items: this.items() };
  }

  /**
   * Opens a watch: events after `resourceVersion`; without it, or with `sendInitialEvents`, first the present objects.
   * Selectors have no effect. Rejects with 410 after `resetWatch` dropped the version, and with 504 for a version that
   * no change reached.
   *
   * @throws `watchError`
   */
  async watch(options: ListOptions, signal?: AbortSignal): Promise<Watch<T>> {
    signal?.throwIfAborted();
    this.requests.push({ verb: 'watch', options });
    if (this.watchError) throw this.watchError;
    const { resourceVersion = '', sendInitialEvents = false } = options;
    const beginsWithState = sendInitialEvents || resourceVersion === '';
    const from = beginsWithState ? this.#version : Number(resourceVersion);
    if (from < this.#floor)
      throw refused(410, 'Expired', `too old resource version: ${from} (${this.#floor})`);
    if (from > this.#version) {
      const why = `Too large resource version: ${from}, current: ${this.#version}`;
      throw refused(504, 'Timeout', why);
    }
    const unlisten = signal ? onAbort(signal, () => watch.stop()) : (): void => {};
    const watch: FakeWatch<T> = new FakeWatch(this.#version, () => {
      this.#watches.delete(watch);
      unlisten();
    });
    if (beginsWithState) for (const object of this.items()) watch.send({ type: 'ADDED', object });
    if (sendInitialEvents) watch.send(this.#bookmark(from, { 'k8s.io/initial-events-end': 'true' }));
    // Here 0 is the beginning, not "any state": every later event follows in order.
    if (resourceVersion === '0' && !sendInitialEvents) watch.send(this.#bookmark(0));
    // Includes the hidden changes: a new connection receives every remembered change.
    for (const change of this.#changes) if (change.version > from) watch.send(eventOf(change));
    this.#watches.add(watch);
    return watch;
  }

  #change(type: ChangeType, given: T, isSent: boolean): void {
    const version = ++this.#version;
    const copy = structuredClone(given);
    const object: T = { ...copy, metadata: { ...copy.metadata, resourceVersion: String(version) } };
    const key = keyOf(object);
    if (type === 'DELETED') this.#items.delete(key);
    else this.#items.set(key, object);
    const change = { type, version, object };
    this.#changes.push(change);
    if (!isSent) return;
    this.#sent = version;
    for (const watch of this.#watches) {
      watch.send(eventOf(change));
      watch.position = version;
    }
  }

  #bookmark(version: number, annotations?: Readonly<Record<string, string>>): WatchEvent<T> {
    const metadata = { resourceVersion: String(version), ...(annotations ? { annotations } : {}) };
    return { type: 'BOOKMARK', object: { metadata } };
  }
}

function eventOf<T>({ type, object }: Change<T>): WatchEvent<T> {
  return { type, object: structuredClone(object) };
}

function keyOf({ metadata }: FakeObject): string {
  const { namespace = '', name = '' } = metadata ?? {};
  return namespace === '' ? name : `${namespace}/${name}`;
}

function refused(code: number, reason: string, message: string): KubeStatusError {
  const status = JSON.stringify({ kind: 'Status', reason, message, code });
  return statusError(code, status, undefined, 'WATCH of the fake source');
}
