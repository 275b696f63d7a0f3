/**
 * `kubeloom loadtest`: puts a load on a throwaway cluster, and checks that informers deliver every write. A writer in
 * another process, informers in this one, and afterwards the comparison of the writes with the notifications and with a
 * list of the server.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { KubeConfig } from '@kubernetes/client-node';
import { Command } from 'commander';
import { InformerThreads, defaultThreads, loadKubeConfig } from '../index.ts';
import { execArgvOption } from '../apiserver/exec-argv.ts';
import { KubeloomError } from '../base/errors.ts';
import { ApiClient } from '../reflector/api-client.ts';
import { connectionFor } from '../reflector/transport/credentials.ts';
import { ApiWriter } from './api-write.ts';
import { parseCount, parseSeconds, parseThreads } from './arguments.ts';
import { failureText } from './failure.ts';
import { LABEL, LABEL_VALUE } from './loadtest-plan.ts';
import type { FromWriter, LoadOutcome, LoadTestPlan, ToWriter } from './loadtest-plan.ts';
import { PASSED, conclude, reportOf, reportText } from './loadtest-report.ts';
import type { InformerResult, LoadTestReport } from './loadtest-report.ts';
import { targetOf, targetText, wantTarget } from './loadtest-target.ts';
import { LoadTestWatches } from './loadtest-watch.ts';
import { packageVersion } from './package-version.ts';
import { progressOn, showing } from './progress.ts';
import type { Progress } from './progress.ts';
import { settled } from './recording-handler.ts';
import { number, printResult } from './report.ts';
import { interruptedBy, runInterruptibly } from './signals.ts';

const HELP = `
Writes ConfigMaps in a namespace of its own, which is removed afterwards. The context is printed first; without
--yes nothing is sent unless it is a kind-… context whose server is a loopback address.
Exit code 0: every write reached every informer once, in order, and the caches equal a LIST. 1: not so, or the
test could not be done. 2: nothing can be said, because writes failed, the server made informers list again, or
the load was not what was asked for: less than 95 % of --rate, or p99 of due to sent above 100 ms.`;
const SEED_MAX = 2 ** 32 - 1;

const parseObjects = parseCount('--objects', 1, 1_000_000);
const parseRate = parseCount('--rate', 1, 100_000);
const parseObjectBytes = parseCount('--object-bytes', 1, 512 * 1024);
const parseSeed = parseCount('--seed', 0, SEED_MAX);
const parseInformers = parseCount('--informers', 1, 100);

interface LoadTestFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly objects: number;
  readonly objectBytes: number;
  readonly rate: number;
  readonly duration: number;
  readonly informers: number;
  readonly threads?: number;
  readonly seed?: number;
  readonly json?: boolean;
  readonly yes?: boolean;
}

export function loadTestCommand(): Command {
  return new Command('loadtest')
    .description('write to a cluster and check that informers deliver every write')
    .addHelpText('after', HELP)
    .option('--kubeconfig <file>', 'default: $KUBECONFIG, ~/.kube/config, in-cluster')
    .option('--context <name>', "default: the kubeconfig's current one")
    .option('--objects <count>', 'ConfigMaps at the start', parseObjects, 10_000)
    .option('--object-bytes <bytes>', 'data in each of them', parseObjectBytes, 1024)
    .option('--rate <rate>', 'writes a second, in open loop', parseRate, 500)
    .option('--duration <seconds>', 'how long', parseSeconds, 60)
    .option('--informers <count>', 'informers that watch them', parseInformers, 2)
    .option('--threads <count>', 'indexer threads; 0: everything in one thread', parseThreads)
    .option('--seed <number>', 'seed of the order of writes; default: a random one', parseSeed)
    .option('--json', 'print the result as one JSON object on stdout')
    .option('--yes', 'write to this context although it is not known to be a throwaway cluster')
    .action(loadTest);
}

async function loadTest(flags: LoadTestFlags): Promise<void> {
  const { kubeconfig, context, objects, objectBytes, rate, duration, informers, json = false } = flags;
  const kubeConfig = loadKubeConfig({
    ...(kubeconfig === undefined ? {} : { path: kubeconfig }),
    ...(context === undefined ? {} : { context }),
  });
  const target = targetOf(kubeConfig);
  console.error(targetText(target));
  wantTarget(target, flags.yes === true);
  const plan: LoadTestPlan = {
    objects,
    objectBytes,
    rate,
    durationSeconds: duration,
    informers,
    threads: flags.threads ?? defaultThreads(),
    seed: flags.seed ?? randomInt(SEED_MAX),
  };
  await runInterruptibly(async (signal) => {
    const { report, results, firstFailure } = await run(
      kubeConfig,
      plan,
      progressOn(process.stderr, json),
      signal,
    );
    const conclusion = conclude(report, results, firstFailure);
    return printResult(json, report, reportText(report, results), conclusion, PASSED);
  });
}

interface LoadTestResult {
  readonly report: LoadTestReport;
  readonly results: readonly InformerResult[];
  readonly firstFailure: string | undefined;
}

async function run(
  kubeConfig: KubeConfig,
  plan: LoadTestPlan,
  progress: Progress,
  signal: AbortSignal,
): Promise<LoadTestResult> {
  const say = (line: string): void => progress.say(line);
  const connection = await connectionFor(kubeConfig);
  using api = new ApiWriter(connection);
  // Disposal is in the opposite order: the namespace is deleted last, without a watch.
  await using namespace = await LoadTestNamespace.create(api, say);
  await using writer = new WriterProcess();
  await using threads = new InformerThreads({ shards: plan.threads });
  const onError = (error: Error): void => say(failureText(error, false));
  await using watches = new LoadTestWatches(plan.informers, {
    kubeConfig,
    namespace: namespace.name,
    threads,
    onError,
  });
  const { handlers } = watches;
  const written = (total: number, message: ToWriter): Promise<LoadOutcome> => {
    const show = (): void => {
      const delivered = Math.min(...handlers.map(({ history }) => history.changes));
      const text = `${number(writer.writes)} confirmed, ${number(delivered)} delivered to every informer`;
      progress.update(writer.writes, text);
    };
    return showing(progress, total, signal, show, () => writer.send(message));
  };

  say(`creating ${number(plan.objects)} ConfigMaps in namespace ${namespace.name}`);
  const task = { connection, namespace: namespace.name, plan };
  const created = await written(plan.objects, { type: 'populate', task });
  await Promise.race([watches.sync(signal), interruptedBy(signal)]);
  say(`${plan.informers} informers have synced`);
  const outcome = await written(Math.round(plan.rate * plan.durationSeconds), { type: 'load' });
  await settled(handlers, outcome.writes.length, signal);

  const client = new ApiClient(kubeConfig);
  const state = await list(client, namespace.name, signal);
  const { results, latencyMs } = watches.judge(created.writes, outcome.writes, state);
  const versions = { client: packageVersion(), server: await serverVersion(client, signal) };
  const report = reportOf(targetOf(kubeConfig), versions, plan, outcome, results, latencyMs);
  return { report, results, firstFailure: outcome.firstFailure };
}

const NAMESPACES = '/api/v1/namespaces';
const SELECTOR = `${LABEL}=${LABEL_VALUE}`;

/** The load test's own namespace, which is deleted with all its objects, even after a failure. */
class LoadTestNamespace implements AsyncDisposable {
  readonly name: string = `${LABEL_VALUE}-${randomBytes(4).toString('hex')}`;
  readonly #api: ApiWriter;
  readonly #say: (line: string) => void;

