/** Cases about mistakes in the program around the informer, and about its machine. */
import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync, readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { KubeConfig } from '@kubernetes/client-node';
import type { SharedIndexInformer } from '../../src/index.ts';
import type { TemporaryFolder } from '../kit/temporary-folder.ts';
import { EXPIRED, GONE, onlyWatches, relistedFrom, strike } from './cases-of-watches.ts';
import type { FaultCase } from './fault-case.ts';
import type { Scene } from './scene.ts';

/** Code in reports of handlers' errors that have none. */
const HANDLER = 'ERR_KUBELOOM_HANDLER';
const HOUR_MS = 3_600_000;
const LATE_MS_MAX = 250;

const nothing = (): void => undefined;

export const CASES_OF_PROGRAMS: readonly FaultCase[] = [
  {
    id: '56',
    what: 'handlers that throw, reject, never return and are slow',
    expected:
      'reported with their registration; only the handler that never returns has a backlog, which is counted',
    codes: [HANDLER],
    run: badHandlers,
  },
  {
    id: '58',
    what: 'a handler writes to an object and to an array in it',
    expected: 'ERR_KUBELOOM_MUTATION, and the cache is unchanged',
    codes: ['ERR_KUBELOOM_MUTATION'],
    informer: { debug: { retainChecks: 'strict' } },
    run: async (scene) => {
      let tries = 0;
      const write = ({ object }: { readonly object: unknown }): void => {
        if (tries++ > 5) return;
        const pod = object as { spec: { containers: object[] }; metadata: Record<string, unknown> };
        if (tries % 2 === 0) pod.metadata['name'] = 'mine';
        else pod.spec.containers.push({});
      };
      scene.informer.addEventHandler({ onUpdate: (_old, entry) => write(entry) });
      await scene.untilReported('ERR_KUBELOOM_MUTATION', 2);
      scene.own.push('writes');
      return `${tries} writes, none of them in the cache`;
    },
  },
  {
    id: '62',
    what: 'readers read ten hot objects all the time, while they are written as fast as possible',
    expected: 'no torn object: name, version and body of each belong together',
    isAlone: true,
    objects: 10,
    hasBodies: false,
    convergeMs: 15_000,
    run: hotKeys,
  },
  {
    id: '64',
    what: '1,000 informers are started and stopped on the same threads: in the list, during a replay, synced, at once',
    expected: 'no call after the end; descriptors, timers and threads as before',
    isAlone: true,
    // All have the same name, and each lists for the first time.
    excused: ['I15'],
    run: starts,
  },
  {
    id: '66',
    what: 'the wall clock jumps an hour back, on and ten years on, while watches expire; so do credentials of a plugin',
    expected:
      'timers continue; no latency is negative; the plugin runs again only where its credentials have expired',
    codes: [GONE],
    isAlone: true,
    isStartedLater: true,
    // Everything must run in this thread, because its clock jumps.
    threads: { indexerThreads: 0 },
    server: { token: '' },
    run: clockJumps,
  },
  {
    id: '67a',
    what: 'no descriptor is free when the connection has to be opened again',
    expected: 'reports it, waits, and continues when descriptors are free',
    codes: ['ERR_KUBELOOM_UNREACHABLE'],
    mayReport: ['ERR_KUBELOOM_CONNECTION_RESET'],
    isAlone: true,
    server: { isolation: 'process' },
    run: noDescriptors,
  },
  {
    id: '68',
    what: 'a relist of 100,000 objects during 2,000 events a second',
    expected: 'equal within 30 s; the main thread is never blocked for long',
    codes: [GONE],
    isAlone: true,
    objects: 100_000,
    rate: 2000,
    hasBodies: false,
    server: { isolation: 'process' },
    convergeMs: 30_000,
    run: bigRelist,
  },
];

