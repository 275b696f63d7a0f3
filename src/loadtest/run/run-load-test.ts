/**
 * Runs a workload: a place in the cluster, a process that writes, processes that watch, the phases in their order, and
 * then the comparison of the writes with what was delivered. The cluster is left as it was, whatever happens.
 */
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { KubeConfig } from '@kubernetes/client-node';
import { realClock, realTimers } from '../../base/clock.ts';
import { KubeloomError } from '../../base/errors.ts';
import { resourcePath } from '../../kube/resource.ts';
import { ApiClient } from '../../reflector/api-client.ts';
import type { LiveState } from '../live.ts';
import { OtherProcess } from '../process/calls.ts';
import type { ProcessCost } from '../process/cost.ts';
import { dataOf } from '../process/kube-config.ts';
import type { Leftover, LoadTestResult, RunFacts } from '../result.ts';
import { logOf } from '../verdict/log.ts';
import { nowUs } from '../watch/recording-handler.ts';
import type { LoggedWrite, Truth, WatcherTask } from '../watch/watcher.ts';
import { WatcherProcesses, selectionOf } from '../watch/watcher-processes.ts';
import { Witness } from '../watch/witness.ts';
import type { ObjectGroup, ObjectKind, Phase, Workload } from '../workload/workload.ts';
import { ApiWriter } from '../write/api-writer.ts';
import type { GeneratorCalls, GeneratorReport } from '../write/generator-process.ts';
import { RUN_LABEL, labelsOf, nameOf, namespaceOf, resourceOf } from '../write/kinds.ts';
import type { RunPlace } from '../write/kinds.ts';
import { assemble } from './assemble.ts';
import { TestCluster } from './cluster.ts';
import { Phases } from './phases.ts';
import type { Timed } from './series.ts';
import { GAUGES, readServerMetrics, totalOf } from './server-metrics.ts';
import type { Samples } from './server-metrics.ts';
import type { LoadTestTarget } from './target.ts';

export interface LoadTestOptions {
  readonly workload: Workload;
  /** The file that repeats the run. */
  readonly workloadYaml: string;
  readonly kubeConfig: KubeConfig;
  readonly target: LoadTestTarget;
  /** The version of kubeloom. */
  readonly version: string;
  /** Ends the phases; the result covers what was done. */
  readonly signal: AbortSignal;
  /** Receives one line about what happens. */
  readonly say: (line: string) => void;
  /** Called once a second. */
  readonly onLive: (state: LiveState) => void;
}

const LIVE_INTERVAL_MS = 1000;
const SERVER_INTERVAL_MS = 10_000;
const LIST_PAGE = 500;
const GENERATOR_ENTRY = fileURLToPath(new URL('../write/generator-process.js', import.meta.url));

export async function runLoadTest(options: LoadTestOptions): Promise<LoadTestResult> {
  const { kubeConfig, workload, target, say } = options;
  const api = new ApiWriter(kubeConfig);
  const client = new ApiClient(kubeConfig);
  // The cluster is cleaned up after an interruption, too.
  const signal = new AbortController().signal;
  const cluster = await TestCluster.find({ api, client, context: target.context, signal, say }, workload);
  await lookForDead(cluster, say);
  let leftovers: Leftover[] | undefined;
  const ended = new AbortController();
  try {
    await cluster.create();
    cluster.beatUntil(ended.signal, realClock);
    await using run = new Run(options, cluster.place, client);
    const finish = await run.run();
    leftovers = await cluster.remove();
    return finish(leftovers);
  } finally {
    ended.abort();
    leftovers ??= await cluster.remove();
    for (const { what, why, command } of leftovers) say(`${what} could not be removed (${why}): ${command}`);
  }
}

/** Users who may not list namespaces can run a test all the same. */
async function lookForDead(cluster: TestCluster, say: (line: string) => void): Promise<void> {
  try {
    await cluster.removeDead();
  } catch (error) {
    if (!(error instanceof KubeloomError && error.code === 'ERR_KUBELOOM_FORBIDDEN')) throw error;
    say(`namespaces of dead runs were not looked for: ${error.message}`);
  }
}

class Run implements AsyncDisposable {
  readonly #options: LoadTestOptions;
  readonly #place: RunPlace;
  readonly #client: ApiClient;
  readonly #startedUs = nowUs();
  readonly #startedAt = new Date().toISOString();
  readonly #witness = new Witness();
  readonly #generator: OtherProcess<GeneratorCalls>;
  readonly #watchers: WatcherProcesses;
  readonly #phases: Phases;
  readonly #costs = new Map<string, Timed<ProcessCost>[]>();
  readonly #serverSeries = new Map<string, Timed<number>[]>();
  #progress: GeneratorReport['progress'] = { due: 0, sent: 0, answered: 0, failed: 0 };
  #latencies: GeneratorReport['latencies'] = { dueToSent: null, sentToAnswered: null };

