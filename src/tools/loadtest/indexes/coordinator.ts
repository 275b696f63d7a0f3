/** Index 0 of a run: it creates the run, writes, and makes all indexes carry out the phases. */
import { hostname } from 'node:os';
import type { AnyKubeConfig } from '../../../kube/server-source.ts';
import { realClock } from '../../../base/clock.ts';
import { KubeloomError, messageOf } from '../../../base/errors.ts';
import { ApiClient } from '../../../http/api-client.ts';
import { TestCluster } from '../run/cluster.ts';
import type { Logs } from '../run/judge-watchers.ts';
import { Run, factsOf, lookForDead } from '../run/run-load-test.ts';
import type { LoadTestOptions, OtherIndexes } from '../run/run-load-test.ts';
import type { Share } from '../watch/placement.ts';
import type { WatcherCommands } from '../watch/watcher-processes.ts';
import { ApiWriter } from '../write/api-writer.ts';
import { RunStatus, JOIN_MS_MAX, entryName } from './run-status.ts';
import { FACTS, LOG, partName } from './index-messages.ts';
import type {
  Call,
  FollowerState,
  CoordinatorFacts,
  CoordinatorPart,
  CoordinatorState,
} from './index-messages.ts';
import { writeLargeValue } from './large-value.ts';

/** Time for work without a specific limit, such as the verdicts of thousands of watchers. */
const CALL_MS_MAX = 600_000;
const NOT_BEGUN: CoordinatorState = { number: 0, call: null, isStopped: false, isEnded: false };

/**
 * Runs a workload with the watchers of all indexes. Resolves when every part is stored; `collectLoadTest` judges and
 * removes the run.
 *
 * @param name of the run
 */
export async function coordinateLoadTest(
  options: LoadTestOptions,
  name: string,
  indexes: number,
): Promise<void> {
  const { kubeConfig, workload, target, say } = options;
  const api = new ApiWriter(kubeConfig);
  const client = new ApiClient(kubeConfig);
  const { signal } = new AbortController();
  const access = { api, client, context: target.context, signal, say };
  const cluster = await TestCluster.find(access, workload, name);
  const { place } = cluster;
  await lookForDead(cluster, say);
  await cluster.create();
  const ended = new AbortController();
  cluster.beatUntil(ended.signal, realClock);
  try {
    const facts: CoordinatorFacts = { run: await factsOf(options, place, client), indexes };
    await using coordinator = await Coordinator.open({ api, kubeConfig, run: place.run, say }, facts);
    await coordinator.join(options.signal);
    try {
      await using run = new Run(options, place, client, coordinator);
      const { tasks: _tasks, ...measurement } = await run.run();
      await coordinator.finish({ ...measurement, host: hostname(), lost: coordinator.missing });
    } catch (error) {
      coordinator.fail(messageOf(error));
      throw error;
    }
  } finally {
    ended.abort();
  }
}

interface CoordinatorOptions {
  readonly api: ApiWriter;
  readonly kubeConfig: AnyKubeConfig;
  readonly run: string;
  readonly say: (line: string) => void;
}

class Coordinator implements OtherIndexes, AsyncDisposable {
  readonly share: Share;
  /** Dead indexes, with the reasons. */
  readonly missing = new Map<number, string>();
  readonly #options: CoordinatorOptions;
  readonly #runStatus: RunStatus<CoordinatorState>;
  readonly #lost = new AbortController();
  #state = NOT_BEGUN;

  private constructor(options: CoordinatorOptions, runStatus: RunStatus<CoordinatorState>, indexes: number) {
    this.#options = options;
    this.#runStatus = runStatus;
    this.share = { index: 0, indexes };
  }