async function badHandlers(scene: Scene): Promise<string> {
  const { informer } = scene;
  informer.addEventHandler({
    onUpdate: () => {
      throw new Error('thrown on purpose');
    },
  });
  informer.addEventHandler({ onUpdate: () => Promise.reject(new Error('rejected on purpose')) });
  let release = nothing;
  const held = new Promise<void>((resolve) => (release = resolve));
  const stuck = informer.addEventHandler({ onAdd: nothing, onUpdate: () => held });
  informer.addEventHandler({ onUpdate: () => scene.sleep(50) }, { name: 'slow' });
  scene.own.push('four bad handlers');
  try {
    await scene.untilReported(HANDLER, 20);
    await scene.untilReceived(200);
    assert.ok(stuck.backlog.notifications > 50, `${stuck.backlog.notifications} are counted`);
    return `${stuck.backlog.notifications} notifications wait for the handler that never returns`;
  } finally {
    // Otherwise its informer could not end.
    informer.removeEventHandler(stuck);
    release();
  }
}

async function hotKeys(scene: Scene): Promise<string> {
  await scene.stopLoad();
  scene.startLoad('max');
  const end = performance.now() + 4000;
  let looks = 0;
  while (performance.now() < end) {
    for (const entry of scene.informer.getStore().list()) {
      const { metadata } = JSON.parse(entry.bytes().toString()) as {
        metadata: { name: string; uid: string; resourceVersion: string; labels?: object };
      };
      assert.equal(metadata.name, entry.name);
      assert.equal(metadata.uid, entry.uid);
      assert.deepEqual(metadata.labels ?? {}, { ...entry.labels });
      assert.equal(metadata.resourceVersion, entry.resourceVersion);
      looks++;
    }
    await scene.sleep(0);
  }
  scene.own.push('hot objects');
  await scene.stopLoad();
  const events = scene.recorder.histories.delivered.length;
  return `${looks} looks during ${events} events, none torn; on ${process.arch} only`;
}

const ROUNDS = 1000;

async function starts(scene: Scene): Promise<string> {
  const before = resources();
  let late = 0;
  let replays = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const informer = scene.newInformer();
    let isOver = false;
    const count = (): void => void (late += isOver ? 1 : 0);
    informer.addEventHandler({ onAdd: count, onUpdate: count });
    const run = informer.run();
    if (round % 4 === 0) await scene.sleep(1);
    if (round % 4 === 1) await informer.waitForSync({ signal: AbortSignal.timeout(10_000) });
    if (round % 4 === 2) replays += await cutReplay(informer);
    await informer[Symbol.asyncDispose]();
    await run;
    isOver = true;
  }
  scene.own.push(`starts and stops`);
  // Idle connections are closed after four seconds.
  const isAsBefore = (): boolean =>
    Object.entries(resources()).every(([name, count]) => count <= (before[name] ?? 0) + 4);
  await scene.until(isAsBefore, `nothing is left: ${JSON.stringify([before, resources()])}`, 20_000);
  assert.equal(late, 0);
  assert.ok(replays > 0);
  return `${ROUNDS} rounds, ${replays} replays cut: ${JSON.stringify(before)} before, ${JSON.stringify(resources())} after`;
}

/**
 * Adds a handler that is in its first call when the informer ends.
 *
 * @returns 1 if it has not received everything
 */
async function cutReplay(informer: SharedIndexInformer): Promise<number> {
  await informer.waitForSync({ signal: AbortSignal.timeout(10_000) });
  const size = informer.getStore().size;
  let calls = 0;
  const begun = new Promise<void>((resolve) => {
    informer.addEventHandler({
      onAdd: () => {
        calls++;
        resolve();
        return new Promise((next) => setImmediate(next));
      },
    });
  });
  await begun;
  await informer[Symbol.asyncDispose]();
  return calls < size ? 1 : 0;
}

