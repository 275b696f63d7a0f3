/**
 * The demo, on a machine without a cluster: an embedded apiserver in another process, an informer with a
 * prompt and a slow handler, a load at a fixed rate, and the comparison of the sent changes with the received ones.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { IntervalHistogram } from 'node:perf_hooks';
import { InformerThreads, SharedIndexInformer } from '../index.ts';
import type { Codec, HandlerRegistration } from '../index.ts';
import type { RoleStats } from '../index.ts';
import type { Progress } from './progress.ts';
import { number, progressText } from './demo-report.ts';
import type { DemoReport, HandlerResult, ThreadReport } from './demo-report.ts';
import { DemoServer, PODS } from './demo-server.ts';
import type { Truth } from './demo-server.ts';
import { failureText } from './failure.ts';
import { RecordingHandler } from './recording-handler.ts';
import type { Slowness } from './recording-handler.ts';
import { settled } from './settle.ts';
import { interruptedBy } from './signals.ts';
import { differences, sampleKeys } from './store-comparison.ts';
import { expectationOf, judge } from './verdict.ts';

export interface DemoPlan {
  readonly pods: number;
  readonly objectBytes: number;
  readonly rate: number;
  readonly durationSeconds: number;
  readonly threads?: number;
  readonly codec: Codec;
}

export interface DemoResult {
  readonly report: DemoReport;
  readonly handlers: readonly HandlerResult[];
}

const PROGRESS_INTERVAL_MS = 200;

export async function runDemo(plan: DemoPlan, progress: Progress, signal: AbortSignal): Promise<DemoResult> {
  progress.say('starting an apiserver in another process');
  await using server = await DemoServer.start(plan);
  await using run = new DemoRun(plan, server, progress);
  const syncMs = await run.sync(signal);
  progress.say(`synced ${number(plan.pods)} pods in ${number(syncMs)} ms`);
  const issued = await run.load(signal);
  await run.settle(issued, signal);
  return await run.conclude(syncMs, signal);
}

class DemoRun implements AsyncDisposable {
  readonly #plan: DemoPlan;
  readonly #server: DemoServer;
  readonly #progress: Progress;
  readonly #threads: InformerThreads;
  readonly #informer: SharedIndexInformer;
  readonly #prompt: RecordingHandler = new RecordingHandler('prompt');
  readonly #slow: RecordingHandler;
  readonly #registrations: readonly HandlerRegistration[];
  readonly #behindMax: number[] = [0, 0];
  readonly #loopDelay: IntervalHistogram = monitorEventLoopDelay({ resolution: 1 });

  constructor(plan: DemoPlan, server: DemoServer, progress: Progress) {
    this.#plan = plan;
    this.#server = server;
    this.#progress = progress;
    this.#threads = new InformerThreads(plan.threads === undefined ? {} : { shards: plan.threads });
    this.#informer = new SharedIndexInformer<unknown>(server.connection, PODS, {
      threads: this.#threads,
      codec: plan.codec,
      onError: (error) => progress.say(failureText(error, false)),
    });
    this.#slow = new RecordingHandler('slow', slownessFor(plan.rate));
    this.#registrations = [this.#prompt, this.#slow].map((handler) =>
      this.#informer.addEventHandler(handler),
    );
  }

  /** Runs the informer until its first list is in the cache; resolves with the duration in ms. */
  async sync(signal: AbortSignal): Promise<number> {
    this.#loopDelay.enable();
    const started = performance.now();
    const ended = this.#informer.run(signal);
    // A failure of the run reaches waitForSync, too.
    ended.catch(() => undefined);
    await this.#informer.waitForSync(signal);
    const syncMs = performance.now() - started;
    for (const registration of this.#registrations) {
      await this.#informer.waitForSync(signal, registration);
    }
    return Math.round(syncMs);
  }

  /** Resolves with the number of changes when all of them have been issued. */
  async load(signal: AbortSignal): Promise<number> {
    const { rate, durationSeconds } = this.#plan;
    this.#progress.begin(rate * durationSeconds);
    return await this.#whileShowing(this.#server.load(), signal);
  }

  /** Waits until both handlers have received every change, or none for too long. */
  async settle(issued: number, signal: AbortSignal): Promise<void> {
    await this.#whileShowing(settled([this.#prompt, this.#slow], issued), signal);
    this.#loopDelay.disable();
    this.#progress.end();
  }

  async conclude(syncMs: number, signal: AbortSignal): Promise<DemoResult> {
    const threads = await this.#threads.stats();
    const rssBytes = process.resourceUsage().maxRSS * 1024;
    const store = this.#informer.getStore();
    const truth = await this.#server.truth(sampleKeys(store.listKeys()), signal);
    const different = differences(store.list(), truth);
    for (const difference of different) this.#progress.say(difference);
    const handlers = this.#judge(truth);
    const sum = (count: 'lost' | 'duplicated' | 'reordered'): number =>
      handlers.reduce((total, { verdict }) => total + verdict[count], 0);
    const report: DemoReport = {
      pods: this.#plan.pods,
      eventsSent: truth.changes,
      eventsDelivered: Math.min(...handlers.map(({ verdict }) => verdict.delivered)),
      lost: sum('lost'),
      duplicated: sum('duplicated'),
      reordered: sum('reordered'),
      storeEqualsServer: different.length === 0,
      eventsPerSecond: Math.round(this.#prompt.changesPerSecond),
      syncMs,
      eventLoopDelayMs: {
        p99: milliseconds(this.#loopDelay.percentile(99)),
        max: milliseconds(this.#loopDelay.max),
      },
      rssBytes,
      threads: threads.map(threadReport),
    };
    return { report, handlers };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#progress.end();
    this.#loopDelay.disable();
    await this.#informer[Symbol.asyncDispose]();
    await this.#threads.close();
  }

  #judge({ journal }: Truth): HandlerResult[] {
    const expectation = expectationOf(journal, this.#server.listedAt);
    return [this.#prompt, this.#slow].map(({ name, history }, index) => ({
      name,
      verdict: judge(expectation, history),
      behindMax: this.#behindMax[index] ?? 0,
    }));
  }

  async #whileShowing<R>(work: Promise<R>, signal: AbortSignal): Promise<R> {
    const timer = setInterval(() => void this.#show(), PROGRESS_INTERVAL_MS);
    try {
      return await Promise.race([work, interruptedBy(signal)]);
    } finally {
      clearInterval(timer);
    }
  }

  async #show(): Promise<void> {
    for (const [index, { backlog }] of this.#registrations.entries()) {
      this.#behindMax[index] = Math.max(this.#behindMax[index] ?? 0, backlog.notifications);
    }
    const [prompt, slow] = [this.#prompt.history.changes, this.#slow.history.changes];
    // The server may be gone when the demo is interrupted.
    const sent = await this.#server.issued().catch(() => undefined);
    // The slowest handler counts: the bar ends when everything was delivered.
    this.#progress.update(slow, progressText(sent, prompt, slow));
  }
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
function threadReport({ role, deltas, cpuMs }: RoleStats): ThreadReport {
  return { role, deltas, cpuMs: cpuMs === undefined ? null : Math.round(cpuMs) };
}

/** Converts nanoseconds to milliseconds, rounded to the hundredth. */
function milliseconds(nanoseconds: number): number {
  return Math.round(nanoseconds / 1e4) / 100;
}
