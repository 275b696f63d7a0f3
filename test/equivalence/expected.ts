/**
 * Which rows of the table a server can play, and what each mode is to tell of them. The rows and their histories are
 * the queues' own (test/queue/histories.ts); here is only what a reflector before the queue changes.
 */
import { HISTORIES } from '../queue/histories.ts';
import type { History } from '../queue/histories.ts';
import type { QueueMode } from './controller-lanes.ts';
import type { Lists } from './stepped-source.ts';

/** Rows that no reflector can bring about, and why. */
export const WITHOUT_A_SERVER: ReadonlyMap<string, string> = new Map([
  [
    'a change before any list: nothing is initial',
    'a reflector lists first: the first thing that it does to a queue is `replace`, always',
  ],
]);

export const PLAYABLE: readonly History[] = HISTORIES.filter(({ title }) => !WITHOUT_A_SERVER.has(title));

/** Rows in which one list has a key twice: a server's lists never have. */
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

/** What is popped. A reflector asks for a resync only after its first list, so the queue has no SyncAll before. */
export function poppedBy(mode: QueueMode, { steps, ...histories }: History): readonly string[] {
  const popped = histories[mode];
  return steps[0]?.[0] === 'resync' && popped[0] === 'SyncAll' ? popped.slice(1) : popped;
}

/** A streaming list is put together before anybody sees it: a key is in it once, wherever it goes then. */
export function toldByController(mode: QueueMode, lists: Lists, history: History): readonly string[] {
  const { told, toldByDeltaFifo = told, toldByRealFifo = told, toldByPlainInformer = told } = history;
  if (lists === 'streams' && isDoubled(history)) return toldByPipeline(history);
  if (mode === 'deltaFifo') return toldByDeltaFifo;
  return mode === 'realFifo' ? toldByRealFifo : toldByPlainInformer;
}

export function toldByPipeline({ told, toldByPipeline: own = told }: History): readonly string[] {
  return own;
}

/**
 * Deletions that one list found, sorted among themselves: they come before everything else of that list, but have no
 * order. (client-go walks over a Go map; several shards find them at the same time.)
 */
export function withoutOrderOfDeletions(told: readonly string[]): readonly string[] {
  const sorted: string[] = [];
  let from = 0;
  for (const text of told) {
    if (!text.endsWith('?')) from = sorted.length + 1;
    sorted.push(text);
    sorted.push(...sorted.splice(from).toSorted());
  }
  return sorted;
}

/** What is in the store at the end, in the order of the keys: the newest state of what was told and not deleted. */
export function storedAfter(told: readonly string[]): readonly string[] {
  const newest = new Map<string, string>();
  for (const text of told) {
    const [verb, ...states] = text.replace(' initial', '').split(' ');
    const state = states.at(-1) ?? '';
    const name = state.replace(/@.*$/, '');
    if (verb === 'delete') newest.delete(name);
    else newest.set(name, state);
  }
  return [...newest.values()].toSorted();
}
