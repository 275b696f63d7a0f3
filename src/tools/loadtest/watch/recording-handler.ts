/**
 * A handler that records the notifications. A slow handler waits at regular intervals, so that it falls behind but
 * finishes.
 */
import { sleep } from '../../../base/sleep.ts';
import type { Borrowed, DeletedFinalStateUnknown, ResourceEventHandler } from '../../../index.ts';

/** The kind of a notification, named as in the server's log if the log contains such an event. */
export type NotificationKind = 'INITIAL' | 'ADDED' | 'MODIFIED' | 'DELETED' | 'FINAL_STATE_UNKNOWN';

export interface Notification {
  readonly kind: NotificationKind;
  readonly key: string;
  /** NaN when the version was not a number. */
  readonly revision: number;
  /** The revision of the old object of an update; 0 for everything else; NaN when the client does not say. */
  readonly previousRevision: number;
  /** The time of the handler's call, by `nowUs`. */
  readonly calledUs: number;
}

const CLOCK_READINGS = 16;

/**
 * Microseconds from this process's clock to the monotonic clock of the machine. Of several readings, the reading of the
 * shortest duration counts: a pause between reading the two clocks would shift every latency of the process.
 */
const CLOCK_OFFSET_US: number = Array.from({ length: CLOCK_READINGS }, () => {
  const beforeUs = performance.now() * 1000;
  const machineUs = Number(process.hrtime.bigint()) / 1000;
  const afterUs = performance.now() * 1000;
  return { offsetUs: machineUs - (beforeUs + afterUs) / 2, aroundUs: afterUs - beforeUs };
}).reduce((best, one) => (one.aroundUs < best.aroundUs ? one : best)).offsetUs;

/** Reads the monotonic clock of the machine, which all processes share; in microseconds. */
export function nowUs(): number {
  return Math.round(performance.now() * 1000 + CLOCK_OFFSET_US);
}

/**
 * The notifications of a handler, in order, in columns, so that recording millions of notifications costs little
 * compared with the measured work.
 */
export class HandlerHistory {
  readonly #kinds: NotificationKind[] = [];
  // The informer's own strings: a lookup in a map would cost more than all the rest.
  readonly #keys: string[] = [];
  readonly #revisions: number[] = [];
  readonly #previous: number[] = [];
  readonly #calledUs: number[] = [];
  #initial = 0;

  record(kind: NotificationKind, key: string, resourceVersion: string, previousVersion = '0'): void {
    if (kind === 'INITIAL') this.#initial++;
    this.#kinds.push(kind);
    this.#keys.push(key);
    this.#revisions.push(Number(resourceVersion));
    this.#previous.push(Number(previousVersion));
    this.#calledUs.push(nowUs());
  }

  get length(): number {
    return this.#kinds.length;
  }

  /** The number of notifications after the initial list. */
  get changes(): number {
    return this.length - this.#initial;
  }

  /** Changes a second, from the first change to the last. */
  get changesPerSecond(): number {
    const durationUs = (this.#calledUs.at(-1) ?? 0) - (this.#calledUs[this.#initial] ?? 0);
    return (this.changes * 1e6) / Math.max(durationUs, 1);
  }

  *[Symbol.iterator](): Iterator<Notification> {
    for (const [index, kind] of this.#kinds.entries()) {
      yield {
        kind,
        key: this.#keys[index] ?? '',
        revision: this.#revisions[index] ?? Number.NaN,
        previousRevision: this.#previous[index] ?? Number.NaN,
        calledUs: this.#calledUs[index] ?? Number.NaN,
      };
    }
  }
}

export interface Slowness {
  /** The number of notifications between two waits. */
  readonly every: number;
  /** The duration of a wait. */
  readonly waitMs: number;
}

export class RecordingHandler implements ResourceEventHandler<unknown> {
  readonly name: string;
  readonly history: HandlerHistory = new HandlerHistory();
  #slowness: Slowness | undefined;

  constructor(name: string, slowness?: Slowness) {
    this.name = name;
    this.#slowness = slowness;
  }

  /** Makes the handler slow from the next call on; undefined: as fast as possible. */
  setSlowness(slowness: Slowness | undefined): void {
    this.#slowness = slowness;
  }

  onAdd(added: Borrowed<unknown>, isInInitialList: boolean): unknown {
    return this.#record(isInInitialList ? 'INITIAL' : 'ADDED', added.key, added.resourceVersion);
  }

  onUpdate(previous: Borrowed<unknown>, current: Borrowed<unknown>): unknown {
    return this.#record('MODIFIED', current.key, current.resourceVersion, previous.resourceVersion);
  }

  onDelete(deleted: Borrowed<unknown> | DeletedFinalStateUnknown<unknown>): unknown {
    return deleted.finalStateUnknown
      ? this.#record('FINAL_STATE_UNKNOWN', deleted.key, deleted.last.resourceVersion)
      : this.#record('DELETED', deleted.key, deleted.resourceVersion);
  }

  #record(kind: NotificationKind, key: string, version: string, previous?: string): unknown {
    this.history.record(kind, key, version, previous);
    const slowness = this.#slowness;
    return slowness && this.history.length % slowness.every === 0 ? sleep(slowness.waitMs) : undefined;
  }
}
