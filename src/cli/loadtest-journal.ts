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
  told: Iterable<Notification>,
): Write[] {
  const deletions = deletionsOf(told);
  const revised: Write[] = [];
  for (const [name, history] of byName(writes)) {
    for (const [index, write] of history.entries()) {
      const [, type, , times] = write;
      if (type !== 'DELETED') {
        revised.push(write);
        continue;
      }
      const after = history[index - 1]?.[0] ?? 0;
      const before = history[index + 1]?.[0] ?? Number.POSITIVE_INFINITY;
      const seen = deletions.get(`${namespace}/${name}`)?.find((each) => each > after && each < before);
      revised.push([seen ?? after + UNTOLD, type, name, times]);
    }
  }
  return revised.sort(([one], [other]) => one - other);
}

export function journalOf(revised: readonly Write[], namespace: string): JournalEntry[] {
  return revised.map(([revision, type, name]) => [revision, type, `${namespace}/${name}`]);
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
