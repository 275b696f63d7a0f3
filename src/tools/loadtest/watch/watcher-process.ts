/** A process with watchers of a single group. The main process commands them, and requests their verdicts. */
import { realClock, scheduleEvery } from '../../../base/clock.ts';
import { TimeLimit } from '../../../base/time-limit.ts';
import { withCode } from '../../../base/errors.ts';
import { escapeControls } from '../../../base/printable.ts';
import { InformerThreads } from '../../../index.ts';
import { connectionFor } from '../../../http/credentials/credentials.ts';
import type { ConnectionOptions } from '../../../kube/connection-options.ts';
import { answerCalls, sendReport } from '../process/calls.ts';
import { reportCost } from '../process/cost.ts';
import type { ProcessCost } from '../process/cost.ts';
import { LoadedKubeConfig } from '../../../kube/loaded-kube-config.ts';
import type { KubeConfigData } from '../../../kube/loaded-kube-config.ts';
import type { Slowness } from '../workload/workload.ts';
import { ClientNodeRun } from './client-node-run.ts';
import { InformerWatcher } from './informer-watcher.ts';
import { RawProcess } from './raw/raw-process.ts';
import { RawWatcher } from './raw/raw-watcher.ts';
import { waitUntilDelivered } from './wait-until-delivered.ts';
import type {
  Truth,
  Watcher,
  WatcherActivity,
  WatcherContext,
  WatcherJudgement,
  WatcherTask,
} from './watcher.ts';

export interface WatcherProcessCalls {
  start(task: WatcherProcessTask): Promise<void>;
  sync(how: { readonly timeoutMs: number }): Promise<void>;
  relist(how: { readonly timeoutMs: number }): Promise<void>;
  setSlowness(how: { readonly slowness: Slowness | undefined }): Promise<void>;
  /** Resolves when all watchers have reached the end of their log, or have stood still for too long. */
  waitUntilDelivered(how: { readonly revisions: ReadonlyMap<string, number> }): Promise<void>;
  /** @returns by the name of the watcher */
  judge(how: { readonly truths: ReadonlyMap<string, Truth> }): Promise<ReadonlyMap<string, Judged>>;
  /** Ends all waits. */
  stop(nothing: undefined): Promise<void>;
}

export interface WatcherProcessTask {
  readonly kubeConfig: KubeConfigData;
  /** The same server and credentials. */
  readonly connection: ConnectionOptions;
  readonly startedUs: number;
  readonly threads: number;
  readonly reconnectEveryMs: number | undefined;
  readonly watchers: readonly WatcherTask[];
}

export interface Judged {
  readonly judgement: WatcherJudgement;
  readonly activity: WatcherActivity;
}

export interface WatcherReport {
  readonly cost: ProcessCost;
  readonly synced: number;
  readonly activity: readonly WatcherActivity[];
}

const stopping = new AbortController();
let threads: InformerThreads | undefined;
let raw: RawProcess | undefined;
let watchers: readonly Watcher[] = [];
let synced = 0;

const reported = new Set<string>();

/** Prints an error that the watcher survives, only the first of each code: a storm causes thousands. */
function report(error: Error): void {
  const { message, code } = withCode(error);
  if (reported.has(code)) return;
  reported.add(code);
  process.stderr.write(
    escapeControls(`error: ${message} (${code}; the next ones with this code are not shown)`).concat('\n'),
  );
}

function newWatcher(task: WatcherTask, context: WatcherContext, sockets: RawProcess): Watcher {
  const { client } = task.group;
  if (client === 'raw') return new RawWatcher(task, sockets, context.onError);
  return client === 'informer'
    ? new InformerWatcher(task, context)
    : new InformerWatcher(task, context, ClientNodeRun);
}

function changes(): number {
  return watchers.reduce((sum, { activity }) => sum + activity.changes, 0);
}

async function all(
  timeoutMs: number,
  work: (watcher: Watcher, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  using limit = new TimeLimit(timeoutMs, stopping.signal);
  await Promise.all(watchers.map((watcher) => work(watcher, limit.signal)));
}

answerCalls<WatcherProcessCalls>({
  async start({
    kubeConfig: data,
    connection,
    startedUs,
    threads: shards,
    reconnectEveryMs,
    watchers: tasks,
  }) {
    threads = new InformerThreads({ indexerThreads: shards });
    const context = {
      kubeConfig: new LoadedKubeConfig(data),
      connection,
      threads,
      startedUs,
      onError: report,
    };
    const sockets = new RawProcess({
      connection,
      renew: (refused) => connectionFor(context.kubeConfig, { refused }),
      startedUs,
    });
    raw = sockets;
    watchers = tasks.map((task) => newWatcher(task, context, sockets));
    if (reconnectEveryMs === undefined) return;
    scheduleEvery(realClock, reconnectEveryMs, () => {
      for (const watcher of watchers) watcher.dropConnection();
    });
  },
  sync: ({ timeoutMs }) =>
    all(timeoutMs, async (watcher, signal) => {
      await watcher.sync(signal);
      synced++;
    }),
  relist: ({ timeoutMs }) => all(timeoutMs, (watcher, signal) => watcher.relist(signal)),
  async setSlowness({ slowness }) {
    for (const watcher of watchers) watcher.setSlowness(slowness);
  },
  async waitUntilDelivered({ revisions }) {
    const isBehind = (watcher: Watcher): boolean =>
      !watcher.hasReached(revisions.get(watcher.task.name) ?? 0);
    await waitUntilDelivered(() => watchers.some(isBehind), changes, stopping.signal);
  },
  async judge({ truths }) {
    const judged = new Map<string, Judged>();
    for (const watcher of watchers) {
      const { name } = watcher.task;
      const truth = truths.get(name);
      if (truth) judged.set(name, { activity: watcher.activity, judgement: watcher.judge(truth) });
    }
    for (const watcher of watchers) await watcher[Symbol.asyncDispose]();
    await raw?.[Symbol.asyncDispose]();
    await threads?.[Symbol.asyncDispose]();
    return judged;
  },
  async stop() {
    stopping.abort();
  },
});

reportCost((cost) => {
  sendReport({ cost, synced, activity: watchers.map(({ activity }) => activity) } satisfies WatcherReport);
});
