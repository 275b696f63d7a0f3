/** Records what informers do and what their handlers receive. It uses public API only, so any run can be recorded. */
import type {
  Borrowed,
  DeletedFinalStateUnknown,
  HandlerRegistration,
  ResourceEventHandler,
  SharedIndexInformer,
} from '../../../src/index.ts';
import { bodyHash } from './body-hash.ts';
import { emptyHistories } from './histories.ts';
import type { ChangeRecord, Histories, Scope, SnapshotObject } from './histories.ts';
import { scrapedSamples } from './scrape.ts';

/** Index → the values by which it must find an object. */
export type IndexValues = Readonly<Record<string, (entry: Borrowed<unknown>) => readonly string[]>>;

/** An informer of the main thread, or its twin in another thread. */
export type Recordable = Pick<
  SharedIndexInformer,
  'name' | 'lastSyncResourceVersion' | 'addEventHandler' | 'getIndexer'
>;

export interface InformerRecording {
  /** The informer's name in the histories. Default: its own name. */
  readonly name?: string;
  readonly scope?: Scope;
  readonly indices?: IndexValues;
  /** Records bodies, which costs a parse each; without them only versions are compared. Default true. */
  readonly hasBodies?: boolean;
  /** Whether its handlers may receive more than one notification an event: in resyncs, or for events sent twice. */
  readonly mayRepeat?: boolean;
  /** False for a twin in another thread: it counts nothing, and the scraped version is not its own. Default true. */
  readonly hasMetrics?: boolean;
}

interface RecordedInformer extends Required<InformerRecording> {
  readonly informer: Recordable;
}

export interface HandlerRecording {
  /** The handler's own work; its return value or error is the handler's. */
  readonly react?: (change: ChangeRecord) => unknown;
  readonly resyncPeriodMs?: number;
}

export class Recorder {
  readonly histories: Histories = emptyHistories();
  readonly now: () => number;
  readonly #informers = new Map<Recordable, RecordedInformer>();
  readonly #unsynced = new Map<string, HandlerRegistration>();
  /** Names of informers by handler. */
  readonly #informerOf = new Map<string, string>();

  /** @param now one clock for the whole run, in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  /** Records an informer; call it before its handlers are added. */
  informer(informer: Recordable, recording: InformerRecording = {}): void {
    const { name = informer.name, scope = {}, indices = {} } = recording;
    const { hasBodies = true, mayRepeat = false, hasMetrics = true } = recording;
    this.#informers.set(informer, { informer, name, scope, indices, hasBodies, mayRepeat, hasMetrics });
    this.histories.scopes[name] = scope;
  }

  /** Registers a handler that records its notifications and then calls `react`. */
  handler(informer: Recordable, name: string, recording: HandlerRecording = {}): HandlerRegistration {
    const recorded = this.#of(informer);
    const { resyncPeriodMs } = recording;
    this.histories.delivered.push({
      kind: 'registered',
      handler: name,
      informer: recorded.name,
      at: this.now(),
      revision: Number(informer.lastSyncResourceVersion()),
      ...(recorded.mayRepeat || resyncPeriodMs !== undefined ? { mayRepeat: true } : {}),
      ...(recorded.hasMetrics ? {} : { hasMetrics: false }),
    });
    if (recorded.hasMetrics) this.#informerOf.set(name, recorded.name);
    const handler = new RecordedHandler(this, recorded, name, recording);
    const options = resyncPeriodMs === undefined ? { name } : { name, resyncPeriodMs };
    const registration = informer.addEventHandler(handler, options);
    this.#unsynced.set(name, registration);
    return registration;
  }

  removed(handler: string): void {
    this.#unsynced.delete(handler);
    this.histories.delivered.push({ kind: 'removed', handler, at: this.now() });
  }

  /** Records which handlers have synced; handlers call it before every notification. */
  look(): void {
    for (const [handler, registration] of this.#unsynced) {
      if (!registration.hasSynced()) continue;
      this.#unsynced.delete(handler);
      this.histories.delivered.push({ kind: 'synced', handler, at: this.now() });
    }
  }

  /** Records the present cache. */
  snapshot(informer: Recordable, isFinal: boolean = false): void {
    const { name, indices, hasBodies } = this.#of(informer);
    const indexer = informer.getIndexer();
    const valuesOf = Object.entries(indices);
    const objects = indexer.list().map((entry): SnapshotObject => {
      const { key, uid, resourceVersion } = entry;
      const values = Object.fromEntries(valuesOf.map(([index, values]) => [index, values(entry)]));
      const object = { key, uid, revision: Number(resourceVersion), values };
      return hasBodies ? { ...object, ...bodyOf(entry) } : object;
    });
    const found = valuesOf.map(([index]) => {
      const values = indexer.listIndexFuncValues(index);
      return [index, Object.fromEntries(values.map((value) => [value, indexer.indexKeys(index, value)]))];
    });
    this.histories.snapshots.push({
      informer: name,
      at: this.now(),
      revision: Number(informer.lastSyncResourceVersion()),
      objects,
      indices: Object.fromEntries(found) as Record<string, Record<string, string[]>>,
      isFinal,
    });
  }

