/**
 * One handler's notifications. I3: the oracle finds a key that goes back to an older version. I6: an update's old object is that of the
 * notification before, an addition concerns an absent object and a deletion a present one. I8: in the call for a change
 * the cache already has it, or a later state, and the indexes agree. I11: a deletion found by a relist has the last
 * state. I12: a handler has synced after its whole initial list, and `isInInitialList` is true for nothing else.
 */
import type { ChangeRecord } from '../histories.ts';
import { isUnchanged, nameOf } from '../run-view.ts';
import type { HandlerView } from '../run-view.ts';
import { violation } from '../violation.ts';
import type { Violation } from '../violation.ts';

export function checkNotifications(handler: HandlerView): Violation[] {
  const { name, changes, informer, synced } = handler;
  const found: Violation[] = [];
  const before = new Map<string, ChangeRecord>();
  const deletions = informer.truth.events.filter(({ type }) => type === 'DELETED');
  const deletedAt = new Map(deletions.map(({ key, revision }) => [key, revision]));
  const lastInitial = changes.findLastIndex(({ isInInitialList }) => isInInitialList === true);
  for (const [index, change] of changes.entries()) {
    const complain = (invariant: string, why: string): void => {
      found.push(violation(invariant, `${name} received ${nameOf(change)} ${why}`, change.at));
    };
    checkChain(change, before.get(change.key), complain);
    before.set(change.key, change);
    const wrong = inCall(change, deletedAt.get(change.key) ?? 0);
    if (wrong !== undefined) complain('I8', `while ${wrong}`);
    if (index < lastInitial && change.isInInitialList !== true && !isUnchanged(change))
      complain('I12', 'within its initial list');
    if (index >= synced && change.kind === 'add' && change.isInInitialList === true)
      complain('I12', 'after it had synced');
  }
  return found;
}

function checkChain(
  change: ChangeRecord,
  before: ChangeRecord | undefined,
  complain: (invariant: string, why: string) => void,
): void {
  const isPresent = before !== undefined && before.kind !== 'delete';
  const had = before ? `${isPresent ? '' : 'the deletion at '}${before.revision}` : 'nothing';
  if (isPresent !== (change.kind !== 'add')) complain('I6', `after ${had}`);
  if (change.kind === 'update' && isPresent && change.oldRevision !== before.revision) {
    complain('I6', `after ${had}`);
  }
  if (change.finalStateUnknown === true) {
    if (isPresent && (change.revision !== before.revision || isOther(change.hash, before.hash))) {
      complain('I11', `as the last state, after ${had}`);
    }
  } else if (before !== undefined && !isUnchanged(change) && change.revision <= before.revision) {
    complain('I3', `after ${had}`);
  }
}

function isOther(hash: string | undefined, other: string | undefined): boolean {
  return hash !== undefined && other !== undefined && hash !== other;
}

/** @param deletedAt revision of the key's last deletion: until then the cache may be ahead */
function inCall({ kind, revision, cached, isIndexed }: ChangeRecord, deletedAt: number): string | undefined {
  if (isIndexed === false) return 'an index and the cache differ about it';
  if (cached === undefined) return undefined;
  if (cached === null) {
    return kind === 'delete' || deletedAt > revision ? undefined : 'the cache did not have it';
  }
  const isBehind = kind === 'delete' ? cached <= revision : cached < revision;
  return isBehind ? `the cache had ${cached}` : undefined;
}