  constructor(options: LoadTestOptions, place: RunPlace, client: ApiClient) {
    const { workload, kubeConfig, signal } = options;
    this.#options = options;
    this.#place = place;
    this.#client = client;
    const onCost = (process: string, value: ProcessCost): void => this.#keepCost(process, value);
    this.#generator = new OtherProcess<GeneratorCalls>(GENERATOR_ENTRY, 'generator', (message) => {
      const report = message as GeneratorReport;
      this.#progress = report.progress;
      this.#latencies = report.latencies;
      onCost('generator', report.cost);
    });
    const startedUs = this.#startedUs;
    this.#watchers = new WatcherProcesses({ workload, place, kubeConfig, startedUs, onCost });
    const tools = { generator: this.#generator, watchers: this.#watchers, signal, atMs: () => this.#atMs() };
    this.#phases = new Phases(tools);
  }

  /** @returns the result, as a function of what could not be removed */
  async run(): Promise<(leftovers: readonly Leftover[]) => LoadTestResult> {
    const { workload, kubeConfig, signal, say } = this.#options;
    const task = { kubeConfig: dataOf(kubeConfig), workload, place: this.#place };
    await this.#generator.call('start', task);
    const kinds = workload.objects.map(({ kind }) => kind);
    const onError = (error: Error): void => say(`witness: ${error.message}`);
    const own = new AbortController().signal;
    await this.#witness.start(kubeConfig, kinds, this.#place, onError, own);
    const before = await this.#readServer();
    const timers = [
      realTimers.setInterval(() => this.#options.onLive(this.#live()), LIVE_INTERVAL_MS),
      ...(before ? [realTimers.setInterval(() => void this.#readServer(), SERVER_INTERVAL_MS)] : []),
    ];
    try {
      await this.#phases.run(workload.phases, (phase) => say(phaseText(phase)));
    } finally {
      for (const timer of timers) realTimers.clearInterval(timer);
    }
    const truths = await this.#settle(signal);
    const judged = await this.#watchers.judge(truths);
    const after = await this.#readServer();
    const facts = await this.#facts();
    return (leftovers) =>
      assemble({
        run: facts,
        phases: this.#phases,
        startedUs: this.#startedUs,
        tasks: this.#watchers.tasks,
        judged,
        costs: this.#costs,
        serverSeries: this.#serverSeries,
        server: before && after ? { before, after } : undefined,
        isInterrupted: signal.aborted,
        leftovers,
      });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const parts = [this.#generator, this.#watchers, this.#witness];
    await Promise.all(parts.map((each) => each[Symbol.asyncDispose]()));
  }

  #atMs(): number {
    return (nowUs() - this.#startedUs) / 1000;
  }

  #keepCost(process: string, value: ProcessCost): void {
    const costs = this.#costs.get(process) ?? [];
    this.#costs.set(process, costs);
    costs.push({ atMs: this.#atMs(), value });
  }

  #live(): LiveState {
    const { phases } = this.#options.workload;
    const { index, startMs } = this.#phases.present;
    const phase = phases[index] as Phase;
    const { name, type } = phase;
    const durationMs = 'durationMs' in phase ? phase.durationMs : null;
    return {
      atMs: this.#atMs(),
      phase: { name, type, index, count: phases.length, startMs, durationMs },
      writes: { ...this.#progress, total: totalOfPhase(phase, this.#options.workload) },
      latencies: this.#latencies,
      watchers: this.#watchers.live,
      processes: Array.from(this.#costs, ([process, costs]) => ({
        name: process,
        ...(costs.at(-1)?.value ?? NO_COST),
      })),
    };
  }

  async #readServer(): Promise<Samples | undefined> {
    const metrics = this.#options.workload.thresholds.flatMap(({ subject }) =>
      subject.type === 'server' ? [subject.metric] : [],
    );
    const samples = await readServerMetrics(this.#client, metrics, new AbortController().signal);
    if (samples) {
      for (const metric of GAUGES) {
        const values = this.#serverSeries.get(metric) ?? [];
        this.#serverSeries.set(metric, values);
        values.push({ atMs: this.#atMs(), value: totalOf(samples, metric) });
      }
    }
    return samples;
  }

  /** Waits until everything was delivered; returns the truth for each watcher. */
  async #settle(signal: AbortSignal): Promise<ReadonlyMap<string, Truth>> {
    const { objects } = this.#options.workload;
    const { writes } = this.#phases;
    const deletions = objects.map(
      ({ kind }, group) =>
        [kind, writes.filter((write) => write.group === group && write.change === 'delete').length] as const,
    );
    await this.#witness.settle(new Map(deletions), signal);
    const logs = new Map(objects.map((group, index) => [group.kind, this.#logOf(group, index)]));
    const revisions = this.#watchers.tasks.map(
      ({ task }) => [task.name, selected(task, logs).at(-1)?.revision ?? 0] as const,
    );
    await this.#watchers.settle(new Map(revisions));
    const states = new Map<ObjectKind, ReadonlyMap<string, ListedObject>>();
    for (const { kind } of objects) states.set(kind, await this.#list(kind));
    const known = new Map<string, Truth>();
    return new Map(
      this.#watchers.tasks.map(({ task }) => {
        // Watchers that are alike share one truth, which is sent to their process once.
        const same = `${task.group.of} ${task.namespace} ${task.selector}`;
        const truth = known.get(same) ?? {
          log: selected(task, logs).map(({ labels: _labels, ...write }) => write),
          state: stateOf(task, states.get(task.group.of)),
        };
        known.set(same, truth);
        return [task.name, truth];
      }),
    );
  }

  #logOf(group: ObjectGroup, index: number): LabelledWrite[] {
    const keys = new Map<string, number>();
    const keyOf = (n: number): string => {
      const key = `${namespaceOf(n, group, this.#place)}/${nameOf(n)}`;
      keys.set(key, n);
      return key;
    };
    const writes = this.#phases.writes.filter((write) => write.group === index);
    const log = logOf(writes, keyOf, this.#witness.notifications(group.kind));
    return log.map((write) => ({
      ...write,
      labels: labelsOf(keys.get(write.key) ?? 0, group, this.#place.run),
    }));
  }

  async #list(kind: ObjectKind): Promise<ReadonlyMap<string, ListedObject>> {
    const state = new Map<string, ListedObject>();
    const { run, namespaces } = this.#place;
    for (const namespace of namespaces) {
      const query = new URLSearchParams({ labelSelector: `${RUN_LABEL}=${run}`, limit: String(LIST_PAGE) });
      for (;;) {
        const path = `${resourcePath(resourceOf(kind, run), namespace)}?${query.toString()}`;
        const page = (await this.#client.getJson(path, new AbortController().signal)) as ListPage;
        for (const { metadata } of page.items) state.set(`${namespace}/${metadata.name}`, metadata);
        if (!page.metadata?.continue) break;
        query.set('continue', page.metadata.continue);
      }
    }
    return state;
  }

  async #facts(): Promise<RunFacts> {
    const { workload, workloadYaml, target, version } = this.#options;
    const { context, cluster, server, user } = target;
    const processors = cpus();
    return {
      workload,
      workloadYaml,
      target: { context, cluster, server, user },
      versions: { kubeloom: version, node: process.version, server: await serverVersion(this.#client) },
      machine: {
        platform: process.platform,
        architecture: process.arch,
        cpuModel: processors[0]?.model ?? 'unknown',
        cpus: processors.length,
        memoryBytes: totalmem(),
      },
      startedAt: this.#startedAt,
      durationMs: this.#atMs(),
      namespaces: this.#place.namespaces,
    };
  }
}

const NO_COST: ProcessCost = { cpu: 0, rssBytes: 0, loopDelayMs: 0 };

type LabelledWrite = LoggedWrite & { readonly labels: Readonly<Record<string, string>> };

interface ListedObject {
  readonly name: string;
  readonly resourceVersion: string;
  readonly labels?: Readonly<Record<string, string>>;
}

interface ListPage {
  readonly metadata?: { readonly continue?: string };
  readonly items: readonly { readonly metadata: ListedObject }[];
}

function selected(
  task: WatcherTask,
  logs: ReadonlyMap<ObjectKind, readonly LabelledWrite[]>,
): LabelledWrite[] {
  const isSelected = selectionOf(task);
  return (logs.get(task.group.of) ?? []).filter(({ key, labels }) => isSelected(namespaceIn(key), labels));
}

function stateOf(
  task: WatcherTask,
  listed: ReadonlyMap<string, ListedObject> | undefined,
): ReadonlyMap<string, string> {
  const isSelected = selectionOf(task);
  const own = [...(listed ?? [])].filter(([key, { labels }]) => isSelected(namespaceIn(key), labels ?? {}));
  return new Map(own.map(([key, { resourceVersion }]) => [key, resourceVersion]));
}

function namespaceIn(key: string): string {
  return key.slice(0, key.indexOf('/'));
}

function totalOfPhase(phase: Phase, { objects }: Workload): number | null {
  if (phase.type !== 'create') return null;
  return objects.reduce((sum, { kind, count }) => sum + (phase.kinds.includes(kind) ? count : 0), 0);
}

function phaseText({ name, type }: Phase): string {
  return `phase ${name}${name === type ? '' : ` (${type})`}`;
}

/** @returns the version that the server reports; `unknown` without one */
async function serverVersion(client: ApiClient): Promise<string> {
  try {
    const version = (await client.getJson('/version', new AbortController().signal)) as {
      readonly gitVersion?: unknown;
    };
    return typeof version.gitVersion === 'string' ? version.gitVersion : 'unknown';
  } catch (error) {
    // Some servers refuse this request without special rights.
    if (error instanceof KubeloomError) return 'unknown';
    throw error;
  }
}
