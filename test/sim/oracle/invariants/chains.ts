/**
 * One handler's notifications of one key. I3: versions only grow. I6: an update's old object is that of the
 * notification before, an addition concerns an absent object and a deletion a present one. I11: a deletion
 * found by a relist has the last state.
 */
import type { ChangeRecord } from '../histories.ts';
import { isUnchanged, nameOf } from '../run-view.ts';
import type { HandlerView, RunView } from '../run-view.ts';
import { violation } from '../violation.ts';
import type { Violation } from '../violation.ts';

interface Told {
  readonly revision: number;
  readonly isPresent: boolean;
  readonly hash: string | undefined;
}

export function checkChains({ handlers }: RunView): Violation[] {
  return handlers.flatMap(checkHandler);
}

function checkHandler({ name, changes }: HandlerView): Violation[] {
  const told = new Map<string, Told>();
  const found: Violation[] = [];
  for (const change of changes) {
    const before = told.get(change.key);
    const complain = (invariant: string, why: string): void => {
      found.push(violation(invariant, `${name} received ${nameOf(change)} ${why}`, change.at));
    };
    checkChain(change, before, complain);
    told.set(change.key, {
      revision: change.revision,
      isPresent: change.kind !== 'delete',
      hash: change.hash,
    });
  }
  return found;
}

function checkChain(
  change: ChangeRecord,
  before: Told | undefined,
  complain: (invariant: string, why: string) => void,
): void {
  const had =
    before === undefined ? 'nothing' : `${before.isPresent ? '' : 'the deletion at '}${before.revision}`;
  const isPresent = before?.isPresent === true;
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
