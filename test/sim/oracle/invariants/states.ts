/**
 * States of objects, in handlers and in the cache. I3, nothing invented: each is one of the server's, with its body. I10:
 * with its uid. I11: a deletion comes as it was found. I1c: at the end each has the server's body, also where the body
 * changed under one version.
 */
import type { ChangeRecord } from '../histories.ts';
import { nameOf } from '../run-view.ts';
import type { HandlerView, InformerView } from '../run-view.ts';
import type { State, TruthEvent } from '../truth.ts';
import { violation } from '../violation.ts';
import type { Violation } from '../violation.ts';

interface Seen {
  readonly key: string;
  readonly revision: number;
  readonly uid?: string;
  readonly hash?: string;
  readonly at?: number;
}

export function checkDeliveredStates({ name, informer, changes, isRemoved }: HandlerView): Violation[] {
  const { truth } = informer;
  const found = changes.flatMap((change) => checkChange(name, change, truth.at(change.revision)));
  if (isRemoved) return found;
  const last = new Map<string, Seen>();
  for (const change of changes) {
    if (change.kind === 'delete') last.delete(change.key);
    else last.set(change.key, change);
  }
  return [...found, ...formerBodies(`the last notification of ${name}`, truth.last, last.values())];
}

export function checkCachedStates({ name, truth, snapshots }: InformerView): Violation[] {
  const found = snapshots.flatMap(({ objects, at }) =>
    objects.flatMap((object) => {
      const what = `${object.key}@${object.revision} in the cache of ${name}`;
      return differences(what, { ...object, ...(at === undefined ? {} : { at }) }, truth.at(object.revision));
    }),
  );
  const last = snapshots.at(-1);
  if (last?.isFinal !== true) return found;
  return [...found, ...formerBodies(`at the end the cache of ${name}`, truth.last, last.objects)];
}

function checkChange(name: string, change: ChangeRecord, event: TruthEvent | undefined): Violation[] {
  const what = `${name} received ${nameOf(change)}`;
  const { hash, objectHash, kind, finalStateUnknown = false, at } = change;
  const found = differences(what, change, event);
  if (hash !== undefined && objectHash !== undefined && hash !== objectHash) {
    found.push(violation('I3', `${what}: what it parses to is not what its bytes say`, at));
  }
  if (event && kind === 'delete' && (event.type === 'DELETED') === finalStateUnknown) {
    const how = finalStateUnknown
      ? 'a relist, with the version of a deletion'
      : 'the watch, without its deletion';
    found.push(violation('I11', `${what} as found by ${how}`, at));
  }
  if (event?.type === 'DELETED' && kind !== 'delete') {
    found.push(violation('I3', `${what}, which is a deletion`, at));
  }
  return found;
}

function differences(what: string, { key, uid, hash, at }: Seen, event: TruthEvent | undefined): Violation[] {
  if (event?.key !== key) return [violation('I3', `${what}, which the server never had`, at)];
  const found: Violation[] = [];
  const hashes = [event.hash, ...event.formerHashes];
  if (hash !== undefined && event.hash !== undefined && !hashes.includes(hash)) {
    found.push(violation('I3', `${what} with another body than was sent`, at));
  }
  // An object that is not JSON has key and version only (C71); its uid cannot be read.
  const isUnreadable = uid === '' && hash === undefined;
  if (uid !== undefined && event.uid !== undefined && uid !== event.uid && !isUnreadable) {
    found.push(violation('I10', `${what} with the uid ${uid} in place of ${event.uid}`, at));
  }
  return found;
}

/** Compares bodies only; other invariants find missing objects and other versions. */
function formerBodies(where: string, state: State, seen: Iterable<Seen>): Violation[] {
  return Array.from(seen).flatMap(({ key, revision, hash, at }) => {
    const event = state.get(key);
    const isComparable = event?.revision === revision && event.hash !== undefined && hash !== undefined;
    if (!isComparable || event.hash === hash) return [];
    return [violation('I1c', `${where} has a former body of ${key}@${revision}`, at)];
  });
}
