/** The main process's side of all watchers: their processes, by group. */
import { fileURLToPath } from 'node:url';
import type { KubeConfig } from '@kubernetes/client-node';
import { parseLabelSelector } from '../../kube/label-selector.ts';
import { connectionFor } from '../../reflector/transport/credentials.ts';
import { OtherProcess } from '../process/calls.ts';
import type { ProcessCost } from '../process/cost.ts';
import { dataOf } from '../process/kube-config.ts';
import type { LiveWatchers } from '../live.ts';
import type { Phase, Slowness, WatcherGroup, Workload } from '../workload/workload.ts';
import { RUN_LABEL, resourceOf } from '../write/kinds.ts';
import type { RunPlace } from '../write/kinds.ts';
import type { Truth, WatcherTask } from './watcher.ts';
import type { Judged, WatcherProcessCalls, WatcherReport } from './watcher-process.ts';

const ENTRY = fileURLToPath(new URL('./watcher-process.js', import.meta.url));

export interface WatcherProcessesOptions {
  readonly workload: Workload;
  readonly place: RunPlace;
  readonly kubeConfig: KubeConfig;
  readonly startedUs: number;
  readonly onCost: (process: string, cost: ProcessCost) => void;
}

/** A watcher and the number of its process, from 1. */
export interface PlacedTask {
  readonly task: WatcherTask;
  readonly process: number;
}

interface Group {
  readonly group: WatcherGroup;
  readonly processes: readonly OtherProcess<WatcherProcessCalls>[];
}

export class WatcherProcesses implements AsyncDisposable {
  readonly tasks: readonly PlacedTask[];
  readonly #groups: readonly Group[];
  readonly #options: WatcherProcessesOptions;
  /** The newest report of each process. */
  readonly #reports = new Map<number, WatcherReport>();
  readonly #started = new Set<string>();

  /** Starts the processes; their watchers wait. */
  constructor(options: WatcherProcessesOptions) {
    this.#options = options;
    const tasks: PlacedTask[] = [];
    let processes = 0;
    this.#groups = options.workload.watchers.map((group) => {
      const first = processes + 1;
      processes += group.processes;
      const of = tasksOf(group, options);
      tasks.push(...of.map((task, index) => ({ task, process: first + (index % group.processes) })));
      const own = Array.from({ length: group.processes }, (_, index) => this.#fork(first + index));
      return { group, processes: own };
    });
    this.tasks = tasks;
  }

  get live(): LiveWatchers {
    const reports = [...this.#reports.values()];
    const activities = reports.flatMap(({ activity }) => activity);
    const sum = (of: (activity: (typeof activities)[number]) => number): number =>
      activities.reduce((total, each) => total + of(each), 0);
    return {
      count: this.tasks.length,
      synced: reports.reduce((total, { synced }) => total + synced, 0),
      delivered: sum(({ changes }) => changes),
      relists: sum(({ relists }) => relists),
      cutWatches: sum(({ cutWatches }) => cutWatches),
    };
  }

  /** Lists and watches; resolves when all watchers of these groups have their first state. */
  async sync(names: readonly string[], timeoutMs: number): Promise<void> {
    const { kubeConfig, startedUs } = this.#options;
    const connection = await connectionFor(kubeConfig);
    await Promise.all(
      this.#groups.flatMap(({ group, processes }, index) => {
        if (!names.includes(group.name)) return [];
        // Before they have synced: an interruption ends their wait.
        this.#started.add(group.name);
        const first = this.#groups.slice(0, index).reduce((sum, each) => sum + each.processes.length, 1);
        return processes.map(async (each, offset) => {
          const watchers = this.tasks
            .filter(({ process }) => process === first + offset)
            .map(({ task }) => task);
          const { threads, reconnectEveryMs } = group;
          const config = dataOf(kubeConfig);
          const start = { kubeConfig: config, connection, startedUs, threads, reconnectEveryMs, watchers };
          await each.call('start', start);
          await each.call('sync', { timeoutMs });
        });
      }),
    );
  }

  async relist(names: readonly string[], timeoutMs: number): Promise<void> {
    await Promise.all(this.#of(names).map((each) => each.call('relist', { timeoutMs })));
  }

  async setSlowness(names: readonly string[], slowness: Slowness | undefined): Promise<void> {
    await Promise.all(this.#of(names).map((each) => each.call('setSlowness', { slowness })));
  }

  /** @param revisions by the name of the watcher */
  async settle(revisions: ReadonlyMap<string, number>): Promise<void> {
    await Promise.all(this.#of([...this.#started]).map((each) => each.call('settle', { revisions })));
  }

  /** @param truths by the name of the watcher */
  async judge(truths: ReadonlyMap<string, Truth>): Promise<ReadonlyMap<string, Judged>> {
    const judged = await Promise.all(
      this.#of([...this.#started]).map((each) => each.call('judge', { truths })),
    );
    return new Map(judged.flatMap((each) => [...each]));
  }

  /** Ends what waits. */
  async stop(): Promise<void> {
    await Promise.all(this.#of([...this.#started]).map((each) => each.call('stop', undefined)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      this.#groups.flatMap(({ processes }) => processes.map((each) => each[Symbol.asyncDispose]())),
    );
  }

  #of(names: readonly string[]): OtherProcess<WatcherProcessCalls>[] {
    return this.#groups.flatMap(({ group, processes }) => (names.includes(group.name) ? processes : []));
  }

  #fork(number: number): OtherProcess<WatcherProcessCalls> {
    const name = `watchers ${number}`;
    return new OtherProcess<WatcherProcessCalls>(ENTRY, name, (message) => {
      const report = message as WatcherReport;
      this.#reports.set(number, report);
      this.#options.onCost(name, report.cost);
    });
  }
}

function tasksOf(group: WatcherGroup, { workload, place }: WatcherProcessesOptions): WatcherTask[] {
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
    isRelayed: isRelayed(group, workload.phases),
  }));
}

function isRelayed(group: WatcherGroup, phases: readonly Phase[]): boolean {
  if (group.reconnectEveryMs !== undefined || group.slow?.type === 'socket') return true;
  return phases.some(
    (phase) =>
      phase.type === 'slow-consumer' && phase.slow.type === 'socket' && phase.watchers.includes(group.name),
  );
}

/** Returns whether an object with these labels is a watcher's. */
export function selectionOf({
  namespace,
  selector,
}: WatcherTask): (namespace: string, labels: Readonly<Record<string, string>>) => boolean {
  const parsed = parseLabelSelector(selector);
  return (of, labels) => (namespace === '' || namespace === of) && parsed.matches(labels);
}
