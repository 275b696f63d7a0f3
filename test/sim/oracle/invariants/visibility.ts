/** I8: in the call for a change the cache already has it, or a later state, and the indexes agree. */
import type { ChangeRecord } from '../histories.ts';
import { nameOf } from '../run-view.ts';
import type { HandlerView, RunView } from '../run-view.ts';
import { violation } from '../violation.ts';
import type { Violation } from '../violation.ts';

export function checkVisibility({ handlers }: RunView): Violation[] {
  return handlers.flatMap((handler) => {
    const deletedAt = lastDeletions(handler);
    return handler.changes.flatMap((change) => {
      const wrong = inCall(change, deletedAt.get(change.key) ?? 0);
      return wrong === undefined
        ? []
        : [violation('I8', `${handler.name} received ${nameOf(change)} while ${wrong}`, change.at)];
    });
  });
}

function inCall({ kind, revision, cached, isIndexed }: ChangeRecord, deletedAt: number): string | undefined {
  if (isIndexed === false) return 'an index and the cache differ about it';
  if (cached === undefined) return undefined;
  if (cached === null) {
    return kind === 'delete' || deletedAt > revision ? undefined : 'the cache did not have it';
  }
  const isBehind = kind === 'delete' ? cached <= revision : cached < revision;
  return isBehind ? `the cache had ${cached}` : undefined;
}

/** Key → the revision of its last deletion: until then the cache may be ahead. */
function lastDeletions({ informer }: HandlerView): ReadonlyMap<string, number> {
  const deletions = new Map<string, number>();
  for (const { type, key, revision } of informer.truth.events) {
    if (type === 'DELETED') deletions.set(key, revision);
  }
  return deletions;
}
