/**
 * One window of a soak. Handlers join a cache at rest, a load begins, faults strike, and everything comes to
 * rest again. Then the notifications of the window's handlers are judged. The record of one window is
 * bounded, and every window tests a late join.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { InformerThreads, SharedIndexInformer } from '../../src/index.ts';
import { settled } from '../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import type { ChangeRecord, Commit, Histories } from '../../test/sim/oracle/histories.ts';
import { judge } from '../../test/sim/oracle/judge.ts';
import type { Recorder } from '../../test/sim/oracle/recorder.ts';
import { commitsOf, wireOf } from '../../test/sim/oracle/server-history.ts';
import { describe } from '../../test/sim/oracle/violation.ts';
import type { AttachedThreads } from './attached.ts';
import type { GaugeName, WindowResult } from './gates.ts';
import { Probes } from './probes.ts';
import type { SoakFault } from './soak-faults.ts';
import { joinHandlers } from './window-handlers.ts';

export interface WindowPlan {
  readonly index: number;
  readonly startedAtMs: number;
  readonly loadMs: number;
  readonly rate: number;
  readonly faults: readonly SoakFault[];
  readonly attached: AttachedThreads;
}

const HOUR_MS = 3_600_000;
const POLL_MS = 20;
const MIX = { update: 80, create: 10, delete: 10 };
const VIOLATIONS_MAX = 5;

export async function runWindow(
  server: EmbeddedApiServer,
  informer: SharedIndexInformer,
  threads: InformerThreads,
  recorder: Recorder,
  plan: WindowPlan,
): Promise<WindowResult> {
  // A list that has begun before the window belongs to no request of the window.
  while (informer.phase !== 'watching') await delay(POLL_MS);
  await settled(informer);
  recorder.histories.commits.push(...(await stateAsCommits(server)));
  const since = await server.revision();
  await server.clearRequests();
  recorder.informer(informer, { hasBodies: false, mayRepeat: true });
  const probes = new Probes(server);
  const store = informer.getStore();
  const registrations = joinHandlers(informer, recorder, plan.index, ({ kind, key }: ChangeRecord): void => {
    if (kind !== 'delete') probes.received(key, store.getByKey(key)?.labels ?? {});
  });
  await plan.attached.begin(plan.index);
  recorder.scrape();
  const loopDelay = monitorEventLoopDelay({ resolution: 1 });
  loopDelay.enable();
  const missed = await underLoad(server, threads, recorder, plan, probes);
  loopDelay.disable();
  await probes.stop();
  await settled(informer);
  recorder.look();
  recorder.snapshot(informer, true);
  const attached = await plan.attached.end(informer.lastSyncResourceVersion());
  const { violations, changes } = await judged(server, recorder, attached, since, plan);
  await plan.attached.rest();
  for (const registration of registrations) informer.removeEventHandler(registration);
  await settled(informer);
  return {
    index: plan.index,
    atHours: (performance.now() - plan.startedAtMs) / HOUR_MS,
    changes,
    faults: plan.faults.map(({ name }) => name),
    missed,
    violations: violations.slice(0, VIOLATIONS_MAX),
    gauges: await readGauges(),
    latencies: probes.latencies,
    loopDelayP99Ms: loopDelay.percentile(99) / 1e6,
    loopDelayMaxMs: loopDelay.max / 1e6,
  };
}

/** Resolves at the end of the load with the faults that did not strike. */
async function underLoad(
  server: EmbeddedApiServer,
  threads: InformerThreads,
  recorder: Recorder,
  plan: WindowPlan,
  probes: Probes,
): Promise<string[]> {
  const { rate, loadMs: durationMs, index: seed, faults } = plan;
  const load = server.load({ rate, durationMs, mix: MIX, objectBytes: 1024, seed });
  const missed: string[] = [];
  for (const fault of faults) {
    await delay(durationMs / (faults.length + 1));
    probes.struck();
    if (!(await fault.strike(server, threads))) missed.push(fault.name);
    probes.healed();
    recorder.scrape();
  }
  await load;
  return missed;
}

/** The server's objects as if they had just been created: the truth before the window. */
async function stateAsCommits(server: EmbeddedApiServer): Promise<Commit[]> {
  const state = await server.state('pods');
  return [...state]
    .map(([key, version]): Commit => ({ revision: Number(version), type: 'ADDED', key }))
    .sort((one, other) => one.revision - other.revision);
}

async function judged(
  server: EmbeddedApiServer,
  recorder: Recorder,
  attached: readonly Histories[],
  since: number,
  plan: WindowPlan,
): Promise<{ violations: string[]; changes: number }> {
  const { histories } = recorder;
  const log = await server.log('pods', since);
  const requests = await server.requests();
  histories.commits.push(...commitsOf(log));
  histories.wire.push(...requests.filter(({ path }) => path.endsWith('/pods')).flatMap(wireOf));
  recorder.scrape(true);
  const lists = histories.wire.filter(({ what }) => what === 'listed').length;
  const expected = plan.faults.reduce((sum, { listsMax }) => sum + listsMax, 0);
  const spurious = lists > expected ? [`${lists} lists, and faults that lead to ${expected}`] : [];
  const { commits, wire } = histories;
  const inThreads = attached.flatMap((own, thread) =>
    judge({ ...own, commits, wire }).map((violation) => `thread ${thread}: ${describe(violation)}`),
  );
  const violations = [...judge(histories).map(describe), ...inThreads, ...spurious];
  return { violations, changes: log.length };
}

/** Finalizers run between collections; more collections change nothing. */
const COLLECTIONS = 3;

/** Reads the values that must not grow: memory after a garbage collection, file descriptors, threads, timers. */
async function readGauges(): Promise<Record<GaugeName, number>> {
  const { gc } = globalThis;
  if (!gc) throw new RangeError('the soak needs node --expose-gc: npm run soak');
  for (let done = 0; done < COLLECTIONS; done++) {
    await gc({ execution: 'async' });
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout');
  return {
    heapBytes: heapUsed,
    externalBytes: external,
    rssBytes: rss,
    descriptors: readdirSync('/proc/self/fd').length,
    threads: Number(/^Threads:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]),
    timers: timers.length,
  };
}
