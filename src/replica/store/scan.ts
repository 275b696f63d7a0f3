/**
 * A walk over a snapshot of the cache that lets the event loop run, unlike `list()`, which returns everything at once.
 * Objects that change before the walk reaches them are kept until it does, so a scan costs at most the bytes of the
 * cache once more, and only while it runs.
 */
import type { Clock } from '../../base/clock.ts';
import { realTimers } from '../../base/clock.ts';
import { SnapshotCursor, emptyDelivery } from './deliveries.ts';
import type { Entry } from './entry.ts';
import type { Replica } from './replica.ts';

/** The time for which a scan may block the thread before it lets other tasks run. */
export interface ScanPace {
  readonly clock: Pick<Clock, 'now'>;
  readonly budgetMs: number;
}

const BORROWER = 'a scan, until its next object';

/** Yields each matching object once, in list order; each is readable until the next is requested. */
export async function* scan(
  replica: Replica,
  { clock, budgetMs }: ScanPace,
  matches: (entry: Entry) => boolean,
): AsyncGenerator<Entry, void, undefined> {
  const cursor = new SnapshotCursor(replica, 'join');
  const delivery = emptyDelivery();
  let deadline = clock.now() + budgetMs;
  try {
    while (cursor.next(delivery)) {
      const entry = delivery.newEntry as Entry;
      entry.owner.table.borrow(entry);
      try {
        if (matches(entry)) yield entry;
      } finally {
        entry.owner.table.endBorrow(entry, BORROWER);
        entry.dropReference();
      }
      if (clock.now() < deadline) continue;
      await pause();
      deadline = clock.now() + budgetMs;
    }
  } finally {
    while (cursor.close()) await pause();
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => void realTimers.setImmediate(resolve));
}
