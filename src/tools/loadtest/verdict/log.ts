/**
 * The server's log, reconstructed from the answers to the writes. Pure.
 *
 * The answer to a deletion omits the revision, so the revision is taken from a reference informer, if it lies where the
 * deletion must be: after the previous write and before the next write to the same object. A deletion that the
 * reference informer did not receive keeps a place in the log. A change that the reference informer received and the
 * test did not write came from another writer, and also belongs to the log.
 */
import type { LoggedWrite } from '../watch/watcher.ts';
import type { Notification } from '../watch/recording-handler.ts';
import type { Write } from '../write/generator.ts';

/** A value that no server uses as a revision. */
const UNTOLD = 0.5;

const TYPES = { create: 'ADDED', update: 'MODIFIED', status: 'MODIFIED', delete: 'DELETED' } as const;

/** A write, with the phase that sent it. */
export type PhasedWrite = Write & { readonly phase: number };

/**
 * Returns the log of a kind in the order of revisions.
 *
 * @param writes of this kind; for each object in order
 * @param keyOf the key of the object with this number
 * @param referenced notifications of the reference informer of this kind
 */
export function logOf(
  writes: readonly PhasedWrite[],
  keyOf: (n: number) => string,
  referenced: readonly Notification[],
): LoggedWrite[] {
  const deletions = grouped(
    referenced.filter(({ kind }) => kind === 'DELETED'),
    ({ key }) => key,
  );
  const log: LoggedWrite[] = [];
  for (const [n, history] of grouped(writes, (write) => write.n)) {
    const key = keyOf(n);
    for (const [index, { change, phase, answeredUs, revision: answered }] of history.entries()) {
      const after = history[index - 1]?.revision ?? 0;
      const before = history[index + 1]?.revision || Number.POSITIVE_INFINITY;
      const seen = deletions.get(key)?.find(({ revision }) => revision > after && revision < before);
      const revision = change === 'delete' ? (seen?.revision ?? after + UNTOLD) : answered;
      log.push({ revision, type: TYPES[change], key, own: { change, phase, answeredUs } });
    }
  }
  const known = new Set(log.map(({ revision }) => revision));
  for (const { kind, key, revision } of referenced) {
    const isForeign = kind === 'ADDED' || kind === 'MODIFIED' || kind === 'DELETED';
    if (!isForeign || known.has(revision)) continue;
    known.add(revision);
    log.push({ revision, type: kind, key, own: undefined });
  }
  return log.sort((one, other) => one.revision - other.revision);
}

function grouped<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
