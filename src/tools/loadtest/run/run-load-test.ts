/**
 * Runs a workload: a place in the cluster, a process that writes, processes that watch, the phases in their order, and
 * the comparison of the writes with the deliveries. The cluster is left as it was, whatever happens.
 */
import type { AnyKubeConfig } from '../../../kube/server-source.ts';
import { realClock, realTimers } from '../../../base/clock.ts';
import { KubeloomError } from '../../../base/errors.ts';
import { textAt } from '../../../kube/wire-path.ts';
import { ApiClient } from '../../../http/api-client.ts';
import type { LiveState } from '../live.ts';
import { OtherProcess } from '../process/calls.ts';
import { CostLog } from '../process/cost-log.ts';
import type { ProcessCost } from '../process/cost.ts';
import { dataOf } from '../process/kube-config.ts';
import type { Leftover, LoadTestResult, RunFacts } from '../result.ts';
import { logOf } from '../verdict/log.ts';
import { WHOLE } from '../watch/placement.ts';
import type { Share } from '../watch/placement.ts';
import { nowUs } from '../watch/recording-handler.ts';
import { WatcherProcesses } from '../watch/watcher-processes.ts';
import type { WatcherCommands } from '../watch/watcher-processes.ts';
import { ReferenceInformers } from '../watch/reference-informers.ts';
import type { Phase, Workload } from '../workload/workload.ts';
import { GENERATOR_ENTRY } from '../write/generator-entry.ts';
import { ApiWriter } from '../write/api-writer.ts';
import type { GeneratorCalls, GeneratorReport } from '../write/generator-process.ts';
import { nameOf, namespaceOf, resourceOf } from '../write/kinds.ts';
import type { RunPlace } from '../write/kinds.ts';
import { assemble } from './assemble.ts';
import type { Measurement } from './assemble.ts';
import { TestCluster } from './cluster.ts';
import { judgeWatchers } from './judge-watchers.ts';
import type { Logs } from './judge-watchers.ts';
import { machineFacts } from './machine-facts.ts';
import { Phases } from './phases.ts';
import type { Timed } from './series.ts';
import { GAUGES, ServerMetrics, totalOf } from './server-metrics.ts';
import type { ServerReading } from './server-metrics.ts';
import type { LoadTestTarget } from './target.ts';

export interface LoadTestOptions {
  readonly workload: Workload;
  /** The file that repeats the run. */
  readonly workloadYaml: string;
  readonly kubeConfig: AnyKubeConfig;
  readonly target: LoadTestTarget;
  /** The version of kubeloom. */
  readonly version: string;
  /** Ends the phases; the result covers the work so far. */
  readonly signal: AbortSignal;
  /** Receives a line about each step. */
  readonly say: (line: string) => void;
  /** Called once a second. */
  readonly onLive: (state: LiveState) => void;
}

/** The other indexes of the Job, each with a part of the watchers. */
export interface OtherIndexes {
  /** The share of this index. */
  readonly share: Share;
  /** Aborted when an index died: the run can no longer be a proof. */
  readonly lost: AbortSignal;
  /** Starts the processes of the other indexes. */
  start(atMs: () => number): Promise<void>;
  /** Returns commands for these watchers and for the watchers of the other indexes. */
  with(own: WatcherCommands): WatcherCommands;
  /** Resolves when all other indexes have judged their watchers. */
  judge(logs: Logs): Promise<void>;
}

const LIVE_INTERVAL_MS = 1000;
const SERVER_INTERVAL_MS = 10_000;