function resources(): Record<string, number> {
  const counts: Record<string, number> = { descriptors: readdirSync('/proc/self/fd').length };
  for (const name of process.getActiveResourcesInfo()) {
    if (name === 'MessagePort' || name === 'Timeout' || name === 'Worker')
      counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

async function clockJumps(scene: Scene): Promise<string> {
  const runs = plugin(scene, scene.folder());
  await scene.startInformer();
  await scene.mark();
  const RealDate = Date;
  const realNow = Date.now.bind(Date);
  const ran: number[] = [];
  let lagMin = 0;
  try {
    for (const jumpMs of [-HOUR_MS, HOUR_MS, 87_660 * HOUR_MS]) {
      RealDate.now = () => realNow() + jumpMs;
      scene.own.push('clock');
      await scene.mark();
      await strike(scene, EXPIRED, { verb: 'watch' });
      // The list needs credentials.
      await relistedFrom(scene, /list|stream/);
      lagMin = Math.min(lagMin, scene.informer.health.lagMs ?? 0);
      ran.push(runs());
    }
  } finally {
    RealDate.now = realNow;
  }
  assert.ok(lagMin >= 0);
  assert.deepEqual(ran.slice(0, 2), [1, 1], 'credentials were valid for two hours');
  assert.ok((ran[2] ?? 0) > 1, 'and not for ten years');
  return `three jumps, three relists; the plugin had run ${ran.join(', ')} times`;
}

/**
 * Installs a plugin whose token is valid for two hours.
 *
 * @returns a function that returns how often it has run
 */
function plugin(scene: Scene, folder: TemporaryFolder): () => number {
  const count = folder.file('runs');
  const apiVersion = 'client.authentication.k8s.io/v1';
  const expirationTimestamp = new Date(Date.now() + 2 * HOUR_MS).toISOString();
  const credential = { kind: 'ExecCredential', apiVersion, status: { token: 'good', expirationTimestamp } };
  const script = `#!/bin/sh\necho run >> ${count}\ncat <<'END'\n${JSON.stringify(credential)}\nEND\n`;
  const command = folder.write('plugin', script, 0o755);
  const source = scene.informer.source as KubeConfig;
  source.users = [
    { name: source.users[0]?.name ?? '', exec: { apiVersion, interactiveMode: 'Never', command } },
  ];
  return () => readFileSync(count, 'utf8').split('run').length - 1;
}

async function noDescriptors(scene: Scene): Promise<string> {
  const taken: number[] = [];
  const takeAll = (): void => {
    try {
      for (;;) taken.push(openSync('/dev/null', 'r'));
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'EMFILE');
    }
  };
  takeAll();
  scene.own.push('EMFILE');
  try {
    let looks = 0;
    await scene.until(async () => {
      // Over the channel of the process, because no descriptor is free for the fault port. Repeated, in case the new
      // connection has got a descriptor that was freed meanwhile.
      if (looks++ % 100 === 0) await scene.server.dropWatches({ how: 'reset' });
      // Takes the descriptor of the closed connection, too.
      takeAll();
      return scene.codes().includes('ERR_KUBELOOM_UNREACHABLE');
    }, 'the missing descriptors are reported');
  } finally {
    for (const descriptor of taken) closeSync(descriptor);
  }
  await scene.untilReceived(50);
  scene.healedAtMs = performance.now();
  return `${taken.length} descriptors were taken: ${await onlyWatches(scene)}`;
}

async function bigRelist(scene: Scene): Promise<string> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  await strike(scene, EXPIRED, { verb: 'watch' });
  await relistedFrom(scene, /list|stream/);
  await scene.until(() => scene.informer.health.state === 'connected', 'it watches again');
  delay.disable();
  const p99Ms = delay.percentile(99) / 1e6;
  // 50 on a dedicated machine; this one may have other load.
  assert.ok(p99Ms < LATE_MS_MAX, `event loop delay p99 ${p99Ms.toFixed(1)} ms`);
  return `event loop delay p99 ${p99Ms.toFixed(1)} ms, most ${(delay.max / 1e6).toFixed(1)}`;
}
