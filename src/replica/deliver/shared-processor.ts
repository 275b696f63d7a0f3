/**
 * Distributes committed changes to the listeners of one informer. A new listener joins at an exact position: the
 * current content of the cache is its initial list, and every later change is a notification.
 */
import { SnapshotCursor } from '../store/deliveries.ts';
import type { Difference } from '../store/deliveries.ts';
import type { Entry } from '../store/entry.ts';
import type { Replica, ReplicaListener } from '../store/replica.ts';
import type { ProcessorListener } from './processor-listener.ts';

export class SharedProcessor implements ReplicaListener {
  readonly #listeners: Set<ProcessorListener> = new Set();

  add(listener: ProcessorListener, replica: Replica): void {
    this.#listeners.add(listener);
    if (replica.hasSynced) listener.pushCursor(new SnapshotCursor(replica.live, 'join'), true);
  }

  /**
   * Returns false when the listener was not registered. Pending notifications are dropped, or delivered with `drain`.
   */
  remove(listener: ProcessorListener, drain: boolean = false): boolean {
    if (drain) listener.leave();
    else listener.remove();
    return this.#listeners.delete(listener);
  }

  changed(oldEntry: Entry | undefined, newEntry: Entry | undefined): void {
    for (const listener of this.#listeners) listener.push(oldEntry, newEntry);
  }

  replaced(difference: Difference): void {
    for (const listener of this.#listeners) {
      // A relist decides now which listeners get updates without a change, not when it delivers them (contract C12).
      const { isResyncDue } = listener;
      listener.pushCursor(
        difference.cursor(() => isResyncDue),
        difference.isInitial,
      );
    }
  }

  /** Redelivers the cache to the listeners that are due, except those that still receive the previous resync. */
  resync(replica: Replica, due: Iterable<ProcessorListener>): void {
    for (const listener of due) {
      if (this.#listeners.has(listener) && !listener.isResyncing)
        listener.pushResync(new SnapshotCursor(replica.live, 'resync'));
    }
  }

  get listeners(): ReadonlySet<ProcessorListener> {
    return this.#listeners;
  }
}
