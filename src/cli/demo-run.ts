/**
 * The main job on a machine without a cluster: an embedded apiserver in another process, an informer with a
 * prompt and a slow handler, a load at a fixed rate, and the comparison of what was sent with what arrived.
 */
import { KubeConfig } from '@kubernetes/client-node';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { IntervalHistogram } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { EmbeddedApiServer } from '../embedded/embedded-server.ts';
import type { LoadReport } from '../embedded/load.ts';
import { startEmbeddedApiServer } from '../embedded/start.ts';
import { KubeloomError } from '../errors.ts';
import { SharedIndexInformer } from '../informer/shared-index-informer.ts';
import type { ResourceRef } from '../kube/resource.ts';
import type { Codec } from '../options.ts';
import type { HandlerRegistration } from '../processor/handler.ts';
import { InformerThreads } from '../threads/informer-threads.ts';
import type { RoleStats } from '../threads/informer-threads.ts';
import { connectionFor } from '../transport/credentials.ts';
import { ApiClient } from './api-get.ts';
import type { Rate } from './arguments.ts';
import type { Progress } from './demo-progress.ts';
import { number } from './demo-report.ts';
import type { DemoReport, HandlerResult } from './demo-report.ts';
import { failureText } from './failure.ts';
import { RecordingHandler } from './recording-handler.ts';
import type { Slowness } from './recording-handler.ts';
import { differences } from './store-comparison.ts';
import { expectationOf, judge } from './verdict.ts';

export interface DemoPlan {
  readonly pods: number;
  readonly objectBytes: number;
  readonly rate: Rate;
  readonly durationSeconds: number;
  readonly threads?: number;
  readonly codec: Codec;
}

export interface DemoResult {
  readonly report: DemoReport;
  readonly handlers: readonly HandlerResult[];
}

export const PODS: ResourceRef = {
  group: '',
  version: 'v1',
  resource: 'pods',
  kind: 'Pod',
  isNamespaced: true,
};

/** Most pods stay and change; some come and go. */
const MIX = { update: 90, create: 5, delete: 5 };
/** A handler that gets nothing for so long will get nothing any more. */
const STALL_MS = 15_000;
/** What comes after the last event that was expected would be one too many. */
const LINGER_MS = 250;
const PROGRESS_INTERVAL_MS = 200;
const HISTORY_EVENTS_MAX = 20_000_000;
const HISTORY_BYTES_MAX = 4 * 2 ** 30;

export async function runDemo(plan: DemoPlan, progress: Progress, signal: AbortSignal): Promise<DemoResult> {
  progress.say('starting an embedded apiserver in another process');
  await using server = await startEmbeddedApiServer({
    isolation: 'process',
    // A watch that was cut must find its place again: a relist would merge events, and each is counted here.
    historyEventsMax: HISTORY_EVENTS_MAX,
    historyBytesMax: HISTORY_BYTES_MAX,
    watchBacklogEventsMax: HISTORY_EVENTS_MAX,
  });
  await server.populate({ count: plan.pods, objectBytes: plan.objectBytes });
  const listedAt = await server.revision();
  await using run = new DemoRun(plan, server, progress);
  const syncMs = await run.sync(signal);
  progress.say(`synced ${number(plan.pods)} pods in ${number(syncMs)} ms`);
  const load = await run.load(signal);
  await run.settle(load.report, signal);
  return await run.conclude({ syncMs, listedAt, elapsedMs: load.elapsedMs() }, signal);
}

interface Load {
  readonly report: LoadReport;
  /** From the first event issued to the last one that the prompt handler was told of. */
  elapsedMs(): number;
}

interface Measured {
  readonly syncMs: number;
  readonly listedAt: number;
  readonly elapsedMs: number;
}

class DemoRun implements AsyncDisposable {
  readonly #plan: DemoPlan;
  readonly #server: EmbeddedApiServer;
  readonly #progress: Progress;
  readonly #kubeConfig: KubeConfig;
  readonly #threads: InformerThreads;
  readonly #informer: SharedIndexInformer;
  readonly #prompt: RecordingHandler = new RecordingHandler('prompt');
  readonly #slow: RecordingHandler;
  readonly #registrations: readonly HandlerRegistration[];
  readonly #behindMax: number[] = [0, 0];
  readonly #loopDelay: IntervalHistogram = monitorEventLoopDelay({ resolution: 1 });
  #lastPromptAt = 0;

