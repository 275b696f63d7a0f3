/**
 * Distributes committed changes to the listeners of one informer. Adding a listener joins it at an exact cut:
 * what the cache holds now is its initial list, everything after is a notification of its own.
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

  /** False when it was not there. What is pending is dropped, or with `drain` still delivered. */
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
      // Who gets updates without a change is decided now, not when they are delivered (contract C12).
      const { isSyncing } = listener;
      listener.pushCursor(
        difference.cursor(() => isSyncing),
        difference.isInitial,
      );
    }
  }

  /** Redelivers the cache to the listeners that are due; to one that is not through with the last time, not again. */
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