export async function runLoadTest(options: LoadTestOptions): Promise<LoadTestResult> {
  const { kubeConfig, workload, target, say } = options;
  const api = new ApiWriter(kubeConfig);
  const client = new ApiClient(kubeConfig);
  // The cluster is also cleaned up after an interruption.
  const signal = new AbortController().signal;
  const cluster = await TestCluster.find({ api, client, context: target.context, signal, say }, workload);
  await lookForDead(cluster, say);
  let leftovers: Leftover[] | undefined;
  const ended = new AbortController();
  try {
    await cluster.create();
    cluster.beatUntil(ended.signal, realClock);
    await using run = new Run(options, cluster.place, client);
    const measurement = await run.run();
    leftovers = await cluster.remove();
    return assemble({ ...measurement, leftovers, missing: [] });
  } finally {
    ended.abort();
    leftovers ??= await cluster.remove();
    for (const { what, why, command } of leftovers) say(`${what} could not be removed (${why}): ${command}`);
  }
}

/** Users who may not list namespaces can still run a test. */
export async function lookForDead(cluster: TestCluster, say: (line: string) => void): Promise<void> {
  try {
    await cluster.removeDead();
  } catch (error) {
    if (!(error instanceof KubeloomError && error.code === 'ERR_KUBELOOM_FORBIDDEN')) throw error;
    say(`namespaces of dead runs were not looked for: ${error.message}`);
  }
}

/** A run from the first write to the verdicts on the watchers, in a place that exists. */
export class Run implements AsyncDisposable {
  readonly #options: LoadTestOptions;
  readonly #place: RunPlace;
  readonly #client: ApiClient;
  readonly #others: OtherIndexes | undefined;
  readonly #startedUs = nowUs();
  readonly #reference = new ReferenceInformers();
  readonly #generator: OtherProcess<GeneratorCalls>;
  readonly #watchers: WatcherProcesses;
  readonly #phases: Phases;
  readonly #server: ServerMetrics;
  readonly #costs = new CostLog(this.#startedUs);
  readonly #serverSeries = new Map<string, Timed<number>[]>();
  #progress: GeneratorReport['progress'] = { due: 0, sent: 0, answered: 0, failed: 0 };
  #latencies: GeneratorReport['latencies'] = { dueToSent: null, sentToAnswered: null };

