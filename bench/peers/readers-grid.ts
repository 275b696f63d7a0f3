/**
 * client-go's `BenchmarkSharedIndexInformer`, for a client on one thread. One writer has at most ten changes in
 * flight, and readers list the one namespace again and again, in turns of the event loop. Pods have only a name.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { OutcomeRow, Task } from '../task.ts';

export const GRID_NAMESPACE = 'default';
const IN_FLIGHT_MAX = 10;
const CELL_MS = 500;

export interface GridPod {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string; readonly resourceVersion: string };
}

/** A synced cache of pods without a server. */
export interface GridCache {
  /** Lists all pods in the namespace. */
  list(): { readonly length: number };
  modify(pod: GridPod): void;
  close(): Promise<void>;
}

export type MakeCache = (pods: readonly GridPod[], onChange: () => void) => Promise<GridCache>;

export async function gridRows(task: Task, make: MakeCache): Promise<OutcomeRow[]> {
  const { podCounts = [], readers = [], cellMs = CELL_MS } = task;
  const rows: OutcomeRow[] = [];
  for (const podCount of podCounts) {
    for (const count of readers) rows.push(...(await cell(make, podCount, count, cellMs)));
  }
  return rows;
}

async function cell(
  make: MakeCache,
  podCount: number,
  readers: number,
  cellMs: number,
): Promise<OutcomeRow[]> {
  const pods = gridPods(podCount);
  let issued = 0;
  let writes = 0;
  let reads = 0;
  const cache = await make(pods, () => void writes++);
  const startedAt = performance.now();
  // On a busy machine a small cell may end before any change has arrived; it lasts until one has.
  const isOver = (): boolean => performance.now() - startedAt > cellMs && writes > 0;
  async function write(): Promise<void> {
    while (!isOver()) {
      // Some caches apply a change at once, others later: a turn adds at most ten.
      const end = writes + IN_FLIGHT_MAX;
      for (; issued < end; issued++) cache.modify(changed(pods, issued));
      await turn();
    }
  }
  async function read(): Promise<void> {
    while (!isOver()) {
      if (cache.list().length !== podCount) throw new Error(`a list of ${podCount} pods is short`);
      reads++;
      await turn();
    }
  }
  await Promise.all([write(), ...Array.from({ length: readers }, read)]);
  const seconds = (performance.now() - startedAt) / 1000;
  await cache.close();
  const name = `podCount=${podCount}/readers=${readers}`;
  return [
    { case: `${name}/writes`, value: writes / seconds, unit: 'events/s' },
    ...(readers === 0 ? [] : [{ case: `${name}/reads`, value: reads / seconds, unit: 'reads/s' as const }]),
  ];
}

function gridPods(count: number): GridPod[] {
  return Array.from({ length: count }, (_, index) => gridPod(String(index).padStart(20, '0'), index + 1));
}

function gridPod(name: string, revision: number): GridPod {
  const metadata = { name, namespace: GRID_NAMESPACE, resourceVersion: String(revision) };
  return { apiVersion: 'v1', kind: 'Pod', metadata };
}

/** Returns one pod after the other in a scattered order, each with the next version. */
function changed(pods: readonly GridPod[], issued: number): GridPod {
  const pod = pods[(issued * 7919) % pods.length];
  return gridPod(pod?.metadata.name ?? '', pods.length + issued + 1);
}