  constructor(plan: DemoPlan, server: EmbeddedApiServer, progress: Progress) {
    this.#plan = plan;
    this.#server = server;
    this.#progress = progress;
    this.#kubeConfig = new KubeConfig();
    this.#kubeConfig.loadFromString(server.kubeConfigYaml);
    this.#threads = new InformerThreads(plan.threads === undefined ? {} : { threads: plan.threads });
    this.#informer = new SharedIndexInformer<unknown>(this.#kubeConfig, PODS, {
      threads: this.#threads,
      codec: plan.codec,
      onError: (error) => progress.say(failureText(error, false)),
    });
    this.#slow = new RecordingHandler('slow', slownessFor(plan.rate));
    this.#registrations = [this.#prompt, this.#slow].map((handler) =>
      this.#informer.addEventHandler(handler),
    );
  }

  /** Runs the informer until its first list is in the cache; resolves with how long that took. */
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

  async load(signal: AbortSignal): Promise<Load> {
    const { rate, durationSeconds, objectBytes } = this.#plan;
    this.#progress.begin(rate === 'max' ? undefined : rate * durationSeconds);
    const started = performance.now();
    const running = this.#server.load({
      rate,
      durationMs: durationSeconds * 1000,
      mix: MIX,
      objectBytes,
    });
    const report = await this.#whileShowing(running, signal);
    return { report, elapsedMs: () => this.#lastPromptAt - started };
  }

  /** Waits until both handlers were told of everything, or of nothing more for too long. */
  async settle({ issued }: LoadReport, signal: AbortSignal): Promise<void> {
    const handlers = [this.#prompt, this.#slow];
    const prompt = this.#prompt.reached(issued).then(() => {
      this.#lastPromptAt = performance.now();
    });
    const done = Promise.all([prompt, this.#slow.reached(issued)]);
    const stalled = new AbortController();
    const watchdog = this.#stall(handlers, stalled.signal);
    await this.#whileShowing(Promise.race([done, watchdog]), signal);
    stalled.abort();
    if (this.#lastPromptAt === 0) this.#lastPromptAt = performance.now();
    this.#loopDelay.disable();
    await delay(LINGER_MS);
    this.#progress.end();
  }

  async conclude(measured: Measured, signal: AbortSignal): Promise<DemoResult> {
    const threads = await this.#threads.stats();
    const rssBytes = process.resourceUsage().maxRSS * 1024;
    await using client = new ApiClient(await connectionFor(this.#kubeConfig), signal);
    const different = await differences(this.#informer.getStore(), PODS, this.#server, client);
    for (const difference of different) this.#progress.say(difference);
    const handlers = await this.#judge(measured.listedAt);
    const eventsSent = (await this.#server.log(PODS.resource, measured.listedAt)).length;
    const sum = (count: 'lost' | 'duplicated' | 'reordered'): number =>
      handlers.reduce((total, { verdict }) => total + verdict[count], 0);
    const delivered = handlers.map(({ verdict }) => verdict.delivered);
    const report: DemoReport = {
      pods: this.#plan.pods,
      eventsSent,
      eventsDelivered: Math.min(...delivered),
      lost: sum('lost'),
      duplicated: sum('duplicated'),
      reordered: sum('reordered'),
      storeEqualsServer: different.length === 0,
      eventsPerSecond: Math.round(((delivered[0] ?? 0) * 1000) / measured.elapsedMs),
      syncMs: measured.syncMs,
      eventLoopDelayMs: {
        p99: milliseconds(this.#loopDelay.percentile(99)),
        max: milliseconds(this.#loopDelay.max),
      },
      rssBytes,
      threads: threads.map(roleStats),
    };
    return { report, handlers };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#progress.end();
    this.#loopDelay.disable();
    await this.#informer[Symbol.asyncDispose]();
    await this.#threads.close();
  }

  async #judge(listedAt: number): Promise<HandlerResult[]> {
    const expectation = expectationOf(await this.#server.log(PODS.resource), listedAt);
    return [this.#prompt, this.#slow].map(({ name, history }, index) => ({
      name,
      verdict: judge(expectation, history),
      behindMax: this.#behindMax[index] ?? 0,
    }));
  }

  /** Resolves when neither handler has been told of anything for a while. */
  async #stall(handlers: readonly RecordingHandler[], ended: AbortSignal): Promise<void> {
    const count = (): number => handlers.reduce((sum, { history }) => sum + history.length, 0);
    let before = -1;
    while (!ended.aborted && count() !== before) {
      before = count();
      await delay(STALL_MS, undefined, { signal: ended }).catch(() => undefined);
    }
  }

  async #whileShowing<R>(work: Promise<R>, signal: AbortSignal): Promise<R> {
    const timer = setInterval(() => void this.#show(), PROGRESS_INTERVAL_MS);
    try {
      return await Promise.race([work, interrupted(signal)]);
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
    const sent = await this.#server.loadIssued().catch(() => prompt);
    this.#progress.update({ sent, prompt, slow });
  }
}

/** The slow handler manages four fifths of the rate: it falls behind all the time, and catches up soon after. */
const SLOW_SHARE = 0.8;
const SLOW_WAIT_MS = 10;
const TIMER_OVERHEAD_MS = 1.5;
const ASSUMED_MAX_RATE = 100_000;

function slownessFor(rate: Rate): Slowness {
  const perSecond = (rate === 'max' ? ASSUMED_MAX_RATE : rate) * SLOW_SHARE;
  const every = Math.max(1, Math.round((perSecond * (SLOW_WAIT_MS + TIMER_OVERHEAD_MS)) / 1000));
  return { every, waitMs: SLOW_WAIT_MS };
}

function interrupted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const give = (): void =>
      reject(new KubeloomError('ERR_KUBELOOM_INTERRUPTED', 'the demo was interrupted'));
    if (signal.aborted) give();
    else signal.addEventListener('abort', give, { once: true });
  });
}

/** Exactly these members: what is printed is a contract. */
function roleStats({ role, deltas, cpuMs }: RoleStats): RoleStats {
  return { role, deltas, cpuMs };
}

/** From nanoseconds, to the hundredth. */
function milliseconds(nanoseconds: number): number {
  return Math.round(nanoseconds / 1e4) / 100;
}
