/**
 * The load generator, inside the server's thread. It writes events at a fixed rate, open loop: every millisecond it
 * issues the events that are due, and catches up when the thread was busy. The report states the exact number of issued
 * events. With rate `max` it writes as fast as the slowest watch reads. An update copies the object's bytes with a new
 * resourceVersion and time stamp, without serialising the object.
 */

import { realTimers } from '../../../base/clock.ts';
import type { Collection, EventLog } from '../store/event-log.ts';
import type { KubeObject, ObjectMeta } from '../store/json.ts';
import { LoadTemplate } from './load-template.ts';
import { seededRandom } from '../../../base/random.ts';
import { samplePod } from './sample-pod.ts';
import { StoredObject } from '../store/stored-object.ts';

export interface PopulateOptions {
  /** Default pods. Objects of other resources have only metadata and padding. */
  readonly resource?: string;
  /** Number of objects to create. */
  readonly count: number;
  /** Default 1,024. */
  readonly objectBytes?: number;
  /** Number of namespaces of the objects: `team-0`, `team-1`, … Default 10. */
  readonly namespaces?: number;
  /** Number of the first object. Default 0. */
  readonly firstIndex?: number;
}

/** Rate, duration and mix of a load. */
export interface LoadOptions {
  /** Resource of the changed objects. Default pods. */
  readonly resource?: string;
  /** Events per second, or as fast as the watches follow. */
  readonly rate: number | 'max';
  /** Duration of the load. A load with a rate may take 50 ms more to catch up. */
  readonly durationMs: number;
  /** Ends the load early, after this many events. */
  readonly eventsMax?: number;
  /** Proportions of the kinds of events. Default: only updates. */
  readonly mix?: { readonly update?: number; readonly create?: number; readonly delete?: number };
  /** Size of created objects. Default 1,024. */
  readonly objectBytes?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** Changes that a load sent. */
export interface LoadReport {
  /** Number of events that the load wrote. */
  readonly issued: number;
  /** rate × duration; for `max` equal to `issued`. */
  readonly intended: number;
  /** Milliseconds from the start to the end of the load. */
  readonly elapsedMs: number;
  /** The longest delay between the due time of an event and its issue. */
  readonly lateMsMax: number;
  /** Revision of the log before the first event of this load. */
  readonly fromRevision: number;
  /** Revision of the log after the last event of this load. */
  readonly toRevision: number;
}

const TICK_MS = 1;
/** Sockets are flushed between slices of this length. */
const SLICE_MS = 4;
/** The longest time for which a late load may catch up at the end. */
const GRACE_MS = 50;
/** With rate `max`, the most events that a watch may be behind. */
const BACKLOG_EVENTS_MAX = 2_000;
export const SAMPLE_NAMESPACES: number = 10;
const OBJECT_BYTES = 1_024;

export function sampleNamespace(index: number, namespaces: number): string {
  return `team-${index % namespaces}`;
}

/** @internal */
export function populate(log: EventLog, collection: Collection, options: PopulateOptions): number {
  const { count, objectBytes = OBJECT_BYTES, namespaces = SAMPLE_NAMESPACES, firstIndex = 0 } = options;
  for (let index = firstIndex; index < firstIndex + count; index++)
    createSample(log, collection, index, namespaces, objectBytes);
  return log.revision;
}

function createSample(
  log: EventLog,
  collection: Collection,
  index: number,
  namespaces: number,
  bytes: number,
): StoredObject {
  const { definition } = collection;
  const namespace = sampleNamespace(index, namespaces);
  const isPod = definition.resource === 'pods';
  const pod = samplePod({ index, namespace, bytes: isPod ? bytes : 0 });
  const object = isPod ? pod : padded(pod.metadata, definition.namespaced, bytes);
  return log.write(collection, (revision) => StoredObject.encode(definition, object, revision));
}

/** Returns an object of another kind with the metadata of a pod. */
function padded(metadata: ObjectMeta, isNamespaced: boolean, bytes: number): KubeObject {
  const { namespace: _, generateName: __, ownerReferences: ___, ...own } = metadata;
  const data = { padding: 'x'.repeat(Math.max(0, bytes - 300)) };
  return { metadata: isNamespaced ? { ...own, namespace: metadata.namespace ?? '' } : own, data };
}

/** @internal */
export class LoadGenerator {
  readonly #log: EventLog;
  readonly #collection: Collection;
  readonly #backlogMax: () => number;
  readonly #options: LoadOptions;
  readonly #random: () => number;
  readonly #keys: string[];
  readonly #templates = new Map<string, LoadTemplate>();
  #nextIndex: number;
  /** Number of events so far. */
  issued = 0;
  #lateMsMax = 0;
  state: 'idle' | 'running' | 'stopping' = 'idle';

