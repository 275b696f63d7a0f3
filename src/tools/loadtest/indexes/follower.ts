/** An index other than 0: it runs a share of the watchers, and carries out the calls of index 0. */
import { hostname } from 'node:os';
import type { AnyKubeConfig } from '../../../kube/server-source.ts';
import { realClock } from '../../../base/clock.ts';
import { KubeloomError, messageOf } from '../../../base/errors.ts';
import { escapeControls } from '../../../base/printable.ts';
import { ApiClient } from '../../../http/api-client.ts';
import { CostLog } from '../process/cost-log.ts';
import { judgeWatchers } from '../run/judge-watchers.ts';
import type { Logs } from '../run/judge-watchers.ts';
import { machineFacts } from '../run/machine-facts.ts';
import { runIdOf } from '../run/cluster.ts';
import type { Share } from '../watch/placement.ts';
import { nowUs } from '../watch/recording-handler.ts';
import { WatcherProcesses } from '../watch/watcher-processes.ts';
import { ApiWriter } from '../write/api-writer.ts';
import type { RunPlace } from '../write/kinds.ts';
import { RunStatus, entryName } from './run-status.ts';
import { FACTS, LOG, coordinatorFactsOf, partName } from './index-messages.ts';
import type {
  Call,
  FollowerState,
  IndexPart,
  Journals,
  CoordinatorFacts,
  CoordinatorState,
} from './index-messages.ts';
import { readLargeValue, writeLargeValue } from './large-value.ts';

export interface FollowerOptions {
  readonly kubeConfig: AnyKubeConfig;
  /** The version of kubeloom. */
  readonly version: string;
  /** The name of the run. */
  readonly name: string;
  readonly share: Share;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

const COORDINATOR = entryName(0);

/**
 * Resolves when this index has stored its part. @throws ERR_KUBELOOM_LOADTEST when index 0 died, or runs another
 * version
 */
export async function followLoadTest(options: FollowerOptions): Promise<void> {
  const { kubeConfig, name, share, signal, say } = options;
  const api = new ApiWriter(kubeConfig);
  const run = runIdOf(name);
  const own = { api, kubeConfig, run, name: entryName(share.index), others: [COORDINATOR], clock: realClock };
  await using runStatus = await RunStatus.join<FollowerState>({ ...own, signal, say }, { done: 0 });
  await using follower = new Follower(options, api, runStatus, await factsOf(runStatus, options));
  for (let done = 0; ;) {
    const { number, call } = await nextCall(runStatus, done);
    say(escapeControls(`${call.type}${'names' in call ? ` ${call.names.join(', ')}` : ''}`));
    try {
      await follower.carryOut(call);
    } catch (error) {
      // An interruption ends waiting watchers; that is not a failure.
      if (call.type === 'judge' || !coordinatorOf(runStatus)?.isStopped) {
        runStatus.post({ done, failure: messageOf(error) });
        throw error;
      }
    }
    done = number;
    await runStatus.publish({ done });
    if (call.type === 'judge') return;
  }
}

function coordinatorOf(runStatus: RunStatus<FollowerState>): CoordinatorState | undefined {
  return runStatus.stateOf(COORDINATOR) as CoordinatorState | undefined;
}

function nextCall(
  runStatus: RunStatus<FollowerState>,
  done: number,
): Promise<{ readonly number: number; readonly call: Call }> {
  return runStatus.until(() => {
    checkCoordinator(runStatus);
    const { number = 0, call = null, failure } = coordinatorOf(runStatus) ?? {};
    if (failure !== undefined) throw new KubeloomError('ERR_KUBELOOM_LOADTEST', `index 0 failed: ${failure}`);
    return call && number > done ? { number, call } : undefined;
  });
}

function checkCoordinator(runStatus: RunStatus<FollowerState>): void {
  if (!runStatus.isSilent(COORDINATOR)) return;
  throw new KubeloomError('ERR_KUBELOOM_LOADTEST', 'index 0 does not report: read its log');
}

async function factsOf(
  runStatus: RunStatus<FollowerState>,
  { version, share: { indexes } }: FollowerOptions,
): Promise<CoordinatorFacts> {
  const text = await runStatus.until(() => {
    checkCoordinator(runStatus);
    return runStatus.factOf(COORDINATOR, FACTS);
  });
  const facts = coordinatorFactsOf(text);
  const { kubeloom } = facts.run.versions;
  const difference =
    facts.indexes === indexes
      ? kubeloom === version
        ? undefined
        : `is kubeloom ${kubeloom}, and this index is ${version}`
      : `has --indexes ${facts.indexes}, and this index has ${indexes}`;
  if (difference === undefined) return facts;
  throw new KubeloomError('ERR_KUBELOOM_LOADTEST', `index 0 ${difference}: start all of them alike`);
}

class Follower implements AsyncDisposable {
  readonly #options: FollowerOptions;
  readonly #api: ApiWriter;
  readonly #runStatus: RunStatus<FollowerState>;
  readonly #facts: CoordinatorFacts;
  readonly #place: RunPlace;
  #started: { readonly watchers: WatcherProcesses; readonly costs: CostLog } | undefined;

