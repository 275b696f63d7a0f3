/**
 * `kubeloom demo` (`npm start`): the main job, measured and checked, on a machine without a cluster. An embedded
 * apiserver in another process, an informer with a prompt and a slow handler, a fixed number of changes at a rate, and the
 * comparison of the changes sent with the changes received.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import {
  InformerThreads,
  SharedIndexInformer,
  defaultIndexerThreads,
  resourcePath,
  resources,
} from '../../../index.ts';
import type { HandlerRegistration } from '../../../index.ts';
import type { EmbeddedApiServer } from '../../apiserver/run/embedded-server.ts';
import type { JournalEntry } from '../../apiserver/store/journal.ts';
import { ApiClient } from '../../../http/api-client.ts';
import type { DemoFlags } from '../commands/demo.ts';
import { PASSED, conclude, progressText, reportText } from './demo-report.ts';
import type { DemoReport, HandlerResult, ThreadReport } from './demo-report.ts';
import { failureText } from '../failure.ts';
import { interruptedBy } from '../signals.ts';
import { progressOn, showing } from '../terminal/progress.ts';
import type { Progress } from '../terminal/progress.ts';
import { columnsOf } from '../terminal/output.ts';
import { RecordingHandler } from '../../loadtest/watch/recording-handler.ts';
import type { Slowness } from '../../loadtest/watch/recording-handler.ts';
import { waitUntilDelivered } from '../../loadtest/watch/wait-until-delivered.ts';
import { number, printResult, sumOfFaults } from '../terminal/report.ts';
import { differences, sampleKeys } from '../../loadtest/verdict/store-comparison.ts';
import type { ServerState } from '../../loadtest/verdict/store-comparison.ts';
import { expectationOf, judge } from '../../loadtest/verdict/verdict.ts';
import type { Expectation } from '../../loadtest/verdict/verdict.ts';

export async function demo(flags: DemoFlags, signal: AbortSignal): Promise<number> {
  const progress = progressOn(process.stderr, flags.json === true);
  const { report, handlers } = await runDemo(flags, progress, signal);
  const conclusion = conclude(report, handlers);
  const text = reportText(report, handlers, columnsOf(process.stdout));
  return printResult(flags.json === true, report, text, conclusion, PASSED);
}

const PODS = resources.core.v1.pods;
/** Most pods stay and change; some come and go. */
const MIX = { update: 90, create: 5, delete: 5 };
/** A machine that is too slow for the rate sends all changes as well, in a longer time. */
const LOAD_MS_MAX = 2 ** 31 - 1;
const HISTORY_EVENTS_MAX = 100_000_000;
const HISTORY_BYTES_MAX = 4 * 2 ** 30;

interface DemoResult {
  readonly report: DemoReport;
  readonly handlers: readonly HandlerResult[];
}

async function runDemo(flags: DemoFlags, progress: Progress, signal: AbortSignal): Promise<DemoResult> {
  const { pods, objectBytes, rate, duration, threads: shards, codec } = flags;
  const changes = Math.round(rate * duration);
  progress.say('starting an apiserver in another process');
  const { startEmbeddedApiServer } = await import('../../apiserver/run/start.ts');
  await using server = await startEmbeddedApiServer({
    isolation: 'process',
    // An interrupted watch must be able to resume: a relist would combine events, and each is counted.
    historyEventsMax: HISTORY_EVENTS_MAX,
    historyBytesMax: HISTORY_BYTES_MAX,
    watchBacklogEventsMax: HISTORY_EVENTS_MAX,
  });
  const listedAt = await Promise.race([server.populate({ count: pods, objectBytes }), interruptedBy(signal)]);
  // The change from the calling thread would be a list, which merges events, and the demo checks every event.
  await using threads = new InformerThreads({ indexerThreads: shards ?? defaultIndexerThreads() });
  await using informer = new SharedIndexInformer<unknown>(server.connection, PODS, {
    threads,
    codec,
    onError: (error) => progress.say(failureText(error, false)),
  });
  const prompt = new DemoHandler(informer, 'prompt');
  const slow = new DemoHandler(informer, 'slow', slownessFor(rate));
  const loopDelay = monitorEventLoopDelay({ resolution: 1 });
  loopDelay.enable();
  const syncMs = await sync(informer, [prompt, slow], signal);
  progress.say(`synced ${number(pods)} pods in ${number(syncMs)} ms`);

  const show = async (): Promise<void> => {
    for (const handler of [prompt, slow]) handler.measureBacklog();
    // The server may be gone when the demo is interrupted.
    const sent = await server.loadIssued().catch(() => undefined);
    // The slowest handler counts: the bar ends when all changes are delivered.
    const received = slow.history.changes;
    progress.update(received, progressText(sent, prompt.history.changes, received));
  };
  const work = async (): Promise<void> => {
    const load = { rate, durationMs: LOAD_MS_MAX, eventsMax: changes, objectBytes, mix: MIX };
    const { issued } = await server.load(load);
    const handlers = [prompt.history, slow.history];
    const isBehind = (): boolean => handlers.some(({ changes }) => changes < issued);
    const received = (): number => handlers.reduce((sum, { length }) => sum + length, 0);
    await waitUntilDelivered(isBehind, received, signal);
    signal.throwIfAborted();
  };
  await showing(progress, changes, signal, () => void show(), work);
  loopDelay.disable();

  const roles = threads.stats();
  const rssBytes = process.resourceUsage().maxRSS * 1024;
  const store = informer.getStore();
  const truth = await truthOf(server, listedAt, sampleKeys(store.listKeys()), signal);
  const different = differences(store.list(), truth);
  for (const difference of different) progress.say(difference);
  const expectation = expectationOf(truth.journal, listedAt);
  const handlers = [prompt, slow].map((handler) => handler.judged(expectation));
  const report = {
    pods,
    eventsSent: truth.changes,
    eventsDelivered: Math.min(...handlers.map(({ verdict }) => verdict.delivered)),
    ...sumOfFaults(handlers),
    storeEqualsServer: different.length === 0,
    eventsPerSecond: Math.round(prompt.history.changesPerSecond),
    syncMs,
    eventLoopDelayMs: { p99: milliseconds(loopDelay.percentile(99)), max: milliseconds(loopDelay.max) },
    rssBytes,
    threads: roles.map(threadReport),
  };
  return { report, handlers };
}

