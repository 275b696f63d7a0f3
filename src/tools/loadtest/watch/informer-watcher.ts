/**
 * A watcher that is an informer, of kubeloom or of another library. A relist ends the informer and starts a new
 * informer, as a storm of restarting controllers does; each of these runs is judged separately.
 */
import type { AnyKubeConfig } from '../../../kube/server-source.ts';
import { KubeloomError } from '../../../base/errors.ts';
import { withoutBrackets } from '../../../base/loopback.ts';
import { currentTarget } from '../../../http/credentials/kubeconfig.ts';
import { LoadedKubeConfig } from '../../../kube/loaded-kube-config.ts';
import { judgeRuns } from '../verdict/judge-runs.ts';
import type { ClientRun } from '../verdict/judge-runs.ts';
import type { Slowness } from '../workload/workload.ts';
import { InformerRun } from './informer-run.ts';
import type { RecordingHandler } from './recording-handler.ts';
import { TcpProxy } from './tcp-proxy.ts';
import type {
  Truth,
  Watcher,
  WatcherActivity,
  WatcherContext,
  WatcherJudgement,
  WatcherTask,
} from './watcher.ts';

/** An informer of a watcher. */
export interface WatcherRun extends ClientRun, AsyncDisposable {
  /** The handler that can be slow; undefined for a client that does not wait for handlers. */
  readonly handler: RecordingHandler | undefined;
  readonly changes: number;
  readonly cutWatches: number;
  /** Resolves when the first state was delivered and the watch is open. */
  sync(signal: AbortSignal): Promise<void>;
  hasReached(revision: number): boolean;
}

export type NewClientRun = new (
  task: WatcherTask,
  context: WatcherContext,
  cause: 'start' | 'storm',
) => WatcherRun;

export class InformerWatcher implements Watcher {
  readonly task: WatcherTask;
  readonly #context: WatcherContext;
  readonly #ClientRun: NewClientRun;
  readonly #clientRuns: WatcherRun[] = [];
  #proxy: TcpProxy | undefined;
  #slowness: Slowness | undefined;

  /** @param clientRun the run of a client. Default: kubeloom's */
  constructor(task: WatcherTask, context: WatcherContext, clientRun: NewClientRun = InformerRun) {
    this.task = task;
    this.#ClientRun = clientRun;
    this.#context = context;
    this.#slowness = task.group.slow;
  }

  get activity(): WatcherActivity {
    const sum = (of: (clientRun: WatcherRun) => number): number =>
      this.#clientRuns.reduce((all, clientRun) => all + of(clientRun), 0);
    return {
      changes: sum(({ changes }) => changes),
      relists: Math.max(0, sum(({ syncs }) => syncs.length) - 1),
      cutWatches: sum(({ cutWatches }) => cutWatches),
      receivedBytes: this.#proxy?.receivedBytes ?? null,
    };
  }

  async sync(signal: AbortSignal): Promise<void> {
    if (this.task.isProxied) this.#proxy = await TcpProxy.start(this.#context.connection.server);
    await this.#begin('start', signal);
  }

  async relist(signal: AbortSignal): Promise<void> {
    await this.#clientRuns.at(-1)?.[Symbol.asyncDispose]();
    await this.#begin('storm', signal);
  }

  dropConnection(): void {
    this.#proxy?.drop();
  }

  setSlowness(slowness: Slowness | undefined): void {
    this.#slowness = slowness ?? this.task.group.slow;
    this.#applySlowness();
  }

  hasReached(revision: number): boolean {
    return this.#clientRuns.at(-1)?.hasReached(revision) ?? false;
  }

  judge(truth: Truth): WatcherJudgement {
    return judgeRuns(this.#clientRuns, truth, this.#context.startedUs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#clientRuns.at(-1)?.[Symbol.asyncDispose]();
    await this.#proxy?.[Symbol.asyncDispose]();
  }

  async #begin(cause: 'start' | 'storm', signal: AbortSignal): Promise<void> {
    const kubeConfig = this.#proxy
      ? relayed(this.#context.kubeConfig, this.#proxy)
      : this.#context.kubeConfig;
    const clientRun = new this.#ClientRun(this.task, { ...this.#context, kubeConfig }, cause);
    this.#clientRuns.push(clientRun);
    this.#applySlowness();
    await clientRun.sync(signal);
  }

  #applySlowness(): void {
    const slow = this.#slowness;
    const { handler } = this.#clientRuns.at(-1) ?? {};
    handler?.setSlowness(slow?.type === 'handler' ? { every: 1, waitMs: slow.delayMs } : undefined);
    this.#proxy?.limit(slow?.type === 'socket' ? slow.bytesPerSecond : undefined);
  }
}

const RELAYED = 'relayed';

/** Returns the same credentials for the address of the proxy; the name in the server's certificate is unchanged. */
export function relayed(kubeConfig: AnyKubeConfig, proxy: Pick<TcpProxy, 'addressOf'>): AnyKubeConfig {
  const { cluster, user } = currentTarget(kubeConfig);
  if (cluster.proxyUrl) {
    const message = 'connections through a proxy can be neither dropped nor slowed: use a direct connection';
    throw new KubeloomError('ERR_KUBELOOM_LOADTEST', message);
  }
  const hostname = withoutBrackets(new URL(cluster.server).hostname);
  const tlsServerName = cluster.tlsServerName ?? (hostname === '127.0.0.1' ? undefined : hostname);
  const named = tlsServerName === undefined ? {} : { tlsServerName };
  return new LoadedKubeConfig({
    clusters: [{ ...cluster, server: proxy.addressOf(cluster.server), ...named }],
    users: [user],
    contexts: [{ name: RELAYED, cluster: cluster.name, user: user.name }],
    currentContext: RELAYED,
  });
}
