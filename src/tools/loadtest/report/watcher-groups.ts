/** The watchers of each group added up: a run may have a thousand of them. */
import type { LoadTestResult, SyncResult, WatcherResult } from '../result.ts';

export type SummedFigure =
  | 'delivered'
  | 'covered'
  | 'lost'
  | 'duplicated'
  | 'reordered'
  | 'unequal'
  | 'relists'
  | 'cutWatches';

/** The figures that are added up. `unequal`: watchers whose cache differs from the server's state. */
const SUMMED: Readonly<Record<SummedFigure, (watcher: WatcherResult) => number>> = {
  delivered: ({ verdict }) => verdict.delivered,
  covered: ({ verdict }) => verdict.covered,
  lost: ({ verdict }) => verdict.lost,
  duplicated: ({ verdict }) => verdict.duplicated,
  reordered: ({ verdict }) => verdict.reordered,
  unequal: ({ cacheEqualsList }) => (cacheEqualsList === false ? 1 : 0),
  relists: ({ relists }) => relists,
  cutWatches: ({ cutWatches }) => cutWatches,
};

export interface WatcherGroupSums extends Readonly<Record<SummedFigure, number>> {
  readonly name: string;
  readonly client: WatcherResult['client'];
  readonly of: WatcherResult['of'];
  readonly watchers: readonly WatcherResult[];
  /** null if the client does not count bytes. */
  readonly receivedBytes: number | null;
}

export function watcherGroups({ watchers }: Pick<LoadTestResult, 'watchers'>): WatcherGroupSums[] {
  const groups = new Map<string, WatcherResult[]>();
  for (const watcher of watchers) {
    const members = groups.get(watcher.group) ?? [];
    groups.set(watcher.group, members);
    members.push(watcher);
  }
  return Array.from(groups, ([name, members]) => {
    const [{ client, of }] = members as [WatcherResult];
    const sum = (figure: (watcher: WatcherResult) => number): number =>
      members.reduce((total, each) => total + figure(each), 0);
    const isCounted = members.every(({ receivedBytes }) => receivedBytes !== null);
    const receivedBytes = isCounted ? sum((each) => each.receivedBytes ?? 0) : null;
    const sums = Object.entries(SUMMED).map(([figure, figureOf]) => [figure, sum(figureOf)]);
    const summed = Object.fromEntries(sums) as Record<SummedFigure, number>;
    return { name, client, of, watchers: members, receivedBytes, ...summed };
  });
}

/** Returns the faults of delivery: changes, and caches that differ from the server's state. */
export function faultsOf(group: WatcherGroupSums): number {
  return group.lost + group.duplicated + group.reordered + group.unequal;
}

/** Returns the durations of the finished syncs of a cause, ascending. */
export function syncDurations(watchers: readonly WatcherResult[], cause: SyncResult['cause']): number[] {
  return watchers
    .flatMap(({ syncs }) => syncs.filter((sync) => sync.cause === cause))
    .flatMap(({ durationMs }) => (durationMs === null ? [] : [durationMs]))
    .sort((one, other) => one - other);
}

/** Returns the value that this share of the ascending values does not exceed; null without values. */
export function exactQuantile(ascending: readonly number[], share: number): number | null {
  return ascending[Math.max(0, Math.ceil(ascending.length * share) - 1)] ?? null;
}