class DemoHandler extends RecordingHandler {
  readonly registration: HandlerRegistration;
  #behindMax = 0;

  constructor(informer: SharedIndexInformer, name: string, slowness?: Slowness) {
    super(name, slowness);
    this.registration = informer.addEventHandler(this);
  }

  measureBacklog(): void {
    this.#behindMax = Math.max(this.#behindMax, this.registration.backlog.notifications);
  }

  judged(expectation: Expectation): HandlerResult {
    return { name: this.name, verdict: judge(expectation, this.history), behindMax: this.#behindMax };
  }
}

/** Runs the informer until the first list is in the cache; resolves with the duration in ms. */
async function sync(
  informer: SharedIndexInformer,
  handlers: readonly DemoHandler[],
  signal: AbortSignal,
): Promise<number> {
  const started = performance.now();
  // A failure of the run also reaches waitForSync.
  informer.run({ signal }).catch(() => undefined);
  await informer.waitForSync({ signal });
  const syncMs = performance.now() - started;
  for (const { registration } of handlers) await informer.waitForSync({ signal, registration });
  return Math.round(syncMs);
}

/** The server's log of changes and the server's current state. */
interface Truth extends ServerState {
  readonly journal: Iterable<JournalEntry>;
  /** Changes after the informer's list. */
  readonly changes: number;
}

/** @param sample keys of the objects that are requested */
async function truthOf(
  server: EmbeddedApiServer,
  listedAt: number,
  sample: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Truth> {
  const [state, journal, after] = await Promise.all([
    server.state(PODS.resource),
    server.log(PODS.resource),
    server.log(PODS.resource, listedAt),
  ]);
  const client = new ApiClient(server.connection);
  const bytes = new Map<string, Buffer>();
  for (const key of sample) {
    const [namespace = '', name = ''] = key.split('/');
    const path = `${resourcePath(PODS, namespace)}/${encodeURIComponent(name)}`;
    bytes.set(key, await client.getBody(path, signal));
  }
  return { journal, changes: after.length, state, bytes };
}

/** The slow handler manages four fifths of the rate: it falls behind during the load, and catches up soon after. */
const SLOW_SHARE = 0.8;
const SLOW_WAIT_MS = 10;
const TIMER_OVERHEAD_MS = 1.5;

function slownessFor(rate: number): Slowness {
  const perSecond = rate * SLOW_SHARE;
  const every = Math.max(1, Math.round((perSecond * (SLOW_WAIT_MS + TIMER_OVERHEAD_MS)) / 1000));
  return { every, waitMs: SLOW_WAIT_MS };
}

/** Returns exactly these members, because programs read the output. */
function threadReport({ role, deltas, cpuMs }: ReturnType<InformerThreads['stats']>[number]): ThreadReport {
  return { role, deltas, cpuMs: cpuMs === undefined ? null : Math.round(cpuMs) };
}

/** Converts nanoseconds to milliseconds, rounded to the hundredth. */
function milliseconds(nanoseconds: number): number {
  return Math.round(nanoseconds / 1e4) / 100;
}