  /** @param others undefined: all watchers run here */
  constructor(options: LoadTestOptions, place: RunPlace, client: ApiClient, others?: OtherIndexes) {
    const { workload, kubeConfig, signal } = options;
    this.#options = options;
    this.#place = place;
    this.#client = client;
    this.#others = others;
    const onCost = (process: string, value: ProcessCost): void => this.#costs.keep(process, value);
    this.#generator = new OtherProcess<GeneratorCalls>(GENERATOR_ENTRY, 'generator', (message) => {
      const report = message as GeneratorReport;
      this.#progress = report.progress;
      this.#latencies = report.latencies;
      onCost('generator', report.cost);
    });
    const startedUs = this.#startedUs;
    const share = others?.share ?? WHOLE;
    this.#watchers = new WatcherProcesses({ workload, place, kubeConfig, share, startedUs, onCost });
    const counters = workload.thresholds.flatMap(({ subject }) =>
      subject.type === 'server' ? [subject.metric] : [],
    );
    const written = workload.objects.map(({ kind }) => resourceOf(kind, place.run).resource);
    this.#server = new ServerMetrics(client, counters, written);
    this.#phases = new Phases({
      generator: this.#generator,
      watchers: others?.with(this.#watchers) ?? this.#watchers,
      signal: others ? AbortSignal.any([signal, others.lost]) : signal,
      atMs: () => this.#atMs(),
      readStages: async () => (await this.#readServer())?.stages,
    });
  }

  async run(): Promise<Measurement> {
    const { workload, kubeConfig, signal, say } = this.#options;
    const place = this.#place;
    const facts = await factsOf(this.#options, place, this.#client);
    await this.#generator.call('start', { kubeConfig: dataOf(kubeConfig), workload, place });
    const kinds = workload.objects.map(({ kind }) => kind);
    const onError = (error: Error): void => say(`reference informer: ${error.message}`);
    const ever = new AbortController().signal;
    await this.#reference.start(kubeConfig, kinds, place, onError, ever);
    await this.#others?.start(() => this.#atMs());
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
    const logs = await this.#logs(signal);
    const own = { watchers: this.#watchers, client: this.#client, workload, place };
    const [judged] = await Promise.all([judgeWatchers(own, logs), this.#others?.judge(logs)]);
    const after = await this.#readServer();
    const { results, writes, marks, firstFailure, stages, absentStages } = this.#phases;
    return {
      run: { ...facts, durationMs: this.#atMs() },
      phases: { results, writes, marks, firstFailure },
      startedUs: this.#startedUs,
      tasks: this.#watchers.tasks,
      judged,
      costs: this.#costs.byProcess,
      serverSeries: this.#serverSeries,
      server: before && after ? { before: before.samples, after: after.samples } : undefined,
      serverStages: { stages, absent: absentStages, unread: this.#server.problem ?? null },
      isInterrupted: signal.aborted,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const parts = [this.#generator, this.#watchers, this.#reference];
    await Promise.all(parts.map((each) => each[Symbol.asyncDispose]()));
  }

  #atMs(): number {
    return (nowUs() - this.#startedUs) / 1000;
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
      processes: Array.from(this.#costs.byProcess, ([process, costs]) => ({
        name: process,
        ...(costs.at(-1)?.value ?? NO_COST),
      })),
    };
  }

  async #readServer(): Promise<ServerReading | undefined> {
    const problem = this.#server.problem;
    const reading = await this.#server.read();
    if (this.#server.problem !== problem)
      this.#options.say(`the server's metrics are not read: ${this.#server.problem}`);
    if (reading) {
      for (const metric of GAUGES) {
        const values = this.#serverSeries.get(metric) ?? [];
        this.#serverSeries.set(metric, values);
        values.push({ atMs: this.#atMs(), value: totalOf(reading.samples, metric) });
      }
    }
    return reading;
  }

  /** Returns the log of each kind as soon as the reference informer has received the data that the answers lack. */
  async #logs(signal: AbortSignal): Promise<Logs> {
    const { objects } = this.#options.workload;
    const { writes } = this.#phases;
    const deletions = objects.map(
      ({ kind }, group) =>
        [kind, writes.filter((write) => write.group === group && write.change === 'delete').length] as const,
    );
    await this.#reference.waitUntilDelivered(new Map(deletions), signal);
    return new Map(
      objects.map((objectGroup, group) => {
        const own = writes.filter((write) => write.group === group);
        const keyOf = (n: number): string => `${namespaceOf(n, objectGroup, this.#place)}/${nameOf(n)}`;
        return [objectGroup.kind, logOf(own, keyOf, this.#reference.notifications(objectGroup.kind))];
      }),
    );
  }
}

/** @param client requests the server's version */
export async function factsOf(
  { workload, workloadYaml, target, version }: LoadTestOptions,
  { namespaces }: RunPlace,
  client: ApiClient,
): Promise<RunFacts> {
  const { context, cluster, server, user } = target;
  return {
    workload,
    workloadYaml,
    target: { context, cluster, server, user },
    versions: { kubeloom: version, node: process.version, server: await serverVersion(client) },
    machine: machineFacts(),
    startedAt: new Date().toISOString(),
    durationMs: 0,
    namespaces,
  };
}

const NO_COST: ProcessCost = { cpu: 0, rssBytes: 0, loopDelayMs: 0 };

function totalOfPhase(phase: Phase, { objects }: Workload): number | null {
  if (phase.type !== 'create') return null;
  return objects.reduce((sum, { kind, count }) => sum + (phase.kinds.includes(kind) ? count : 0), 0);
}

function phaseText({ name, type }: Phase): string {
  return `phase ${name}${name === type ? '' : ` (${type})`}`;
}

/** @returns the version that the server reports, or `unknown` */
async function serverVersion(client: ApiClient): Promise<string> {
  try {
    return textAt(await client.getJson('/version', new AbortController().signal), 'gitVersion', 'unknown');
  } catch (error) {
    // Some servers refuse this request without special rights.
    if (error instanceof KubeloomError) return 'unknown';
    throw error;
  }
}
