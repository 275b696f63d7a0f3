/**
 * A watcher that is an informer, of kubeloom or of another library. A relist ends the informer and starts another one, as a storm of restarting
 * controllers does; each of these lives is judged by itself.
 */
import type { AnyKubeConfig } from '../../../kube/server-source.ts';
import { KubeloomError } from '../../../base/errors.ts';
import { withoutBrackets } from '../../../base/loopback.ts';
import { LoadedKubeConfig } from '../../../kube/loaded-kube-config.ts';
import { judgeLives } from '../verdict/judge-lives.ts';
import type { Life } from '../verdict/judge-lives.ts';
import type { Slowness } from '../workload/workload.ts';
import { InformerLife } from './informer-life.ts';
import type { RecordingHandler } from './recording-handler.ts';
import { Relay } from './relay.ts';
import type {
  Truth,
  Watcher,
  WatcherActivity,
  WatcherContext,
  WatcherJudgement,
  WatcherTask,
} from './watcher.ts';

/** One informer of a watcher. */
export interface WatcherLife extends Life, AsyncDisposable {
  /** The handler that can be slow; undefined for a client that waits for none. */
  readonly handler: RecordingHandler | undefined;
  readonly changes: number;
  readonly cutWatches: number;
  /** Resolves when the first state was delivered and the watch is open. */
  sync(signal: AbortSignal): Promise<void>;
  hasReached(revision: number): boolean;
}

export type NewLife = new (
  task: WatcherTask,
  context: WatcherContext,
  cause: 'start' | 'storm',
) => WatcherLife;

export class InformerWatcher implements Watcher {
  readonly task: WatcherTask;
  readonly #context: WatcherContext;
  readonly #Life: NewLife;
  readonly #lives: WatcherLife[] = [];
  #relay: Relay | undefined;
  #slowness: Slowness | undefined;

  /** @param life the client's. Default: kubeloom's */
  constructor(task: WatcherTask, context: WatcherContext, life: NewLife = InformerLife) {
    this.task = task;
    this.#Life = life;
    this.#context = context;
    this.#slowness = task.group.slow;
  }

  get activity(): WatcherActivity {
    const sum = (of: (life: WatcherLife) => number): number =>
      this.#lives.reduce((all, life) => all + of(life), 0);
    return {
      changes: sum(({ changes }) => changes),
      relists: Math.max(0, sum(({ syncs }) => syncs.length) - 1),
      cutWatches: sum(({ cutWatches }) => cutWatches),
      receivedBytes: this.#relay?.receivedBytes ?? null,
    };
  }

  async sync(signal: AbortSignal): Promise<void> {
    if (this.task.isRelayed) this.#relay = await Relay.start(this.#context.connection.server);
    await this.#begin('start', signal);
  }

  async relist(signal: AbortSignal): Promise<void> {
    await this.#lives.at(-1)?.[Symbol.asyncDispose]();
    await this.#begin('storm', signal);
  }

  dropConnection(): void {
    this.#relay?.drop();
  }

  setSlowness(slowness: Slowness | undefined): void {
    this.#slowness = slowness ?? this.task.group.slow;
    this.#applySlowness();
  }

  hasReached(revision: number): boolean {
    return this.#lives.at(-1)?.hasReached(revision) ?? false;
  }

  judge(truth: Truth): WatcherJudgement {
    return judgeLives(this.#lives, truth, this.#context.startedUs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lives.at(-1)?.[Symbol.asyncDispose]();
    await this.#relay?.[Symbol.asyncDispose]();
  }

  async #begin(cause: 'start' | 'storm', signal: AbortSignal): Promise<void> {
    const kubeConfig = this.#relay
      ? relayed(this.#context.kubeConfig, this.#relay)
      : this.#context.kubeConfig;
    const life = new this.#Life(this.task, { ...this.#context, kubeConfig }, cause);
    this.#lives.push(life);
    this.#applySlowness();
    await life.sync(signal);
  }

  #applySlowness(): void {
    const slow = this.#slowness;
    const { handler } = this.#lives.at(-1) ?? {};
    handler?.setSlowness(slow?.type === 'handler' ? { every: 1, waitMs: slow.delayMs } : undefined);
    this.#relay?.limit(slow?.type === 'socket' ? slow.bytesPerSecond : undefined);
  }
}

const RELAYED = 'relayed';

/** Returns the same credentials for the address of the relay; the server keeps its name in its certificate. */
export function relayed(kubeConfig: AnyKubeConfig, relay: Pick<Relay, 'addressOf'>): AnyKubeConfig {
  const cluster = kubeConfig.getCurrentCluster();
  const user = kubeConfig.getCurrentUser();
  if (!cluster || !user || cluster.proxyUrl) {
    const message = 'connections through a proxy can be neither dropped nor slowed: use a direct one';
    throw new KubeloomError('ERR_KUBELOOM_LOADTEST', message);
  }
  const hostname = withoutBrackets(new URL(cluster.server).hostname);
  const tlsServerName = cluster.tlsServerName ?? (hostname === '127.0.0.1' ? undefined : hostname);
  const named = tlsServerName === undefined ? {} : { tlsServerName };
  return new LoadedKubeConfig({
    clusters: [{ ...cluster, server: relay.addressOf(cluster.server), ...named }],
    users: [user],
    contexts: [{ name: RELAYED, cluster: cluster.name, user: user.name }],
    currentContext: RELAYED,
  });
}
