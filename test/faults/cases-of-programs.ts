/** Cases about mistakes in the program around the informer, and about its machine. */
import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync, readdirSync } from 'node:fs';
import type { KubeConfig } from '@kubernetes/client-node';
import type { SharedIndexInformer } from '../../src/index.ts';
import type { TemporaryFolder } from '../kit/temporary-folder.ts';
import { HANG_MS } from '../kit/hang.ts';
import {
  EXPIRED,
  GONE,
  RESET,
  UNREACHABLE,
  onlyWatches,
  relistedFrom,
  strike,
} from '../sim/faults/strikes.ts';
import type { RealCase, Scene } from './scene.ts';

const HOUR_MS = 3_600_000;
const HOT_EVENTS = 20_000;

export const CASES_OF_PROGRAMS: readonly RealCase[] = [
  {
    id: '62',
    place: 'threads',
    what: 'readers read sixty hot objects all the time, while they are written as fast as possible',
    expected: 'no torn object: name, version and body of each belong together',
    objects: 10,
    hasBodies: false,
    run: hotKeys,
  },
  {
    id: '64',
    place: 'process',
    what: '1,000 informers are started and stopped on the same threads: in the list, during a replay, synced, at once',
    expected: 'no call after the end; descriptors, timers and threads as before',
    // All have the same name, and each lists for the first time.
    excused: ['I15'],
    run: starts,
  },
  {
    id: '66',
    place: 'process',
    what: 'the wall clock jumps an hour back, on and ten years on, while watches expire; so do credentials of a plugin',
    expected:
      'timers continue; no latency is negative; the plugin runs again only where its credentials have expired',
    codes: [GONE],
    // The next fault may strike the watch after a list before its first event.
    mayReport: ['ERR_KUBELOOM_EXPIRED_LOOP'],
    isStartedLater: true,
    // Everything must run in this thread, because its clock jumps.
    threads: { indexerThreads: 0 },
    server: { token: '' },
    run: clockJumps,
  },
  {
    id: '67a',
    place: 'process',
    what: 'no descriptor is free when the connection has to be opened again',
    expected: 'reports it, waits, and continues when descriptors are free',
    codes: [UNREACHABLE],
    mayReport: [RESET],
    server: { isolation: 'process' },
    run: noDescriptors,
  },
  {
    id: '68',
    place: 'process',
    what: 'a relist of 100,000 objects under load',
    expected: 'equal in the end',
    codes: [GONE],
    objects: 100_000,
    hasBodies: false,
    server: { isolation: 'process' },
    run: bigRelist,
  },
];

async function hotKeys(scene: Scene): Promise<string> {
  scene.flood();
  const { delivered } = scene.recorder.histories;
  const end = delivered.length + HOT_EVENTS;
  let reads = 0;
  while (delivered.length < end) {
    for (const entry of scene.informer.getStore().list()) {
      const { metadata } = JSON.parse(entry.bytes().toString()) as {
        metadata: { name: string; uid: string; resourceVersion: string; labels?: object };
      };
      assert.equal(metadata.name, entry.name);
      assert.equal(metadata.uid, entry.uid);
      assert.deepEqual(metadata.labels ?? {}, { ...entry.labels });
      assert.equal(metadata.resourceVersion, entry.resourceVersion);
      reads++;
    }
    await scene.later(0);
  }
  scene.own.push('hot objects');
  return `${reads} reads during ${HOT_EVENTS} events, none torn; on ${process.arch} only`;
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
    if (round % 4 === 0) await scene.later(1);
    if (round % 4 === 1) await informer.waitForSync({ signal: AbortSignal.timeout(HANG_MS) });
    if (round % 4 === 2) replays += await cutReplay(informer);
    await informer[Symbol.asyncDispose]();
    await run;
    isOver = true;
  }
  scene.own.push(`starts and stops`);
  // Idle connections are closed after four seconds.
  const isAsBefore = (): boolean =>
    Object.entries(resources()).every(([name, count]) => count <= (before[name] ?? 0) + 4);
  await scene.until(isAsBefore, `nothing is left: ${JSON.stringify([before, resources()])}`);
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
  await informer.waitForSync({ signal: AbortSignal.timeout(HANG_MS) });
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
      return scene.codes().includes(UNREACHABLE);
    }, 'the missing descriptors are reported');
  } finally {
    for (const descriptor of taken) closeSync(descriptor);
  }
  await scene.untilReceived(50);
  return `${taken.length} descriptors were taken: ${await onlyWatches(scene)}`;
}

async function bigRelist(scene: Scene): Promise<string> {
  await strike(scene, EXPIRED, { verb: 'watch' });
  return relistedFrom(scene, /list|stream/);
}