  static async open(options: CoordinatorOptions, facts: CoordinatorFacts): Promise<Coordinator> {
    const { signal } = new AbortController();
    const own = { ...options, name: entryName(0), clock: realClock, signal };
    const runStatus = await RunStatus.join(own, NOT_BEGUN, { [FACTS]: JSON.stringify(facts) });
    return new Coordinator(options, runStatus, facts.indexes);
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Waits until all other indexes have joined. */
  async join(signal: AbortSignal): Promise<void> {
    const { indexes } = this.share;
    if (indexes > 1) this.#options.say(`waiting for ${indexes - 1} other indexes`);
    await this.#all((index) =>
      this.#runStatus.until(() => {
        // Without the other indexes the run cannot measure.
        signal.throwIfAborted();
        return this.#runStatus.stateOf(entryName(index));
      }, JOIN_MS_MAX),
    );
  }

  async start(atMs: () => number): Promise<void> {
    await this.#call({ type: 'start', atMs: atMs() });
  }

  with(own: WatcherCommands): WatcherCommands {
    const both = async (work: Promise<void>, call: Call, limitMs?: number): Promise<void> => {
      await Promise.all([work, this.#call(call, limitMs)]);
    };
    return {
      sync: (names, timeoutMs) =>
        both(own.sync(names, timeoutMs), { type: 'sync', names, timeoutMs }, timeoutMs + CALL_MS_MAX),
      relist: (names, timeoutMs) =>
        both(own.relist(names, timeoutMs), { type: 'relist', names, timeoutMs }, timeoutMs + CALL_MS_MAX),
      setSlowness: (names, slowness) =>
        both(own.setSlowness(names, slowness), {
          type: 'setSlowness',
          names,
          ...(slowness === undefined ? {} : { slowness }),
        }),
      stop: async () => {
        this.#state = { ...this.#state, isStopped: true };
        this.#runStatus.post(this.#state);
        await own.stop();
      },
    };
  }

  async judge(logs: Logs): Promise<void> {
    const { api, run } = this.#options;
    const journals = new Map(
      Array.from(logs, ([kind, log]) => [kind, log.map(({ revision, type, key }) => [revision, type, key])]),
    );
    await writeLargeValue(api, run, LOG, journals);
    await this.#call({ type: 'judge' });
  }

  async finish(part: CoordinatorPart): Promise<void> {
    const { api, run } = this.#options;
    await writeLargeValue(api, run, partName(0), part);
    await this.#publish({ isEnded: true });
  }

  fail(failure: string): void {
    this.#runStatus.post({ ...this.#state, failure });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#runStatus[Symbol.asyncDispose]();
  }

  #publish(change: Partial<CoordinatorState>): Promise<void> {
    this.#state = { ...this.#state, ...change };
    return this.#runStatus.publish(this.#state);
  }

  /** Resolves when all other indexes have carried out the call, or are lost. */
  async #call(call: Call, limitMs = CALL_MS_MAX): Promise<void> {
    const number = this.#state.number + 1;
    await this.#publish({ number, call });
    await this.#all((index) =>
      this.#runStatus.until(() => this.#isDone(index, number) || undefined, limitMs),
    );
  }

  #isDone(index: number, number: number): boolean {
    const name = entryName(index);
    const { done, failure } = this.#runStatus.stateOf(name) as FollowerState;
    if (failure !== undefined) throw new KubeloomError('ERR_KUBELOOM_LOADTEST', failure);
    if (this.#runStatus.isSilent(name))
      throw new KubeloomError('ERR_KUBELOOM_LOADTEST', 'it does not report');
    return done >= number;
  }

  /** Waits for all other indexes that are not lost. */
  async #all(work: (index: number) => Promise<unknown>): Promise<void> {
    const others = Array.from({ length: this.share.indexes - 1 }, (_, index) => index + 1);
    await Promise.all(
      others.map(async (index) => {
        if (this.missing.has(index)) return;
        try {
          await work(index);
        } catch (error) {
          // Calls can overlap: an interrupted call and the last call.
          if (this.missing.has(index)) return;
          this.missing.set(index, messageOf(error));
          this.#options.say(`index ${index} is lost, so the run ends: ${messageOf(error)}`);
          this.#lost.abort();
        }
      }),
    );
  }
}
