/**
 * client-go's `BenchmarkSharedIndexInformer`, for a client on a single thread. A writer keeps at most ten changes in
 * flight, and readers list the namespace again and again, in turns of the event loop. Pods contain only a name.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { OutcomeRow, Task } from '../task.ts';
import { Meter } from './meter.ts';
import { runProgram } from './program.ts';

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

/** Runs the program of a client's readers: the grid, or `lists` on the source if the task defines no grid. */
export function runReaders(
  client: string,
  version: string,
  make: MakeCache,
  lists: (task: Task) => Promise<OutcomeRow[]>,
): Promise<never> {
  return runProgram(client, version, async (task) => {
    const meter = new Meter();
    const isGrid = (task.podCounts ?? []).length > 0;
    const rows = isGrid ? await gridRows(task, make) : await lists(task);
    return { ...meter.stop(), rows, checksum: rows.length };
  });
}

async function gridRows(task: Task, make: MakeCache): Promise<OutcomeRow[]> {
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
  // On a busy machine a small cell may end before the first change arrives, so it lasts at least until that change.
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

/** Returns the pods in a scattered order, each with the next version. */
function changed(pods: readonly GridPod[], issued: number): GridPod {
  const pod = pods[(issued * 7919) % pods.length];
  return gridPod(pod?.metadata.name ?? '', pods.length + issued + 1);
}

/** Number of warm calls; their median is published. */
const WARM_ROUNDS = 5;

/**
 * Measures lists by label and scans of all objects, cold and warm, under the names of the Go program.
 *
 * @param call returns the number of objects that it found
 */
export function readTimes(name: string, objects: number, call: () => number): OutcomeRow[] {
  const times: number[] = [];
  let found = 0;
  for (let round = 0; round <= WARM_ROUNDS; round++) {
    const startedAt = performance.now();
    found = call();
    times.push(performance.now() - startedAt);
  }
  const [cold = 0, ...warm] = times;
  const median = warm.toSorted((one, other) => one - other)[Math.floor(warm.length / 2)] ?? 0;
  const title = `${name}/objects=${objects}/found=${found}`;
  return [
    { case: `${title}/cold`, value: cold, unit: 'ms' },
    { case: `${title}/warm`, value: median, unit: 'ms' },
  ];
}
