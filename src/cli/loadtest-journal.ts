/**
 * The log that the server would show, put together from the answers to the writes. Pure.
 *
 * The answer to a deletion has no revision, so it is taken from who was told of the deletion, if that revision lies
 * where the deletion must: after the write before it, and before the next write to the same object. A deletion
 * that nobody was told of keeps a place in the log, and is missed there.
 */
import type { JournalEntry } from '../embedded/journal.ts';
import type { Notification } from './handler-history.ts';
import type { Write } from './loadtest-plan.ts';

/** No revision that a server gives. */
const UNTOLD = 0.5;

export function journalOf(
  writes: Iterable<Write>,
  namespace: string,
  told: Iterable<Notification>,
): JournalEntry[] {
  const deletions = deletionsOf(told);
  const journal: JournalEntry[] = [];
  for (const [name, history] of byName(writes)) {
    const key = `${namespace}/${name}`;
    for (const [index, [revision, type]] of history.entries()) {
      if (type !== 'DELETED') {
        journal.push([revision, type, key]);
        continue;
      }
      const after = history[index - 1]?.[0] ?? 0;
      const before = history[index + 1]?.[0] ?? Number.POSITIVE_INFINITY;
      const seen = deletions.get(key)?.find((each) => each > after && each < before);
      journal.push([seen ?? after + UNTOLD, type, key]);
    }
  }
  return journal.sort(([one], [other]) => one - other);
}

function byName(writes: Iterable<Write>): Map<string, Write[]> {
  const histories = new Map<string, Write[]>();
  for (const write of writes) {
    const history = histories.get(write[2]);
    if (history) history.push(write);
    else histories.set(write[2], [write]);
  }
  return histories;
}

function deletionsOf(told: Iterable<Notification>): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const { kind, key, revision } of told) {
    if (kind !== 'DELETED') continue;
    const revisions = found.get(key);
    if (revisions) revisions.push(revision);
    else found.set(key, [revision]);
  }
  return found;
}
