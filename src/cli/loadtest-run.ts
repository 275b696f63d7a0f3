/**
 * The load test: a writer in another process, informers in this one, and afterwards the comparison of the
 * writes with the notifications and with a list of the server.
 */
import type { KubeConfig } from '@kubernetes/client-node';
import { InformerThreads } from '../index.ts';
import { KubeloomError } from '../base/errors.ts';
import type { ConnectionOptions } from '../shared/protocol.ts';
import { connectionFor } from '../reflector/transport/credentials.ts';
import { ApiClient } from './api-get.ts';
import { number } from './demo-report.ts';
import { failureText } from './failure.ts';
import { journalOf, revisedWrites } from './loadtest-journal.ts';
import { latenciesOf } from './loadtest-latency.ts';
import type { Latencies } from './loadtest-latency.ts';
import { LoadTestNamespace } from './loadtest-namespace.ts';
import { LABEL, LABEL_VALUE } from './loadtest-plan.ts';
import type { LoadOutcome, LoadTestPlan, Write } from './loadtest-plan.ts';
import { reportOf } from './loadtest-report.ts';
import type { InformerResult, LoadTestReport } from './loadtest-report.ts';
import { targetOf } from './loadtest-target.ts';
import { LoadTestWatch } from './loadtest-watch.ts';
import { WriterProcess } from './loadtest-writer-process.ts';
import { packageVersion } from './package-version.ts';
import type { Progress } from './progress.ts';
import { settled } from './settle.ts';
import { interruptedBy } from './signals.ts';

export interface LoadTestResult {
  readonly report: LoadTestReport;
  readonly informers: readonly InformerResult[];
  readonly firstFailure: string | undefined;
}

const PROGRESS_INTERVAL_MS = 200;
const LIST_PAGE = 500;

export async function runLoadTest(
  kubeConfig: KubeConfig,
  plan: LoadTestPlan,
  progress: Progress,
  signal: AbortSignal,
): Promise<LoadTestResult> {
  const say = (line: string): void => progress.say(line);
  const connection = await connectionFor(kubeConfig);
  // Disposal is in the opposite order: the namespace is deleted last, without a watch.
  await using namespace = await LoadTestNamespace.create(connection, say);
  await using writer = new WriterProcess();
  await using threads = new InformerThreads({ shards: plan.threads });
  await using watches = new LoadTestWatches(kubeConfig, plan, namespace.name, threads, say);

  say(`creating ${number(plan.objects)} ConfigMaps in namespace ${namespace.name}`);
  const task = { connection, namespace: namespace.name, plan };
  const created = await showing(progress, plan.objects, writer, watches, signal, () => writer.populate(task));
  await Promise.race([watches.sync(signal), interruptedBy(signal)]);
  say(`${plan.informers} informers have synced`);

  const intended = Math.round(plan.rate * plan.durationSeconds);
  const outcome = await showing(progress, intended, writer, watches, signal, () => writer.load());
  await Promise.race([settled(watches.handlers, outcome.writes.length), interruptedBy(signal)]);

  const state = await list(connection, namespace.name, signal);
  const { informers, latencyMs } = watches.judge(namespace.name, created, outcome, state);
  const versions = { client: packageVersion(), server: await serverVersion(connection, signal) };
  const report = reportOf(targetOf(kubeConfig), versions, plan, outcome, informers, latencyMs);
  return { report, informers, firstFailure: outcome.firstFailure };
}

class LoadTestWatches implements AsyncDisposable {
  readonly #watches: readonly LoadTestWatch[];

  constructor(
    kubeConfig: KubeConfig,
    plan: LoadTestPlan,
    namespace: string,
    threads: InformerThreads,
    say: (line: string) => void,
  ) {
    const onError = (error: Error): void => say(failureText(error, false));
    this.#watches = Array.from(
      { length: plan.informers },
      (_, index) =>
        new LoadTestWatch({ name: `informer ${index + 1}`, kubeConfig, namespace, threads, onError }),
    );
  }

  get handlers(): LoadTestWatch['handler'][] {
    return this.#watches.map(({ handler }) => handler);
  }

  async sync(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#watches.map((watch) => watch.sync(signal)));
  }

  judge(
    namespace: string,
    created: readonly Write[],
    { writes }: LoadOutcome,
    state: ReadonlyMap<string, string>,
  ): { informers: InformerResult[]; latencyMs: Latencies } {
    const listedAt = created.reduce((newest, [revision]) => Math.max(newest, revision), 0);
    const told = this.handlers.flatMap(({ history }) => [...history]);
    const revised = revisedWrites([...created, ...writes], namespace, told);
    const journal = journalOf(revised, namespace);
    return {
      informers: this.#watches.map((watch) => watch.judge(journal, listedAt, state)),
      latencyMs: latenciesOf(
        revised.filter(([revision]) => revision > listedAt),
        this.handlers.map(({ calledUs }) => calledUs),
      ),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const watch of this.#watches) await watch[Symbol.asyncDispose]();
  }
}

async function showing<R>(
  progress: Progress,
  total: number,
  writer: WriterProcess,
  watches: LoadTestWatches,
  signal: AbortSignal,
  work: () => Promise<R>,
): Promise<R> {
  progress.begin(total);
  const timer = setInterval(() => {
    const delivered = Math.min(...watches.handlers.map(({ history }) => history.changes));
    progress.update(
      writer.writes,
      `${number(writer.writes)} confirmed, ${number(delivered)} delivered to every informer`,
    );
  }, PROGRESS_INTERVAL_MS);
  try {
    return await Promise.race([work(), interruptedBy(signal)]);
  } finally {
    clearInterval(timer);
    progress.end();
  }
}

interface ConfigMapList {
  readonly metadata?: { readonly continue?: string };
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly resourceVersion: string };
  }[];
}

/** @returns the version that the server reports; `unknown` without one */
async function serverVersion(connection: ConnectionOptions, signal: AbortSignal): Promise<string> {
  await using client = new ApiClient(connection, signal);
  try {
    const { gitVersion } = (await client.getJson('/version')) as { readonly gitVersion?: unknown };
    return typeof gitVersion === 'string' ? gitVersion : 'unknown';
  } catch (error) {
    // Some servers refuse this request without special rights.
    if (error instanceof KubeloomError) return 'unknown';
    throw error;
  }
}

/** Returns key to resourceVersion of every object that exists now. */
async function list(
  connection: ConnectionOptions,
  namespace: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  await using client = new ApiClient(connection, signal);
  const state = new Map<string, string>();
  let next: string | undefined = '';
  while (next !== undefined) {
    const query = new URLSearchParams({
      labelSelector: `${LABEL}=${LABEL_VALUE}`,
      limit: String(LIST_PAGE),
      ...(next === '' ? {} : { continue: next }),
    });
    const path = `/api/v1/namespaces/${namespace}/configmaps?${query.toString()}`;
    const page = (await client.getJson(path)) as ConfigMapList;
    for (const { metadata } of page.items)
      state.set(`${namespace}/${metadata.name}`, metadata.resourceVersion);
    next = page.metadata?.continue || undefined;
  }
  return state;
}