  constructor(
    options: FollowerOptions,
    api: ApiWriter,
    runStatus: RunStatus<FollowerState>,
    facts: CoordinatorFacts,
  ) {
    this.#options = options;
    this.#api = api;
    this.#runStatus = runStatus;
    this.#facts = facts;
    this.#place = { run: runIdOf(options.name), namespaces: facts.run.namespaces, nodes: [] };
  }

  async carryOut(call: Call): Promise<void> {
    switch (call.type) {
      case 'start':
        this.#start(call.atMs);
        return;
      case 'sync':
        await this.#watchers.sync(call.names, call.timeoutMs);
        return;
      case 'relist':
        await this.#watchers.relist(call.names, call.timeoutMs);
        return;
      case 'setSlowness':
        await this.#watchers.setSlowness(call.names, call.slowness);
        return;
      case 'judge':
        await this.#judge();
        return;
      default:
        call satisfies never;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#started?.watchers[Symbol.asyncDispose]();
  }

  get #watchers(): WatcherProcesses {
    if (this.#started) return this.#started.watchers;
    throw new KubeloomError('ERR_KUBELOOM_ASSERTION', 'an index was called before its start');
  }

  /** Times of this index are later than those of index 0 by the delay of a watch: latencies never mix both. */
  #start(atMs: number): void {
    const { kubeConfig, share } = this.#options;
    const startedUs = nowUs() - atMs * 1000;
    const costs = new CostLog(startedUs);
    const watchers = new WatcherProcesses({
      workload: this.#facts.run.workload,
      place: this.#place,
      kubeConfig,
      share,
      startedUs,
      onCost: (process, cost) => costs.keep(process, cost),
    });
    this.#started = { watchers, costs };
    const stopped = this.#runStatus.until(() => coordinatorOf(this.#runStatus)?.isStopped || undefined);
    // A failure of the run status also reaches the wait for the next call.
    stopped.then(() => watchers.stop()).catch(() => undefined);
  }

  async #judge(): Promise<void> {
    const { kubeConfig, share } = this.#options;
    const { run } = this.#place;
    const { workload } = this.#facts.run;
    const client = new ApiClient(kubeConfig);
    const journals = (await readLargeValue(client, run, LOG)) as Journals | undefined;
    if (!journals) throw new KubeloomError('ERR_KUBELOOM_LOADTEST', 'the log of index 0 is missing');
    const logs: Logs = new Map(
      Array.from(journals, ([kind, journal]) => [
        kind,
        journal.map(([revision, type, key]) => ({ revision, type, key, own: undefined })),
      ]),
    );
    const watchers = this.#watchers;
    const judged = await judgeWatchers({ watchers, client, workload, place: this.#place }, logs);
    const costs = this.#started?.costs.byProcess ?? new Map();
    const part: IndexPart = { host: hostname(), machine: machineFacts(), judged, costs };
    await writeLargeValue(this.#api, run, partName(share.index), part);
  }
}
