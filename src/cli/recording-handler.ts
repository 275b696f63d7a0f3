/**
 * The two handlers of the demo: both first record every notification. One of them is slow: it waits at regular
 * intervals, so that it falls behind but finishes.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Borrowed, DeletedFinalStateUnknown, ResourceEventHandler } from '../index.ts';
import { HandlerHistory } from './handler-history.ts';
import type { NotificationKind } from './handler-history.ts';

export interface Slowness {
  /** The number of notifications after which it waits. */
  readonly every: number;
  /** The duration of a wait. */
  readonly waitMs: number;
}

interface Waiter {
  readonly changes: number;
  readonly resolve: () => void;
}

export class RecordingHandler implements ResourceEventHandler<unknown> {
  readonly name: string;
  readonly history: HandlerHistory = new HandlerHistory();
  readonly #slowness: Slowness | undefined;
  #waiter: Waiter | undefined;
  #firstChangeAt = 0;
  #reachedAt = 0;

  constructor(name: string, slowness?: Slowness) {
    this.name = name;
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

  /** Resolves in the call that brings the changes to this number. One waiter at a time. */
  reached(changes: number): Promise<void> {
    this.#reachedAt = performance.now();
    if (this.history.changes >= changes) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiter = { changes, resolve };
    });
  }

  /** The time from its first change to the awaited one. */
  get changesPerSecond(): number {
    return (this.history.changes * 1000) / (this.#reachedAt - this.#firstChangeAt);
  }

  #record(kind: NotificationKind, key: string, version: string, previous?: string): unknown {
    if (kind !== 'INITIAL' && this.#firstChangeAt === 0) this.#firstChangeAt = performance.now();
    this.history.record(kind, key, version, previous);
    if (this.#waiter && this.history.changes === this.#waiter.changes) {
      this.#reachedAt = performance.now();
      this.#waiter.resolve();
    }
    const { every, waitMs } = this.#slowness ?? { every: 0, waitMs: 0 };
    return every > 0 && this.history.length % every === 0 ? delay(waitMs) : undefined;
  }
}
