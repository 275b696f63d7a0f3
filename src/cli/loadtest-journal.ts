/**
 * The server's log, reconstructed from the answers to the writes. Pure.
 *
 * The answer to a deletion has no revision, so it is taken from a handler that received the
 * deletion, if that revision lies where the deletion must be: after the write before it, and before the next write to
 * the same object. A deletion that no handler received keeps a place in the log, and counts as lost there.
 */
import type { JournalEntry } from '../apiserver/journal.ts';
import type { Notification } from './recording-handler.ts';
import type { Write } from './loadtest-plan.ts';

/** A value that no server uses as a revision. */
const UNTOLD = 0.5;

/** Returns the writes in the order of the log, deletions with their revisions. */
export function revisedWrites(
  writes: Iterable<Write>,
  namespace: string,
  notifications: readonly Notification[],
): Write[] {
  const deletions = grouped(
    notifications.filter(({ kind }) => kind === 'DELETED'),
    ({ key }) => key,
  );
  const revised: Write[] = [];
  for (const [name, history] of grouped(writes, (write) => write[2])) {
    for (const [index, write] of history.entries()) {
      const [, type, , times] = write;
      if (type !== 'DELETED') {
        revised.push(write);
        continue;
      }
      const after = history[index - 1]?.[0] ?? 0;
      const before = history[index + 1]?.[0] ?? Number.POSITIVE_INFINITY;
      const received = deletions.get(`${namespace}/${name}`);
      const seen = received?.find(({ revision }) => revision > after && revision < before);
      revised.push([seen?.revision ?? after + UNTOLD, type, name, times]);
    }
  }
  return revised.sort(([one], [other]) => one - other);
}

export function journalOf(revised: readonly Write[], namespace: string): JournalEntry[] {
  return revised.map(([revision, type, name]) => [revision, type, `${namespace}/${name}`]);
}

function grouped<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
