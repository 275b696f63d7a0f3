/** Records what informers do. It uses public API only, so any run can be recorded. */
import type { SharedIndexInformer } from '../../../src/index.ts';
import type { CachedObject, HandlerRegistration } from '../../../src/index.ts';
import { emptyHistories } from './histories.ts';
import type { FaultRecord, Histories, SnapshotObject } from './histories.ts';
import { RecordedHandler } from './recorded-handler.ts';
import { bodyHash } from './body-hash.ts';
import type { HandlerRecording, InformerRecording, Notebook, RecordedInformer } from './recording.ts';

/** A fault in progress: records that it has struck, and that it has ended. */
export interface OpenFault {
  landed(): void;
  healed(): void;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class Recorder implements Notebook {
  readonly histories: Histories = emptyHistories();
  readonly now: () => number;
  readonly #informers = new Map<SharedIndexInformer, RecordedInformer>();
  readonly #unsynced = new Map<string, HandlerRegistration>();

  /** @param now one clock for the whole run, in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  /** Records an informer; call it before its handlers are added. */
  informer(informer: SharedIndexInformer, recording: InformerRecording = {}): void {
    const { name = informer.name, scope = {}, indices = {}, hasBodies = true } = recording;
    this.#informers.set(informer, { informer, name, scope, indices, hasBodies });
    this.histories.scopes[name] = scope;
  }

  /** Registers a handler that records its notifications and then calls `react`. */
  handler(
    informer: SharedIndexInformer,
    name: string,
    recording: HandlerRecording = {},
  ): HandlerRegistration {
    const recorded = this.#of(informer);
    const { resyncPeriodMs } = recording;
    this.histories.told.push({
      kind: 'registered',
      handler: name,
      informer: recorded.name,
      at: this.now(),
      revision: Number(informer.lastSyncResourceVersion()),
    });
    const handler = new RecordedHandler(this, recorded, name, recording);
    const options = resyncPeriodMs === undefined ? { name } : { name, resyncPeriodMs };
    const registration = informer.addEventHandler(handler, options);
    this.#unsynced.set(name, registration);
    return registration;
  }

  removed(handler: string): void {
    this.#unsynced.delete(handler);
    this.histories.told.push({ kind: 'removed', handler, at: this.now() });
  }

  /** Records which handlers have synced; handlers call it before every notification. */
  look(): void {
    for (const [handler, registration] of this.#unsynced) {
      if (!registration.hasSynced()) continue;
      this.#unsynced.delete(handler);
      this.histories.told.push({ kind: 'synced', handler, at: this.now() });
    }
  }

  /** Records the present cache. */
  snapshot(informer: SharedIndexInformer, isFinal: boolean = false): void {
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

  /** Listener for `onError`, and for warnings. */
  readonly report = (error: Error): void => {
    const code = 'code' in error ? String(error.code) : error.name;
    this.histories.reports.push({ at: this.now(), code, message: error.message });
  };

  /** @param codes one of these must be reported after the strike; none: no report is required */
  fault(id: string, kind: string, codes: readonly string[] = []): OpenFault {
    const record: Mutable<FaultRecord> = { id, kind, at: this.now(), codes };
    this.histories.faults.push(record);
    return {
      landed: () => (record.landedAt ??= this.now()),
      healed: () => (record.healedAt = this.now()),
    };
  }

  gauge(name: string, value: number, bound: number): void {
    this.histories.gauges.push({ at: this.now(), name, value, bound });
  }

  #of(informer: SharedIndexInformer): RecordedInformer {
    const recorded = this.#informers.get(informer);
    if (!recorded) throw new RangeError(`record the informer ${informer.name} first`);
    return recorded;
  }
}

function bodyOf(entry: CachedObject<unknown>): { hash?: string } {
  try {
    return { hash: bodyHash(entry.bytes().toString()) };
  } catch {
    // Only the identity of the object is kept.
    return {};
  }
}
