/**
 * The load test: a writer in another process, informers in this one, and afterwards the comparison of what was
 * written with what they were told and with what the server lists.
 */
import { randomInt } from 'node:crypto';
import { createHistogram } from 'node:perf_hooks';
import type { KubeConfig } from '@kubernetes/client-node';
import { InformerThreads } from '../threads/informer-threads.ts';
import type { ConnectionOptions } from '../threads/protocol.ts';
import { connectionFor } from '../transport/credentials.ts';
import { ApiClient } from './api-get.ts';
import { number } from './demo-report.ts';
import { failureText } from './failure.ts';
import { journalOf } from './loadtest-journal.ts';
import { LoadTestNamespace } from './loadtest-namespace.ts';
import { LABEL, LABEL_VALUE } from './loadtest-plan.ts';
import type { LoadOutcome, LoadTestPlan, Write } from './loadtest-plan.ts';
import { reportOf } from './loadtest-report.ts';
import type { InformerResult, Latency, LoadTestReport } from './loadtest-report.ts';
import { targetOf } from './loadtest-target.ts';
import { LoadTestWatch } from './loadtest-watch.ts';
import { WriterProcess } from './loadtest-writer-process.ts';
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
const SEED_MAX = 2 ** 32;

export async function runLoadTest(
  kubeConfig: KubeConfig,
  plan: LoadTestPlan,
  progress: Progress,
  signal: AbortSignal,
): Promise<LoadTestResult> {
  const say = (line: string): void => progress.say(line);
  const connection = await connectionFor(kubeConfig);
  // Disposed of in the opposite order: the namespace goes last, when nobody watches it.
  await using namespace = await LoadTestNamespace.create(connection, say);
  await using writer = new WriterProcess();
  await using threads = new InformerThreads(plan.threads === undefined ? {} : { threads: plan.threads });
  await using watches = new LoadTestWatches(kubeConfig, plan, namespace.name, threads, say);

  say(`creating ${number(plan.objects)} ConfigMaps in namespace ${namespace.name}`);
  const task = { connection, namespace: namespace.name, plan, seed: randomInt(SEED_MAX) };
  const created = await showing(progress, plan.objects, writer, watches, signal, () => writer.populate(task));
  await Promise.race([watches.sync(signal), interruptedBy(signal)]);
  say(`${plan.informers} informers have them`);

  const started = performance.now();
  const intended = Math.round(plan.rate * plan.durationSeconds);
  const outcome = await showing(progress, intended, writer, watches, signal, () => writer.load());
  const elapsedMs = performance.now() - started;
  await Promise.race([settled(watches.handlers, outcome.writes.length), interruptedBy(signal)]);

  const state = await list(connection, namespace.name, signal);
  const informers = watches.judge(namespace.name, created, outcome, state);
  const timed = { ...outcome, elapsedMs };
  const report = reportOf(targetOf(kubeConfig), plan, timed, informers, watches.latency());
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
  ): InformerResult[] {
    const listedAt = created.reduce((newest, [revision]) => Math.max(newest, revision), 0);
    const told = this.handlers.flatMap(({ history }) => [...history]);
    const journal = journalOf([...created, ...writes], namespace, told);
    return this.#watches.map((watch) => watch.judge(journal, listedAt, state));
  }

  latency(): Latency {
    const all = createHistogram();
    for (const { latencyUs } of this.handlers) all.add(latencyUs);
    const ms = (us: number): number => Math.round(us / 10) / 100;
    return { p50: ms(all.percentile(50)), p99: ms(all.percentile(99)), max: ms(all.max) };
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
      `${number(writer.writes)} confirmed, ${number(delivered)} told to every informer`,
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

/** Key to resourceVersion of what there is now. */
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
