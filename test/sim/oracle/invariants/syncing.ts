/** I12: a handler has synced after its whole initial list, and `isInInitialList` is true for nothing else. */
import { nameOf } from '../run-view.ts';
import type { HandlerView, RunView } from '../run-view.ts';
import { violation } from '../violation.ts';
import type { Violation } from '../violation.ts';

export function checkSyncing({ histories, handlers }: RunView): Violation[] {
  return handlers.flatMap((handler) => checkHandler(handler, histories.told));
}

function checkHandler({ name, changes }: HandlerView, told: RunView['histories']['told']): Violation[] {
  const found: Violation[] = [];
  const last = changes.findLastIndex(({ isInInitialList }) => isInInitialList === true);
  for (const change of changes.slice(0, Math.max(0, last))) {
    const isUpdate = change.kind === 'update' && change.revision === change.oldRevision;
    if (change.isInInitialList === true || isUpdate) continue;
    found.push(violation('I12', `${name} received ${nameOf(change)} within its initial list`, change.at));
  }
  const own = told.filter(({ handler }) => handler === name);
  const synced = own.findIndex(({ kind }) => kind === 'synced');
  if (synced < 0) return found;
  for (const record of own.slice(synced + 1)) {
    if (record.kind !== 'add' || record.isInInitialList !== true) continue;
    found.push(violation('I12', `${name} had synced before it received ${nameOf(record)}`, record.at));
  }
  return found;
}
