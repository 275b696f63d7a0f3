/** The place of each watcher of a workload: the index of the Job, the process, the namespace and the selector. Pure. */
import type { Phase, WatcherGroup, Workload } from '../workload/workload.ts';
import { RUN_LABEL, resourceOf } from '../write/kinds.ts';
import type { RunPlace } from '../write/kinds.ts';
import type { WatcherTask } from './watcher.ts';

/** The share of a run for an index of a Job: watcher n of a group is on the index n modulo the number of indexes. */
export interface Share {
  readonly index: number;
  readonly indexes: number;
}

/** The share of a run outside a Job. */
export const WHOLE: Share = { index: 0, indexes: 1 };

/** A watcher, with the number of the process, from 1, unique over all indexes. */
export interface PlacedTask {
  readonly task: WatcherTask;
  readonly process: number;
}

/** Returns the watchers of an index. */
export function placeWatchers(workload: Workload, place: RunPlace, share: Share): PlacedTask[] {
  let before = 0;
  for (let index = 0; index < share.index; index++) {
    for (const group of workload.watchers) before += processesOf(group, { ...share, index });
  }
  return workload.watchers.flatMap((group) => {
    const processes = processesOf(group, share);
    const first = before + 1;
    before += processes;
    return tasksOf(group, workload, place)
      .filter((_, n) => n % share.indexes === share.index)
      .map((task, n) => ({ task, process: first + (n % processes) }));
  });
}

/** Returns the number of an index's processes for a group; each process runs at least a watcher. */
function processesOf({ count, processes }: WatcherGroup, { index, indexes }: Share): number {
  return Math.min(processes, Math.max(0, Math.ceil((count - index) / indexes)));
}

function tasksOf(group: WatcherGroup, workload: Workload, place: RunPlace): WatcherTask[] {
  const objects = workload.objects.find(({ kind }) => kind === group.of);
  const namespaces = place.namespaces.slice(0, objects?.namespaces);
  const isAlone = namespaces.length === 1;
  const selector = [`${RUN_LABEL}=${place.run}`, ...(group.selector === '' ? [] : [group.selector])].join(
    ',',
  );
  return Array.from({ length: group.count }, (_, index) => ({
    name: group.count === 1 ? group.name : `${group.name} ${index + 1}`,
    group,
    resource: resourceOf(group.of, place.run),
    namespace: isAlone || group.perNamespace ? (namespaces[index % namespaces.length] ?? '') : '',
    selector,
    isProxied: isProxied(group, workload.phases),
  }));
}

function isProxied(group: WatcherGroup, phases: readonly Phase[]): boolean {
  if (group.reconnectEveryMs !== undefined || group.slow?.type === 'socket') return true;
  return phases.some(
    (phase) =>
      phase.type === 'slow-consumer' && phase.slow.type === 'socket' && phase.watchers.includes(group.name),
  );
}
