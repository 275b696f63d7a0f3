/**
 * The server's log, reconstructed from the answers to the writes. Pure.
 *
 * The answer to a deletion has no revision, so it is taken from a reference informer, if that revision lies
 * where the deletion must be: after the write before it, and before the next write to the same object. A deletion that
 * the reference informer did not receive keeps a place in the log. A change that the reference informer received and the test did not write
 * is another writer's, and belongs to the log as well.
 */
import type { LoggedWrite } from '../watch/watcher.ts';
import type { Notification } from '../watch/recording-handler.ts';
import type { Write } from '../write/generator.ts';

/** A value that no server uses as a revision. */
const UNTOLD = 0.5;

const TYPES = { create: 'ADDED', update: 'MODIFIED', status: 'MODIFIED', delete: 'DELETED' } as const;

/** One write and the phase that wrote it. */
export type PhasedWrite = Write & { readonly phase: number };

/**
 * Returns the log of one kind in the order of revisions.
 *
 * @param writes of this kind; those of one object in their order
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
