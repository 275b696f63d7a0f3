/**
 * I1c: at the end every object in the cache has the server's body, and so has the last notification of each handler
 * about it, also where the body changed under one version.
 */
import type { HandlerView, InformerView, RunView } from '../run-view.ts';
import type { State } from '../truth.ts';
import { violation } from '../violation.ts';
import type { Violation } from '../violation.ts';

interface Seen {
  readonly key: string;
  readonly revision: number;
  readonly hash?: string;
  readonly at?: number;
}

export function checkContents({ informers, handlers, options }: RunView): Violation[] {
  if (options.isAtRest === false) return [];
  return [...informers.flatMap(checkCache), ...handlers.flatMap(checkTold)];
}

function checkCache({ name, truth, snapshots }: InformerView): Violation[] {
  const last = snapshots.at(-1);
  if (last?.isFinal !== true) return [];
  return compare(`at the end the cache of ${name}`, truth.state(truth.events.length), last.objects);
}

function checkTold({ name, informer: { truth }, changes, isRemoved }: HandlerView): Violation[] {
  if (isRemoved) return [];
  const last = new Map<string, Seen>();
  for (const change of changes) {
    if (change.kind === 'delete') last.delete(change.key);
    else last.set(change.key, change);
  }
  return compare(`the last notification of ${name}`, truth.state(truth.events.length), last.values());
}

/** Compares bodies only; other invariants find missing objects and other versions. */
function compare(where: string, state: State, seen: Iterable<Seen>): Violation[] {
  return Array.from(seen).flatMap(({ key, revision, hash, at }) => {
    const event = state.get(key);
    const isComparable = event?.revision === revision && event.hash !== undefined && hash !== undefined;
    if (!isComparable || event.hash === hash) return [];
    return [violation('I1c', `${where} has a former body of ${key}@${revision}`, at)];
  });
}
