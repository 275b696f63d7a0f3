/** I3 nothing invented: every state that a handler or the cache has is one of the server's. I10: with its uid. */
import type { ChangeRecord } from '../histories.ts';
import { nameOf } from '../run-view.ts';
import type { HandlerView, RunView } from '../run-view.ts';
import type { TruthEvent } from '../truth.ts';
import { violation } from '../violation.ts';
import type { Violation } from '../violation.ts';

export function checkTruthful({ handlers, informers }: RunView): Violation[] {
  return [
    ...handlers.flatMap((handler) => handler.changes.flatMap((change) => checkChange(handler, change))),
    ...informers.flatMap(({ name, truth, snapshots }) =>
      snapshots.flatMap(({ objects, at }) =>
        objects.flatMap((object) =>
          differences(
            `${object.key}@${object.revision} in the cache of ${name}`,
            object,
            truth.at(object.revision),
            at,
          ),
        ),
      ),
    ),
  ];
}

function checkChange({ name, informer }: HandlerView, change: ChangeRecord): Violation[] {
  const event = informer.truth.at(change.revision);
  const what = `${name} received ${nameOf(change)}`;
  const found = differences(what, change, event, change.at);
  const { hash, objectHash } = change;
  if (hash !== undefined && objectHash !== undefined && hash !== objectHash) {
    found.push(violation('I3', `${what}: what it parses to is not what its bytes say`, change.at));
  }
  if (
    event &&
    change.kind === 'delete' &&
    (event.type === 'DELETED') === (change.finalStateUnknown === true)
  ) {
    const how = change.finalStateUnknown
      ? 'a relist, with the version of a deletion'
      : 'the watch, without its deletion';
    found.push(violation('I11', `${what} as found by ${how}`, change.at));
  }
  if (event?.type === 'DELETED' && change.kind !== 'delete') {
    found.push(violation('I3', `${what}, which is a deletion`, change.at));
  }
  return found;
}

interface Seen {
  readonly key: string;
  readonly uid?: string;
  readonly hash?: string;
}

function hadBody({ hash, formerHashes }: TruthEvent, seen: string | undefined): boolean {
  return seen === undefined || hash === undefined || seen === hash || formerHashes.includes(seen);
}

function differences(what: string, seen: Seen, event: TruthEvent | undefined, at?: number): Violation[] {
  if (event?.key !== seen.key) return [violation('I3', `${what}, which the server never had`, at)];
  const found: Violation[] = [];
  if (!hadBody(event, seen.hash)) {
    found.push(violation('I3', `${what} with another body than was sent`, at));
  }
  // An object that is not JSON has key and version only (C71); its uid cannot be read.
  const isUnreadable = seen.uid === '' && seen.hash === undefined;
  if (seen.uid !== undefined && event.uid !== undefined && seen.uid !== event.uid && !isUnreadable) {
    found.push(violation('I10', `${what} with the uid ${seen.uid} in place of ${event.uid}`, at));
  }
  return found;
}
