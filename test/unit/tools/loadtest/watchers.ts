/** Tasks of watchers, and a wait, for several tests. */
import type { WatcherTask } from '../../../../src/tools/loadtest/watch/watcher.ts';
import type { ListMode, WatcherClient } from '../../../../src/tools/loadtest/workload/workload.ts';
import { PODS } from '../../../kit/objects.ts';

/** Returns the task of a watcher of all pods. */
export function watcherTask(client: WatcherClient, list: ListMode = 'watchlist'): WatcherTask {
  const group = { name: client, client, of: 'Pod', count: 1, processes: 1, threads: 0, list } as const;
  return {
    name: client,
    group: { ...group, selector: '', perNamespace: false },
    resource: PODS,
    namespace: '',
    selector: '',
    isProxied: false,
  };
}

/** Resolves when the condition holds. The test's own limit ends a wait that is in vain. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