  /** Records the metrics of the informers that have handlers. */
  scrape(isFinal: boolean = false): void {
    const { wire, applied, delivered, reports, scrapes } = this.histories;
    const counted = [...this.#informers.values()].filter(({ hasMetrics }) => hasMetrics);
    const revisions = counted.map(({ informer, name }): [string, number] => {
      return [name, Number(informer.lastSyncResourceVersion())];
    });
    scrapes.push({
      at: this.now(),
      before: {
        wire: wire.length,
        applied: applied.length,
        delivered: delivered.length,
        reports: reports.length,
      },
      revisions: Object.fromEntries(revisions),
      samples: scrapedSamples(this.#informerOf),
      isFinal,
    });
  }

  /** Adds the record of a call that threw or rejected. */
  failed(handler: string): void {
    this.histories.delivered.push({ kind: 'failed', handler, at: this.now() });
  }

  /** Listener for `onError`, and for warnings. */
  readonly report = (error: Error): void => {
    const code = 'code' in error ? String(error.code) : error.name;
    this.histories.reports.push({ at: this.now(), code, message: error.message });
  };

  #of(informer: Recordable): RecordedInformer {
    const recorded = this.#informers.get(informer);
    if (!recorded) throw new RangeError(`record the informer ${informer.name} first`);
    return recorded;
  }
}

function bodyOf(entry: Borrowed<unknown>): { hash?: string } {
  try {
    return { hash: bodyHash(entry.bytes().toString()) };
  } catch {
    // Only the identity of the object is kept.
    return {};
  }
}

type Deleted = Borrowed<unknown> | DeletedFinalStateUnknown<unknown>;

/** A handler that records its notifications, and the cache and its indexes at that moment. */
class RecordedHandler implements ResourceEventHandler<unknown> {
  readonly #recorder: Recorder;
  readonly #recorded: RecordedInformer;
  readonly #name: string;
  readonly #react: (change: ChangeRecord) => unknown;

  constructor(recorder: Recorder, recorded: RecordedInformer, name: string, recording: HandlerRecording) {
    this.#recorder = recorder;
    this.#recorded = recorded;
    this.#name = name;
    this.#react = recording.react ?? ((): undefined => undefined);
  }

  onAdd(added: Borrowed<unknown>, isInInitialList: boolean): unknown {
    return this.#record({ kind: 'add', isInInitialList, ...this.#seen(added) });
  }

  onUpdate(previous: Borrowed<unknown>, current: Borrowed<unknown>): unknown {
    const oldRevision = Number(previous.resourceVersion);
    return this.#record({ kind: 'update', oldRevision, ...this.#seen(current) });
  }

  onDelete(deleted: Deleted): unknown {
    const { finalStateUnknown } = deleted;
    const last = deleted.finalStateUnknown ? deleted.last : deleted;
    return this.#record({ kind: 'delete', finalStateUnknown, ...this.#seen(last) });
  }

  #record(change: ChangeRecord): unknown {
    // Whether the handler had synced before this call is visible only before it.
    this.#recorder.look();
    this.#recorder.histories.delivered.push(change);
    try {
      const result = this.#react(change);
      if (result instanceof Promise) result.catch(() => this.#recorder.failed(this.#name));
      return result;
    } catch (error) {
      this.#recorder.failed(this.#name);
      throw error;
    }
  }

  #seen(entry: Borrowed<unknown>): Omit<ChangeRecord, 'kind'> {
    const { informer, indices, hasBodies } = this.#recorded;
    const indexer = informer.getIndexer();
    const cached = indexer.getByKey(entry.key);
    const names = Object.entries(indices);
    const isIndexed = names.every(([index, valuesOf]) => {
      // A cached object must be in the index; an uncached one must not be at its former place.
      const values = valuesOf(cached ?? entry);
      return values.every(
        (value) => indexer.indexKeys(index, value).includes(entry.key) === (cached !== undefined),
      );
    });
    return {
      handler: this.#name,
      at: this.#recorder.now(),
      key: entry.key,
      revision: Number(entry.resourceVersion),
      uid: entry.uid,
      cached: cached === undefined ? null : Number(cached.resourceVersion),
      isIndexed,
      ...(hasBodies ? bodies(entry) : {}),
    };
  }
}

/** Returns nothing for an object of which only the identity is kept: it is delivered all the same. */
function bodies(entry: Borrowed<unknown>): { hash?: string; objectHash?: string } {
  const { hash } = bodyOf(entry);
  return hash === undefined ? {} : { hash, objectHash: objectHashOf(entry) };
}

/** An object whose bytes are there must be readable: no server of the simulation writes one that is refused. */
function objectHashOf(entry: Borrowed<unknown>): string {
  try {
    return bodyHash(JSON.stringify(readByAllDoors(entry)));
  } catch (error) {
    return `refused: ${String(error)}`;
  }
}

/** Returns the object, with metadata and labels read through `entry.metadata` and `entry.labels`. */
function readByAllDoors(entry: Borrowed<unknown>): unknown {
  const metadata = entry.metadata as object;
  const object = entry.object as { readonly metadata: { readonly managedFields?: unknown } };
  const { managedFields } = object.metadata;
  return {
    ...object,
    metadata: {
      ...metadata,
      ...('labels' in metadata ? { labels: entry.labels } : {}),
      ...(managedFields === undefined ? {} : { managedFields }),
    },
  };
}