  constructor(log: EventLog, collection: Collection, backlogMax: () => number, options: LoadOptions) {
    this.#log = log;
    this.#collection = collection;
    this.#backlogMax = backlogMax;
    this.#options = options;
    this.#random = seededRandom(options.seed ?? 1);
    this.#keys = [...collection.keys()];
    // Beyond the names of populate(), so that created objects are new.
    this.#nextIndex = 1_000_000 + log.revision;
  }

  stop(): void {
    if (this.state === 'running') this.state = 'stopping';
  }

  async run(): Promise<LoadReport> {
    const { rate, durationMs, eventsMax = Number.POSITIVE_INFINITY } = this.#options;
    const fromRevision = this.#log.revision;
    const started = performance.now();
    this.state = 'running';
    const intended = rate === 'max' ? eventsMax : Math.min(eventsMax, Math.round((rate * durationMs) / 1000));
    const isMax = rate === 'max';
    const endMs = isMax ? durationMs : durationMs + GRACE_MS;
    while (this.state === 'running' && this.issued < intended) {
      const elapsed = performance.now() - started;
      if (elapsed >= endMs) break;
      if (isMax) this.#issueUntilBehind(intended);
      const due = isMax ? 0 : Math.floor((Math.min(elapsed, durationMs) * rate) / 1000);
      const caughtUp = !isMax && this.#issueDue(Math.min(intended, due), started, rate);
      await pause(caughtUp);
    }
    this.state = 'idle';
    return {
      issued: this.issued,
      intended: rate === 'max' ? this.issued : intended,
      elapsedMs: performance.now() - started,
      lateMsMax: this.#lateMsMax,
      fromRevision,
      toRevision: this.#log.revision,
    };
  }

  /**
   * Issues events up to `due`; returns false when the slice ended first. Their stamps are the times at which
   * they were due.
   */
  #issueDue(due: number, started: number, rate: number): boolean {
    const sliceEnd = performance.now() + SLICE_MS;
    while (this.issued < due) {
      const now = performance.now();
      if (now > sliceEnd) return false;
      const dueAt = started + (this.issued * 1000) / rate;
      this.#lateMsMax = Math.max(this.#lateMsMax, now - dueAt);
      this.#issueOne(dueAt);
    }
    return true;
  }

  #issueUntilBehind(eventsMax: number): void {
    const room = BACKLOG_EVENTS_MAX - this.#backlogMax();
    const sliceEnd = performance.now() + SLICE_MS;
    for (let count = 0; count < room && this.issued < eventsMax && performance.now() < sliceEnd; count++) {
      this.#issueOne(performance.now());
    }
  }

  #issueOne(dueAt: number): void {
    const { update = 0, create = 0, delete: remove = 0 } = this.#options.mix ?? { update: 1 };
    const choice = this.#random() * (update + create + remove);
    const stampMicros = Math.round((performance.timeOrigin + dueAt) * 1000);
    if (this.#keys.length === 0 || choice < create) this.#create();
    else if (choice < create + remove) this.#delete();
    else this.#update(stampMicros);
    this.issued++;
  }

  #create(): void {
    const { objectBytes = OBJECT_BYTES } = this.#options;
    const index = this.#nextIndex++;
    const stored = createSample(this.#log, this.#collection, index, SAMPLE_NAMESPACES, objectBytes);
    this.#keys.push(stored.identity.key);
  }

  #delete(): void {
    const position = Math.floor(this.#random() * this.#keys.length);
    const key = this.#keys[position] ?? '';
    this.#keys[position] = this.#keys.at(-1) ?? '';
    this.#keys.pop();
    this.#templates.delete(key);
    const stored = this.#collection.get(key);
    // Another writer deleted the object. The load counts events, so it creates an object instead.
    if (stored === undefined) this.#create();
    else this.#log.delete(this.#collection, stored);
  }

  #update(stampMicros: number): void {
    const key = this.#keys[Math.floor(this.#random() * this.#keys.length)] ?? '';
    const stored = this.#collection.get(key);
    if (stored === undefined) {
      this.#create();
      return;
    }
    let template = this.#templates.get(key);
    if (template === undefined || !template.isCurrent(stored)) {
      template = new LoadTemplate(this.#collection.definition, stored);
      this.#templates.set(key, template);
    }
    const current = template;
    this.#log.write(this.#collection, (revision) => current.next(revision, stampMicros));
  }
}

/** Resolves at the next tick, or after a turn of the event loop if there are more events to issue. */
function pause(isIdle: boolean): Promise<void> {
  return new Promise((resolve) => {
    if (isIdle) realTimers.setTimeout(resolve, TICK_MS);
    else realTimers.setImmediate(resolve);
  });
}
