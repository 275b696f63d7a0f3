/**
 * The rows of the table that a server can play, and the expected results of each mode. The rows and their
 * histories are those of the queues (test/unit/client-go/queue/histories.ts); this file has only the differences
 * that a reflector before the queue causes.
 */
import { HISTORIES } from '../queue/histories.ts';
import type { History } from '../queue/histories.ts';
import type { Mode } from '../queue/replay.ts';
import type { Lists } from './stepped-source.ts';

/** Rows that no reflector can cause, and why. */
export const WITHOUT_A_SERVER: ReadonlyMap<string, string> = new Map([
  [
    'after a change before any list nothing is initial',
    'a reflector lists first: its first call of a queue is always `replace`',
  ],
]);

export const PLAYABLE: readonly History[] = HISTORIES.filter(({ title }) => !WITHOUT_A_SERVER.has(title));

/** Returns whether one list of the row has a key twice: a server's lists never have. */
export function isDoubled({ steps }: History): boolean {
  return steps.some((step) => {
    if (step[0] !== 'replace') return false;
    const names = step[2].split(' ').map((text) => text.replace(/@.*$/, ''));
    return new Set(names).size < names.length;
  });
}

export function hasResync({ steps }: History): boolean {
  return steps.some(([verb]) => verb === 'resync');
}

/**
 * Returns the expected pops. A reflector requests a resync only after its first list, so the queue has no SyncAll
 * before.
 */
export function poppedBy(mode: Mode, { steps, ...histories }: History): readonly string[] {
  const popped = histories[mode];
  return steps[0]?.[0] === 'resync' && popped[0] === 'SyncAll' ? popped.slice(1) : popped;
}

/** Returns the expected handler calls. A streaming list is complete before it is stored: each key is in it once. */
export function callsByController(mode: Mode, lists: Lists, history: History): readonly string[] {
  const { calls, callsByDeltaFifo = calls, callsByRealFifo = calls, callsByPlainInformer = calls } = history;
  if (lists === 'streams' && isDoubled(history)) return callsByPipeline(history);
  if (mode === 'deltaFifo') return callsByDeltaFifo;
  return mode === 'realFifo' ? callsByRealFifo : callsByPlainInformer;
}

export function callsByPipeline({ calls, callsByPipeline: own = calls }: History): readonly string[] {
  return own;
}

/**
 * Sorts the deletions that one list found: they come before all else of that list, but in no order. (client-go
 * iterates over a Go map; several shards find them at the same time.)
 */
export function withoutOrderOfDeletions(calls: readonly string[]): readonly string[] {
  const sorted: string[] = [];
  let from = 0;
  for (const text of calls) {
    if (!text.endsWith('?')) from = sorted.length + 1;
    sorted.push(text);
    sorted.push(...sorted.splice(from).toSorted());
  }
  return sorted;
}

/**
 * Returns the final content of the store, in the order of the keys: the newest delivered state of each object
 * that was not deleted.
 */
export function storedAfter(calls: readonly string[]): readonly string[] {
  const newest = new Map<string, string>();
  for (const text of calls) {
    const [verb, ...states] = text.replace(' initial', '').split(' ');
    const state = states.at(-1) ?? '';
    const name = state.replace(/@.*$/, '');
    if (verb === 'delete') newest.delete(name);
    else newest.set(name, state);
  }
  return [...newest.values()].toSorted();
}
