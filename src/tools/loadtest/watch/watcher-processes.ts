/** The main process's side of all watchers: their processes, by group. */
import { fileURLToPath } from 'node:url';
import type { AnyKubeConfig } from '../../../kube/server-source.ts';
import { connectionFor } from '../../../http/credentials/credentials.ts';
import { OtherProcess } from '../process/calls.ts';
import type { ProcessCost } from '../process/cost.ts';
import { dataOf } from '../process/kube-config.ts';
import type { LiveWatchers } from '../live.ts';
import type { Slowness, WatcherGroup, Workload } from '../workload/workload.ts';
import type { RunPlace } from '../write/kinds.ts';
import { placeWatchers } from './placement.ts';
import type { PlacedTask, Share } from './placement.ts';
import type { Truth } from './watcher.ts';
import type { Judged, WatcherProcessCalls, WatcherReport } from './watcher-process.ts';

const ENTRY = fileURLToPath(new URL('./watcher-process.js', import.meta.url));

export interface WatcherProcessesOptions {
  readonly workload: Workload;
  readonly place: RunPlace;
  readonly kubeConfig: AnyKubeConfig;
  readonly share: Share;
  readonly startedUs: number;
  readonly onCost: (process: string, cost: ProcessCost) => void;
}

/** Commands of the phases for watchers. */
export interface WatcherCommands {
  /** Lists and watches; resolves when all watchers of these groups have their first state. */
  sync(names: readonly string[], timeoutMs: number): Promise<void>;
  relist(names: readonly string[], timeoutMs: number): Promise<void>;
  setSlowness(names: readonly string[], slowness: Slowness | undefined): Promise<void>;
  /** Ends all waits. */
  stop(): Promise<void>;
}

interface Group {
  readonly group: WatcherGroup;
  /** By their number. */
  readonly processes: ReadonlyMap<number, OtherProcess<WatcherProcessCalls>>;
}

export class WatcherProcesses implements WatcherCommands, AsyncDisposable {
  readonly tasks: readonly PlacedTask[];
  readonly #groups: readonly Group[];
  readonly #options: WatcherProcessesOptions;
  /** The newest report of each process. */
  readonly #reports = new Map<number, WatcherReport>();
  readonly #started = new Set<string>();

  /** Starts the processes; the watchers wait for commands. */
  constructor(options: WatcherProcessesOptions) {
    this.#options = options;
    const { workload, place, share } = options;
    this.tasks = placeWatchers(workload, place, share);
    this.#groups = workload.watchers.map((group) => {
      const own = this.tasks.filter(({ task }) => task.group === group);
      const numbers = new Set(own.map(({ process }) => process));
      return { group, processes: new Map(Array.from(numbers, (number) => [number, this.#fork(number)])) };
    });
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

  async sync(names: readonly string[], timeoutMs: number): Promise<void> {
    const { kubeConfig, startedUs } = this.#options;
    const connection = await connectionFor(kubeConfig);
    await Promise.all(
      this.#groups.flatMap(({ group, processes }) => {
        if (!names.includes(group.name)) return [];
        // Before the sync: an interruption ends the watchers' wait.
        this.#started.add(group.name);
        return Array.from(processes, async ([number, each]) => {
          const watchers = this.tasks.flatMap(({ process, task }) => (process === number ? [task] : []));
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
  async waitUntilDelivered(revisions: ReadonlyMap<string, number>): Promise<void> {
    await Promise.all(
      this.#of([...this.#started]).map((each) => each.call('waitUntilDelivered', { revisions })),
    );
  }

  /** @param truths by the name of the watcher */
  async judge(truths: ReadonlyMap<string, Truth>): Promise<ReadonlyMap<string, Judged>> {
    const judged = await Promise.all(
      this.#of([...this.#started]).map((each) => each.call('judge', { truths })),
    );
    return new Map(judged.flatMap((each) => [...each]));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#of([...this.#started]).map((each) => each.call('stop', undefined)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      this.#groups.flatMap(({ processes }) =>
        Array.from(processes.values(), (each) => each[Symbol.asyncDispose]()),
      ),
    );
  }

  #of(names: readonly string[]): OtherProcess<WatcherProcessCalls>[] {
    return this.#groups.flatMap(({ group, processes }) =>
      names.includes(group.name) ? [...processes.values()] : [],
    );
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