  private constructor(api: ApiWriter, say: (line: string) => void) {
    this.#api = api;
    this.#say = say;
  }

  /** @param say called with the name when the server refuses the deletion */
  static async create(api: ApiWriter, say: (line: string) => void): Promise<LoadTestNamespace> {
    const namespace = new LoadTestNamespace(api, say);
    const metadata = { name: namespace.name, labels: { [LABEL]: LABEL_VALUE } };
    await api.send('POST', NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata });
    return namespace;
  }

  /** Deletes the objects first: a cluster without a namespace controller would keep them. */
  async [Symbol.asyncDispose](): Promise<void> {
    const path = `${NAMESPACES}/${this.name}`;
    try {
      await this.#api.send('DELETE', `${path}/configmaps?labelSelector=${encodeURIComponent(SELECTOR)}`);
      await this.#api.send('DELETE', path);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#say(`namespace ${this.name} could not be deleted; delete it by hand: ${why}`);
    }
  }
}

const WRITER_ENTRY = fileURLToPath(new URL('./loadtest-writer.js', import.meta.url));

/** The parent's side of the writer's process. */
class WriterProcess implements AsyncDisposable {
  /** The number of confirmed writes of the current command. */
  writes = 0;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #settle: { resolve(outcome: LoadOutcome): void; reject(error: Error): void } | undefined;

  constructor() {
    this.#child = fork(WRITER_ENTRY, { stdio: ['ignore', 2, 2, 'ipc'], ...execArgvOption() });
    this.#child.on('message', (message: FromWriter) => {
      if (message.type === 'progress') this.writes = message.writes;
      else if (message.type === 'done') this.#settle?.resolve(message.outcome);
      else this.#settle?.reject(new KubeloomError(message.code, message.message));
    });
    this.#ended = once(this.#child, 'exit').then(([code, signal]: unknown[]) => {
      const why = `the writer ended with ${String(code ?? signal)} before it was done`;
      this.#settle?.reject(new KubeloomError('ERR_KUBELOOM_LOADTEST', why));
    });
  }

  /** Resolves when every write of the command has its answer. */
  send(message: ToWriter): Promise<LoadOutcome> {
    this.writes = 0;
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#child.send(message);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#settle = undefined;
    this.#child.kill();
    await this.#ended;
  }
}

/** @returns the version that the server reports; `unknown` without one */
async function serverVersion(client: ApiClient, signal: AbortSignal): Promise<string> {
  try {
    const { gitVersion } = (await client.getJson('/version', signal)) as { readonly gitVersion?: unknown };
    return typeof gitVersion === 'string' ? gitVersion : 'unknown';
  } catch (error) {
    // Some servers refuse this request without special rights.
    if (error instanceof KubeloomError) return 'unknown';
    throw error;
  }
}

const LIST_PAGE = 500;

interface ConfigMapList {
  readonly metadata?: { readonly continue?: string };
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly resourceVersion: string };
  }[];
}

/** Returns key to resourceVersion of every object that exists now. */
async function list(
  client: ApiClient,
  namespace: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const state = new Map<string, string>();
  const query = new URLSearchParams({ labelSelector: SELECTOR, limit: String(LIST_PAGE) });
  for (;;) {
    const path = `${NAMESPACES}/${namespace}/configmaps?${query.toString()}`;
    const { items, metadata } = (await client.getJson(path, signal)) as ConfigMapList;
    for (const { metadata: item } of items) state.set(`${namespace}/${item.name}`, item.resourceVersion);
    if (!metadata?.continue) return state;
    query.set('continue', metadata.continue);
  }
}
